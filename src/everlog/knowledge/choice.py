"""Which algorithm an update uses when none is asked for, and when it is given up.

An algorithm whose state is kept is used, so that the state stays right. Otherwise FBF is: it needs nothing and stops by
itself where chaining backwards does not pay. DRed^c takes a third of its time on most data but wants derivations counted,
which takes about as long as computing everything. Whoever never updates, or once, should not pay for that: derivations are
counted when updates have taken a fair part of it.

An update that spreads too far costs more than computing everything anew, and nobody knows beforehand: so it is given up
after a part of what that takes, in time and in rule instances. Time alone would not do, since the first update after a
start makes indexes that later ones find. The part is small for FBF, whose search for proofs may take any time; DRed^c
has a larger one, but when it was given up once, updates that delete as much are not tried again soon. An update that
only adds facts may take as long as computing everything if there is no negation, since it then looks for no proofs and
considers no rule instance that computing everything would not. Where modules and rules depend on each other it may take
a part of that: they close many new facts better at once than in rounds, or not, as the facts may be. So it is tried,
and if it was given up, as many facts are not added so again for some time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from everlog.engine.kept_kinds import RECURSIVE, TRACE
from everlog.knowledge.materialisation import Materialisation, Past
from everlog.reasoning.algorithms import Algorithm, algorithm
from everlog.reasoning.change import Allowance

_INSTANCES = 0.01
_SECONDS = 0.12
_COUNTED_SECONDS = 0.6
_ADDING_SECONDS = 1.0
_WAITING_SECONDS = 0.6
_RULES_SECONDS = 0.1
"""The shares of what computing everything anew takes that an update may take: without counts, with them, if it only adds
facts, without negation, the same where modules wait for rules, and if rules come or go."""

_FREE = 2_000
"""Instances that are always allowed."""

_MORE = 1.1
"""So many times the facts that spread too far are tried again."""

_UNTRIED = 8
"""So often in a row facts are not added after adding as many was given up; then it is tried again."""

_SPENT = 0.5
"""The share of the time of computing everything that updates take before derivations are counted."""

_ENTERING = 2.5e-7
_COMPARING = 1e-7
"""Seconds for an explicit fact to be entered anew, and for a fact to be compared with what was there before."""

_WAITING = 8.0
"""On a busy machine these seconds, which are the processor's, take up to so many times as long."""


@dataclass(frozen=True)
class Choice:
    """An algorithm, why, and what it may take."""

    algorithm: Algorithm
    reasons: tuple[str, ...] = ()
    allowed: Allowance | None = None
    counts: bool = False
    """Whether derivations are to be counted first."""
    again: bool = False
    """Whether everything is to be computed anew instead."""
    deleted: int = 0
    only_added: int = 0
    """How many facts the update deletes, or how many it adds if it does nothing else; 0 where that is not known."""


def choose(
    name: str, materialisation: Materialisation, deleted: int = 0, only_added: int = 0, rules: bool = False
) -> Choice:
    """The algorithm for the next update, if it deletes so many facts; 0 where they are not known, unless it only adds.

    It may change `rules`, too.
    """
    if name != "auto":
        return Choice(algorithm(name))
    kept, cost, past = materialisation.kept.names(), materialisation.cost, materialisation.past
    if past.spread is not None and deleted >= past.spread:
        why = f"everything was computed anew, because deleting {past.spread:,} facts spread too far the last time"
        return Choice(algorithm("dredc"), (why,), again=True, deleted=deleted)
    if past.grown is not None and only_added >= past.grown:
        why = f"everything was computed anew, because adding {past.grown:,} facts spread too far the last time"
        return Choice(algorithm("fbf"), (why,), again=True, only_added=only_added)
    counts = bool(deleted) and not kept and cost is not None and past.seconds > _SPENT * cost.seconds
    if counts and cost is not None and 2 * cost.instances < len(materialisation.I) - len(materialisation.E):
        counts = False  # modules derive most facts, without rule instances: counting gains nothing for them
    if TRACE in kept:
        chosen, why = "counting", "counting, because derivations are counted by iteration"
    elif counts:
        chosen, why = "dredc", "dredc, with derivations counted for it, because updates are frequent"
    elif RECURSIVE in kept:
        chosen, why = "dredc", "dredc, because derivations are counted"
    else:
        chosen, why = "fbf", "fbf, because no derivations are counted"
    if cost is None:
        return Choice(algorithm(chosen), (why,))
    explicit, known = len(materialisation.E) + only_added, len(materialisation.I) + only_added
    facts = _ENTERING * explicit + _COMPARING * known
    if deleted or only_added:  # facts are counted, so that this process is the one that works
        facts *= min(_WAITING, cost.waited)
    share = _SECONDS if chosen == "fbf" else _COUNTED_SECONDS
    if rules:  # what they take says nothing about facts
        share, deleted, only_added = _RULES_SECONDS, 0, 0
    elif only_added and materialisation.only_grows:
        share = _WAITING_SECONDS if materialisation.modules_wait else _ADDING_SECONDS
    seconds = share * (cost.seconds + facts)
    # Modules derive facts without rule instances.
    instances = max(cost.instances, len(materialisation.I))
    allowed = Allowance(int(_INSTANCES * instances) + _FREE, seconds)
    return Choice(algorithm(chosen), (why,), allowed, counts, deleted=deleted, only_added=only_added)


def given_up(choice: Choice, past: Past, seconds: float) -> Past:
    """What is remembered when an update was given up after some seconds, or not even tried."""
    if choice.again and choice.only_added:
        untried = past.untried + 1
        return replace(past, grown=past.grown if untried < _UNTRIED else None, untried=untried % _UNTRIED)
    if choice.again and past.spread is not None:
        return replace(past, spread=int(_MORE * past.spread) + 1)
    past = replace(past, seconds=past.seconds + seconds)
    if choice.only_added:
        return replace(past, grown=choice.only_added, untried=0)
    counted = choice.algorithm.name != "fbf"
    return replace(past, spread=choice.deleted if counted and choice.deleted else past.spread)

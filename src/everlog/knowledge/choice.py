"""Which algorithm an update uses when none is asked for, and when it is given up.

An algorithm whose state is kept is used, so that the state stays right. Otherwise FBF is: it needs nothing and stops by
itself where chaining backwards does not pay. DRed^c takes a third of its time on most data but wants derivations counted,
which takes as long as computing everything, or longer where that goes fast. Whoever never updates, or once, should not pay
for that: derivations are counted when updates have taken a fair part of it.

An update that spreads too far costs more than computing everything anew, and nobody knows beforehand: so it is given up
after a part of what that takes, in time and in rule instances. Time alone would not do, since the first update after a
start makes indexes that later ones find. The part is small for FBF, whose search for proofs may take any time; DRed^c
has a larger one, but when it was given up once, updates that delete as much are not tried again soon. An update that
only adds facts may take as long as computing everything if there is no negation, since it then looks for no proofs and
considers no rule instance that computing everything would not. Where modules and rules depend on each other it may take
a part of that: they close many new facts better at once than in rounds, or not, as the facts may be. So it is tried,
and if it was given up, as many facts are not added so again for some time.

Who deletes a fifth of the explicit facts, or more, need not try: on all data that was looked at, following them took longer
than computing what is left. Only modules that derive most facts may lose many of them at once.

Rules that come or go are tried for a smaller part, of the processor's seconds, since all of it comes on top: of what it
took to start again the last time, with facts entered and compared, or of an estimate of that. They are not tried at all if
one of them has many instances, as far as that is known beforehand, or was given up the last time; and if it turns out to
have as many, nobody waits until their heads are entered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from everlog.datalog.syntax import Rule
from everlog.engine.kept_kinds import RECURSIVE, TRACE
from everlog.knowledge.materialisation import Materialisation, Past
from everlog.reasoning.algorithms import Algorithm, algorithm
from everlog.reasoning.change import Allowance

_INSTANCES = 0.01
_SECONDS = 0.12
_COUNTED_SECONDS = 0.6
_ADDING_SECONDS = 1.0
_WAITING_SECONDS = 0.6
_RULES_SECONDS = 0.04
_RULES_TOO_LONG = 0.075
"""The shares of what computing everything anew takes that an update may take: without counts, with them, if it only adds
facts, without negation, the same where modules wait for rules, and if rules come or go, with many instances or with few."""

_RULES_INSTANCES = 0.03
"""Rules that come or go are not tried, or no longer, if their instances are a larger share of all, or of all facts."""

_QUICK = 0.1
"""If to start again takes fewer seconds, rules that come or go with few instances may take any time."""

_FREE = 2_000
"""Instances that are always allowed."""

_MORE = 1.1
"""So many times the facts that spread too far are tried again."""

_UNTRIED = 8
"""So often in a row facts are not added after adding as many was given up; then it is tried again."""

_MUCH = 1_000
_LARGE_SHARE = 5
"""So many facts, and one of so many explicit ones, are more than is deleted by following what each of them led to."""

_SPENT = 0.5
"""The share of the time that counting takes which updates take before derivations are counted."""

_COUNTING = 4e-8
"""Seconds for each explicit fact and each rule instance that is counted, if that is more than computing everything takes:
it is four times as much for ten million triples of LUBM, whose facts threads derive without finding their rows."""

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
    rules: frozenset[Rule] = frozenset()
    """The rules that come or go with it."""


@dataclass(frozen=True)
class OtherRules:
    """Rules that come or go, and how many instances they have at the least."""

    rules: frozenset[Rule]
    instances: int = 0


def choose(
    name: str,
    materialisation: Materialisation,
    deleted: int = 0,
    only_added: int = 0,
    other: OtherRules | None = None,
) -> Choice:
    """The algorithm for the next update, if it deletes so many facts; 0 where they are not known, unless it only adds.

    Rules may come and go with it, too.
    """
    if name != "auto":
        return Choice(algorithm(name))
    kept, cost, past = materialisation.kept.names(), materialisation.cost, materialisation.past
    explicit, known = len(materialisation.E), len(materialisation.I)
    instances = 0 if cost is None else max(cost.instances, known)  # modules derive facts without any
    if other is not None and cost is not None and (why := _hopeless(other, past, instances)):
        return Choice(algorithm("fbf"), (why,), again=True, rules=other.rules)
    if past.spread is not None and deleted >= past.spread:
        why = f"everything was computed anew, because deleting {past.spread:,} facts spread too far the last time"
        return Choice(algorithm("dredc"), (why,), again=True, deleted=deleted)
    if past.grown is not None and only_added >= past.grown:
        why = f"everything was computed anew, because adding {past.grown:,} facts spread too far the last time"
        return Choice(algorithm("fbf"), (why,), again=True, only_added=only_added)
    # Modules derive facts without rule instances; where these are most facts, counting gains nothing for them.
    mostly_modules = cost is not None and 2 * cost.instances < known - explicit
    large = deleted >= _MUCH and _LARGE_SHARE * deleted >= explicit
    if large and cost is not None and not (kept or mostly_modules or other):
        why = f"everything was computed anew, because {deleted:,} of the explicit facts are deleted, a large part"
        return Choice(algorithm("fbf"), (why,), again=True, deleted=deleted)
    counts = bool(deleted) and not kept and cost is not None and not mostly_modules
    counts = counts and past.seconds > _SPENT * _counting_seconds(cost, explicit)
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
    explicit, known = explicit + only_added, known + only_added
    facts = _ENTERING * explicit + _COMPARING * known
    if deleted or only_added:  # facts are counted, so that this process is the one that works
        facts *= min(_WAITING, cost.waited)
    share = _SECONDS if chosen == "fbf" else _COUNTED_SECONDS
    if other is not None:  # what they take says nothing about facts
        worked = min(cost.whole, cost.seconds / cost.waited + _COMPARING * (explicit + known))
        allowed = Allowance(
            _instances(instances),
            _RULES_SECONDS * worked,
            worked=True,
            too_long=math.inf if worked < _QUICK else _RULES_TOO_LONG * worked,
            too_many=_too_many(instances),
        )
        return Choice(algorithm(chosen), (why,), allowed, counts, rules=other.rules)
    if only_added and materialisation.only_grows:
        share = _WAITING_SECONDS if materialisation.modules_wait else _ADDING_SECONDS
    allowed = Allowance(_instances(instances), share * (cost.seconds + facts))
    return Choice(algorithm(chosen), (why,), allowed, counts, deleted=deleted, only_added=only_added)


def _counting_seconds(cost: Allowance | None, explicit: int) -> float:
    """About what it takes to count all derivations."""
    return 0.0 if cost is None else max(cost.seconds, _COUNTING * (cost.instances + explicit))


def _instances(all_there_are: int) -> int:
    """The rule instances that an update may consider, of those that computing everything considers."""
    return int(_INSTANCES * all_there_are) + _FREE


def _too_many(all_there_are: int) -> int:
    """The rule instances with which it does not pay to have rules come or go."""
    return int(_RULES_INSTANCES * all_there_are) + _FREE


def _hopeless(other: OtherRules, past: Past, instances: int) -> str | None:
    """Why it is not tried to change rules; None if it is."""
    if other.rules & past.rules:
        return "everything was computed anew, because it had to be when one of these rules changed the last time"
    if other.instances > _too_many(instances):
        return f"everything was computed anew, because {other.instances:,} rule instances came or went at the least"
    return None


def given_up(choice: Choice, past: Past, seconds: float) -> Past:
    """What is remembered when an update was given up after some seconds, or not even tried."""
    if choice.rules:
        rules = past.rules - choice.rules if choice.again else past.rules | choice.rules
        return replace(past, seconds=past.seconds + seconds, rules=rules)
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

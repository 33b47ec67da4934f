"""Which algorithm an update uses when none is asked for, and when it is given up.

An algorithm whose state is kept is used, so that the state stays right. Otherwise FBF is: it needs nothing and stops by
itself where chaining backwards does not pay. DRed^c takes a third of its time on most data but wants derivations counted,
which takes about as long as computing everything. Whoever never updates, or once, should not pay for that: derivations are
counted when updates have taken a fair part of it.

An update that spreads too far costs more than computing everything anew, and nobody knows beforehand: so it is given up
after a small part of what that takes, in time and in rule instances. Time alone would not do, since the first update after
a start makes indexes that later ones find.
"""

from __future__ import annotations

from dataclasses import dataclass

from everlog.materialisation import Materialisation
from everlog.reasoning.algorithms import RECURSIVE, TRACE, Algorithm, algorithm
from everlog.reasoning.change import Allowance

_INSTANCES = 0.01
_SECONDS = 0.12
"""The shares of what computing everything anew takes that an update may take."""

_FREE = 20_000
"""Instances that are always allowed."""

_SPENT = 0.5
"""The share of the time of computing everything that updates take before derivations are counted."""

_ENTERING = 2.5e-7
_COMPARING = 2e-7
"""Seconds for an explicit fact to be entered anew, and for a fact to be compared with what was there before."""


@dataclass(frozen=True)
class Choice:
    """An algorithm, why, and what it may take."""

    algorithm: Algorithm
    reasons: tuple[str, ...] = ()
    allowed: Allowance | None = None
    counts: bool = False
    """Whether derivations are to be counted first."""


def choose(name: str, materialisation: Materialisation, may_count: bool = False) -> Choice:
    """The algorithm for the next update."""
    if name != "auto":
        return Choice(algorithm(name))
    kept, cost = materialisation.kept.names(), materialisation.cost
    counts = may_count and not kept and cost is not None and materialisation.spent > _SPENT * cost.seconds
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
    facts = _ENTERING * len(materialisation.E) + _COMPARING * len(materialisation.I)
    seconds = _SECONDS * (cost.seconds + facts)
    # Modules derive facts without rule instances.
    instances = max(cost.instances, len(materialisation.I))
    return Choice(algorithm(chosen), (why,), Allowance(int(_INSTANCES * instances) + _FREE, seconds), counts)

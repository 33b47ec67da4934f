"""Which algorithm an update uses when none is asked for, and when it gives up.

An algorithm whose state is kept is used, so that the state stays right. Otherwise FBF is: it needs nothing and stops by
itself where chaining backwards does not pay. Neither may consider many more rule instances than a part of those that
computing everything anew takes; then it is given up, and everything is computed anew.
"""

from __future__ import annotations

from dataclasses import dataclass

from everlog.materialisation import Materialisation
from everlog.reasoning.algorithms import RECURSIVE, TRACE, Algorithm, algorithm

_SHARE = 6
"""An update may consider one in so many of the instances that computing everything anew would."""

_FREE = 50_000
"""Instances that are always allowed."""


@dataclass(frozen=True)
class Choice:
    """An algorithm, why, and how many rule instances it may consider."""

    algorithm: Algorithm
    reasons: tuple[str, ...] = ()
    allowed: int | None = None


def choose(name: str, materialisation: Materialisation) -> Choice:
    """The algorithm for the next update."""
    if name != "auto":
        return Choice(algorithm(name))
    kept = materialisation.kept.names()
    if TRACE in kept:
        chosen, why = "counting", "counting, because derivations are counted by iteration"
    elif RECURSIVE in kept:
        chosen, why = "dredc", "dredc, because derivations are counted"
    else:
        chosen, why = "fbf", "fbf, because no derivations are counted"
    allowed = None if materialisation.cost is None else materialisation.cost // _SHARE + _FREE
    return Choice(algorithm(chosen), (why,), allowed)

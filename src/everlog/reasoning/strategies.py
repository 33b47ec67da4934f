"""When FBF stops chaining backwards: `ABORTBRANCH` of *Revisited*, Algorithm 5, for a whole level at a time.

A strategy is asked before a level of facts is checked, and before it is expanded into the next. `always` makes DRed of
FBF, `never` makes B/F.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from everlog.errors import EverlogError

_EACH, _ADVANCE = 4, 256
"""Instances that `adaptive` allows in advance: for each fact that is to be proved, and besides."""


@dataclass(frozen=True)
class Effort:
    """What a stratum has cost so far."""

    level: int
    """Levels that the call under way has gone down."""
    asked: int
    """Facts that the call under way is to prove."""
    chaining: int
    """Rule instances considered to prove facts, backwards and forwards, in the stratum."""
    propagation: int
    """Rule instances considered because a fact in them was deleted, in the stratum."""
    expected: int = 0
    """Rule instances that expanding the level is expected to take."""


Strategy = Callable[[Effort], bool]
"""Whether to give up proving facts."""


def never(effort: Effort) -> bool:
    """B/F: every proof is looked for to the end."""
    return False


def always(effort: Effort) -> bool:
    """DRed: nothing is proved before it is deleted."""
    return True


def adaptive(effort: Effort) -> bool:
    """Chaining may cost what deleting has cost so far, and a little in advance.

    So a search that is hopeless at most multiplies the cost of a deletion; where deletion spreads, it may go further.
    """
    return effort.chaining + effort.expected > effort.propagation + _EACH * effort.asked + _ADVANCE


def strategy(text: str) -> Strategy:
    """The strategy of a name: `never`, `always`, `adaptive` (or nothing), `depth:k` or `budget:n`.

    The last two are proofs of at most `k` levels, and at most `n` rule instances in a stratum, as far as levels allow.
    """
    name, _, number = text.partition(":")
    plain: dict[str, Strategy] = {"": adaptive, "adaptive": adaptive, "never": never, "always": always}
    if not number and name in plain:
        return plain[name]
    if name in ("depth", "budget") and number.isascii() and number.isdigit():
        most = int(number)
        return lambda effort: (effort.level if name == "depth" else effort.chaining) >= most
    raise EverlogError(
        f"{text!r} is no strategy of FBF; choose one of: adaptive, never, always, depth:K, budget:N (K and N numbers)"
    )

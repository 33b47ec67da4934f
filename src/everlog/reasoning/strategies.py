"""When FBF stops chaining backwards: `ABORTBRANCH` of *Revisited*, Algorithm 5, for a whole level at a time.

A strategy is asked before a level of facts is checked, and before it is expanded into the next. `always` makes DRed of
FBF, `never` makes B/F.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from everlog.errors import EverlogError


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


class Strategy(ABC):
    """Decides whether to give up proving facts."""

    @abstractmethod
    def aborts(self, effort: Effort) -> bool: ...


class Never(Strategy):
    """B/F: every proof is looked for to the end."""

    def aborts(self, effort: Effort) -> bool:
        return False


class Always(Strategy):
    """DRed: nothing is proved before it is deleted."""

    def aborts(self, effort: Effort) -> bool:
        return True


@dataclass(frozen=True)
class Depth(Strategy):
    """Proofs of at most some levels."""

    levels: int

    def aborts(self, effort: Effort) -> bool:
        return effort.level >= self.levels


@dataclass(frozen=True)
class Budget(Strategy):
    """At most some rule instances in a stratum, as far as levels allow to stop there."""

    instances: int

    def aborts(self, effort: Effort) -> bool:
        return effort.chaining >= self.instances


@dataclass(frozen=True)
class Adaptive(Strategy):
    """Chaining may cost what deleting has cost so far, times a factor, and a little in advance.

    So the search for proofs at most multiplies the cost of a deletion by a constant where it is hopeless, or where proofs
    cost more than they save; where deletion spreads, the search may go further the next time, and one proof at the right
    place ends both.
    """

    factor: int = 1
    each: int = 4
    """Instances in advance for each fact that is to be proved."""
    advance: int = 256

    def aborts(self, effort: Effort) -> bool:
        allowed = self.factor * effort.propagation + self.each * effort.asked + self.advance
        return effort.chaining + effort.expected > allowed


def strategy(text: str) -> Strategy:
    """The strategy that `never`, `always`, `adaptive`, `depth:k` or `budget:n` names."""
    name, _, number = text.partition(":")
    if not number:
        plain: dict[str, Strategy] = {"": Adaptive(), "adaptive": Adaptive(), "never": Never(), "always": Always()}
        if name in plain:
            return plain[name]
    elif name in ("depth", "budget") and number.isascii() and number.isdigit():
        return Depth(int(number)) if name == "depth" else Budget(int(number))
    raise EverlogError(
        f"{text!r} is no strategy of FBF; choose one of: adaptive, never, always, depth:K, budget:N (K and N numbers)"
    )

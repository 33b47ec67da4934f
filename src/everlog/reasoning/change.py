"""An update under way: its sets, views of them, what it has considered so far, and what it may take.

The sets are those of DRed in the disjoint form that ends §6 of *Revisited*: `D ⊆ I` are the facts deleted so far and
`A`, disjoint with `I`, those added, so that `(I ∖ D) ∪ A` is the materialisation as far as it is updated, and `D` stands
where the paper has `D ∖ A`. `I` itself changes when all strata are done, since overdeletion needs the old one; a failure
on the way leaves nothing behind.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from time import process_time
from typing import Final

from everlog import clock
from everlog.engine.algebra import Engine, FactSet, Region
from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning.boundaries import NO_BOUNDARIES, Boundaries
from everlog.reasoning.kept import Kept
from everlog.reasoning.minima import Below
from everlog.reasoning.modules.asked_closures import NOBODY_ASKS, AskedAbove, changed_pairs
from everlog.reasoning.modules.module import Backbone, Module
from everlog.reasoning.stratum_seconds import timed

Progress = Callable[[int, int, int], None]
"""Called with the stratum, the round in it, and the number of facts that changed."""


class TooCostly(Exception):
    """The update takes more than it was allowed."""


@dataclass(frozen=True)
class Allowance:
    """What an update may take. It is given up when it exceeds both, or what is too much of one of them."""

    instances: int
    seconds: float
    waited: float = 1.0
    """Of what something took: how many times as long by the clock as on processors, at least 1; others work there, too."""
    whole: float = math.inf
    """Of computing everything anew: the processor's seconds with all that is done around it, where that is known."""
    worked: bool = False
    """Whether seconds are those of the processor, so that it does not matter what others do."""
    too_long: float = math.inf
    """More seconds than these are given up however few instances there were."""
    too_many: int = sys.maxsize
    """More instances than these are given up whatever they have taken so far: their heads would be entered at once."""

    @contextmanager
    def enforced(self, engine: Engine, watch: Callable[[], None] | None = None) -> Iterator[None]:
        """Raises `TooCostly` when a block takes more, and whatever somebody raises who watches it."""
        passing = process_time if self.worked else clock.now
        instances, begun = engine.derivations, passing()

        def check(more: int, entered: bool) -> None:
            considered = engine.derivations + more - instances
            if considered > self.too_many:
                raise TooCostly
            if not entered:  # who watches has yet to see what they derive
                return
            if watch is not None:
                watch()
            taken = passing() - begun
            if taken > self.too_long or (considered > self.instances and taken > self.seconds):
                raise TooCostly

        engine.guard = check
        try:
            yield
        finally:
            engine.guard = None


UNBOUNDED: Final = Allowance(sys.maxsize, math.inf)


def guarded(
    engine: Engine, allowed: Allowance | None, watch: Callable[[], None] | None = None
) -> AbstractContextManager[None]:
    """Enforces what is allowed, if there is a bound, and lets somebody watch."""
    return nullcontext() if allowed is None and watch is None else (allowed or UNBOUNDED).enforced(engine, watch)


class Change:
    """The change of `E` by `E⁻` and `E⁺`, and what follows from it for `I`."""

    def __init__(
        self,
        strata: Sequence[CompiledStratum],
        engine: Engine,
        E: FactSet,
        I: FactSet,
        minus: FactSet,
        plus: FactSet,
        kept: Kept,
        progress: Progress,
        modules: Mapping[int, Sequence[Module]],
        boundaries: Boundaries = NO_BOUNDARIES,
        allowed: Allowance | None = None,
        watch: Callable[[], None] | None = None,
        asked: AskedAbove = NOBODY_ASKS,
    ) -> None:
        # Line 39 of Algorithm 4: deleting what is not explicit, adding what is, and deleting what is added do nothing.
        self.minus = minus.common(E).minus(plus)
        self.plus = plus.minus(E)
        self.strata, self.engine, self.E, self.I, self.kept = strata, engine, E, I, kept
        self.modules, self._boundaries = modules, boundaries
        self.D = self.A = self.nothing = engine.empty()
        self.derivations: dict[str, int] = {}
        self.rounds = 0
        self.seconds: dict[int, float] = {}
        """By stratum."""
        self._progress = progress
        self._allowed, self._watch = allowed, watch
        self._asked = asked
        self._backbones: list[tuple[Region, FactSet, FactSet]] = []
        """What `D` and `A` had of relations that are closed, before they had all pairs."""

    # ------------------------------------------------------------------------------------ sets

    @property
    def survivors(self) -> FactSet:
        """`I ∖ D`."""
        return self.I - self.D

    @property
    def now(self) -> FactSet:
        """`(I ∖ D) ∪ A`."""
        return (self.I - self.D) | self.A

    @property
    def then_or_now(self) -> FactSet:
        """`I ∪ A`, outside of which negative atoms hold before and after the update."""
        return self.I | self.A

    @property
    def explicit(self) -> FactSet:
        """`E ∖ E⁻`."""
        return self.E - self.minus

    def add(self, Δ: FactSet) -> None:
        """`A := A ∪ Δ`, where `D` and `A` stay disjoint: what was deleted is deleted no longer, all else is added."""
        self.D -= Δ
        self.A |= Δ.minus(self.I)

    # ------------------------------------------------------------------------------------ bookkeeping

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Counts the rule instances considered as those of a phase."""
        before = self.engine.derivations
        yield
        self.derivations[name] = self.derivations.get(name, 0) + self.engine.derivations - before

    def guarded(self) -> AbstractContextManager[None]:
        """Raises `TooCostly` when the update takes more than it may, and whatever somebody raises who watches it."""
        return guarded(self.engine, self._allowed, self._watch)

    def touched(self) -> Iterator[CompiledStratum]:
        """The strata, each timed; groups and best facts below one are what they should be when it comes."""
        for stratum in timed(self.strata, self.seconds):
            below = Below(self.I, self.E, self.minus, self.plus, self.D, self.A)

            def note(facts: FactSet, stratum: CompiledStratum = stratum) -> None:
                self.round_done(stratum, facts)

            for lost, new in self._boundaries.update(stratum, below, note):
                self.D |= lost
                self.A |= new
            yield stratum
            for module in self._asked.get(stratum.index, ()):
                self._close(module)

    def _close(self, module: Backbone) -> None:
        """Closes a relation again whose facts are final; from now on `I`, `D` and `A` have all of them."""
        then = module.closed
        if then is None:
            return
        module.settle(self.now, self.A, self.D)
        backbone = self.D.within(module.region), self.A.within(module.region)
        self._backbones.append((module.region, *backbone))
        come, gone = changed_pairs(self.engine, module, then)
        self.D, self.A = self.D.minus(backbone[0]).plus(gone), self.A.minus(backbone[1]).plus(come)
        self.I = self.engine.closing(self.I.base, {**self.I.closures, module.atom: then})

    def open_closures(self) -> None:
        """Goes back to sets that have the backbones of closed relations, when all strata are done."""
        for region, D, A in self._backbones:
            self.D = self.D.minus(self.D.within(region)).plus(D)
            self.A = self.A.minus(self.A.within(region)).plus(A)
        self.I, self._backbones = self.I.base, []

    def round_done(self, stratum: CompiledStratum, facts: FactSet) -> None:
        """Counts a round of a stratum that has changed some facts, and reports it."""
        self.rounds += 1
        self._progress(stratum.index, self.rounds, len(facts))

"""An update under way: what all maintenance algorithms share.

The sets are those of DRed in the disjoint form that ends §6 of *Revisited*: `D ⊆ I` are the facts deleted so far and
`A`, disjoint with `I`, those added, so that `(I ∖ D) ∪ A` is the materialisation as far as it is updated. `I` itself
changes when all strata are done, since overdeletion needs the old one; a failure on the way leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from everlog.engine.algebra import Annotation, Engine, FactSet, Rules, Some
from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning.kept import NEVER, Kept
from everlog.reasoning.modular import Added, Modules

Progress = Callable[[int, int, int], None]
"""Called with the stratum, the round in it, and the number of facts that changed."""

_MANY = 8
"""So many times the explicit facts are many facts."""


class TooCostly(Exception):
    """The update takes more than it was allowed."""


@dataclass(frozen=True)
class Allowance:
    """What an update may take. It is given up when it exceeds both."""

    instances: int
    seconds: float


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
        modules: Modules,
        allowed: Allowance | None = None,
        watch: Callable[[], None] | None = None,
    ) -> None:
        # Line 39: deleting what is not explicit, adding what is, and deleting what is added change nothing.
        self.minus: FactSet = minus
        self.minus &= E
        self.minus -= plus
        self.plus: FactSet = plus
        self.plus -= E
        self.strata, self.engine, self.E, self.I, self.kept = strata, engine, E, I, kept
        self.modules = modules
        self.D = self.A = self.nothing = engine.empty()
        self.derivations: dict[str, int] = {}
        self.rounds = 0
        self.seconds: dict[int, float] = {}
        """By stratum."""
        self._progress = progress
        self._allowed, self._watch = allowed, watch
        self._begun = engine.derivations, perf_counter()

    # ------------------------------------------------------------------------------------ views

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

    # ------------------------------------------------------------------------------------ bookkeeping

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Counts the rule instances considered as those of a phase."""
        before = self.engine.derivations
        yield
        self.derivations[name] = self.derivations.get(name, 0) + self.engine.derivations - before

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Raises `TooCostly` when the update takes more than it may, and whatever somebody raises who watches it."""
        self.engine.guard = None if self._allowed is None and self._watch is None else self._check
        try:
            yield
        finally:
            self.engine.guard = None

    def _check(self, more: int) -> None:
        if self._watch is not None:
            self._watch()
        instances, started = self._begun
        allowed = self._allowed
        if allowed is None or self.engine.derivations + more - instances <= allowed.instances:
            return
        if perf_counter() - started > allowed.seconds:
            raise TooCostly

    def touched(self) -> Iterator[CompiledStratum]:
        """The strata, each timed."""
        for stratum in self.strata:
            started = perf_counter()
            yield stratum
            self.seconds[stratum.index] = perf_counter() - started

    def round_done(self, stratum: CompiledStratum, facts: FactSet) -> None:
        self.rounds += 1
        self._progress(stratum.index, self.rounds, len(facts))

    def derivable(self, rules: Rules, facts: FactSet) -> FactSet:
        """Those of some facts that are explicit after the update or have an instance of some rules that survives it."""
        found = facts
        found &= self.E - self.minus
        rest = facts
        rest -= found
        found |= rules.provable(rest, self.survivors, self.then_or_now)
        return found

    def counted(self, facts: FactSet) -> FactSet:
        """Those of some facts whose nonrecursive derivations are not all gone, by their counts."""
        counts = self.kept.nonrecursive
        assert counts is not None, "the counts are kept"
        found = facts
        found &= counts.between(1, NEVER)
        return found

    def known(self, stratum: CompiledStratum, facts: FactSet) -> FactSet:
        """Those of some facts that are explicit or nonrecursively derived after the update, however that is found out."""
        if self.kept.nonrecursive is not None:
            return self.counted(facts)
        if len(facts) <= _MANY * len(self.E):
            return self.derivable(stratum.nonrecursive, facts)
        # To look at all there is takes less than to ask about each of so many.
        found = stratum.nonrecursive.apply(self.survivors, self.then_or_now)
        found |= self.E - self.minus
        found &= facts
        return found

    # ------------------------------------------------------------------------------------ steps in common

    def lost(self, stratum: CompiledStratum) -> FactSet:
        """Lines 46 and 68: explicit facts that are deleted, and heads of instances that changes below took away."""
        N = self.minus.within(stratum.region)
        kept = self.kept
        if kept.nonrecursive is not None:
            kept.nonrecursive.add(N, -1)
        some = [(self.D, self.A)]
        N |= considered(stratum.nonrecursive, kept.nonrecursive, -1, self.I, None, some)
        N |= considered(stratum.recursive, kept.recursive, -1, self.I, None, some)
        return N

    def delete(self, stratum: CompiledStratum, Δ: FactSet) -> FactSet:
        """Lines 50 and 51, 75 and 76: deletes `Δ` and gives the heads of the instances that it takes away."""
        some = [(Δ, self.nothing)]
        N = considered(stratum.recursive, self.kept.recursive, -1, self.survivors, self.then_or_now, some)
        self.D |= Δ
        self.round_done(stratum, Δ)
        N -= self.D
        return N

    def insert(self, stratum: CompiledStratum, R: FactSet) -> None:
        """Lines 53–58: the facts `R` that came back, those that arrive, and what follows from both."""
        N = self.arriving(stratum)
        N |= R
        self.follow(stratum, N, Added((), self.nothing))

    def arriving(self, stratum: CompiledStratum) -> FactSet:
        """Line 53: the explicit facts that are new, and the heads of instances that changes below bring."""
        kept = self.kept
        with self.phase("insertion"):
            explicit = self.plus.within(stratum.region)
            if kept.nonrecursive is not None:
                kept.nonrecursive.add(explicit)
            now, some = self.now, [(self.A, self.D)]
            N = explicit
            N |= considered(stratum.nonrecursive, kept.nonrecursive, 1, now, None, some)
            N |= considered(stratum.recursive, kept.recursive, 1, now, None, some)
        return N

    def follow(self, stratum: CompiledStratum, N: FactSet, added: Added) -> None:
        """Lines 55–58: adds some facts, as far as they do not hold, and what follows from them."""
        while True:
            Δ = N
            Δ -= self.now
            if not Δ:
                return
            self.D -= Δ
            new = Δ
            new -= self.I
            self.A |= new
            with self.phase("insertion"):
                N = considered(stratum.recursive, self.kept.recursive, 1, self.now, None, [(Δ, self.nothing)])
                N |= added.add(self.now, Δ)
            self.round_done(stratum, Δ)


def considered(
    rules: Rules,
    counts: Annotation | None,
    sign: int,
    positive: FactSet,
    negative: FactSet | None,
    some: Sequence[Some],
) -> FactSet:
    """The heads of rule instances; where they are counted, the counts follow."""
    if counts is None:
        return rules.apply(positive, negative, some=some)
    heads = rules.apply_counted(positive, negative, some=some)
    counts.add(heads, sign)
    return heads.support()

"""The state that some maintenance algorithms keep between updates.

* `nonrecursive` is `C_nr` of *Modular-2019* §4.2: 1 for an explicit fact, plus its nonrecursive rule instances.
* `recursive` is `C_r`: its recursive rule instances.
* `trace` is the trace of *Revisited* §5: its derivations by iteration.

Kept state is never stale: an algorithm keeps it right or drops it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from everlog.engine.algebra import Annotation, Counted, Engine, FactSet, Rules, Some
from everlog.engine.kept_kinds import NONRECURSIVE, RECURSIVE, TRACE
from everlog.planning.compiled_program import CompiledStratum

NEVER = 2**30
"""The stage of a fact that is not derived at all."""

Placed = tuple[str, tuple[int, ...], Annotation]
"""What counts derivations: its kind, where in the trace it belongs, and itself."""


@dataclass(frozen=True)
class Tallied:
    """Some rules, and the number of derivations that each fact has by them, where that is kept."""

    rules: Rules
    counts: Annotation | None

    def heads(
        self,
        sign: int,
        positive: FactSet,
        negative: FactSet | None = None,
        *,
        some: Sequence[Some] = (),
        excluding: FactSet | None = None,
    ) -> FactSet:
        """The heads, but for those in a set, of instances that come (`sign` is 1) or go (-1); their counts are changed."""
        if self.counts is None:
            return self.rules.apply(positive, negative, some=some, excluding=excluding)
        heads = self.rules.apply_counted(positive, negative, some=some)
        self.counts.add(heads, sign)
        return heads.support() if excluding is None else heads.support().minus(excluding)


@dataclass
class Trace:
    """`N_i^s` for every iteration of every stratum, and the *stage* of each fact: the first iteration that derives it.

    Stages are kept twice, as they were before an update and as they are after it; between updates both are the same. A
    fact of another stratum has the stage 0, so that `stage ≤ i` holds for whatever lies below.
    """

    iterations: list[list[Annotation]]
    totals: list[list[int]]
    """`|N_i^s|`, with multiplicities."""
    old: list[Annotation]
    new: list[Annotation]
    forgotten: list[tuple[int, int, Annotation]] = field(default_factory=list)
    """Iterations, by stratum and number, that the last update left without derivations."""

    @classmethod
    def empty(cls, engine: Engine, strata: Sequence[CompiledStratum]) -> Trace:
        old, new = ([engine.annotation() for _ in strata] for _ in range(2))
        return cls([[] for _ in strata], [[] for _ in strata], old, new)

    def change(
        self, engine: Engine, stratum: int, iteration: int, more: Counted, fewer: Counted | None = None
    ) -> Annotation:
        """`N_i^s` with more facts and fewer."""
        counts, totals = self.iterations[stratum], self.totals[stratum]
        while len(counts) < iteration:
            counts.append(engine.annotation(sparse=True))
            totals.append(0)
        changed = counts[iteration - 1]
        changed.add(more)
        totals[iteration - 1] += more.total()
        if fewer is not None:
            changed.add(fewer, -1)
            totals[iteration - 1] -= fewer.total()
        return changed

    def shorten(self, stratum: int) -> None:
        """Forgets the iterations at the end that derive nothing any more."""
        totals = self.totals[stratum]
        while totals and not totals[-1]:
            self.forgotten.append((stratum, len(totals), self.iterations[stratum].pop()))
            totals.pop()


@dataclass
class Kept:
    """What is kept; `None` where it is not."""

    nonrecursive: Annotation | None = None
    recursive: Annotation | None = None
    trace: Trace | None = None
    dropped: list[str] = field(default_factory=list)
    """What the last update could not keep right, in words."""

    @classmethod
    def empty(cls, engine: Engine, strata: Sequence[CompiledStratum], names: frozenset[str]) -> Kept:
        return cls(
            engine.annotation() if "nonrecursive" in names else None,
            engine.annotation() if "recursive" in names else None,
            Trace.empty(engine, strata) if "trace" in names else None,
        )

    def names(self) -> frozenset[str]:
        """The names of what is kept."""
        return frozenset(name for name in _WORDS if getattr(self, name) is not None)

    def annotations(self) -> Iterator[Annotation]:
        yield from (one for _, _, one in self.placed())
        if self.trace is not None:
            yield from (*self.trace.old, *self.trace.new)

    def placed(self) -> list[Placed]:
        """Everything that counts derivations."""
        kinds = ((NONRECURSIVE, self.nonrecursive), (RECURSIVE, self.recursive))
        found: list[Placed] = [(kind, (), one) for kind, one in kinds if one is not None]
        if self.trace is not None:
            for place, iterations in enumerate(self.trace.iterations):
                found += [(TRACE, (place, i), counts) for i, counts in enumerate(iterations, start=1)]
        return found

    def forgotten(self) -> list[Placed]:
        """The same for iterations that the last update left without derivations."""
        return [] if self.trace is None else [(TRACE, (place, i), one) for place, i, one in self.trace.forgotten]

    def nbytes(self) -> int:
        return sum(annotation.nbytes() for annotation in self.annotations())

    def without(self, *names: str) -> Kept:
        """The same without some parts, which an algorithm cannot keep right."""
        lost = [name for name in names if name in self.names()]
        kept = {name: None if name in lost else getattr(self, name) for name in _WORDS}
        return Kept(**kept, dropped=[f"the {_WORDS[name]} were dropped" for name in lost])

    @contextmanager
    def staged(self) -> Iterator[None]:
        """Undoes what happened to the state if an exception ends the block."""
        undo: list[Callable[[], None]] = [annotation.savepoint() for annotation in self.annotations()]
        if self.trace is not None:
            before = dict(vars(self.trace))
            before.update(iterations=list(map(list, self.trace.iterations)), totals=list(map(list, self.trace.totals)))
            undo.append(lambda: vars(self.trace).update(before))
            self.trace.forgotten = []
        try:
            yield
        except BaseException:
            for one in undo:
                one()
            raise


_WORDS = {
    "nonrecursive": "counts of nonrecursive derivations",
    "recursive": "counts of recursive derivations",
    "trace": "counts of derivations by iteration",
}

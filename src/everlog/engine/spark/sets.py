"""Sets of facts as values on Spark: runs, and views over them that a job computes where it needs them.

A view is a set expression; it becomes part of the plan of whatever uses it. Known relations between runs are used before
Spark is: `I - Δ` is `I` without the runs of `Δ`, and `I |= Δ` is free when `Δ` was derived to have nothing of `I`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from everlog.engine.algebra import FactSet, Region
from everlog.engine.spark import naming
from everlog.engine.spark.frames import union, widened
from everlog.engine.spark.membership import absent, flagged, present
from everlog.engine.spark.runs import Run, total

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from everlog.engine.spark.engine import SparkEngine

Wanted = Mapping[str, int]
"""Classes of ids by column (see `runs.py`): facts with others are not needed."""

EVERYTHING: Wanted = {}


def own(facts: FactSet) -> SparkFacts:
    assert isinstance(facts, SparkFacts), "facts of another engine"
    return facts


class SparkFacts(FactSet):
    """A set of facts of a Spark engine."""

    def __init__(self, engine: SparkEngine) -> None:
        self.engine = engine

    @abstractmethod
    def frame(self, wanted: Wanted = EVERYTHING) -> DataFrame | None:
        """The facts, each once, but perhaps not those that are not wanted; None if there are certainly none."""
        ...

    @abstractmethod
    def about(self, wanted: Wanted = EVERYTHING) -> int:
        """At most so many facts are there; 0 means that there is none."""
        ...

    @abstractmethod
    def computed(self) -> Stored:
        """The same set as runs."""
        ...

    def inside(self, frame: DataFrame, keys: Sequence[str], wanted: Wanted, rows: int | None) -> DataFrame | None:
        """The rows whose keys are a fact of this set; None if there are certainly none.

        Only the wanted facts are asked for. There are at most so many rows (None: nobody knows).
        """
        sought = self.frame(wanted)
        return None if sought is None else present(frame, keys, sought, self.about(wanted), rows)

    def outside(self, frame: DataFrame, keys: Sequence[str], wanted: Wanted, rows: int | None) -> DataFrame:
        """The rows whose keys are no fact of this set."""
        sought = self.frame(wanted)
        return frame if sought is None else absent(frame, keys, sought, self.about(wanted), rows)

    def flag(self, frame: DataFrame, keys: Sequence[str], wanted: Wanted, name: str) -> DataFrame | None:
        """All rows, with a column that is true where the keys are a fact of this set; None if they never are."""
        sought = self.frame(wanted)
        return None if sought is None else flagged(frame, keys, sought, self.about(wanted), name)

    def __or__(self, other: FactSet) -> SparkFacts:
        return _either(self, own(other))

    def __sub__(self, other: FactSet) -> SparkFacts:
        return _without(self, own(other))

    def __and__(self, other: FactSet) -> SparkFacts:
        return _both(self, own(other))

    def __ior__(self, other: FactSet) -> Stored:
        return self.computed().plus(own(other))

    def __isub__(self, other: FactSet) -> Stored:
        return (self - other).computed()

    def __iand__(self, other: FactSet) -> Stored:
        return (self & other).computed()

    def __bool__(self) -> bool:
        return self.about() > 0 and len(self) > 0

    def __len__(self) -> int:
        return total(self.computed().runs)

    def within(self, region: Region) -> SparkFacts:
        return self.engine.within(self, region)


class Stored(SparkFacts):
    """Disjoint runs."""

    def __init__(self, engine: SparkEngine, runs: Sequence[Run]) -> None:
        super().__init__(engine)
        self.runs = tuple(run for run in runs if run.rows)

    def frame(self, wanted: Wanted = EVERYTHING) -> DataFrame | None:
        frames = [widened(run.frame, self.engine.width) for run in self.runs if run.may_match(wanted)]
        return union(frames) if frames else None

    def about(self, wanted: Wanted = EVERYTHING) -> int:
        return total(run for run in self.runs if run.may_match(wanted))

    def computed(self) -> Stored:
        return self

    def plus(self, other: SparkFacts) -> Stored:
        """The union with another set, as runs."""
        if not self.runs:
            return other.computed()
        if not isinstance(other, Stored):
            other = _without(other, self).computed()
            return Stored(self.engine, (*self.engine.compacted(self.runs), *other.runs))
        new = [run for run in other.runs if run not in self.runs]
        apart = [run for run in new if is_apart(run, self.runs)]
        overlapping = [run for run in new if run not in apart]
        if overlapping:
            apart += _without(Stored(self.engine, overlapping), self).computed().runs
        return Stored(self.engine, (*self.engine.compacted(self.runs), *apart)) if apart else self


def is_apart(run: Run, runs: Sequence[Run]) -> bool:
    return all(run.is_apart(other) for other in runs)


class View(SparkFacts):
    """`left | right`, `left - right` or `left & right`; computed at most once, when it must be."""

    def __init__(self, operator: str, left: SparkFacts, right: SparkFacts) -> None:
        super().__init__(left.engine)
        self.operator, self.left, self.right = operator, left, right
        self._computed: Stored | None = None

    def frame(self, wanted: Wanted = EVERYTHING) -> DataFrame | None:
        if self._computed is not None:
            return self._computed.frame(wanted)
        left = self.left.frame(wanted)
        names = naming.columns(self.engine.width)
        if self.operator == "-":
            return None if left is None else self.right.outside(left, names, wanted, self.left.about(wanted))
        if self.operator == "&":
            return None if left is None else self.right.inside(left, names, wanted, self.left.about(wanted))
        right = self.right.frame(wanted)
        if left is None or right is None:
            return right if left is None else left
        # The smaller set gives way to the larger one.
        if self.left.about(wanted) < self.right.about(wanted):
            return union([self.right.outside(left, names, wanted, self.left.about(wanted)), right])
        return union([left, self.left.outside(right, names, wanted, self.right.about(wanted))])

    def inside(self, frame: DataFrame, keys: Sequence[str], wanted: Wanted, rows: int | None) -> DataFrame | None:
        if self._computed is not None or self.operator == "|":
            return super().inside(frame, keys, wanted, rows)
        found = self.left.inside(frame, keys, wanted, rows)
        if found is None:
            return None
        if self.operator == "&":
            return self.right.inside(found, keys, wanted, rows)
        return self.right.outside(found, keys, wanted, rows)

    def outside(self, frame: DataFrame, keys: Sequence[str], wanted: Wanted, rows: int | None) -> DataFrame:
        if self._computed is not None or self.operator != "|":
            return super().outside(frame, keys, wanted, rows)
        return self.right.outside(self.left.outside(frame, keys, wanted, rows), keys, wanted, rows)

    def about(self, wanted: Wanted = EVERYTHING) -> int:
        if self._computed is not None:
            return self._computed.about(wanted)
        left = self.left.about(wanted)
        if self.operator == "-":
            return left
        right = self.right.about(wanted)
        return left + right if self.operator == "|" else min(left, right)

    def computed(self) -> Stored:
        if self._computed is None:
            apart: frozenset[int] = frozenset()
            if self.operator == "-" and isinstance(self.right, Stored):
                apart = apart.union(*(run.parts for run in self.right.runs))
            self._computed = self.engine.stored(self.frame(), apart)
        return self._computed


def _either(left: SparkFacts, right: SparkFacts) -> SparkFacts:
    if left is right or not right.about():
        return left
    if not left.about():
        return right
    if isinstance(left, Stored) and isinstance(right, Stored):
        new = [run for run in right.runs if run not in left.runs]
        if all(is_apart(run, left.runs) for run in new):
            return Stored(left.engine, (*left.runs, *new)) if new else left
    return View("|", left, right)


def _without(left: SparkFacts, right: SparkFacts) -> SparkFacts:
    if left is right:
        return left.engine.empty()
    if isinstance(left, Stored) and isinstance(right, Stored):
        shared = set(left.runs) & set(right.runs)
        left = Stored(left.engine, [run for run in left.runs if run not in shared])
        right = Stored(right.engine, [run for run in right.runs if run not in shared and not is_apart(run, left.runs)])
    return View("-", left, right) if left.about() and right.about() else left


def _both(left: SparkFacts, right: SparkFacts) -> SparkFacts:
    if left is right:
        return left
    if not left.about() or not right.about():
        return left.engine.empty()
    if left.about() > right.about():  # a range of an annotation, of which nobody knows the size, comes second
        left, right = right, left
    if isinstance(left, Stored) and isinstance(right, Stored):
        shared = set(left.runs) & set(right.runs)
        others = [run for run in right.runs if run not in shared]
        if all(is_apart(run, others) for run in left.runs if run not in shared):
            return Stored(left.engine, [run for run in left.runs if run in shared])
    return View("&", left, right)

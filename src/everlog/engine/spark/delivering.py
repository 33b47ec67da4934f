"""What rule instances are evaluated for: their heads as a set or a multiset, or the facts of their bodies.

The instances of all shapes are delivered together, by one job, which counts them on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from everlog.engine.spark import naming
from everlog.engine.spark.annotations import SparkCounted
from everlog.engine.spark.frames import opaque, union
from everlog.engine.spark.naming import COUNT, RELATION
from everlog.engine.spark.patterns import Pattern
from everlog.engine.spark.runs import classes_of
from everlog.engine.spark.sets import SparkFacts, Stored, View, Wanted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

    from everlog.engine.spark.engine import SparkEngine
    from everlog.engine.spark.joins import Conjunction
    from everlog.engine.spark.regions import Place

_FACTS: Final = "facts"
_ROWS: Final = "rows"


class Delivery:
    """Instances of rules, shape by shape."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine
        self._found: list[tuple[Conjunction, DataFrame, Sequence[Pattern]]] = []

    def take(self, instances: Conjunction, patterns: Sequence[Pattern]) -> None:
        """Takes the instances of a shape, and the atoms that are wanted of them."""
        if instances.frame is not None:
            self._found.append((instances, instances.frame, patterns))

    def facts(self, excluding: SparkFacts | None = None, counting: bool = True) -> Stored:
        """The facts, each once, without those of a set; the instances count as derivations unless told otherwise."""
        rows = self._rows()
        if rows is None:
            return self._engine.empty()
        counted, seen = _counted(rows) if counting else (opaque(rows), None)
        facts = counted.distinct()
        apart: frozenset[int] = frozenset()
        if excluding is not None:
            facts = excluding.outside(facts, naming.columns(self._engine.width), self._wanted(), None)
            apart = covered(excluding)
        found = self._engine.stored(facts, apart)
        if seen is not None:
            self._engine.derivations += seen.get.get(_ROWS, 0)
        return found

    def multiset(self, counting: bool = True) -> SparkCounted:
        """The facts, each as often as there are instances for it."""
        from pyspark.sql.functions import count, lit

        rows = self._rows()
        if rows is None:
            return SparkCounted(self._engine, None)
        names = naming.columns(self._engine.width)
        counted, seen = _counted(rows) if counting else (opaque(rows), None)
        found = SparkCounted(self._engine, counted.groupBy(*names).agg(count(lit(1)).alias(COUNT)))
        found.run()
        if seen is not None:
            self._engine.derivations += seen.get.get(_ROWS, 0)
        return found

    def facts_within(self, place: Place) -> Stored:
        """The facts of all patterns of each instance that are in a region, each once."""
        from pyspark.sql.functions import array, col, explode, struct

        names = naming.columns(self._engine.width)
        parts = [
            frame.select(array(*(struct(*instances.fact(pattern, names)) for pattern in patterns)).alias(_FACTS))
            for instances, frame, patterns in self._found
            if patterns
        ]
        if not parts:
            return self._engine.empty()
        counted, seen = _counted(union(parts))
        facts = counted.select(explode(_FACTS).alias(_FACTS)).select(*(col(_FACTS)[name].alias(name) for name in names))
        found = self._engine.stored(facts.where(place.condition()).distinct())
        self._engine.derivations += seen.get.get(_ROWS, 0)
        return found

    def count(self) -> int:
        """How many instances there are."""
        return sum(frame.count() for _, frame, _ in self._found)

    def _rows(self) -> DataFrame | None:
        """A row for each instance, with its one fact."""
        names = naming.columns(self._engine.width)
        parts = [frame.select(*instances.fact(pattern, names)) for instances, frame, (pattern,) in self._found]
        return union(parts) if parts else None

    def _wanted(self) -> Wanted:
        relations = [
            instances.values(pattern.relation) for instances, _, patterns in self._found for pattern in patterns
        ]
        return {RELATION: classes_of(frozenset().union(*relations))}


def covered(facts: SparkFacts) -> frozenset[int]:
    """The numbers of runs whose facts a set certainly has."""
    if isinstance(facts, Stored):
        return frozenset().union(*(run.parts for run in facts.runs))
    if isinstance(facts, View) and facts.operator == "|":
        return covered(facts.left) | covered(facts.right)
    return frozenset()


def _counted(rows: DataFrame) -> tuple[DataFrame, Observation]:
    from pyspark.sql import Observation
    from pyspark.sql.functions import count, lit

    seen = Observation()
    return rows.observe(seen, count(lit(1)).alias(_ROWS)), seen

"""Multisets and annotations: facts with a number beside them.

An annotation is a frame of the facts whose value is not the default, with the difference. It is replaced, never changed, so
that a savepoint is the frame of that time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from everlog.engine.algebra import Annotation, Counted, FactSet
from everlog.engine.spark import naming
from everlog.engine.spark.frames import union, widened
from everlog.engine.spark.membership import absent, present
from everlog.engine.spark.naming import COUNT
from everlog.engine.spark.runs import Run
from everlog.engine.spark.sets import EVERYTHING, SparkFacts, Stored, Wanted, own

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from everlog.engine.spark.engine import SparkEngine


class SparkCounted(Counted):
    """A multiset: a frame of distinct facts with positive numbers, computed when it is first asked for."""

    def __init__(self, engine: SparkEngine, frame: DataFrame | None) -> None:
        self.engine = engine
        self._frame = frame
        self._run: Run | None = None

    def run(self) -> Run | None:
        if self._run is None and self._frame is not None:
            self._run = self.engine.run(self._frame)
            self._frame = self._run.frame
        return self._run

    def frame(self) -> DataFrame | None:
        """Facts with `COUNT`."""
        return None if self._frame is None else widened(self._frame, self.engine.width)

    def __bool__(self) -> bool:
        run = self.run()
        return run is not None and run.rows > 0

    def total(self) -> int:
        from pyspark.sql.functions import sum as total

        run = self.run()
        if run is None or not run.rows:
            return 0
        ((found,),) = run.frame.agg(total(COUNT)).collect()
        return int(found)

    def support(self) -> Stored:
        run = self.run()
        if run is None:
            return self.engine.empty()
        return Stored(self.engine, [Run(run.frame.drop(COUNT), run.rows, run.classes, parts=run.parts, source=run)])

    def __add__(self, other: Counted | FactSet) -> SparkCounted:
        return self._combined(other, 1)

    def __sub__(self, other: Counted | FactSet) -> SparkCounted:
        return self._combined(other, -1)

    def _combined(self, other: Counted | FactSet, sign: int) -> SparkCounted:
        from pyspark.sql.functions import col

        summed = added(self.engine, self.frame(), as_counted(other).frame(), sign)
        return SparkCounted(self.engine, None if summed is None else summed.where(col(COUNT) > 0))


def as_counted(facts: Counted | FactSet) -> SparkCounted:
    """A multiset of this engine; a set is one in which each fact occurs once."""
    from pyspark.sql.functions import lit

    if isinstance(facts, SparkCounted):
        return facts
    assert isinstance(facts, SparkFacts), "facts of another engine"
    frame = facts.frame()
    return SparkCounted(facts.engine, None if frame is None else frame.withColumn(COUNT, lit(1).cast("bigint")))


def added(engine: SparkEngine, left: DataFrame | None, right: DataFrame | None, sign: int) -> DataFrame | None:
    """The numbers of two frames added, those of the second with a sign; facts that neither has are not there."""
    from pyspark.sql.functions import col, lit
    from pyspark.sql.functions import sum as total

    names = naming.columns(engine.width)
    if right is None:
        return left
    right = right.select(*names, (col(COUNT) * lit(sign)).alias(COUNT))
    if left is None:
        return right
    return union([left, right]).groupBy(*names).agg(total(COUNT).alias(COUNT))


class SparkAnnotation(Annotation):
    """An integer for every fact."""

    def __init__(self, engine: SparkEngine, default: int) -> None:
        self.engine = engine
        self.default = default
        self._values: Run | None = None

    def frame(self) -> DataFrame | None:
        """The facts whose value is not the default, with the difference as `COUNT`."""
        if self._values is None or not self._values.rows:
            return None
        return widened(self._values.frame, self.engine.width)

    @property
    def rows(self) -> int:
        return 0 if self._values is None else self._values.rows

    def _replace(self, frame: DataFrame | None) -> None:
        from pyspark.sql.functions import col

        self._values = None if frame is None else self.engine.run(frame.where(col(COUNT) != 0))

    def _without(self, facts: SparkFacts) -> DataFrame | None:
        """The values of all other facts."""
        frame = self.frame()
        names = naming.columns(self.engine.width)
        return None if frame is None else facts.outside(frame, names, EVERYTHING, self.rows)

    def set(self, facts: FactSet, value: int) -> None:
        from pyspark.sql.functions import lit

        chosen = own(facts).computed()
        new = chosen.frame()
        if new is not None:
            rows = [new.withColumn(COUNT, lit(value - self.default).cast("bigint"))]
            others = self._without(chosen)
            self._replace(union(rows if others is None else [others, *rows]))

    def add(self, facts: Counted | FactSet, sign: int = 1) -> None:
        more = as_counted(facts).frame()
        if more is not None:
            self._replace(added(self.engine, self.frame(), more, sign))

    def assign(self, facts: FactSet, other: Annotation) -> None:
        chosen = own(facts).computed()
        new = as_annotation(other).offsets(chosen, self.default)
        if new is not None:
            others = self._without(chosen)
            self._replace(new if others is None else union([others, new]))

    def offsets(self, facts: SparkFacts, default: int) -> DataFrame | None:
        """Facts with the difference of their value to some default."""
        from pyspark.sql.functions import coalesce, col, lit

        frame, values, names = facts.frame(), self.frame(), naming.columns(self.engine.width)
        shift = self.default - default
        if frame is None:
            return None
        if values is None:
            return frame.withColumn(COUNT, lit(shift).cast("bigint"))
        offset = (coalesce(col(COUNT), lit(0)) + lit(shift)).cast("bigint")
        return frame.join(values, names, "left").select(*names, offset.alias(COUNT))

    def savepoint(self) -> Callable[[], None]:
        values = self._values

        def undo() -> None:
            self._values = values

        return undo

    def nbytes(self) -> int:
        return 0

    def between(self, least: int, greatest: int) -> Between:
        return Between(self, least, greatest)

    def counted(self, facts: FactSet) -> SparkCounted:
        from pyspark.sql.functions import col

        frame = self.offsets(own(facts), 0)
        return SparkCounted(self.engine, None if frame is None else frame.where(col(COUNT) > 0))


def as_annotation(annotation: Annotation) -> SparkAnnotation:
    assert isinstance(annotation, SparkAnnotation), "an annotation of another engine"
    return annotation


class Between(SparkFacts):
    """All facts whose annotation lies in a range; it has no facts of its own, only a test."""

    def __init__(self, annotation: SparkAnnotation, least: int, greatest: int) -> None:
        super().__init__(annotation.engine)
        self._annotation = annotation
        self._least, self._greatest = least - annotation.default, greatest - annotation.default
        self._usual = self._least <= 0 <= self._greatest
        """Whether the default is in the range."""

    def frame(self, wanted: Wanted = EVERYTHING) -> DataFrame | None:
        raise TypeError("a range of annotations has no facts of its own: intersect it with a set")

    def about(self, wanted: Wanted = EVERYTHING) -> int:
        return 2**62

    def computed(self) -> Stored:
        raise TypeError("a range of annotations has no facts of its own: intersect it with a set")

    def inside(self, frame: DataFrame, keys: Sequence[str], wanted: Wanted, rows: int | None) -> DataFrame | None:
        values = self._annotation.frame()
        if values is None:
            return frame if self._usual else None
        return self._chosen(frame, keys, values, rows, negated=False)

    def outside(self, frame: DataFrame, keys: Sequence[str], wanted: Wanted, rows: int | None) -> DataFrame:
        values = self._annotation.frame()
        if values is None:
            return frame.limit(0) if self._usual else frame
        return self._chosen(frame, keys, values, rows, negated=True)

    def _chosen(
        self, frame: DataFrame, keys: Sequence[str], values: DataFrame, rows: int | None, negated: bool
    ) -> DataFrame:
        from pyspark.sql.functions import col

        in_range = col(COUNT).between(self._least, self._greatest)
        # What has no value of its own has the default: the others tell which rows are to go, or which are to stay.
        told = values.where(~in_range if self._usual else in_range)
        chosen = absent if self._usual != negated else present
        return chosen(frame, keys, told, self._annotation.rows, rows)

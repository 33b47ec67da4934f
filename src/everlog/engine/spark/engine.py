"""The Spark engine: relations as numbers, sets of facts as runs, and the jobs that compute them.

All facts of all predicates are rows of one kind (`naming.py`), so that a rule shape is one join whatever its predicates.
Runs are partitioned by all their columns, and Spark is told so: what rules derive is moved once, to where it would be if
it were known already, and the materialisation is not moved at all.

On a classic session the engine works in a session of its own beside the user's, with settings of its own: it knows the
sizes of its sets, and adaptive execution would forget how checkpoints are partitioned. The user's settings are not touched.
Through Spark Connect it works in the session that it is given.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from everlog.datalog.syntax import Constant
from everlog.datalog.values import Value
from everlog.engine.algebra import Engine, FactSet, Region
from everlog.engine.spark import naming
from everlog.engine.spark.annotations import SparkAnnotation
from everlog.engine.spark.cutting import Cut, CutName, cut_named
from everlog.engine.spark.delivering import covered
from everlog.engine.spark.frames import fact_row, opaque, union, widened
from everlog.engine.spark.naming import RELATION
from everlog.engine.spark.patterns import Parameters
from everlog.engine.spark.regions import Place
from everlog.engine.spark.runs import CLASSES, Run, class_of, merged_length, new_number
from everlog.engine.spark.sets import SparkFacts, Stored, own
from everlog.errors import ArityMistake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_OWN_SETTINGS: Final = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.unionOutputPartitioning": "true",
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
}

_MOST_RUNS: Final = 8
"""From this many runs on, a set that grows merges some."""


class SparkEngine(Engine):
    """Facts in DataFrames.

    `terms` has the columns `id` and `term`, the N-Triples text of each value; only comparisons need it. `encode` gives the
    ids of values that rules mention. `scratch` is the folder for `cut="parquet"`, removed by whoever gave it.
    """

    def __init__(
        self,
        spark: SparkSession,
        terms: DataFrame | None,
        encode: Callable[[Sequence[Value]], Sequence[int]],
        cut: CutName = "local_checkpoint",
        scratch: str | None = None,
    ) -> None:
        self._given = spark
        self.partitions = int(str(spark.conf.get("spark.sql.shuffle.partitions")))
        self.spark = _beside(spark, self.partitions)
        self.terms = terms
        self.derivations = 0
        self.width = 0
        self._relations: dict[str, tuple[int, int]] = {}
        self._numbers = itertools.count()
        self._encode = encode
        self._ids: dict[Constant, int] = {}
        self._places: dict[Region, Place] = {}
        self._tables: dict[Parameters, DataFrame] = {}
        self._cut: Cut = cut_named(self.spark, cut, scratch, self.partitions)
        self._runs: weakref.WeakSet[Run] = weakref.WeakSet()

    # ------------------------------------------------------------------------------------ relations and values

    def relation(self, predicate: str, arity: int) -> int:
        """The number of a predicate, given when it is first mentioned."""
        if predicate not in self._relations:
            self._relations[predicate] = next(self._numbers), arity
        number, known = self._relations[predicate]
        if known != arity:
            raise ArityMistake(f"{predicate} has {known} arguments elsewhere and {arity} here")
        self.width = max(self.width, arity)
        return number

    def relations(self) -> Mapping[str, tuple[int, int]]:
        """The number and the arity of each predicate."""
        return self._relations

    @contextmanager
    def scratch(self, without: str) -> Iterator[SparkEngine]:
        """This engine, for a while: relations whose names start so are out of sight, new ones forgotten at the end."""
        before = self._relations
        self._relations = {name: relation for name, relation in before.items() if not name.startswith(without)}
        try:
            yield self
        finally:
            self._relations = before

    def ids(self, constants: Iterable[Constant]) -> Mapping[Constant, int]:
        """The ids of some constants, and perhaps of others."""
        missing = list(dict.fromkeys(constant for constant in constants if constant not in self._ids))
        if missing:
            self._ids.update(zip(missing, self._encode([constant.value for constant in missing]), strict=True))
        return self._ids

    # ------------------------------------------------------------------------------------ facts in and out

    def empty(self) -> Stored:
        return Stored(self, ())

    def annotation(self, default: int = 0, sparse: bool = False) -> SparkAnnotation:
        return SparkAnnotation(self, default)

    def facts(self, frames: Mapping[str, DataFrame], apart: FactSet | None = None) -> Stored:
        """A set of facts by predicate, from the columns `a0`, `a1`, … of ids; a nullary fact is there if a row is.

        None of them is in the set `apart`, as the caller knows.
        """
        from pyspark.sql.functions import col, lit

        arities = {predicate: _arity(frame) for predicate, frame in frames.items()}
        numbers = {predicate: self.relation(predicate, arity) for predicate, arity in arities.items()}
        names = naming.columns(self.width)
        parts = [
            frame.select(
                *fact_row(lit(numbers[predicate]), [col(name) for name in naming.arguments(arities[predicate])], names)
            )
            for predicate, frame in frames.items()
        ]
        if not parts:
            return self.empty()
        known = frozenset[int]() if apart is None else covered(own(apart))
        return self.stored(opaque(self._here(union(parts))).distinct(), known)

    def frame(self, facts: FactSet, predicate: str, arity: int) -> DataFrame:
        """The facts of a predicate as ids; of a nullary one, a row if it holds."""
        from pyspark.sql.functions import col, lit

        number = self.relation(predicate, arity)
        found = own(facts).frame({RELATION: class_of(number)})
        if found is None:
            found = self._nothing()
        found = found.where(col(RELATION) == number)
        found = found.select(*naming.arguments(arity)) if arity else found.select(lit(True).alias("present"))
        return self._given.createDataFrame([], found.schema).unionAll(found) if self.is_beside else found

    def counts(self, facts: FactSet) -> dict[str, int]:
        """How many facts of each predicate there are."""
        names = {number: predicate for predicate, (number, _) in self._relations.items()}
        frame = own(facts).frame()
        return {} if frame is None else {names[p]: n for p, n in frame.groupBy(RELATION).count().collect()}

    def within(self, facts: SparkFacts, region: Region) -> SparkFacts:
        return self.place(region).of(facts)

    def place(self, region: Region) -> Place:
        found = self._places.get(region)
        if found is None:
            found = self._places[region] = Place(self, region)
        return found

    def table(self, parameters: Parameters) -> DataFrame:
        """The parameters that differ between the rules of a shape."""
        found = self._tables.get(parameters)
        if found is None:
            names = [f"r{~parameter}" for parameter in parameters.varying]
            rows = [tuple(row[~parameter] for parameter in parameters.varying) for row in parameters.rows]
            found = self.spark.createDataFrame(rows, ", ".join(f"{name} bigint" for name in names))
            self._tables[parameters] = found
        return found

    def terms_here(self) -> DataFrame:
        """The dictionary, as a frame of the engine's session."""
        assert self.terms is not None
        return self._here(self.terms)

    # ------------------------------------------------------------------------------------ computing

    def stored(self, frame: DataFrame | None, apart: frozenset[int] = frozenset()) -> Stored:
        """The set of some distinct facts, computed; none of them is in the runs with the given numbers."""
        return Stored(self, () if frame is None else [self.run(frame, apart)])

    def run(self, frame: DataFrame, apart: frozenset[int] = frozenset(), parts: frozenset[int] | None = None) -> Run:
        """Computes a frame of facts, a merger of runs perhaps, or one of bindings."""
        from pyspark.sql.functions import count, expr, lit

        names = [name for name in frame.columns if name in naming.columns(self.width)]
        classes = [expr(f"bit_or(shiftleft(1L, int(pmod({name}, {CLASSES}))))").alias(name) for name in names]
        kept, seen = self._cut(frame, [count(lit(1)).alias("rows"), *classes])
        present = {name: seen[name] or 0 for name in names}
        run = Run(kept, seen["rows"], present, apart, parts or new_number())
        self._runs.add(run)
        weakref.finalize(run, self._cut.forget, kept).atexit = False
        return run

    def compacted(self, runs: Sequence[Run]) -> Sequence[Run]:
        """The same runs, or fewer if there are many: joins with a set have an input for each."""
        length = merged_length([run.rows for run in runs], _MOST_RUNS)
        if not length:
            return runs
        merged = runs[-length:]
        frame = union([widened(one.frame, self.width) for one in merged])
        return [*runs[:-length], self.run(frame, parts=frozenset().union(*(one.parts for one in merged)))]

    def release(self) -> None:
        """Gives back what Spark keeps; no set of this engine may be used afterwards."""
        for run in self._runs:
            self._cut.forget(run.frame)

    # ------------------------------------------------------------------------------------ sessions

    @property
    def is_beside(self) -> bool:
        """Whether the engine has a session of its own."""
        return self.spark is not self._given

    def _here(self, frame: DataFrame) -> DataFrame:
        """A frame of the user's as one of the engine's session."""
        return self.spark.createDataFrame([], frame.schema).unionAll(frame) if self.is_beside else frame

    def _nothing(self) -> DataFrame:
        return self.spark.createDataFrame([], naming.schema(self.width))


def _beside(spark: SparkSession, partitions: int) -> SparkSession:
    """A session with the engine's settings, if there can be one that sees the frames of the given session."""
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

    if not isinstance(spark.range(0), ClassicDataFrame):
        return spark
    session = spark.newSession()
    for key, value in _OWN_SETTINGS.items():
        session.conf.set(key, value)
    session.conf.set("spark.sql.shuffle.partitions", str(partitions))
    return session


def _arity(frame: DataFrame) -> int:
    return sum(1 for name in frame.columns if name[0] == "a" and name[1:].isdigit())

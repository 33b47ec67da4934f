"""What is kept for updates (`engine/kept_kinds.py`) as the section `state` of a store has it, and back, on Spark.

The relations are rows of one DataFrame, so that one job writes all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import array, col, element_at, lit, when
from pyspark.sql.functions import min as least

from everlog.datalog.syntax import HIDDEN
from everlog.engine.algebra import Annotation, FactSet
from everlog.engine.backend import KeptState, Recovered
from everlog.engine.kept_kinds import BACKBONE, CLASSES, HIDDEN_FACTS, NONRECURSIVE, RECURSIVE, TRACE
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.annotations import SparkAnnotation
from everlog.engine.spark.facts.fact_schema import COUNT, RELATION
from everlog.spark.handover import to_spark
from everlog.store.spark_layers import Rows
from everlog.store.term_dictionary import NUMBER

_PADDING = -1


def arities(engine: SparkEngine, found: frozenset[str]) -> dict[str, int]:
    """The relations of some kinds that there may be, and how many columns they have."""
    more = {HIDDEN_FACTS: 0, NONRECURSIVE: 1, RECURSIVE: 1, TRACE: 3, BACKBONE: 1}
    named = {
        f"{kind}:{predicate}": arity + more[kind]
        for kind in sorted(found & more.keys())
        for predicate, (_, arity) in engine.relations().items()
        if kind != HIDDEN_FACTS or predicate.startswith(HIDDEN)
    }
    return {**named, CLASSES: 2} if CLASSES in found else named


def whole(engine: SparkEngine, state: KeptState, sizes: Mapping[str, int], classes: Mapping[int, int]) -> Rows | None:
    """All there is to be kept, as rows of relations with some names and numbers of columns; `classes` is `π`."""
    names, width = list(sizes), max(sizes.values(), default=0)
    numbers = {name: number for number, name in enumerate(names)}
    frames = []
    if classes:
        frames.append(_padded(class_pairs(engine.spark, classes), numbers[CLASSES], width))
    if any(name.startswith(f"{HIDDEN_FACTS}:") for name in names):
        hidden = [number for name, (number, _) in engine.relations().items() if name.startswith(HIDDEN)]
        facts = engine.together(state.I).where(col(RELATION).isin(hidden))
        frames.append(laid_out(engine, facts, numbers, width, f"{HIDDEN_FACTS}:"))
    for kind, place, annotation in spark_annotations(state.annotations):
        values = engine.values(annotation)
        if values is not None:
            further = [*(lit(number).cast("bigint") for number in place), col(COUNT)]
            frames.append(laid_out(engine, values, numbers, width, f"{kind}:", further))
    for number, X in enumerate(state.backbones):
        if X:
            further = [lit(number).cast("bigint")]
            frames.append(laid_out(engine, engine.together(X), numbers, width, f"{BACKBONE}:", further))
    if not frames:
        return None
    joint = reduce(DataFrame.unionAll, frames).persist()
    return Rows(joint, names, joint.count())


def class_pairs(spark: SparkSession, classes: Mapping[int, int]) -> DataFrame:
    """The constants that others represent, with these."""
    columns = {"a0": pa.array(classes.keys(), pa.int64()), "a1": pa.array(classes.values(), pa.int64())}
    return to_spark(spark, pa.table(columns))


def apart(engine: SparkEngine, state: KeptState, kinds: frozenset[str]) -> dict[str, DataFrame]:
    """What there is to be kept of some kinds, each relation by itself, as a store gives them back."""
    sizes = arities(engine, kinds)
    rows = whole(engine, state, sizes, {})
    if rows is None:
        return {}
    found = {row[0] for row in rows.frame.select(NUMBER).distinct().collect()}
    return {
        name: rows.frame.where(col(NUMBER) == number).select(
            *([col(f"a{place}") for place in range(sizes[name])] or [lit(True).alias("present")])
        )
        for number, name in enumerate(rows.names)
        if number in found
    }


def difference(now: Rows, then: Rows) -> tuple[Rows, Rows]:
    """The rows that are new and those that are gone; both have the same names and columns."""
    added, deleted = (
        one.frame.join(other.frame, one.frame.columns, "left_anti").persist()
        for one, other in ((now, then), (then, now))
    )
    return Rows(added, now.names, added.count()), Rows(deleted, now.names, deleted.count())


def padding(place: int) -> int:
    """What a row has in a column that is not its own; a relation without any has 0 in the first, as in all stores."""
    return _PADDING if place else 0


def stored(frames: Mapping[str, DataFrame], names: Sequence[str], width: int) -> DataFrame | None:
    """Relations as a store has them, in one DataFrame."""
    padded = [_padded(frames[name], number, width) for number, name in enumerate(names) if name in frames]
    return reduce(DataFrame.unionAll, padded) if padded else None


def _padded(frame: DataFrame, number: int, width: int) -> DataFrame:
    """A relation as rows beside those of others."""
    given = [name for name in frame.columns if name != "present"]
    more = [lit(padding(place)).cast("bigint").alias(f"a{place}") for place in range(len(given), width)]
    return frame.select(lit(number).alias(NUMBER), *given, *more)


def recovered(engine: SparkEngine, frames: Mapping[str, DataFrame], kinds: frozenset[str], I: FactSet) -> Recovered:
    """What relations of some kinds say about the facts of `I`, and hidden facts."""
    hidden = {name.partition(":")[2]: frame for name, frame in frames.items() if name.startswith(f"{HIDDEN_FACTS}:")}
    found = Recovered(engine.facts(hidden, apart=I) if hidden else engine.empty())
    for kind in sorted(kinds & {NONRECURSIVE, RECURSIVE}):
        counts = _as_facts(engine, frames, kind, [COUNT])
        if counts is not None:
            found.counts[kind] = engine.counted(counts)
    backbones = _as_facts(engine, frames, BACKBONE, ["module"]) if BACKBONE in kinds else None
    if backbones is not None:
        found.backbones.update(engine.by_number(backbones, "module"))
    counts = _as_facts(engine, frames, TRACE, ["place", "iteration", COUNT]) if TRACE in kinds else None
    if counts is None:
        return found
    counts = counts.persist()
    for place, i in sorted(map(tuple, counts.select("place", "iteration").distinct().collect())):
        chosen = counts.where((col("place") == place) & (col("iteration") == i)).drop("place", "iteration")
        found.trace[place, i] = engine.counted(chosen)
    keys = [name for name in counts.columns if name not in ("place", "iteration", COUNT)]
    for place in {place for place, _ in found.trace}:
        first = counts.where(col("place") == place).groupBy(*keys).agg(least("iteration").alias(COUNT))
        found.stages[place] = engine.counted(first)
    counts.unpersist()
    return found


def spark_annotations(
    annotations: Sequence[tuple[str, tuple[int, ...], Annotation]],
) -> Iterator[tuple[str, tuple[int, ...], SparkAnnotation]]:
    """Annotations, all of them this engine's."""
    for kind, at, annotation in annotations:
        assert isinstance(annotation, SparkAnnotation), "an annotation of another engine"
        yield kind, at, annotation


def laid_out(
    engine: SparkEngine,
    facts: DataFrame,
    numbers: Mapping[str, int],
    width: int,
    prefix: str = "",
    further: Sequence[Column] = (),
) -> DataFrame:
    """Facts as rows of relations with some numbers, with further columns right behind their arguments.

    A relation is called as the predicate is, with a prefix; facts of predicates without one are left out.
    """
    known = {number: numbers.get(f"{prefix}{name}", -1) for name, (number, _) in engine.relations().items()}
    places = [known.get(number, -1) for number in range(len(engine.arities))]
    place = (col(RELATION) + 1).cast("int")
    numbered = facts.withColumn(NUMBER, element_at(array(*map(lit, places)), place))
    numbered = numbered.withColumn("arity", element_at(array(*map(lit, engine.arities)), place))
    columns = []
    for number in range(width):
        own = col(f"a{number}") if f"a{number}" in facts.columns else lit(_PADDING).cast("bigint")
        value = when(col("arity") > number, own)
        for distance, column in enumerate(further):
            value = value.when(col("arity") == number - distance, column)
        columns.append(value.otherwise(lit(padding(number)).cast("bigint")).alias(f"a{number}"))
    return numbered.where(col(NUMBER) >= 0).select(NUMBER, *columns)


def _as_facts(
    engine: SparkEngine, frames: Mapping[str, DataFrame], kind: str, further: Sequence[str]
) -> DataFrame | None:
    """The relations of a kind as facts of the engine, with further columns."""
    mine = {name.partition(":")[2]: frame for name, frame in frames.items() if name.startswith(f"{kind}:")}
    sizes = {predicate: len(frame.columns) - len(further) for predicate, frame in mine.items()}
    numbers = {predicate: engine.relation(predicate, arity) for predicate, arity in sizes.items()}
    parts = []
    for predicate, frame in mine.items():
        arity = sizes[predicate]
        arguments = [
            (col(f"a{place}") if place < arity else lit(_PADDING).cast("bigint")).alias(f"a{place}")
            for place in range(engine.width)
        ]
        values = [col(f"a{arity + place}").alias(name) for place, name in enumerate(further)]
        parts.append(frame.select(lit(numbers[predicate]).cast("bigint").alias(RELATION), *arguments, *values))
    return reduce(DataFrame.unionAll, parts) if parts else None

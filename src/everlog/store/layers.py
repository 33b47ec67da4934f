"""Facts in layers: `(older layers ∖ deleted) ∪ added`, read by Spark or by Arrow, and written.

Facts of all predicates are written by one job, into a folder per predicate. The one fact of a nullary predicate is a
row with 0 in its column `a0`, since a file without columns has no rows.

Layers are merged so that each has at least twice the rows of the next newer one: there are few of them, and what
is written for it is, over time, a small multiple of what changed. Only when the changes since the first layer have grown
to half its size is that one written again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from everlog.store.manifest import Layer, Part
from everlog.store.parquet_files import check_part, check_rows, files_in, part_of, read_files, reader
from everlog.store.term_dictionary import NUMBER

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_BROADCAST: Final = 1_000_000
"""Up to this many deleted facts are broadcast to the facts that they are deleted from."""


# Writing


def write_facts(
    facts: DataFrame, predicates: Sequence[str], folder: Path, named: Callable[[Path], str]
) -> dict[str, Part]:
    """Writes facts in id form, numbered by predicate, and gives each predicate's files."""
    from pyspark.sql.functions import coalesce, col, lit

    if "a0" not in facts.columns:
        facts = facts.withColumn("a0", lit(None).cast("bigint"))
    facts = facts.withColumn("a0", coalesce(col("a0"), lit(0).cast("bigint")))
    writer = facts.write if len(predicates) > 1 else facts.drop(NUMBER).write
    (writer.partitionBy(NUMBER) if len(predicates) > 1 else writer).parquet(str(folder))
    files: dict[str, list[Path]] = {}
    for file in files_in(folder):
        number = int(file.parent.name.partition("=")[2]) if len(predicates) > 1 else 0
        files.setdefault(predicates[number], []).append(file)
    parts = {predicate: part_of(some, named) for predicate, some in files.items()}
    return {predicate: part for predicate, part in parts.items() if part.rows}


def merged_length(sizes: Sequence[int]) -> int:
    """How many of the newest layers become one, given the rows of all of them, the newest last."""
    length, total = 1, sizes[-1]
    while length < len(sizes) and sizes[-length - 1] < 2 * total:
        total += sizes[-length - 1]
        length += 1
    return length


def mentioned(layers: Sequence[Layer]) -> list[str]:
    """The predicates that layers say something about."""
    return list(dict.fromkeys(predicate for layer in layers for predicate in (*layer.added, *layer.deleted)))


def alone(layers: Sequence[Layer], changed: Container[str] = ()) -> Layer:
    """What layers say about predicates that one of them alone mentions: when they are merged, these files stay."""
    mentions = Counter(predicate for layer in layers for predicate in mentioned([layer]))

    def stay(parts: Iterable[Mapping[str, Part]]) -> dict[str, Part]:
        named = (item for some in parts for item in some.items())
        return {name: part for name, part in named if mentions[name] == 1 and name not in changed}

    return Layer(stay(layer.added for layer in layers), stay(layer.deleted for layer in layers))


def without(layers: Sequence[Layer], predicates: Container[str]) -> tuple[Layer, ...]:
    """What layers say about other predicates than some."""

    def left(parts: Mapping[str, Part]) -> dict[str, Part]:
        return {name: part for name, part in parts.items() if name not in predicates}

    found = (Layer(left(layer.added), left(layer.deleted)) for layer in layers)
    return tuple(layer for layer in found if layer.added or layer.deleted)


# Reading by Spark


def facts_frame(spark: SparkSession, store: Path, layers: Sequence[Layer], predicate: str, arity: int) -> DataFrame:
    """The facts of a predicate in id form."""
    from pyspark.sql.functions import broadcast, lit

    names = _names(arity)
    facts: DataFrame | None = None
    for layer in layers:
        if facts is not None and (gone := layer.deleted.get(predicate)):
            deleted = part_frame(spark, store, gone, arity)
            facts = facts.join(broadcast(deleted) if gone.rows <= _BROADCAST else deleted, names, "left_anti")
        if more := layer.added.get(predicate):
            added = part_frame(spark, store, more, arity)
            facts = added if facts is None else facts.unionByName(added)
    if facts is None:
        facts = part_frame(spark, store, None, arity)
    return facts if arity else facts.select(lit(True).alias("present"))


def part_frame(spark: SparkSession, store: Path, part: Part | None, arity: int) -> DataFrame:
    """The rows of a part, by Spark."""
    names = _names(arity)
    schema = ", ".join(f"{name} bigint" for name in names)
    if part is None:
        return spark.createDataFrame([], schema)
    return reader(spark).schema(schema).parquet(*map(str, check_part(store, part, names)))


# Reading by Arrow


def facts_table(store: Path, layers: Sequence[Layer], predicate: str, arity: int) -> pa.Table:
    """The facts of a predicate as a table of ids."""
    if not layers:
        return _read(store, None, arity)
    first, *later = layers
    added, deleted = net_change(store, later, predicate, arity)
    return union(minus(_read(store, first.added.get(predicate), arity), deleted), added)


def net_change(store: Path, layers: Iterable[Layer], predicate: str, arity: int) -> tuple[pa.Table, pa.Table]:
    """What some layers do together: the facts that they add and those that they delete."""
    added = deleted = _read(store, None, arity)
    for layer in layers:
        more, gone = (_read(store, parts.get(predicate), arity) for parts in (layer.added, layer.deleted))
        added, deleted = compose((added, deleted), (more, gone))
    return added, deleted


def compose(first: tuple[pa.Table, pa.Table], second: tuple[pa.Table, pa.Table]) -> tuple[pa.Table, pa.Table]:
    """Two changes (added, deleted) as one. What one does and the other undoes is no change."""
    added = union(minus(first[0], second[1]), minus(second[0], first[1]))
    deleted = union(minus(first[1], second[0]), minus(second[1], first[0]))
    return added, deleted


def _read(store: Path, part: Part | None, arity: int) -> pa.Table:
    import pyarrow as pa

    names = _names(arity)
    files = [] if part is None else [store / file for file in part.files]
    table = read_files(files, names, pa.schema([(name, pa.int64()) for name in names]))
    if part is not None:
        check_rows(files, table.num_rows, part.rows)
    return table


def minus(table: pa.Table, other: pa.Table) -> pa.Table:
    """The rows of a table that another has not."""
    if not table.num_rows or not other.num_rows:
        return table
    return table.join(other, keys=table.column_names, join_type="left anti")


def union(table: pa.Table, other: pa.Table) -> pa.Table:
    """The rows of two tables."""
    import pyarrow as pa

    return pa.concat_tables([table, other]) if other.num_rows else table


def _names(arity: int) -> list[str]:
    return [f"a{place}" for place in range(max(arity, 1))]

"""Sections of a store written from sets of the Spark engine: one job for a change, and no fact in this process.

A change of few facts goes the way of the memory engine's (`sections.py`), which merges small layers without Spark. A larger
one is written as a layer where it lies; layers that are to be merged then are merged by Spark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from everlog.store.arrays import ids_of
from everlog.store.commit import Writing
from everlog.store.layers import facts_frame, merged_length, part_frame, write_facts
from everlog.store.manifest import Layer, Part
from everlog.store.parquet_files import check_part, files_in, reader, rows_in
from everlog.store.sections import write_section
from everlog.store.term_dictionary import FEW, NUMBER, TERMS

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from everlog.engine.memory.facts.table import Ids


@dataclass(frozen=True)
class Rows:
    """Rows of several relations in one DataFrame: `predicate` is a place among their names, `a0`, `a1`, … are columns."""

    frame: DataFrame
    names: Sequence[str]
    size: int


def write_rows(
    spark: SparkSession,
    writer: Writing,
    section: str,
    layers: Sequence[Layer],
    added: Rows | None,
    deleted: Rows | None,
    arities: Mapping[str, int],
) -> tuple[Layer, ...]:
    """The layers of a section after a change."""
    size = sum(rows.size for rows in (added, deleted) if rows is not None)
    if not size:
        return tuple(layers)
    if layers and size <= FEW:
        return write_section(
            spark, writer, section, layers, _fetched(added, arities), _fetched(deleted, arities), arities
        )
    more, fewer = ({} if rows is None else _written(writer, section, rows) for rows in (added, deleted))
    return _merged(spark, writer, section, (*layers, Layer(more, fewer)), arities)


def _written(writer: Writing, section: str, rows: Rows) -> dict[str, Part]:
    return write_facts(rows.frame, rows.names, writer.folder(section), writer.named) if rows.size else {}


def _fetched(rows: Rows | None, arities: Mapping[str, int]) -> dict[str, Ids]:
    import numpy as np
    import pyarrow as pa

    if rows is None or not rows.size:
        return {}
    table = rows.frame.toArrow()
    numbers, found = table.column(NUMBER).to_numpy(), {}
    for number in np.unique(numbers):
        name = rows.names[number]
        found[name] = ids_of(table.take(pa.array(np.flatnonzero(numbers == number))), arities[name])
    return found


def _merged(
    spark: SparkSession, writer: Writing, section: str, layers: tuple[Layer, ...], arities: Mapping[str, int]
) -> tuple[Layer, ...]:
    """Layers of which each has at least twice the rows of the next newer one."""
    length = merged_length([layer.rows() for layer in layers])
    if length == 1:
        return layers
    older, merging = layers[:-length], layers[-length:]
    names = list(dict.fromkeys(name for layer in merging for name in (*layer.added, *layer.deleted)))
    kept: list[dict[str, Part]] = [{}, {}]
    written: list[dict[str, DataFrame]] = [{}, {}]
    for name in names:
        mentions = [layer for layer in merging if name in layer.added or name in layer.deleted]
        if len(mentions) == 1:  # one layer alone says something: its files stay as they are
            for place, parts in enumerate((mentions[0].added, mentions[0].deleted)):
                if name in parts:
                    kept[place][name] = parts[name]
        elif older:
            written[0][name], written[1][name] = _net_change(spark, writer.path, mentions, name, arities[name])
        else:
            written[0][name] = facts_frame(spark, writer.path, mentions, name, max(arities[name], 1))
    added, deleted = (
        {**kept[place], **(_written(writer, section, _together(frames)) if frames else {})}
        for place, frames in enumerate(written)
    )
    return (*older, Layer(added, deleted))


def _net_change(
    spark: SparkSession, store: Path, layers: Sequence[Layer], name: str, arity: int
) -> tuple[DataFrame, DataFrame]:
    """What some layers do together to a relation: the rows that they add and those that they delete."""
    columns = [f"a{place}" for place in range(max(arity, 1))]

    def composed(
        first: tuple[DataFrame, DataFrame], second: tuple[DataFrame, DataFrame]
    ) -> tuple[DataFrame, DataFrame]:
        (added, deleted), (more, gone) = first, second
        return (
            added.join(gone, columns, "left_anti").unionByName(more.join(deleted, columns, "left_anti")),
            deleted.join(more, columns, "left_anti").unionByName(gone.join(added, columns, "left_anti")),
        )

    changes = (
        (
            part_frame(spark, store, layer.added.get(name), arity),
            part_frame(spark, store, layer.deleted.get(name), arity),
        )
        for layer in layers
    )
    return reduce(composed, changes)


def _together(frames: Mapping[str, DataFrame]) -> Rows:
    from pyspark.sql.functions import lit

    width = max(len(frame.columns) for frame in frames.values())
    parts = []
    for number, frame in enumerate(frames.values()):
        padding = [lit(None).cast("bigint").alias(f"a{place}") for place in range(len(frame.columns), width)]
        parts.append(frame.select(lit(number).alias(NUMBER), *frame.columns, *padding))
    return Rows(reduce(_union, parts), list(frames), 1)


def _union(left: DataFrame, right: DataFrame) -> DataFrame:
    return left.unionByName(right)


def section_counts(layers: Sequence[Layer]) -> dict[str, int]:
    """How many rows each relation of a section has."""
    found: dict[str, int] = {}
    for layer in layers:
        for sign, parts in ((1, layer.added), (-1, layer.deleted)):
            for name, part in parts.items():
                found[name] = found.get(name, 0) + sign * part.rows
    return found


def extended_dictionary(
    spark: SparkSession, writer: Writing, parts: Sequence[Part], files: Sequence[Path]
) -> tuple[Part, ...]:
    """The parts of the dictionary with files of new terms, which are in the store already; small parts are merged."""
    if not files:
        return tuple(parts)
    result = [*parts, Part(tuple(map(writer.named, files)), sum(map(rows_in, files)))]
    length = merged_length([part.rows for part in result])
    if length == 1 and len(files) == 1:
        return tuple(result)
    merging = result[-length:]
    rows = sum(part.rows for part in merging)
    folder = writer.folder("dictionary")
    merged = [file for part in merging for file in check_part(writer.path, part, ["id", "term"])]
    frame = reader(spark).schema(TERMS).parquet(*map(str, merged))
    (frame.coalesce(1) if rows <= _ONE_FILE else frame).write.parquet(str(folder))
    return (*result[:-length], Part(tuple(map(writer.named, filter(rows_in, files_in(folder)))), rows))


_ONE_FILE = 1_000_000
"""Up to this many terms go into one file."""

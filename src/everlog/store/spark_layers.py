"""Sections of a store written from sets of the Spark engine: one job for a change, and no fact in this process.

A change of few facts goes the way of the memory engine's (`sections.py`), which merges small layers without Spark. A larger
one is written as a layer where it lies; layers that are to be merged then are merged by Spark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final

from everlog.store.arrays import ids_of
from everlog.store.commit import Writing
from everlog.store.layers import alone, facts_frame, mentioned, merged_length, part_frame, write_facts
from everlog.store.manifest import Layer, Part
from everlog.store.parquet_files import check_part, files_in, part_of, reader, rows_in
from everlog.store.sections import write_section
from everlog.store.term_dictionary import FEW, NUMBER, TERMS, numbered_together

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from everlog.engine.memory.facts.table import Ids


_ONE_FILE: Final = 1_000_000
"""Up to this many terms are merged into one file."""


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
        return write_section(writer, section, layers, _fetched(added, arities), _fetched(deleted, arities), arities)
    more, fewer = (
        _written(writer, section, rows.frame, rows.names) if rows is not None and rows.size else {}
        for rows in (added, deleted)
    )
    return _merged(spark, writer, section, (*layers, Layer(more, fewer)), arities)


def _written(writer: Writing, section: str, frame: DataFrame, names: Sequence[str]) -> dict[str, Part]:
    return write_facts(frame, names, writer.folder(section), writer.named)


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
    kept = alone(merging)
    added: dict[str, DataFrame] = {}
    deleted: dict[str, DataFrame] = {}
    for name in mentioned(merging):
        if name in kept.added or name in kept.deleted:
            continue
        if older:
            added[name], deleted[name] = _net_change(spark, writer.path, merging, name, arities[name])
        else:
            added[name] = facts_frame(spark, writer.path, merging, name, max(arities[name], 1))
    more, fewer = (
        _written(writer, section, numbered_together(frames.values()), list(frames)) if frames else {}
        for frames in (added, deleted)
    )
    return (*older, Layer({**kept.added, **more}, {**kept.deleted, **fewer}))


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

    parts = ((layer.added.get(name), layer.deleted.get(name)) for layer in layers if name in mentioned([layer]))
    changes = ((part_frame(spark, store, more, arity), part_frame(spark, store, gone, arity)) for more, gone in parts)
    return reduce(composed, changes)


def section_counts(layers: Sequence[Layer]) -> dict[str, int]:
    """How many rows each relation of a section has."""
    found = Counter[str]()
    for layer in layers:
        found.update({name: part.rows for name, part in layer.added.items()})
        found.subtract({name: part.rows for name, part in layer.deleted.items()})
    return dict(found)


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
    older, merging = result[:-length], result[-length:]
    merged = [file for part in merging for file in check_part(writer.path, part, ["id", "term"])]
    frame = reader(spark).schema(TERMS).parquet(*map(str, merged))
    if sum(part.rows for part in merging) <= _ONE_FILE:
        frame = frame.coalesce(1)
    folder = writer.folder("dictionary")
    frame.write.parquet(str(folder))
    return (*older, part_of(files_in(folder), writer.named))

"""What changed in a knowledge base, as new files of a store: one Spark job per section, and none for what is unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from everlog.spark.handover import to_spark
from everlog.store.arrays import table_of
from everlog.store.commit import Writing
from everlog.store.layers import alone, compose, facts_table, mentioned, merged_length, net_change, write_facts
from everlog.store.manifest import Layer, Part
from everlog.store.parquet_files import files_in, part_of
from everlog.store.term_dictionary import BLANK, NUMBER

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame, SparkSession

    from everlog.engine.memory.dictionary import Dictionary
    from everlog.engine.memory.facts.table import Ids

Facts: TypeAlias = Mapping[str, "Ids | NDArray[np.int64]"]


def write_section(
    spark: SparkSession,
    writer: Writing,
    section: str,
    layers: Sequence[Layer],
    added: Facts,
    deleted: Facts,
    arities: Mapping[str, int],
) -> tuple[Layer, ...]:
    """The layers of a section after a change; small layers are merged on the way."""
    changed: dict[str, tuple[pa.Table, pa.Table]] = {
        predicate: (
            _table(added.get(predicate), arities[predicate]),
            _table(deleted.get(predicate), arities[predicate]),
        )
        for predicate in {**added, **deleted}
    }
    rows = sum(table.num_rows for tables in changed.values() for table in tables)
    if not rows:
        return tuple(layers)
    count = merged_length([*(layer.rows() for layer in layers), rows]) - 1
    older, merging = layers[: len(layers) - count], layers[len(layers) - count :]
    kept = alone(merging, changed)
    tables: dict[str, pa.Table] = {}
    for predicate in dict.fromkeys((*mentioned(merging), *changed)):
        if predicate in kept.added or predicate in kept.deleted:
            continue
        arity = arities[predicate]
        if older or not merging:
            more, gone = net_change(writer.path, merging, predicate, arity)
        else:  # the first layer too: what results is all there is
            more, gone = facts_table(writer.path, merging, predicate, arity), _table(None, arity)
        if predicate in changed:
            more, gone = compose((more, gone), changed[predicate])
        tables[f"+{predicate}"], tables[f"-{predicate}"] = more, gone
    written = _write_tables(spark, writer, section, tables)
    result = Layer(
        {**kept.added, **{name[1:]: part for name, part in written.items() if name[0] == "+"}},
        {**kept.deleted, **{name[1:]: part for name, part in written.items() if name[0] == "-"}},
    )
    return (*older, result) if older or result.added or result.deleted else ()


def _table(ids: Ids | NDArray[np.int64] | None, arity: int) -> pa.Table:
    import numpy as np

    return table_of(np.empty((arity, 0), np.int32) if ids is None else ids)


def _write_tables(
    spark: SparkSession, writer: Writing, section: str, tables: Mapping[str, pa.Table]
) -> dict[str, Part]:
    import pyarrow as pa

    present = {name: table for name, table in tables.items() if table.num_rows}
    if not present:
        return {}
    numbered = (
        table.add_column(0, NUMBER, pa.repeat(pa.scalar(number, pa.int32()), table.num_rows))
        for number, table in enumerate(present.values())
    )
    together = pa.concat_tables(numbered, promote_options="default")  # with nulls where a table has fewer columns
    frame = in_few_files(to_spark(spark, together, lambda: writer.folder("state")), together.num_rows)
    return write_facts(frame, list(present), writer.folder(section), writer.named)


def in_few_files(frame: DataFrame, rows: int) -> DataFrame:
    """Rows on their way to files: up to a million go into one."""
    return frame.coalesce(1) if rows <= 1_000_000 else frame


def extend_dictionary(
    spark: SparkSession, writer: Writing, parts: Sequence[Part], dictionary: Dictionary, folder: Path | None = None
) -> tuple[Part, ...]:
    """The parts of the dictionary with the terms that are new since; `folder` has some of them already.

    Small parts are merged, so that their number grows with the logarithm of the updates.
    """
    result = list(parts)
    if folder is not None:
        part = part_of(files_in(folder), writer.named)
        if part.rows:
            result.append(part)
    size = sum(part.rows for part in result)
    if size == len(dictionary) and len(result) == len(parts):
        return tuple(result)
    sizes = [part.rows for part in result]
    if len(dictionary) > size:
        sizes.append(len(dictionary) - size)
    count = merged_length(sizes)
    if size == len(dictionary) and count == 1:
        return tuple(result)
    kept = result[: len(sizes) - count]
    return (*kept, _write_terms(spark, writer, sum(part.rows for part in kept), dictionary))


def _write_terms(spark: SparkSession, writer: Writing, first: int, dictionary: Dictionary) -> Part:
    import numpy as np
    import pyarrow as pa

    ids = np.arange(first, len(dictionary), dtype=np.int32)
    table = pa.table({"id": pa.array(ids.astype(np.int64)), "term": stored_terms(dictionary, ids)})
    return write_part(writer, to_spark(spark, table, lambda: writer.folder("state")), len(ids))


def write_part(writer: Writing, terms: DataFrame, rows: int) -> Part:
    """Writes terms as a part of the dictionary."""
    folder = writer.folder("dictionary")
    in_few_files(terms, rows).write.parquet(str(folder))
    return part_of(files_in(folder), writer.named)


def stored_terms(dictionary: Dictionary, ids: Ids) -> pa.Array:
    """The texts of terms as a store has them: blank nodes are named after their ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = dictionary.ntriples_column(ids)
    blank = pc.starts_with(texts, "_:")
    if not pc.any(blank).as_py():
        return texts
    large = pa.large_string()
    names = pc.binary_join_element_wise(pa.scalar(BLANK, large), pa.array(ids).cast(large), pa.scalar("", large))
    return pc.if_else(blank, names, texts)

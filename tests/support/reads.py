"""Facts as if they had been read from files, without a job."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from everlog.datalog.ntriples import write_term
from everlog.sources.blocks import InBlocks, Part
from everlog.sources.parsed_rows import Given
from everlog.sources.read_facts import Read, _Rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def read_of(spark: SparkSession, facts: Mapping[str, Collection[Sequence[Any]]], *, texts: bool = False) -> Read:
    """Rows of values, or of canonical texts, by predicate."""
    given, parts, arities = [], [], {}
    for source, (predicate, rows) in enumerate(facts.items()):
        arities[predicate] = len(next(iter(rows), ()))
        parts.append(Part(predicate, source, arities[predicate]))
        if not arities[predicate]:
            given.append(Given(source, [pa.array([True] * len(rows))]))
        else:
            columns = [column if texts else list(map(write_term, column)) for column in zip(*rows, strict=True)]
            given.append(
                Given(
                    source,
                    [pa.array(column, pa.string()) for column in columns],
                )
            )
    rows_of = [row for batch in InBlocks(lambda _: iter(given))(iter(())) for row in batch.to_pylist()]
    return Read(arities, [], 0, "", {}, {}, {}, parts, _Rows(spark, None, rows_of, None))


def rows_of_read(read: Read, predicate: str) -> list[tuple[Any, ...]]:
    """The facts of a predicate that were read, in text form; that of one without arguments is `(True,)`."""
    found = [
        row
        for name, block in read.blocks()
        if name == predicate
        for columns in block.columns()
        for row in zip(*(column.to_pylist() for column in columns), strict=True)
    ]
    return sorted(found)

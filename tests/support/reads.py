"""Facts as if they had been read from files, without a job."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from everlog.datalog.ntriples import write_term
from everlog.sources.blocks import InBlocks
from everlog.sources.parsed_rows import Given
from everlog.sources.read_facts import Read, _Part, _Rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def read_of(spark: SparkSession, facts: Mapping[str, Collection[Sequence[Any]]]) -> Read:
    """Rows of values, by predicate."""
    given, parts, arities = [], [], {}
    for source, (predicate, rows) in enumerate(facts.items()):
        arities[predicate] = len(next(iter(rows), ()))
        parts.append(_Part(predicate, source))
        if not arities[predicate]:
            given.append(Given(source, [pa.array([True] * len(rows))]))
        else:
            columns = zip(*rows, strict=True)
            given.append(Given(source, [pa.array(list(map(write_term, column)), pa.string()) for column in columns]))
    rows_of = [row for batch in InBlocks(lambda _: iter(given))(iter(())) for row in batch.to_pylist()]
    return Read(arities, [], 0, "", {}, {}, parts, _Rows(spark, None, rows_of))

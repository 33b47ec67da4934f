"""Facts as Parquet, in columns of their own types where all values of a column share one.

A part has the types of its own values. Where those of other parts are others, its column is text in the joined file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from everlog.engine.literal_columns import DATE, DECIMAL, INSTANT, LOCAL
from everlog.sources.canonical_texts import texts_of
from everlog.sources.typed_columns import NTRIPLES, TERM, kinds_of, one_kind, values_of
from everlog.store.publishing.written_form import PIECE, Columns, WrittenForm

_ROW_METADATA: Final = "org.apache.spark.sql.parquet.row.metadata"
"""Where Spark looks for what a field cannot say in Parquet."""


@dataclass(frozen=True)
class TableForm(WrittenForm):
    """Parquet."""

    def texts(self, terms: pa.Array) -> pa.Table:
        return pa.table({"term": terms})

    def keys(self, texts: pa.Table, arity: int) -> list[pa.Array]:
        return [texts.column("term").combine_chunks()] * arity

    def write(self, columns: Columns, texts: pa.Table, file: Path) -> None:
        terms = texts.column("term").combine_chunks()
        pairs = [_typed(terms, column, f"a{number}") for number, column in enumerate(columns)]
        schema = pa.schema([field for field, _ in pairs])
        pq.write_table(pa.Table.from_arrays([array for _, array in pairs], schema=schema), file)

    def join(self, parts: Sequence[Path], path: Path, columns: Sequence[str]) -> None:
        sources = [source for part in parts if (source := pq.ParquetFile(part)).metadata.num_rows]
        fields = [[source.schema_arrow.field(place) for source in sources] for place in range(len(columns))]
        schema = _described(pa.schema([_common(*both) for both in zip(fields, columns, strict=True)]))
        with pq.ParquetWriter(path, schema) as whole:
            for source in sources:
                for group in range(source.num_row_groups):
                    whole.write_table(_as(source.read_row_group(group), schema))

    def write_nullary(self, path: Path) -> None:
        pq.write_table(pa.table({"present": [True]}), path)


def _typed(terms: pa.Array, places: np.ndarray, name: str) -> tuple[pa.Field, pa.ChunkedArray]:
    """A column in the type of its values, with its field."""
    used, numbers = np.unique(places, return_inverse=True)
    distinct = terms.take(pa.array(used))
    kind = one_kind(kinds_of(distinct))
    values = values_of(distinct, kind)
    type = pa.string() if values.type == terms.type else values.type
    pieces = (values.take(pa.array(numbers[at : at + PIECE])).cast(type) for at in range(0, len(numbers), PIECE))
    return _field(name, type, kind == TERM), pa.chunked_array(pieces, type)


def _field(name: str, type: pa.DataType, is_term: bool) -> pa.Field:
    return pa.field(name, type, metadata=NTRIPLES if is_term else None)


def _is_term(field: pa.Field) -> bool:
    return bool(field.metadata)


def _common(fields: Sequence[pa.Field], name: str) -> pa.Field:
    """The field of a column whose parts have these."""
    if not fields:
        return _field(name, pa.string(), is_term=False)
    alike = all(one.equals(fields[0], check_metadata=True) for one in fields)
    return fields[0].with_name(name) if alike else _field(name, pa.string(), is_term=True)


def _as(part: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows of a part in columns of the joined file."""
    columns = [
        column if _is_term(mine) or not _is_term(field) else pa.chunked_array(map(texts_of, column.chunks), pa.string())
        for column, mine, field in zip(part.columns, part.schema, schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _described(schema: pa.Schema) -> pa.Schema:
    """A schema that tells Spark what it tells Arrow."""
    from pyspark.sql.types import (
        BooleanType,
        DataType,
        DateType,
        DecimalType,
        DoubleType,
        LongType,
        StringType,
        StructType,
        TimestampNTZType,
        TimestampType,
    )

    types: dict[pa.DataType, DataType] = {
        pa.string(): StringType(),
        pa.int64(): LongType(),
        pa.float64(): DoubleType(),
        pa.bool_(): BooleanType(),
        DATE.type: DateType(),
        INSTANT.type: TimestampType(),
        LOCAL.type: TimestampNTZType(),
        DECIMAL.type: DecimalType(38, 18),
    }
    row = StructType()
    for field in schema:
        row = row.add(field.name, types[field.type], True, NTRIPLES if _is_term(field) else None)
    return schema.with_metadata({_ROW_METADATA: row.json()})

"""Columns of terms as columns of Spark, and the other way round, where the type of a column is settled beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    TimestampNTZType,
    TimestampType,
)

from everlog.errors import EverlogError, UnsupportedValue
from everlog.sources.canonical_texts import canonical_texts, texts_of
from everlog.sources.typed_columns import NTRIPLES, SPARK_TYPES, TERM, kinds_of, one_kind, values_of

_TYPES: Final[dict[str, DataType]] = {
    "string": StringType(),
    "bigint": LongType(),
    "double": DoubleType(),
    "boolean": BooleanType(),
    "date": DateType(),
    "timestamp": TimestampType(),
    "timestamp_ntz": TimestampNTZType(),
    "decimal(38,18)": DecimalType(38, 18),
}
"""The types of columns by their names; there is no session here to ask."""


def field_of(name: str, kind: int) -> StructField:
    """The column of a kind of values (`typed_columns.py`)."""
    return StructField(name, _TYPES[SPARK_TYPES[kind]], True, dict(NTRIPLES) if kind == TERM else None)


def kind_of_field(field: StructField) -> int:
    """The kind of values that a column has."""
    if (field.metadata or {}).get("everlog") == "ntriples":
        return TERM
    type = field.dataType.simpleString()
    for kind, known in SPARK_TYPES.items():
        if known == type and kind != TERM:
            return kind
    raise EverlogError(
        f"the column {field.name} is of type {type}; facts have {', '.join(sorted(set(SPARK_TYPES.values())))}"
    )


def typed(texts: pa.Array, kind: int, what: str) -> pa.Array:
    """Terms as values of a kind, or an error that says what to do."""
    if kind == TERM or not len(texts):
        return values_of(texts, kind) if len(texts) else pa.array([], _arrow_type(kind))
    if one_kind(kinds_of(texts)) != kind:
        odd = next(text for text in texts.to_pylist() if one_kind(kinds_of(pa.array([text]))) != kind)
        raise EverlogError(
            f"{what} holds {odd}, and the column is of type {SPARK_TYPES[kind]}, since all values were when types were "
            'looked at; .option("terms", "ntriples") has every column as text of N-Triples, which takes all values'
        )
    return values_of(texts, kind)


def _arrow_type(kind: int) -> pa.DataType:
    return to_arrow_type(field_of("a", kind).dataType)


def terms_of(values: Sequence[Any], kind: int) -> list[str]:
    """Values of a column as terms; those that no term can be are left out."""
    if kind == TERM:
        try:
            texts, mistakes = canonical_texts(pa.array(values, pa.string()), None)
        except (pa.ArrowException, UnsupportedValue):
            return []
        wrong = {row for row, _ in mistakes}
        return [text for row, text in enumerate(texts.to_pylist()) if row not in wrong and text is not None]
    found: list[str] = texts_of(pa.array(values, _arrow_type(kind))).to_pylist()
    return [text for text in found if text is not None]

"""Facts in text form as DataFrames with columns of Spark's own types, for people and other programs.

A column whose values are all integers becomes `bigint`, all floats `double`, all booleans `boolean`, all strings `string`,
and if all are literals of one such type, `date`, `timestamp`, `timestamp_ntz` or `decimal(38,18)` (`literal_columns.py`).
Any other column stays text in N-Triples form and says so in its metadata, which Parquet keeps: `NTRIPLES` is what the
readers of the pipeline look for. Which type it is takes a look at the data, so this runs a Spark job.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from everlog.datalog.values import XSD
from everlog.engine.literal_columns import LITERAL_KINDS, literal_values

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

NTRIPLES: Final = {"everlog": "ntriples"}
"""The metadata of a string column that holds N-Triples texts."""

STRING, INTEGER, FLOAT, BOOLEAN, TERM = 1, 2, 4, 8, 16
_LITERALS: Final = {32 << place: kind for place, kind in enumerate(LITERAL_KINDS)}
SPARK_TYPES: Final = {
    STRING: "string",
    INTEGER: "bigint",
    FLOAT: "double",
    BOOLEAN: "boolean",
    TERM: "string",
    **{bit: kind.name for bit, kind in _LITERALS.items()},
}
_INTEGER_END: Final = f'"^^<{XSD}integer>'
_SURELY_INTEGER: Final = r'^"(0|-?[1-9][0-9]{0,17})"'
_FLOAT_END: Final = f'"^^<{XSD}double>'
_BOOLEAN_END: Final = f'"^^<{XSD}boolean>'
_ENDS: Final = {
    STRING: '"',
    INTEGER: _INTEGER_END,
    BOOLEAN: _BOOLEAN_END,
    FLOAT: _FLOAT_END,
    **{bit: kind.end for bit, kind in _LITERALS.items()},
}


def typed_columns(facts: DataFrame) -> DataFrame:
    """The same facts, each column in the type that all of its values share."""
    from pyspark.sql.functions import col

    names = [field.name for field in facts.schema.fields if field.dataType.typeName() == "string"]
    if not names:
        return facts
    kinds = [one_kind(seen) for seen in _kinds_seen(facts, names)]
    if all(kind == TERM for kind in kinds):
        typed = facts.select(names)
    else:
        schema = ", ".join(f"{name} {SPARK_TYPES[kind]}" for name, kind in zip(names, kinds, strict=True))
        typed = facts.select(names).mapInArrow(partial(_values, kinds), schema)
    return typed.select(
        *(
            col(name).alias(name, metadata=NTRIPLES) if kind == TERM else col(name)
            for name, kind in zip(names, kinds, strict=True)
        )
    )


def _kinds_seen(facts: DataFrame, names: Sequence[str]) -> list[int]:
    from pyspark.sql.functions import bit_or

    seen = facts.select(*names).mapInArrow(_kinds, ", ".join(f"{name} int" for name in names))
    (row,) = seen.agg(*(bit_or(name).alias(name) for name in names)).collect()
    return [row[name] or 0 for name in names]


def one_kind(seen: int) -> int:
    """The kind of a column in whose values some kinds were seen."""
    if seen == 0:
        return STRING  # no facts at all
    return seen if seen in SPARK_TYPES else TERM


# ---------------------------------------------------------------------------------------- in Spark's tasks


def _kinds(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row for each batch: per column the kinds that occur in it, as bits."""
    import pyarrow as pa

    for batch in batches:
        if batch.num_rows:
            found = [pa.array([kinds_of(column)], pa.int32()) for column in batch.columns]
            yield pa.RecordBatch.from_arrays(found, names=batch.schema.names)


def kinds_of(texts: pa.Array) -> int:
    """The kinds of value among canonical N-Triples texts."""
    import pyarrow.compute as pc

    found = 0
    rest = texts
    for kind, end in _ENDS.items():
        if not len(rest):
            break
        matches = pc.ends_with(rest, end)
        if not pc.any(matches).as_py():
            continue
        found |= kind if kind == STRING else _literals(rest.filter(matches), kind)
        rest = rest.filter(pc.invert(matches))
    return found | TERM if len(rest) else found


def _literals(texts: pa.Array, kind: int) -> int:
    """A literal of type `xsd:integer` is an int only if it is written as Python writes it: `"05"` is another value."""
    import pyarrow.compute as pc

    from everlog.datalog.ntriples import read_term

    if kind in _LITERALS:
        return TERM if literal_values(texts, _LITERALS[kind]) is None else kind
    wanted = {INTEGER: int, FLOAT: float, BOOLEAN: bool}[kind]
    found = 0
    if kind == INTEGER:
        plain = pc.match_substring_regex(texts, _SURELY_INTEGER)
        if pc.any(plain).as_py():
            found = INTEGER
        texts = texts.filter(pc.invert(plain))
    for text in texts.unique().to_pylist():
        found |= kind if type(read_term(text)) is wanted else TERM
        if found == kind | TERM:
            break
    return found


def _values(kinds: Sequence[int], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in batches:
        columns = [values_of(column, kind) for column, kind in zip(batch.columns, kinds, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def values_of(texts: pa.Array, kind: int) -> pa.Array:
    """The values that canonical N-Triples texts of one kind stand for."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from everlog.datalog.ntriples import read_term

    if kind == TERM:
        return texts
    if kind in _LITERALS:
        return literal_values(texts, _LITERALS[kind])
    if kind == BOOLEAN:
        return pc.starts_with(texts, '"true"')
    if kind == INTEGER:
        return pc.utf8_slice_codeunits(texts, 1, -len(_INTEGER_END)).cast(pa.int64())
    if kind == FLOAT:
        encoded = texts.dictionary_encode()
        numbers = pa.array([read_term(text) for text in encoded.dictionary.to_pylist()], pa.float64())
        return numbers.take(encoded.indices)
    plain = pc.utf8_slice_codeunits(texts, 1, -1)
    escaped = pc.match_substring(texts, "\\")
    if pc.any(escaped).as_py():
        read = pa.array([read_term(text) for text in texts.filter(escaped).to_pylist()], texts.type)
        plain = pc.replace_with_mask(plain, escaped, read)
    return plain

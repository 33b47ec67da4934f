"""Arrow columns of dates, timestamps and decimals as N-Triples texts, and back.

Equal values have equal texts: an instant is written in UTC, with `Z`, a timestamp without a zone has none, and neither
seconds nor decimals have zeros at their end. So a text that is not written that way, which RDF allows, is not a value of
such a column: what comes back goes in again as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from everlog.datalog.calendar_values import decimal_text
from everlog.datalog.values import XSD

_FRACTION = r"(\.[0-9]*?)0+$"


@dataclass(frozen=True)
class LiteralKind:
    """A type of values: how Spark calls it, how Arrow does, and how its N-Triples texts end."""

    name: str
    type: pa.DataType
    end: str


DATE: Final = LiteralKind("date", pa.date32(), f'"^^<{XSD}date>')
INSTANT: Final = LiteralKind("timestamp", pa.timestamp("us", "UTC"), f'Z"^^<{XSD}dateTime>')
LOCAL: Final = LiteralKind("timestamp_ntz", pa.timestamp("us"), f'"^^<{XSD}dateTime>')
DECIMAL: Final = LiteralKind("decimal(38,18)", pa.decimal128(38, 18), f'"^^<{XSD}decimal>')
LITERAL_KINDS: Final = (DATE, INSTANT, LOCAL, DECIMAL)
"""A text belongs to the first of them whose end it has."""


def is_literal_type(type: pa.DataType) -> bool:
    """Whether values of a type become literals of RDF."""
    return bool(pa.types.is_date(type) or pa.types.is_timestamp(type) or pa.types.is_decimal(type))


def literal_texts(values: pa.Array) -> pa.Array:
    """The N-Triples texts of dates, timestamps or decimals; nulls stay null."""
    if pa.types.is_date(values.type):
        return _between(values.cast(pa.date32()).cast(pa.string()), DATE.end)
    if pa.types.is_decimal(values.type):
        encoded = values.dictionary_encode()
        forms = [None if number is None else decimal_text(number) for number in encoded.dictionary.to_pylist()]
        return _between(pa.array(forms, pa.string()).take(encoded.indices), DECIMAL.end)
    # Without its zone a timestamp is in UTC.
    texts = pc.replace_substring(values.cast(pa.timestamp(values.type.unit)).cast(pa.string()), " ", "T")
    texts = pc.replace_substring_regex(pc.replace_substring_regex(texts, _FRACTION, r"\1"), r"\.$", "")
    return _between(texts, LOCAL.end if values.type.tz is None else INSTANT.end)


def kind_of_text(text: str) -> LiteralKind | None:
    """The kind that an N-Triples text could be of."""
    return next((kind for kind in LITERAL_KINDS if text.endswith(kind.end)), None)


def literal_values(texts: pa.Array, kind: LiteralKind) -> pa.Array | None:
    """The values of N-Triples texts, or None if not all of them are texts of values of this kind."""
    if not pc.all(pc.ends_with(texts, kind.end)).as_py():
        return None
    bodies = pc.utf8_slice_codeunits(texts, 1, -len(kind.end))
    try:
        values = bodies.cast(LOCAL.type).cast(INSTANT.type) if kind is INSTANT else bodies.cast(kind.type)
    except pa.ArrowInvalid:
        return None
    return values if literal_texts(values).cast(texts.type).equals(texts) else None


def _between(texts: pa.Array, end: str) -> pa.Array:
    return pc.binary_join_element_wise('"', texts, end, "")

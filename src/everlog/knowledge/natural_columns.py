"""Columns of values as Arrow types that pandas, Polars and Spark know, one type for each column.

A column of one kind gets the type that one expects: integers, doubles, booleans, strings, and dates, timestamps and
decimals as `literal_columns.py` knows them. Integers among doubles become doubles. IRIs are their text, without brackets,
which is what other tables have; the field's metadata say so (`everlog: iri`). Whatever is left, a column of several kinds
above all, is N-Triples text, marked as in `KnowledgeBase.facts` (`everlog: ntriples`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import Literal, NamedNode

from everlog.datalog.ntriples import write_term
from everlog.datalog.values import Value
from everlog.engine.literal_columns import kind_of_text, literal_values
from everlog.engine.memory.dictionary import NTRIPLES_METADATA

IRI_METADATA: Final = {b"everlog": b"iri"}

_PLAIN: Final = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}


def natural_column(name: str, values: Sequence[Value]) -> tuple[pa.Field, pa.Array]:
    """A column with its field; one without values has strings."""
    kinds = set(map(type, values)) or {str}
    kind = float if kinds == {int, float} else kinds.pop() if len(kinds) == 1 else None
    metadata = None
    if kind in _PLAIN:
        array = pa.array(values, _PLAIN[kind])
    elif kind is NamedNode:
        array, metadata = pa.array([str(value)[1:-1] for value in values], pa.string()), IRI_METADATA
    else:
        texts = pa.array([write_term(value) for value in values], pa.string())
        known = kind_of_text(texts[0].as_py()) if kind is Literal else None
        array = None if known is None else literal_values(texts, known)
        if array is None:
            array, metadata = texts, NTRIPLES_METADATA
    return pa.field(name, array.type, nullable=False, metadata=metadata), array


def nullable_column(name: str, values: Sequence[Value | None]) -> tuple[pa.Field, pa.Array]:
    """A column that is null where there is no value; its type is that of the values."""
    present = [value for value in values if value is not None]
    field, array = natural_column(name, present)
    if len(present) < len(values):
        places = pa.array(np.cumsum([value is not None for value in values]) - 1, pa.int64())
        gaps = pa.array([value is None for value in values])
        array = array.take(pc.if_else(gaps, None, places))
    return field.with_nullable(True), array

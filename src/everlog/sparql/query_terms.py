"""The terms of a query: ids of the knowledge base, and further ones for values that only the query has.

A value that the knowledge base knows has its id there, so that ids are equal exactly where terms are. Nothing is added to
its dictionary: what a query computes is in a dictionary of the query, whose ids come after all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.datalog.values import Value
from everlog.engine.memory.dictionary import Dictionary
from everlog.engine.memory.term_kinds import IRI, STRING
from everlog.engine.memory.value_columns import column_of_ids, numbers_of_ids
from everlog.expressions.columns import Column, Terms, column_of, terms_of
from everlog.sparql.solutions import UNBOUND, Ids

_OWN: Final = 2**31
"""The first id of the query's own values."""


class QueryTerms:
    """Values and their ids for one query; with `grows`, the dictionary is the query's own, and takes all values."""

    def __init__(self, known: Dictionary, grows: bool = False) -> None:
        self.known, self.grows = known, grows

    @cached_property
    def _own(self) -> Dictionary:
        return Dictionary()

    def constant(self, value: Value) -> Ids:
        """The id of a value of the query's text, as a column."""
        found = -1 if self.grows else self.known.find_value(value)
        return self.encode([value]) if found < 0 else np.array([found], np.int64)

    def encode(self, values: Sequence[Value | None]) -> Ids:
        """The ids of some values; None is not bound."""
        ids: Ids = np.full(len(values), UNBOUND, np.int64)
        there = np.array([value is not None for value in values], np.bool_)
        present = [value for value in values if value is not None]
        if present:
            if self.grows:
                ids[there] = self.known.encode_values(present)
            else:
                found = self.known.find_values(present).astype(np.int64)
                new = np.flatnonzero(found < 0)
                if len(new):
                    found[new] = self._own.encode_values([present[place] for place in new]).astype(np.int64) + _OWN
                ids[there] = found
        return ids

    def ids(self, column: Column) -> Ids:
        """The ids of a column of values."""
        if isinstance(column, Terms):
            values, places = column.distinct()
            return self.encode(values)[places]
        missing = column.missing
        kept = None if missing is None else np.flatnonzero(~missing)
        array = pa.array((column if kept is None else column.take(kept)).array)  # type: ignore[attr-defined]
        if self.grows:
            found = self.known.encode_column(array).astype(np.int64)
        else:
            found = self.known.find_column(array).astype(np.int64)
            new = np.flatnonzero(found < 0)
            if len(new):
                found[new] = self._own.encode_column(array.take(pa.array(new))).astype(np.int64) + _OWN
        if kept is None:
            return found
        ids: Ids = np.full(column.length, UNBOUND, np.int64)
        ids[kept] = found
        return ids

    def column(self, ids: Ids) -> Column:
        """The values of a column of ids, which can be computed with."""
        if not len(ids):
            return terms_of([])
        least, greatest = int(ids.min()), int(ids.max())
        if least >= 0 and (greatest < _OWN or least >= _OWN):
            dictionary, own = (self.known, ids) if greatest < _OWN else (self._own, ids - _OWN)
            narrow = own.astype(np.int32)
            numbers = numbers_of_ids(dictionary, narrow)
            if numbers is not None:
                return numbers
            if (dictionary.kinds(narrow) == STRING).all():
                return column_of_ids(dictionary, narrow)
        encoded = pa.array(ids).dictionary_encode()
        values = column_of(self.values(encoded.dictionary.to_numpy()))
        return values.take(encoded.indices.to_numpy().astype(np.intp))

    def values(self, ids: Ids) -> list[Value | None]:
        """The values of a column of ids; None where there is none."""
        if len(ids) and int(ids.min()) >= 0 and int(ids.max()) < _OWN:
            return list(self.known.values(ids.astype(np.int32)))
        found: Any = np.empty(len(ids), dtype=object)
        stored = np.flatnonzero((ids >= 0) & (ids < _OWN))
        own = np.flatnonzero(ids >= _OWN)
        found[stored] = _objects(self.known.values(ids[stored].astype(np.int32)))
        found[own] = _objects(self._own.values((ids[own] - _OWN).astype(np.int32)))
        values: list[Value | None] = found.tolist()
        return values

    def iri_texts(self, ids: Ids) -> pa.LargeStringArray | None:
        """The texts of some ids, if they are all of IRIs: no term is made of them."""
        return self._texts(ids, IRI)

    def string_texts(self, ids: Ids) -> pa.LargeStringArray | None:
        """The texts of some ids, if they are all of strings."""
        return self._texts(ids, STRING)

    def few_texts(self, ids: Ids, kind: int) -> list[str] | None:
        """The texts of a few ids, if they are all of one kind, IRIs or strings."""
        few = ids.tolist()
        if not few or min(few) < 0 or min(few) < _OWN <= max(few):
            return None
        dictionary, places = (self.known, ids) if max(few) < _OWN else (self._own, ids - _OWN)
        return dictionary.text_list(places, kind)

    def _texts(self, ids: Ids, kind: int) -> pa.LargeStringArray | None:
        if not len(ids):
            return None
        least, greatest = int(ids.min()), int(ids.max())
        if least < 0 or least < _OWN <= greatest:
            return None
        if greatest < _OWN:
            return self.known.text_column(ids.astype(np.int32), kind)
        return self._own.text_column((ids - _OWN).astype(np.int32), kind)

    def kinds(self, ids: Ids) -> NDArray[np.uint8]:
        """The kinds of the values of some ids, which are all bound (`term_kinds.py`)."""
        found = np.empty(len(ids), np.uint8)
        own = ids >= _OWN
        found[~own] = self.known.kinds(ids[~own].astype(np.int32))
        found[own] = self._own.kinds((ids[own] - _OWN).astype(np.int32))
        return found

    def is_stored(self, ids: Ids) -> bool:
        """Whether all of some ids are of values that the knowledge base has."""
        return not self.grows and bool(len(ids)) and int(ids.min()) >= 0 and int(ids.max()) < _OWN


def _objects(values: Sequence[Value]) -> Any:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found

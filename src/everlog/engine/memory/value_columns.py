"""Ids as columns of values that can be computed with, and computed columns as ids."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.memory.term_kinds import STRING
from everlog.expressions.columns import Booleans, Column, Doubles, Integers, Strings, Terms, terms_of

_ALONE: Final = nullcontext()


def column_of_ids(dictionary: Dictionary, ids: Ids) -> Column:
    """The values of some ids."""
    numbers = numbers_of_ids(dictionary, ids)
    if numbers is not None:
        return numbers
    if ids.size and (dictionary.kinds(ids) == STRING).all():
        _, texts = dictionary.decode_field("", ids)
        return Strings(texts.cast(pa.large_string()))
    return terms_of(dictionary.values(ids))


def numbers_of_ids(dictionary: Dictionary, ids: Ids) -> Column | None:
    """The values of some ids if they are all integers, all doubles or all booleans."""
    numbers = dictionary.numbers_alike(ids)
    if numbers is None:
        return None
    kind = {"i": Integers, "f": Doubles, "b": Booleans}[numbers.dtype.kind]
    return kind(numbers)


def ids_of_column(
    dictionary: Dictionary, column: Column, adding: AbstractContextManager[object] = _ALONE
) -> tuple[Ids, NDArray[np.bool_]]:
    """The ids of the values of a column, new ones if they have none, and where there are values.

    Where several threads may ask, only one at a time gets past `adding`; who asks for numbers that are known need not.
    """
    missing = column.missing
    kept = np.ones(column.length, np.bool_) if missing is None else ~missing
    ids: Ids = np.zeros(column.length, np.int32)
    if isinstance(column, Terms):
        values, places = column.distinct()
        there = np.array([value is not None for value in values], np.bool_)
        known: Ids = np.zeros(len(values), np.int32)
        with adding:
            known[there] = dictionary.encode_values([value for value in values if value is not None])
        ids = known[places]
    else:
        present = column if missing is None else column.take(np.flatnonzero(kept))
        assert isinstance(present, Integers | Doubles | Booleans | Strings)
        found = _encoded(dictionary, present, adding)
        if missing is None:
            return found, kept
        ids[kept] = found
    return ids, kept


def _encoded(
    dictionary: Dictionary, column: Integers | Doubles | Booleans | Strings, adding: AbstractContextManager[object]
) -> Ids:
    """The ids of a column without gaps."""
    if isinstance(column, Strings):
        with adding:
            return dictionary.encode_column(pa.array(column.array))
    ids, incomplete = dictionary.find_numbers(column.array)
    if incomplete:
        new = np.flatnonzero(ids < 0)
        with adding:
            ids[new] = dictionary.encode_column(pa.array(column.array[new]))
    return ids

"""Values on the driver: those of the ids that rules compare or compute with there, in a dictionary of the driver's own.

What was asked once is remembered, as no id ever means another value. Where very much is, it is forgotten again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.datalog.values import Value
from everlog.engine.group_numbers import distinct_numbers, is_dense
from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.memory.value_columns import column_of_ids, ids_of_column
from everlog.engine.spark import tuning
from everlog.expressions.columns import Column

if TYPE_CHECKING:
    from everlog.engine.spark.engine import SparkEngine

_Number = TypeVar("_Number", np.int32, np.int64)


class DriverTerms:
    """Values by the ids of an engine, and the other way round."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine
        self._forget()

    def _forget(self) -> None:
        self._dictionary = Dictionary()
        self._asked = Dictionary()
        """The ids of the engine that are known here, as integers; it tells the place of each."""
        self._here: Ids = np.empty(0, np.int32)
        """By place, the id in the driver's dictionary."""
        self._there: NDArray[np.int64] = np.empty(0, np.int64)
        """By id in the driver's dictionary, that of the engine, or -1."""

    def values(self, ids: Iterable[int]) -> Mapping[int, Value]:
        """The values of some ids."""
        asked = np.array(sorted(set(ids)), np.int64)
        return dict(zip(asked.tolist(), self._dictionary.values(self._known(asked)), strict=True))

    def column(self, ids: NDArray[np.int64]) -> Column:
        """The values of some ids, one after the other, to compute with."""
        here = self._known(ids)
        return column_of_ids(self._dictionary, here)

    def ids(self, column: Column) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The ids of computed values, new ones if they have none, and where there are values."""
        here, kept = ids_of_column(self._dictionary, column)
        self._there = _grown(self._there, len(self._dictionary))
        found = np.where(kept, self._there[here] if len(self._there) else -1, 0)
        if (found < 0).any():
            unknown = distinct_numbers(here[found < 0])
            self._learn(unknown, self._engine.encoded(self._dictionary.ntriples_column(unknown)))
            found = self._there[here]
        found[~kept] = -1
        return found, kept

    def _known(self, ids: NDArray[np.int64]) -> Ids:
        """Ids as those of the driver's dictionary."""
        if len(self._dictionary) > tuning.DRIVER_TERMS:
            self._forget()
        if is_dense(ids):
            distinct = distinct_numbers(ids)
            if tuning.MANY_TIMES * len(distinct) < len(ids):  # each is looked up once
                spread = np.empty(int(distinct[-1]) + 1, np.int32)
                spread[distinct] = self._looked_up(distinct)
                return spread[ids]
        return self._looked_up(ids)

    def _looked_up(self, ids: NDArray[np.int64]) -> Ids:
        """The same, one by one; the engine is asked for those that are not known yet."""
        places = self._asked.find_column(pa.array(ids))
        if (places < 0).any():
            table = self._engine.texts_of(distinct_numbers(ids[places < 0]))
            terms = table.column("term")
            self._learn(self._dictionary.encode_ntriples(terms), table.column("id").to_numpy())
            places = self._asked.find_column(pa.array(ids))
        return self._here[places]

    def _learn(self, here: Ids, there: NDArray[np.int64]) -> None:
        places = self._asked.encode_column(pa.array(there))
        self._here = _grown(self._here, len(self._asked))
        self._there = _grown(self._there, len(self._dictionary))
        self._here[places], self._there[here] = here, there


def _grown(numbers: NDArray[_Number], size: int) -> NDArray[_Number]:
    """Numbers with room for so many, -1 where there was none."""
    if size <= len(numbers):
        return numbers
    found = np.full(max(size, 2 * len(numbers)), -1, numbers.dtype)
    found[: len(numbers)] = numbers
    return found

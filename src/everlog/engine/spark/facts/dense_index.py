"""Rows by a column of dense ids, the lead, and by other columns that have few different values, the rest.

As triples by subject and property, or by property and object: nearly every row may have a key of its own, and a hash table
of all keys is large. Here a number tells for each id of the lead where its rows begin. They stand there kind by kind, that
is by the number of what they have in the rest, of which alone there is a hash table, a small one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from everlog.engine.spark import tuning
from everlog.engine.spark.facts import row_kernels as kernels
from everlog.interrupts import aside

_Ids = NDArray[np.int64]

_SAMPLE: Final = 1_024
"""So many rows tell whether a column may lead, and others may be the rest."""

_KINDS: Final = 256
"""There are at most so many kinds: the number of one is a byte."""

_SPREAD: Final = 4
"""For each row there are at most so many ids that the lead could have."""


class DenseIndex:
    """Rows in an order in which those with the same key stand together, the last of them as its complement."""

    def __init__(self, order: NDArray[np.int32], table: tuple[Any, ...], columns: _Ids, lead: int) -> None:
        self.order, self._table, self._columns, self._lead = order, table, columns, lead

    @classmethod
    def of(cls, rows: _Ids, places: Sequence[int]) -> DenseIndex | None:
        """An index of rows by some of their columns, if these are such columns."""
        if not places or len(rows) < tuning.DENSE_ROWS:
            return None
        sample = rows[:: max(1, len(rows) // _SAMPLE)]
        different = [len(np.unique(sample[:, place])) for place in places]
        lead = places[int(np.argmax(different))]
        rest = np.array([place for place in places if place != lead], np.int64)
        kinds_there = len(np.unique(sample[:, rest], axis=0)) if len(rest) else 1
        if max(different) < tuning.DENSE_LEADS or 2 * kinds_there > _KINDS:
            return None
        if np.ptp(sample[:, lead]) > _SPREAD * len(rows):
            return None
        slots, firsts = np.full(4 * _KINDS, -1, np.int16), np.empty(_KINDS, np.int32)
        kinds, leads = np.empty(len(rows), np.uint8), np.empty(len(rows), np.int32)
        number, least, most = aside(len(rows), kernels.told_apart, rows, rest, lead, slots, firsts, kinds, leads)
        if number < 0 or most - least > _SPREAD * len(rows):
            return None
        starts = np.zeros(most - least + 3, np.int32)
        order, arranged = np.empty(len(rows), np.int32), np.empty(len(rows), np.uint8)
        aside(len(rows), kernels.arranged, leads, least - rows[0, lead], kinds, number, starts, order, arranged)
        columns = np.array([number for number, place in enumerate(places) if place != lead], np.int64)
        table = rows, rest, slots, firsts, least, starts, arranged
        return cls(order, table, columns, list(places).index(lead))

    def find(self, keys: _Ids) -> NDArray[np.int32]:
        """For each key where its rows begin in the order, or -1."""
        found = np.empty(len(keys), np.int32)
        aside(len(keys), kernels.find_dense, *self._table, np.ascontiguousarray(keys), self._columns, self._lead, found)
        return found

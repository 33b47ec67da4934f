"""Rows by a column of dense ids, the lead, and by other columns that have few different values, the rest.

As triples by subject and property, or by property and object: nearly every row may have a key of its own, and a hash table
of all keys is large. Here a number tells for each id of the lead where its rows begin. They stand there kind by kind, that
is by the number of what they have in the rest, of which alone there is a hash table, a small one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from everlog.engine.spark import tuning
from everlog.engine.spark.facts import row_kernels as kernels
from everlog.engine.spark.facts.row_kinds import Kinds, RowKinds, sample
from everlog.engine.spark.facts.shares import shared_out, shares
from everlog.interrupts import aside

_Ids = NDArray[np.int64]

_SPREAD: Final = 4
"""For each row there are at most so many ids that the lead could have."""


class DenseIndex:
    """Rows in an order in which those with the same key stand together, the last of them as its complement."""

    def __init__(self, order: NDArray[np.int32], table: tuple[Any, ...], columns: _Ids, lead: int) -> None:
        self.order, self._table, self._columns, self._lead = order, table, columns, lead

    @classmethod
    def of(cls, rows: _Ids, kinds: RowKinds, places: Sequence[int]) -> DenseIndex | None:
        """An index of rows by some of their columns, if these are such columns."""
        lead = _lead(rows, places)
        if lead is None:
            return None
        rest = [place for place in places if place != lead]
        told = kinds.by(rest)
        if told is None:
            return None
        led = _Led.of(rows, lead)
        if led.ids > _SPREAD * len(rows):
            return None
        starts, order, sorted_kinds = led.arranged(told)
        table = rows, np.array(rest, np.int64), told.slots, told.firsts, led.first + led.least, starts, sorted_kinds
        columns = np.array([number for number, place in enumerate(places) if place != lead], np.int64)
        return cls(order, table, columns, list(places).index(lead))

    def find(self, keys: _Ids) -> NDArray[np.int32]:
        """For each key where its rows begin in the order, or -1."""
        found, asked = np.empty(len(keys), np.int32), np.ascontiguousarray(keys)
        calls = [(*self._table, asked[one], self._columns, self._lead, found[one]) for one in shares(len(keys))]
        shared_out(len(keys), kernels.find_dense, calls)
        return found


class _Led(NamedTuple):
    """The id of the lead that each row has, from some id on."""

    leads: NDArray[np.int32]
    first: int
    """The id of the lead that is 0 among `leads`."""
    least: int
    """The least of `leads`."""
    ids: int
    """So many ids from the least one on are all that there are."""

    @classmethod
    def of(cls, rows: _Ids, lead: int) -> _Led:
        """Those of a column; what they are is of no account if they are too many."""
        first, leads = rows[0, lead], np.empty(len(rows), np.int32)
        calls = [(rows[one], lead, first, leads[one]) for one in shares(len(rows))]
        ends = shared_out(len(rows), kernels.led, calls)
        least = min(one for one, _ in ends)
        return cls(leads, int(first), least, max(one for _, one in ends) - least + 1)

    def arranged(self, told: Kinds) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]:
        """Where the rows of each id start in an order, this order, and the kinds in it."""
        rows = len(self.leads)
        some = shares(rows, _SPREAD * rows // self.ids)
        counts = np.zeros((len(some), self.ids), np.int32)
        calls = [(self.leads[one], self.least, mine) for one, mine in zip(some, counts, strict=True)]
        shared_out(rows, kernels.counted, calls)
        starts = np.empty(self.ids + 1, np.int32)
        most = aside(self.ids, kernels.begun, counts, starts)
        order, kinds = np.empty(rows, np.int32), np.empty(rows, np.uint8)
        placed = [
            (self.leads[one], one.start, self.least, told.kinds[one], places, order, kinds)
            for one, places in zip(some, counts, strict=True)
        ]
        shared_out(rows, kernels.arranged, placed)
        ids = [starts[one.start : one.stop + 1] for one in shares(self.ids)]
        shared_out(rows, kernels.sorted_by_kind, [(mine, told.number, most, order, kinds) for mine in ids])
        return starts, order, kinds


def _lead(rows: _Ids, places: Sequence[int]) -> int | None:
    """The column that may lead to rows, as far as a sample tells, if there is one; the others are the rest."""
    if not places or len(rows) < tuning.DENSE_ROWS:
        return None
    some = sample(rows)
    different = [len(np.unique(some[:, place])) for place in places]
    lead = places[int(np.argmax(different))]
    is_dense = np.ptp(some[:, lead]) <= _SPREAD * len(rows)
    return lead if max(different) >= tuning.DENSE_LEADS and is_dense else None

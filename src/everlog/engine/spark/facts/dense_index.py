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
from everlog.engine.spark.facts.shares import shared_out, shares
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
        lead = _lead(rows, places)
        if lead is None:
            return None
        rest = np.array([place for place in places if place != lead], np.int64)
        told = _told_apart(rows, rest, lead)
        if told is None or told.ids > _SPREAD * len(rows):
            return None
        columns = np.array([number for number, place in enumerate(places) if place != lead], np.int64)
        starts, order, kinds = told.arranged()
        table = rows, rest, told.slots, told.firsts, told.least, starts, kinds
        return cls(order, table, columns, list(places).index(lead))

    def find(self, keys: _Ids) -> NDArray[np.int32]:
        """For each key where its rows begin in the order, or -1."""
        found, asked = np.empty(len(keys), np.int32), np.ascontiguousarray(keys)
        calls = [(*self._table, asked[one], self._columns, self._lead, found[one]) for one in shares(len(keys))]
        shared_out(len(keys), kernels.find_dense, calls)
        return found


class _Told(NamedTuple):
    """Rows told apart: the kind of each, and its id of the lead from some id on."""

    kinds: NDArray[np.uint8]
    leads: NDArray[np.int32]
    slots: NDArray[np.int16]
    """Where each slot of a hash table of kinds leads to."""
    firsts: NDArray[np.int32]
    """A row of each kind."""
    number: int
    """How many kinds there are."""
    first: int
    """The id of the lead that is 0 among `leads`."""
    least: int
    ids: int
    """So many ids from the least one on are all that there are."""

    def arranged(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]:
        """Where the rows of each id start in an order, this order, and the kinds in it."""
        rows, least = len(self.kinds), self.least - self.first
        some = shares(rows, _SPREAD * rows // self.ids)
        counts = np.zeros((len(some), self.ids), np.int32)
        shared_out(
            rows, kernels.counted, [(self.leads[one], least, mine) for one, mine in zip(some, counts, strict=True)]
        )
        starts = np.empty(self.ids + 1, np.int32)
        most = aside(self.ids, kernels.begun, counts, starts)
        order, kinds = np.empty(rows, np.int32), np.empty(rows, np.uint8)
        placed = [
            (self.leads[one], one.start, least, self.kinds[one], places, order, kinds)
            for one, places in zip(some, counts, strict=True)
        ]
        shared_out(rows, kernels.arranged, placed)
        ids = [starts[one.start : one.stop + 1] for one in shares(self.ids)]
        shared_out(rows, kernels.sorted_by_kind, [(mine, self.number, most, order, kinds) for mine in ids])
        return starts, order, kinds


def _told_apart(rows: _Ids, rest: _Ids, lead: int) -> _Told | None:
    """The kinds of rows, those of each share and then those of all; None if they are too many."""
    first, some = rows[0, lead], shares(len(rows))
    kinds, leads = np.empty(len(rows), np.uint8), np.empty(len(rows), np.int32)
    tables = [_empty_table() for _ in some]
    calls = [
        (rows[one], first, rest, lead, *table, kinds[one], leads[one]) for one, table in zip(some, tables, strict=True)
    ]
    told = shared_out(len(rows), kernels.told_apart, calls)
    numbers, slots, firsts = [number for number, _, _ in told], *tables[0]
    least, most = min(least for _, least, _ in told), max(most for _, _, most in told)
    number = min(numbers)
    if number >= 0 and len(some) > 1:
        known = np.concatenate(
            [one.start + table[1][:number] for one, table, number in zip(some, tables, numbers, strict=True)]
        )
        slots, firsts = _empty_table()
        names, ids = np.empty(len(known), np.uint8), np.empty(len(known), np.int32)
        number, _, _ = kernels.told_apart(rows[known], first, rest, lead, slots, firsts, names, ids)
        firsts[:number] = known[firsts[:number]]
        mine = np.split(names, np.cumsum(numbers)[:-1])
        shared_out(len(rows), kernels.renamed, [(kinds[one], new) for one, new in zip(some, mine, strict=True)])
    return None if number < 0 else _Told(kinds, leads, slots, firsts, number, first, least, most - least + 1)


def _empty_table() -> tuple[NDArray[np.int16], NDArray[np.int32]]:
    """A hash table of kinds, and room for a row of each."""
    return np.full(4 * _KINDS, -1, np.int16), np.empty(_KINDS, np.int32)


def _lead(rows: _Ids, places: Sequence[int]) -> int | None:
    """The column that may lead to rows, as far as a sample tells, if there is one; the others are the rest."""
    if not places or len(rows) < tuning.DENSE_ROWS:
        return None
    sample = rows[:: max(1, len(rows) // _SAMPLE)]
    different = [len(np.unique(sample[:, place])) for place in places]
    lead = places[int(np.argmax(different))]
    rest = [place for place in places if place != lead]
    kinds = len(np.unique(sample[:, rest], axis=0)) if rest else 1
    is_dense = np.ptp(sample[:, lead]) <= _SPREAD * len(rows)
    return lead if max(different) >= tuning.DENSE_LEADS and 2 * kinds <= _KINDS and is_dense else None

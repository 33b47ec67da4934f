"""Rows told apart by columns that have few different values together, as triples by their property.

The kind of a row is the number, a byte, of what it has in these columns. There is a small hash table of the kinds, and each
thread tells its share of the rows. Whoever needs the kinds by the same columns again, for another index, finds them here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from everlog.engine.spark.facts import row_kernels as kernels
from everlog.engine.spark.facts.shares import shared_out, shares

_Ids = NDArray[np.int64]

_SAMPLE: Final = 1_024
"""So many rows tell whether columns may have few values."""

_KINDS: Final = 256
"""There are at most so many kinds: the number of one is a byte."""


class Kinds(NamedTuple):
    """The kind of each row, and how to find that of a key."""

    kinds: NDArray[np.uint8]
    slots: NDArray[np.int16]
    """Where each slot of a hash table of kinds leads to."""
    firsts: NDArray[np.int32]
    """A row of each kind."""
    number: int
    """How many kinds there are."""

    def arranged(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """A hash table of where the rows of each kind begin in an order, and this order: kind by kind, the last row of each
        as its complement."""
        rows = len(self.kinds)
        some = shares(rows)
        counts, order = np.zeros((len(some), self.number), np.int32), np.empty(rows, np.int32)
        shared_out(rows, kernels.counted, [(self.kinds[one], 0, mine) for one, mine in zip(some, counts, strict=True)])
        starts = np.empty(self.number + 1, np.int32)
        kernels.begun(counts, starts)
        calls = [(self.kinds[one], one.start, places, order) for one, places in zip(some, counts, strict=True)]
        shared_out(rows, kernels.put_by_kind, calls)
        ends = starts[1:] - 1
        order[ends] = ~order[ends]
        return np.where(self.slots < 0, np.int32(-1), starts[self.slots]), order


class RowKinds:
    """The kinds of rows by some of their columns, once somebody asks."""

    def __init__(self, rows: _Ids) -> None:
        self._rows = rows
        self._known: dict[tuple[int, ...], Kinds | None] = {}

    def by(self, places: Sequence[int]) -> Kinds | None:
        """The kinds by some columns; None if there are too many of them."""
        key = tuple(places)
        if key not in self._known:
            self._known[key] = _told_apart(self._rows, key) if self._may_be_few(key) else None
        return self._known[key]

    def _may_be_few(self, places: Sequence[int]) -> bool:
        """Whether there are not too many kinds, as far as a sample tells."""
        some = sample(self._rows)[:, places]
        return len(some) > 0 and (not places or 2 * len(np.unique(some, axis=0)) <= _KINDS)


def sample(rows: _Ids) -> _Ids:
    """Some of the rows."""
    return rows[:: max(1, len(rows) // _SAMPLE)]


def _told_apart(rows: _Ids, places: Sequence[int]) -> Kinds | None:
    """The kinds of rows, those of each share and then those of all; None if they are too many."""
    columns, some = np.array(places, np.int64), shares(len(rows))
    kinds, tables = np.empty(len(rows), np.uint8), [_empty_table() for _ in some]
    calls = [(rows[one], columns, *table, kinds[one]) for one, table in zip(some, tables, strict=True)]
    numbers = shared_out(len(rows), kernels.told_apart, calls)
    number, (slots, firsts) = min(numbers), tables[0]
    if number >= 0 and len(some) > 1:
        known = np.concatenate(
            [one.start + table[1][:number] for one, table, number in zip(some, tables, numbers, strict=True)]
        )
        (slots, firsts), names = _empty_table(), np.empty(len(known), np.uint8)
        number = kernels.told_apart(rows[known], columns, slots, firsts, names)
        firsts[:number] = known[firsts[:number]]
        new = np.split(names, np.cumsum(numbers)[:-1])
        others = [
            (kinds[one], mine) for one, mine in zip(some, new, strict=True) if (np.diff(mine) != 1).any() or mine[0]
        ]
        if others:
            shared_out(len(rows), kernels.renamed, others)
    return None if number < 0 else Kinds(kinds, slots, firsts, number)


def _empty_table() -> tuple[NDArray[np.int16], NDArray[np.int32]]:
    """A hash table of kinds, and room for a row of each."""
    return np.full(4 * _KINDS, -1, np.int16), np.empty(_KINDS, np.int32)

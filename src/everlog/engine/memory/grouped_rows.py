"""Many rows by groups: numbered, counted and added up in a few passes over ids, each shared by the engine's threads.

Where ids lie close together, a group is found by its id, and otherwise by an open-addressing table for each thread; the
groups that these have found are then numbered together, which are few compared with the rows, or no more than these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from everlog.engine.memory import tuning
from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.memory.facts.table import pieces
from everlog.engine.memory.kernels import group_kernels as kernels

Parallel = Callable[[Sequence[Callable[[], None]]], None]
"""Runs some jobs, on several threads if there are several."""

_NONE: Ids = np.empty(0, np.int32)


class _Places(NamedTuple):
    """For each row the place of its group, from a least one on, and how many there are."""

    of_rows: Ids
    least: int
    size: int


class GroupedRows:
    """Rows, at least one, whose groups are those that agree in some columns, at least one."""

    def __init__(self, columns: Sequence[Ids], workers: int, parallel: Parallel) -> None:
        self._columns, self._workers, self._parallel = columns, workers, parallel
        self._rows = len(columns[0])
        self._places = self._numbered()
        self._counts, some = self._counted()
        self._present = np.flatnonzero(self._counts)
        self._some = some[self._present]

    def __len__(self) -> int:
        return len(self._present)

    def keys(self) -> Ids:
        """What each group has in the columns."""
        return np.stack([column[self._some] for column in self._columns])

    def counts(self) -> NDArray[np.int64]:
        """How many rows each group has."""
        found: NDArray[np.int64] = self._counts[self._present]
        return found

    def numbers(self) -> NDArray[np.intp]:
        """The number of each row's group."""
        numbers = np.cumsum(self._counts > 0) - 1
        found: NDArray[np.intp] = numbers[self._places.of_rows - np.int32(self._places.least)]
        return found

    def sums(self, dictionary: Dictionary, ids: Ids) -> NDArray[np.int64] | None:
        """The sum of each group, given an id for each row; None if one is no integer, or 64 bits may be too few."""
        kinds, payload, *_ = dictionary.arrays()
        places, least, size = self._places
        totals = [np.zeros(size, np.int64) for _ in range(self._adding)]
        found: list[tuple[bool, int, int]] = []

        def add(worker: int, lo: int, hi: int) -> None:
            found.append(kernels.add(places[lo:hi], least, ids[lo:hi], kinds, payload, totals[worker]))

        self._shared(add, self._adding)
        farthest = max(max(-int(smallest), int(largest)) for _, smallest, largest in found)
        if not all(integers for integers, *_ in found) or farthest * int(self._counts.max()) >= 2**63:
            return None
        together: NDArray[np.int64] = sum(totals[1:], totals[0])[self._present]
        return together

    # ------------------------------------------------------------------------------------ places

    def _numbered(self) -> _Places:
        """One column after the other tells groups apart; as long as there are not more places than rows, by its ids."""
        found: _Places | None = None
        for column in self._columns:
            least, size = self._span(column)
            room = size if found is None else found.size * size
            if room > max(tuning.GROUP_PLACES, self._rows // tuning.ROWS_PER_PLACE):
                found = self._hashed(column, _NONE) if found is None else self._hashed(found.of_rows, column)
            elif found is None:
                found = _Places(column, least, size)
            else:
                out = np.empty(self._rows, np.int32)
                self._shared(partial(self._combine, found, column, least, size, out))
                found = _Places(out, 0, room)
        assert found is not None, "of one column at least"
        return found

    def _span(self, column: Ids) -> tuple[int, int]:
        """The least id of a column, and how many there can be."""
        spans: list[tuple[int, int]] = []
        self._shared(lambda worker, lo, hi: spans.append(kernels.span(column[lo:hi])))
        least = min(int(one) for one, _ in spans)
        return least, max(int(one) for _, one in spans) - least + 1

    @staticmethod
    def _combine(found: _Places, column: Ids, first: int, size: int, out: Ids, worker: int, lo: int, hi: int) -> None:
        kernels.combine(found.of_rows[lo:hi], found.least, column[lo:hi], first, size, out[lo:hi])

    def _hashed(self, places: Ids, column: Ids) -> _Places:
        out, parts = np.empty(self._rows, np.int32), dict[int, tuple[int, Ids]]()

        def number(worker: int, lo: int, hi: int) -> None:
            some = np.empty(hi - lo, np.int32)
            size = kernels.number(places[lo:hi], column[lo:hi], out[lo:hi], some)
            parts[lo] = hi, some[:size] + np.int32(lo)

        self._shared(number)
        if len(parts) == 1:
            return _Places(out, 0, len(parts[0][1]))
        rows = np.concatenate([some for _, some in parts.values()])
        numbers = np.empty(len(rows), np.int32)
        size = kernels.number(places[rows], column[rows] if len(column) else column, numbers, np.empty_like(numbers))
        ends = np.cumsum([len(some) for _, some in parts.values()])
        mine = dict(zip(parts, np.split(numbers, ends[:-1]), strict=True))
        self._shared(lambda worker, lo, hi: kernels.renumber(out[lo:hi], mine[lo]))
        return _Places(out, 0, size)

    def _counted(self) -> tuple[NDArray[np.int64], Ids]:
        """The rows of each place, and one of them."""
        places, least, size = self._places
        counts, some = [np.zeros(size, np.int64) for _ in range(self._adding)], np.empty(size, np.int32)

        def count(worker: int, lo: int, hi: int) -> None:
            kernels.count(places[lo:hi], least, lo, counts[worker], some)

        self._shared(count, self._adding)
        return sum(counts[1:], counts[0]), some

    @property
    def _adding(self) -> int:
        """How many threads add up: each has an array of its own, and all of these should not be larger than the columns."""
        return max(1, min(self._workers, self._rows // self._places.size))

    def _shared(self, work: Callable[[int, int, int], None], workers: int = 0) -> None:
        """Has threads do some work for all rows, each for pieces of its share."""
        several = workers or self._workers

        def mine(worker: int) -> None:
            lo, hi = (self._rows * one // several for one in (worker, worker + 1))
            for piece in pieces(lo, hi, tuning.GROUPED_ROWS):
                work(worker, *piece)

        self._parallel([partial(mine, worker) for worker in range(several)])

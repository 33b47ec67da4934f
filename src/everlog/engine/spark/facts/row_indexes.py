"""Rows of ids by some of their columns: which of them have a key, one of them, or all.

An index is made when somebody asks, as one of three kinds: a hash table of whole rows, one of the keys that rows have in
some columns, and numbers that lead to rows by dense ids (`dense_index.py`). What is asked of rows that cannot have any of
the keys is answered without one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everlog.engine.spark import tuning
from everlog.engine.spark.facts import row_kernels as kernels
from everlog.engine.spark.facts.dense_index import DenseIndex
from everlog.engine.spark.facts.row_kinds import RowKinds
from everlog.engine.spark.facts.shares import shared_out, shares
from everlog.interrupts import aside

Rows: TypeAlias = NDArray[np.int64]
"""An array of shape (rows, columns)."""

_Matches: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Numbers of keys and of rows, pair by pair."""

_NONE: Final[_Matches] = np.empty(0, np.int64), np.empty(0, np.int64)


class Slots(NamedTuple):
    """A hash table of whole rows."""

    slots: NDArray[np.int32]
    mask: int
    """The bits of a slot that are the number of a row; no row has all of them."""


class _HashTable:
    """Rows in an order in which those with the same key stand together, the last of them as its complement."""

    def __init__(self, rows: Rows, kinds: RowKinds, places: Sequence[int]) -> None:
        columns = np.array(places, np.int64)
        told = kinds.by(places) if len(rows) >= tuning.KIND_ROWS else None
        heads, self.order = _grouped(rows, columns) if told is None else told.arranged()
        self._table = rows, columns, heads, self.order

    def find(self, keys: Rows) -> NDArray[np.int32]:
        """For each key where its rows begin in the order, or -1."""
        found, asked, columns = _empty(len(keys)), np.ascontiguousarray(keys), np.arange(keys.shape[1])
        shared_out(
            len(keys), kernels.find, [(*self._table, asked[one], columns, found[one]) for one in shares(len(keys))]
        )
        return found


def _grouped(rows: Rows, columns: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """A hash table of where the rows with each key begin in an order, and this order."""
    groups, order = _empty(len(rows)), _empty(len(rows))
    heads, keys = aside(len(rows), kernels.grouped, rows, columns, groups)
    aside(len(rows), kernels.ordered, groups, keys, heads, order)
    return heads, order


class Index:
    """Rows by some of their columns: those with the same key stand together in an order."""

    def __init__(self, rows: Rows, kinds: RowKinds, places: Sequence[int]) -> None:
        table = DenseIndex.of(rows, kinds, places) or _HashTable(rows, kinds, places)
        self._order, self._find = table.order, table.find

    def has(self, keys: Rows) -> NDArray[np.bool_]:
        """Which keys some row has."""
        return self._find(keys) >= 0

    def one(self, keys: Rows) -> NDArray[np.int64]:
        """For each key a row that has it, or -1."""
        found = self._find(keys)
        rows = self._order[found] if len(self._order) else found
        return np.where(found < 0, -1, np.maximum(rows, ~rows)).astype(np.int64)

    def count(self, keys: Rows, most: int) -> int:
        """How many pairs of a key and a row that has it there are; if more than so many, a number above that."""
        return int(kernels.count_matches(self._order, self._find(keys), most))

    def all(self, keys: Rows, most: int) -> _Matches | None:
        """The keys that rows have, and these rows, pair by pair; None if there are more than so many."""
        found, some = self._find(keys), shares(len(keys))
        numbers = shared_out(len(keys), kernels.count_matches, [(self._order, found[one], most) for one in some])
        ends = list(accumulate(numbers))
        if not ends[-1]:
            return _NONE
        if ends[-1] > most:
            return None
        left, right = np.empty(ends[-1], np.int64), np.empty(ends[-1], np.int64)
        calls = [
            (self._order, found[one], one.start, left[end - number : end], right[end - number : end])
            for one, number, end in zip(some, numbers, ends, strict=True)
        ]
        shared_out(len(keys) + ends[-1], kernels.all_matches, calls)
        return left, right


class RowIndex:
    """Rows by all of their columns, each of them once; the table of the rows may be there already."""

    def __init__(self, rows: Rows, slots: Slots | None = None) -> None:
        if slots is None:
            slots = empty_slots(len(rows))
            aside(len(rows), kernels.entered, rows, *slots)
        self._table = rows, *slots

    def has(self, keys: Rows) -> NDArray[np.bool_]:
        return self.one(keys) >= 0

    def one(self, keys: Rows) -> NDArray[np.int64]:
        found, asked = np.empty(len(keys), np.int64), np.ascontiguousarray(keys)
        shared_out(len(keys), kernels.one_match, [(*self._table, asked[one], found[one]) for one in shares(len(keys))])
        return found

    def count(self, keys: Rows, most: int) -> int:
        return int(np.count_nonzero(self.has(keys)))

    def all(self, keys: Rows, most: int) -> _Matches | None:
        found = self.one(keys)
        there = np.flatnonzero(found >= 0)
        return None if len(there) > most else (there, found[there])


class RowClasses:
    """For each column of rows the classes of its ids (see `runs.py`), once somebody asks."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._found: NDArray[np.int64] | None = None

    def found(self) -> NDArray[np.int64]:
        if self._found is None:
            self._found = aside(len(self._rows), kernels.classes, self._rows)
        return self._found

    def may_have(self, places: Sequence[int], keys: Rows) -> NDArray[np.bool_]:
        """Which keys rows may have at some places."""
        found = np.ones(len(keys), np.bool_)
        for place, ids in zip(places, keys.T, strict=True):
            found &= ((self.found()[place] >> (ids % kernels.CLASSES)) & 1).astype(np.bool_)
        return found


class Told:
    """What is found out about rows once, for all who look them up. It knows the rows, and nobody else."""

    def __init__(self, rows: Rows) -> None:
        self.classes, self.kinds = RowClasses(rows), RowKinds(rows)


class Lookup:
    """Rows by some of their columns: an index, made when somebody asks for what may be there."""

    def __init__(self, rows: Rows, told: Told, places: Sequence[int], index: Index | RowIndex | None = None) -> None:
        self._rows, self._told, self._places, self._made = rows, told, tuple(places), index

    @property
    def is_made(self) -> bool:
        """Whether there is an index."""
        return self._made is not None

    @property
    def _index(self) -> Index | RowIndex:
        if self._made is None:
            whole = len(self._places) == self._rows.shape[1]
            self._made = RowIndex(self._rows) if whole else Index(self._rows, self._told.kinds, self._places)
        return self._made

    def _may_have(self, keys: Rows) -> bool:
        """Whether rows may have some of the keys; of many keys, as of those that an index tells about, nobody asks."""
        if self._made is not None or tuning.MANY_TIMES * len(keys) > len(self._rows):
            return True
        return bool(self._told.classes.may_have(self._places, keys).any())

    def has(self, keys: Rows) -> NDArray[np.bool_]:
        """Which keys some row has."""
        return self._index.has(keys) if self._may_have(keys) else np.zeros(len(keys), np.bool_)

    def one(self, keys: Rows) -> NDArray[np.int64]:
        """For each key a row that has it, or -1."""
        return self._index.one(keys) if self._may_have(keys) else np.full(len(keys), -1, np.int64)

    def count(self, keys: Rows, most: int) -> int:
        """How many pairs of a key and a row that has it there are; if more than so many, a number above that."""
        return self._index.count(keys, most) if self._may_have(keys) else 0

    def all(self, keys: Rows, most: int) -> _Matches | None:
        """The keys that rows have, and these rows, pair by pair; None if there are more than so many."""
        return self._index.all(keys, most) if self._may_have(keys) else _NONE


def _empty(numbers: int) -> NDArray[np.int32]:
    return np.empty(numbers, np.int32)


def empty_slots(rows: int) -> Slots:
    """An empty hash table for so many rows, with two to four slots for each."""
    bits = rows.bit_length()
    return Slots(np.full(2 << max(4, bits), -1, np.int32), (1 << bits) - 1)


def column_of(rows: Rows, numbers: NDArray[np.int64], column: int) -> NDArray[np.int64]:
    """A column of the rows with some numbers."""
    found = np.empty(len(numbers), np.int64)
    calls = [(rows, numbers[one], column, found[one]) for one in shares(len(numbers))]
    shared_out(len(numbers), kernels.taken, calls)
    return found

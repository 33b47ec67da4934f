"""Rows of numbers in order, in one array: those that begin with a key stand together, and are found by a search.

Where the columns of a row have 63 bits between them, counted from the least number of each, a row is one number, which
takes a fifth of the room of a triple with its count, and of the time to sort it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everlog.engine.spark.facts import row_kernels as kernels
from everlog.engine.spark.facts.row_indexes import Rows

_Places: TypeAlias = NDArray[np.int64]

_BITS: Final = 63
"""So many bits a number has that is not negative."""


class Column(NamedTuple):
    """What a column adds to a number that is a row: so many bits, of what it is above its least number."""

    least: int
    bits: int


class Block(ABC):
    """Rows in order."""

    @abstractmethod
    def ranges(self, keys: Rows) -> tuple[_Places, _Places]:
        """For each key, of keys in order, where the rows that begin with it start and stop."""

    @abstractmethod
    def rows(self, places: _Places) -> Rows:
        """The rows at some places."""


class WideBlock(Block):
    """Rows as they are."""

    def __init__(self, array: Rows) -> None:
        self._array = array

    def ranges(self, keys: Rows) -> tuple[_Places, _Places]:
        starts, stops = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
        kernels.ranges(self._array, keys, starts, stops)
        return starts, stops

    def rows(self, places: _Places) -> Rows:
        return self._array.take(places, axis=0)


class PackedBlock(Block):
    """Rows as numbers, the first column in the highest bits."""

    def __init__(self, array: NDArray[np.int64], columns: Sequence[Column]) -> None:
        self._array, self._columns = array, columns

    def ranges(self, keys: Rows) -> tuple[_Places, _Places]:
        width = keys.shape[1]
        room = sum(column.bits for column in self._columns[width:])
        above = keys - np.array([column.least for column in self._columns[:width]], np.int64)
        possible = np.ones(len(keys), np.bool_)
        for number, column in zip(above.T, self._columns, strict=False):
            possible &= (number >= 0) & (number >> column.bits == 0)
        some = _packed(above[possible].T, self._columns[:width]) << room
        starts, stops = np.zeros((2, len(keys)), np.int64)
        starts[possible] = np.searchsorted(self._array, some)
        stops[possible] = np.searchsorted(self._array, some | ((1 << room) - 1), side="right")
        return starts, stops

    def rows(self, places: _Places) -> Rows:
        numbers = self._array.take(places)
        rows = np.empty((len(numbers), len(self._columns)), np.int64)
        for number, column in reversed([*enumerate(self._columns)]):
            rows[:, number] = (numbers & ((1 << column.bits) - 1)) + column.least
            numbers >>= column.bits
        return rows


def block_of(array: NDArray[np.int64], columns: Sequence[Column]) -> Block:
    """A block of what `in_order` has given."""
    return PackedBlock(array, columns) if columns else WideBlock(array)


def in_order(columns: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], list[Column]]:
    """Some columns, not empty, as rows in order: as numbers, and what each column adds to them, or as they are."""
    least = [int(column.min()) for column in columns]
    bits = [(int(column.max()) - low).bit_length() for column, low in zip(columns, least, strict=True)]
    if sum(bits) > _BITS:
        return np.stack(columns, axis=1)[np.lexsort(columns[::-1])], []
    added = list(map(Column, least, bits))
    packed = _packed([column - low for column, low in zip(columns, least, strict=True)], added)
    packed.sort()
    return packed, added


def _packed(above: Sequence[NDArray[np.int64]] | Rows, columns: Sequence[Column]) -> NDArray[np.int64]:
    """Rows as numbers, given how far each column is above its least number."""
    packed = np.zeros(len(above[0]), np.int64)
    for number, column in zip(above, columns, strict=True):
        packed <<= column.bits
        packed |= number
    return packed

"""Rows of numbers in order, in one array: those that begin with a key stand together, and are found by a search.

Where the columns of a row have 63 bits between them, a row is one number, which takes a fifth of the room of a triple with
its count, and of the time to sort it. Of a column with few different numbers it has their places among all of them, of
another one how far each is above the least.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from everlog.engine.spark.facts import row_kernels as kernels
from everlog.engine.spark.facts.row_indexes import Rows

_Places: TypeAlias = NDArray[np.int64]

_BITS: Final = 63
"""So many bits a number has that is not negative."""


_FEW: Final = 1 << 10
"""A column has few different numbers if these are no more than so many."""


class Column(NamedTuple):
    """What a column adds to a number that is a row: so many bits, for its few numbers, or for how far above the first."""

    bits: int
    numbers: NDArray[np.int64]
    """The few numbers that the column has, in order; or the least one alone."""
    few: bool

    def added(self, column: NDArray[np.int64]) -> NDArray[np.int64]:
        """What numbers add, whatever it is where the column cannot have them."""
        return np.searchsorted(self.numbers, column) if self.few else column - self.numbers[0]

    def taken(self, added: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers that have added something."""
        return self.numbers[added] if self.few else added + self.numbers[0]

    def may_have(self, column: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which numbers the column may have."""
        if self.few:
            return np.isin(column, self.numbers)
        above = column - self.numbers[0]
        found: NDArray[np.bool_] = (above >= 0) & (above >> self.bits == 0)
        return found


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
        first, room = self._columns[:width], sum(column.bits for column in self._columns[width:])
        possible = np.ones(len(keys), np.bool_)
        for numbers, column in zip(keys.T, first, strict=True):
            possible &= column.may_have(numbers)
        some = _packed(keys[possible].T, first) << room
        starts, stops = np.zeros((2, len(keys)), np.int64)
        starts[possible] = np.searchsorted(self._array, some)
        stops[possible] = np.searchsorted(self._array, some | ((1 << room) - 1), side="right")
        return starts, stops

    def rows(self, places: _Places) -> Rows:
        packed = self._array.take(places)
        rows = np.empty((len(packed), len(self._columns)), np.int64)
        for number, column in reversed([*enumerate(self._columns)]):
            rows[:, number] = column.taken(packed & ((1 << column.bits) - 1))
            packed >>= column.bits
        return rows


def block_of(array: NDArray[np.int64], columns: Sequence[Column]) -> Block:
    """A block of what `in_order` has given."""
    return PackedBlock(array, columns) if columns else WideBlock(array)


def in_order(columns: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], list[Column]]:
    """Some columns, not empty, as rows in order: as numbers, and what each column adds to them, or as they are."""
    added = [_above_the_least(column) for column in columns]
    if sum(one.bits for one in added) > _BITS:
        added = [_few(column) or one for column, one in zip(columns, added, strict=True)]
    if sum(one.bits for one in added) > _BITS:
        return np.stack(columns, axis=1)[np.lexsort(columns[::-1])], []
    packed = _packed(columns, added)
    packed.sort()
    return packed, added


def _above_the_least(column: NDArray[np.int64]) -> Column:
    least = int(column.min())
    return Column((int(column.max()) - least).bit_length(), np.array([least]), few=False)


def _few(column: NDArray[np.int64]) -> Column | None:
    """A column as places among its different numbers, if these are few."""
    if len(np.unique(column[:: max(1, len(column) // (2 * _FEW + 1))])) > _FEW:
        return None
    numbers = np.sort(pc.unique(pa.array(column)).to_numpy())
    return Column((len(numbers) - 1).bit_length(), numbers, few=True) if len(numbers) <= _FEW else None


def _packed(numbers: Sequence[NDArray[np.int64]] | Rows, columns: Sequence[Column]) -> NDArray[np.int64]:
    """Rows as numbers, given column by column."""
    packed = np.zeros(len(numbers[0]), np.int64)
    for one, column in zip(numbers, columns, strict=True):
        packed <<= column.bits
        packed |= column.added(one)
    return packed

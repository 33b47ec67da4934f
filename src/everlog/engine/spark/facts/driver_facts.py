"""Facts on the driver: rows of ids in one array, and what sets of them do.

A fact is a row: the number of its relation, its arguments, and padding. Sets of different widths meet where a predicate
with more arguments has become known in between; what is missing is padding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.engine.spark import tuning
from everlog.engine.spark.facts import row_kernels as kernels
from everlog.engine.spark.facts.dense_index import DenseIndex
from everlog.engine.spark.facts.fact_schema import PADDING
from everlog.interrupts import aside

Rows: TypeAlias = NDArray[np.int64]
"""An array of shape (rows, columns)."""


_Matches: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Numbers of keys and of rows, pair by pair."""

_NONE: Final[_Matches] = np.empty(0, np.int64), np.empty(0, np.int64)

_Slots: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32]]
"""A hash table of rows: where each slot leads to, and each row."""


class _HashTable:
    """Rows in an order in which those with the same key stand together, the last of them as its complement."""

    def __init__(self, rows: Rows, places: Sequence[int]) -> None:
        columns, groups, self.order = np.array(places, np.int64), np.empty(len(rows), np.int32), _empty(len(rows))
        heads, keys = aside(len(rows), kernels.grouped, rows, columns, groups)
        aside(len(rows), kernels.ordered, groups, keys, heads, self.order)
        self._table = rows, columns, heads, self.order

    def find(self, keys: Rows) -> NDArray[np.int32]:
        """For each key where its rows begin in the order, or -1."""
        found = _empty(len(keys))
        aside(len(keys), kernels.find, *self._table, np.ascontiguousarray(keys), np.arange(keys.shape[1]), found)
        return found


class Index:
    """Rows by some of their columns: those with the same key stand together in an order."""

    def __init__(self, rows: Rows, places: Sequence[int]) -> None:
        table = DenseIndex.of(rows, places) or _HashTable(rows, places)
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
        found = self._find(keys)
        number = kernels.count_matches(self._order, found, most)
        if not number:
            return _NONE
        if number > most:
            return None
        left, right = np.empty(number, np.int64), np.empty(number, np.int64)
        aside(len(keys) + number, kernels.all_matches, self._order, found, left, right)
        return left, right


class RowIndex:
    """Rows by all of their columns, each of them once; the table of the rows may be there already."""

    def __init__(self, rows: Rows, slots: _Slots | None = None) -> None:
        places = np.arange(rows.shape[1])
        if slots is None:
            slots = _slots(len(rows))
            aside(len(rows), kernels.chain, rows, places, *slots)
        self._table = rows, places, *slots

    def has(self, keys: Rows) -> NDArray[np.bool_]:
        return self.one(keys) >= 0

    def one(self, keys: Rows) -> NDArray[np.int64]:
        found = np.empty(len(keys), np.int64)
        aside(len(keys), kernels.one_match, *self._table, np.ascontiguousarray(keys), found)
        return found

    def count(self, keys: Rows, most: int) -> int:
        return int(np.count_nonzero(self.has(keys)))

    def all(self, keys: Rows, most: int) -> _Matches | None:
        found = self.one(keys)
        there = np.flatnonzero(found >= 0)
        return None if len(there) > most else (there, found[there])


class _Classes:
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


class Lookup:
    """Rows by some of their columns: an index, made when somebody asks for what may be there."""

    def __init__(
        self, rows: Rows, classes: _Classes, places: Sequence[int], index: Index | RowIndex | None = None
    ) -> None:
        self._rows, self._classes, self._places, self._made = rows, classes, tuple(places), index

    @property
    def is_made(self) -> bool:
        """Whether there is an index."""
        return self._made is not None

    @property
    def _index(self) -> Index | RowIndex:
        if self._made is None:
            whole = len(self._places) == self._rows.shape[1]
            self._made = RowIndex(self._rows) if whole else Index(self._rows, self._places)
        return self._made

    def _may_have(self, keys: Rows) -> bool:
        """Whether rows may have some of the keys; of many keys, as of those that an index tells about, nobody asks."""
        if self._made is not None or tuning.MANY_TIMES * len(keys) > len(self._rows):
            return True
        return bool(self._classes.may_have(self._places, keys).any())

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


def _slots(rows: int) -> _Slots:
    """An empty hash table for so many rows, with two to four slots for each: with half as many, looking up takes half again
    as long."""
    return np.full(2 << max(4, rows.bit_length()), -1, np.int32), _empty(rows)


class DriverFacts:
    """Facts, each once, perhaps with a number beside each: how often it occurs, or its annotation."""

    def __init__(self, rows: Rows, numbers: NDArray[np.int64] | None = None) -> None:
        self.rows = np.ascontiguousarray(rows)
        self._numbers = numbers
        # What is found here once knows the rows, and not this object: Python frees large arrays at once, but no cycles.
        self._indexes: dict[tuple[int, ...], Lookup] = {}
        self._classes = _Classes(self.rows)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers beside the facts; 1 where nothing is counted."""
        return np.ones(len(self), np.int64) if self._numbers is None else self._numbers

    def numbers_at(self, places: NDArray[np.intp]) -> NDArray[np.int64]:
        """The numbers beside some of the facts."""
        return np.ones(len(places), np.int64) if self._numbers is None else self._numbers[places]

    @property
    def total(self) -> int:
        """The sum of the numbers."""
        return len(self) if self._numbers is None else int(self._numbers.sum())

    def __len__(self) -> int:
        return len(self.rows)

    def with_numbers(self, numbers: NDArray[np.int64] | int | None) -> DriverFacts:
        """The same facts with other numbers, or one number, or none."""
        given = np.full(len(self), numbers, np.int64) if isinstance(numbers, int) else numbers
        found = DriverFacts(self.rows, given)
        found._indexes, found._classes = self._indexes, self._classes
        return found

    def index(self, places: Sequence[int]) -> Lookup:
        """The facts by some of their columns."""
        key = tuple(places)
        if key not in self._indexes:
            self._indexes[key] = Lookup(self.rows, self._classes, key)
        return self._indexes[key]

    def is_indexed(self, places: Sequence[int]) -> bool:
        """Whether there is an index of the facts by these columns."""
        return tuple(places) in self._indexes and self._indexes[tuple(places)].is_made

    def classes(self) -> NDArray[np.int64]:
        """The classes of the ids of each column (see `runs.py`)."""
        return self._classes.found()

    def padded(self, width: int) -> Rows:
        """The rows with so many columns for arguments; facts have no more."""
        return widened(self.rows, width + 1)

    def of(self, relation: int, arity: int) -> Rows:
        """The arguments of the facts of a relation."""
        if self.rows.shape[1] <= arity:
            return np.empty((0, arity), np.int64)
        return np.ascontiguousarray(self.rows[self.rows[:, 0] == relation, 1 : arity + 1])

    def columns_of(self, relation: int, arity: int, places: Sequence[int]) -> tuple[int, list[NDArray[np.int64]]]:
        """How many facts of a relation there are, and some of their arguments, each a column by itself."""
        if self.rows.shape[1] <= arity:
            return 0, [np.empty(0, np.int64) for _ in places]
        mine = self.rows[:, 0] == relation
        rows = int(np.count_nonzero(mine))
        columns = (self.rows[:, place + 1] for place in places)
        return rows, [np.ascontiguousarray(one) if rows == len(self) else one[mine] for one in columns]

    def tuples(self) -> list[tuple[int, ...]]:
        """The facts one by one, with padding."""
        return list(map(tuple, self.rows.tolist()))

    # ------------------------------------------------------------------------------------ sets

    def chosen(self, which: NDArray[Any]) -> DriverFacts:
        """Some of the facts, by a mask or by their places."""
        if which.dtype == np.bool_ and which.all():
            return self
        places = np.flatnonzero(which) if which.dtype == np.bool_ else which
        return DriverFacts(self.rows.take(places, axis=0), None if self._numbers is None else self._numbers[places])

    def places_in(self, other: DriverFacts) -> NDArray[np.int64]:
        """Where another set has each fact, -1 where it does not."""
        if not len(other) or not len(self):
            return np.full(len(self), -1, np.int64)
        columns = other.rows.shape[1]
        found = other.index(range(columns)).one(widened(self.rows, columns)[:, :columns])
        if self.rows.shape[1] > columns:
            found[(self.rows[:, columns:] != PADDING).any(axis=1)] = -1
        return found

    def shared(self, other: DriverFacts) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where the facts are here, and there, that another set has, too; each of few is looked for among many."""
        if len(self) > tuning.MANY_TIMES * len(other):
            found = other.places_in(self)
            there = np.flatnonzero(found >= 0)
            return found[there], there
        found = self.places_in(other)
        there = np.flatnonzero(found >= 0)
        return there, found[there]

    def without(self, places: NDArray[np.intp]) -> DriverFacts:
        """All facts but those at some places."""
        if not len(places):
            return self
        kept = np.ones(len(self), np.bool_)
        kept[places] = False
        return self.chosen(np.flatnonzero(kept))

    def numbers_in(self, other: DriverFacts) -> NDArray[np.int64]:
        """The number that another set has beside each fact, 0 where it does not have it."""
        mine, theirs = self.shared(other)
        found = np.zeros(len(self), np.int64)
        found[mine] = other.numbers[theirs]
        return found

    def __and__(self, other: DriverFacts) -> DriverFacts:
        mine, _ = self.shared(other)
        return self if len(mine) == len(self) else self.chosen(np.sort(mine))

    def __sub__(self, other: DriverFacts) -> DriverFacts:
        return self.without(self.shared(other)[0])

    def __or__(self, other: DriverFacts) -> DriverFacts:
        return together([self, other - self])

    def plus(self, other: DriverFacts, sign: int) -> DriverFacts:
        """Facts of both, whose numbers are added, those of the second with a sign."""
        changed = other.with_numbers(other.numbers_in(self) + sign * other.numbers)
        return together([changed, self - other])


def matrix(table: pa.Table) -> Rows:
    """A table of numbers as rows."""
    found = np.empty((table.num_rows, table.num_columns), np.int64)
    for place, column in enumerate(table.columns):
        found[:, place] = column.to_numpy()
    return found


def widened(rows: Rows, columns: int) -> Rows:
    """Rows with at least so many columns."""
    more = columns - rows.shape[1]
    return rows if more <= 0 else np.pad(rows, ((0, 0), (0, more)), constant_values=PADDING)


def together(sets: Iterable[DriverFacts]) -> DriverFacts:
    """The facts of some sets that have none in common; they have numbers if one of the sets does."""
    some = [one for one in sets if len(one)] or [DriverFacts(np.empty((0, 1), np.int64))]
    if len(some) == 1:
        return some[0]
    columns = max(one.rows.shape[1] for one in some)
    counted = any(one._numbers is not None for one in some)
    rows = np.concatenate([widened(one.rows, columns) for one in some])
    return DriverFacts(rows, np.concatenate([one.numbers for one in some]) if counted else None)


def each_once(rows: Rows, counted: bool = False) -> DriverFacts:
    """The facts that are rows, perhaps several times; `counted`, with how often they are."""
    given = np.ascontiguousarray(rows)
    columns = np.arange(given.shape[1])
    first, group = np.empty(len(given), np.int64), np.empty(len(given), np.int64)
    heads, nexts = _slots(len(given))
    kinds = aside(len(given), kernels.distinct, given, columns, heads, nexts, first, group)
    numbers = np.bincount(group, minlength=kinds).astype(np.int64) if counted else None
    found = DriverFacts(given if kinds == len(given) else given.take(first[:kinds], axis=0), numbers)
    if 2 * kinds > len(given):  # else its slots are too many to be kept
        if kinds < len(given):
            aside(len(heads), kernels.renumbered, heads, nexts, first[:kinds], group)
        slots = heads, nexts if kinds == len(given) else nexts[:kinds].copy()
        places = tuple(columns.tolist())
        found._indexes[places] = Lookup(found.rows, found._classes, places, RowIndex(found.rows, slots))
    return found


def listed(facts: Iterable[Sequence[int]], width: int) -> DriverFacts:
    """Facts that are given one by one, with padding or without, perhaps several times."""
    rows = [(*fact, *[PADDING] * (width + 1 - len(fact))) for fact in facts]
    return each_once(np.array(rows, np.int64).reshape(len(rows), width + 1))

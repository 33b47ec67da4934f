"""Facts on the driver: rows of ids in one array, and what sets of them do.

A fact is a row: the number of its relation, its arguments, and padding. Sets of different widths meet where a predicate
with more arguments has become known in between; what is missing is padding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.engine.spark import tuning
from everlog.engine.spark.facts import row_kernels as kernels
from everlog.engine.spark.facts.fact_schema import PADDING
from everlog.engine.spark.facts.row_indexes import Lookup, RowIndex, Rows, Told, empty_slots
from everlog.interrupts import aside


class DriverFacts:
    """Facts, each once, perhaps with a number beside each: how often it occurs, or its annotation."""

    def __init__(self, rows: Rows, numbers: NDArray[np.int64] | None = None) -> None:
        self.rows = np.ascontiguousarray(rows)
        self._numbers = numbers
        # What is found here once knows the rows, and not this object: Python frees large arrays at once, but no cycles.
        self._indexes: dict[tuple[int, ...], Lookup] = {}
        self._told = Told(self.rows)

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
        found._indexes, found._told = self._indexes, self._told
        return found

    def index(self, places: Sequence[int]) -> Lookup:
        """The facts by some of their columns."""
        key = tuple(places)
        if key not in self._indexes:
            self._indexes[key] = Lookup(self.rows, self._told, key)
        return self._indexes[key]

    def is_indexed(self, places: Sequence[int]) -> bool:
        """Whether there is an index of the facts by these columns."""
        return tuple(places) in self._indexes and self._indexes[tuple(places)].is_made

    def classes(self) -> NDArray[np.int64]:
        """The classes of the ids of each column (see `runs.py`)."""
        return self._told.classes.found()

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
    first, group = np.empty(len(given), np.int64), np.empty(len(given), np.int64)
    slots = empty_slots(len(given))
    kinds = aside(len(given), kernels.distinct, given, *slots, first, group)
    numbers = np.bincount(group, minlength=kinds).astype(np.int64) if counted else None
    found = DriverFacts(given if kinds == len(given) else given.take(first[:kinds], axis=0), numbers)
    if 2 * kinds > len(given):  # else its slots are too many to be kept
        if kinds < len(given):
            aside(len(slots.slots), kernels.renumbered, *slots, group)
        places = tuple(range(given.shape[1]))
        found._indexes[places] = Lookup(found.rows, found._told, places, RowIndex(found.rows, slots))
    return found


def listed(facts: Iterable[Sequence[int]], width: int) -> DriverFacts:
    """Facts that are given one by one, with padding or without, perhaps several times."""
    rows = [(*fact, *[PADDING] * (width + 1 - len(fact))) for fact in facts]
    return each_once(np.array(rows, np.int64).reshape(len(rows), width + 1))

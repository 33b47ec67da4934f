"""Values as numbers, of which the least is the best one, and back.

Numbers that are added up are themselves, or, where the greatest is the best, what is less than 0 by as much. Other values
have ranks in the order of all values; between two of them there is room for values that come later.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from typing import Any, Final

import numpy as np
import pyarrow as pa

from everlog.datalog.syntax import Extreme
from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.memory.step_lists import Numbers, numbers_by_id, span_of
from everlog.engine.memory.value_columns import column_of_ids, ids_of_column
from everlog.expressions.columns import Doubles, Integers
from everlog.expressions.total_order import place_in_order, ranked

_GAP: Final = 1 << 31
"""The distance between two ranks when they are given out."""


class Values(ABC):
    """Some values, and the numbers that stand for them."""

    @abstractmethod
    def numbers(self, ids: Ids) -> Numbers | None:
        """The numbers for some values; None if there are none for all of them."""

    @abstractmethod
    def ids(self, numbers: Numbers) -> Ids:
        """The values that some numbers stand for."""

    def added(self, ids: Ids) -> Numbers | None:
        """What is added to numbers where some values are added; None if there is nothing for all of them, or if one
        improves what it is added to."""
        return None

    def added_by_id(self) -> Numbers:
        """The same for those that were asked for, and more, by id; for other ids whatever it may be."""
        return np.empty(0, np.int64)

    def offered(self, again: Ids, groups: Ids, ids: Ids) -> None:
        """Is told of values that are given to some groups; what was given to those of `again` is told once more."""
        return

    def named(self, groups: Ids, numbers: Numbers) -> Ids:
        """The values of some groups, given what stands for them."""
        return self.ids(numbers)

    def are_certain(self, numbers: Numbers, steps: int) -> bool:
        """Whether numbers that were found, by way of so many steps at the most, stand for values."""
        return True


class NumberValues(Values):
    """Integers or doubles."""

    def __init__(self, dictionary: Dictionary, sign: int, kind: np.dtype[Any]) -> None:
        self._dictionary, self._sign, self._kind = dictionary, sign, kind

    def numbers(self, ids: Ids) -> Numbers | None:
        if not len(ids):
            return np.empty(0, self._kind)
        span = span_of(self._dictionary, ids)
        if span is None or span.kind != self._kind:
            return None
        found: Numbers = self._sign * self._dictionary.numbers(ids)
        # What is infinitely good, and worsened without end, is no number.
        return None if self._kind.kind == "f" and found.min() == -np.inf else found

    def ids(self, numbers: Numbers) -> Ids:
        return self._dictionary.encode_column(pa.array(self._sign * numbers))

    def added(self, ids: Ids) -> Numbers | None:
        found = self.numbers(ids)
        return None if found is None or (found < 0).any() else found

    def added_by_id(self) -> Numbers:
        found: Numbers = numbers_by_id(self._dictionary, self._kind)
        return found if self._sign > 0 else -found


class RankedValues(Values):
    """Values of any kinds by their ranks."""

    def __init__(self, dictionary: Dictionary, ids: Ids, extreme: Extreme) -> None:
        self._dictionary, self._is_least = dictionary, extreme.function == "MIN"
        column = column_of_ids(dictionary, ids) if len(ids) else Integers(np.empty(0, np.int64))
        self._kind = type(column) if isinstance(column, Integers | Doubles) else None
        """The kind of all values, if their ranks are a matter of their own."""
        self._ids: Ids = np.empty(0, np.int32)
        self._ranks = self._by_id = np.empty(0, np.int64)
        """Otherwise values in their order, and their ranks; the same by id, 0 for other ids."""
        if self._kind is None:
            first = np.unique(ranked(column).ranks, return_index=True)[1]
            self._ids, self._ranks = ids[first], _GAP * np.arange(1, len(first) + 1)
            self._look_up()

    def numbers(self, ids: Ids) -> Numbers | None:
        if self._kind is None:
            if not self._placed(ids):
                return None
            found = self._by_id[ids]
        else:
            column = column_of_ids(self._dictionary, ids)
            if len(ids) and not isinstance(column, self._kind):
                return None
            found = ranked(column).ranks if len(ids) else np.empty(0, np.int64)
        return found if self._is_least else ~found

    def ids(self, numbers: Numbers) -> Ids:
        ranks = numbers if self._is_least else ~numbers
        if self._kind is None:
            found: Ids = self._ids[np.searchsorted(self._ranks, ranks)]
            return found
        kind: Any = self._kind
        back = ranked(kind(np.zeros(1, np.int64 if kind is Integers else np.float64))).values
        return ids_of_column(self._dictionary, back(ranks))[0]

    def _placed(self, ids: Ids) -> bool:
        """Gives ranks to values that have none; tells whether there was room for them."""
        if len(self._dictionary) > len(self._by_id):
            self._look_up()
        new = np.unique(ids[self._by_id[ids] == 0])
        if not len(new):
            return True

        def key(id: Any) -> tuple[int, Any, str]:
            return place_in_order(self._dictionary.value(int(id)))

        new = np.array(sorted(new.tolist(), key=key), np.int32)
        places = np.array([bisect_left(self._ids, key(id), key=key) for id in new])
        beside = np.concatenate([[0], self._ranks, [self._ranks[-1] + (len(new) + 1) * _GAP]])
        _, first, sizes = np.unique(places, return_index=True, return_counts=True)
        among = np.arange(len(new)) - np.repeat(first, sizes) + 1
        room = (beside[places + 1] - beside[places]) // (np.repeat(sizes, sizes) + 1)
        if (room < 1).any():
            return False
        self._ranks = np.insert(self._ranks, places, beside[places] + among * room)
        self._ids = np.insert(self._ids, places, new)
        self._look_up()
        return True

    def _look_up(self) -> None:
        self._by_id = np.zeros(len(self._dictionary), np.int64)
        self._by_id[self._ids] = self._ranks

"""Integers beside doubles, where every sum is a double: what is added are doubles, or what sums begin with are.

Then a lesser number never leads to a greater sum, whatever is rounded on the way, and two sums of equal value are the same
double. So values can be settled in their order as doubles. What is given may be an integer, which stays one: of equal
values it is the least (`total_order.py`), so it is the value of its group unless there is a lesser one.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.memory.term_kinds import FLOAT, INT
from everlog.engine.memory.value_ranks import Values

_EXACT: Final = 2**53
"""Integers up to this are doubles, too."""


class DoubleValues(Values):
    """Doubles that are added to what may be integers, `of_integers`, or else integers and doubles added to doubles."""

    def __init__(self, dictionary: Dictionary, sign: int, of_integers: bool) -> None:
        self._dictionary, self._sign, self._of_integers = dictionary, sign, of_integers
        self._given: Ids = np.empty(0, np.int32)
        """The least integer that is given to each group, by id, or -1."""

    def numbers(self, ids: Ids) -> NDArray[np.float64] | None:
        return self._doubles(ids, self._of_integers)

    def added(self, ids: Ids) -> NDArray[np.float64] | None:
        found = self._doubles(ids, not self._of_integers)
        return None if found is None or (found < 0).any() else found

    def added_by_id(self) -> NDArray[np.float64]:
        # Behind the last id there may be anything, also what is no double.
        kinds, payload = (column[: len(self._dictionary)] for column in self._dictionary.arrays()[:2])
        doubles = np.where(kinds == FLOAT, payload.view(np.float64), 0.0)
        found: NDArray[np.float64] = np.where(kinds == INT, payload, doubles)
        return self._sign * found

    def ids(self, numbers: NDArray[np.float64]) -> Ids:
        return self._dictionary.encode_column(pa.array(self._sign * numbers))

    def offered(self, again: Ids, groups: Ids, ids: Ids) -> None:
        if not self._of_integers:
            return
        kinds, payload, *_ = self._dictionary.arrays()
        size = len(self._dictionary)
        if size > len(self._given):
            self._given = np.append(self._given, np.full(size + size // 8 - len(self._given), -1, np.int32))
        self._given[again] = -1
        known = self._given[groups]
        less = (kinds[ids] == INT) & ((known < 0) | (payload[ids] < payload[known]))
        order = np.flatnonzero(less)[np.argsort(-payload[ids[less]])]
        self._given[groups[order]] = ids[order]

    def named(self, groups: Ids, numbers: NDArray[np.float64]) -> Ids:
        found = self.ids(numbers)
        if self._of_integers:
            mine = self._given[groups]
            whole = (mine >= 0) & (self._dictionary.arrays().payload[mine] == numbers)
            found[whole] = mine[whole]
        return found

    def _doubles(self, ids: Ids, integers: bool) -> NDArray[np.float64] | None:
        """The numbers of some ids; None if one is none, or is not to be an integer and is one."""
        kinds, payload = self._dictionary.kinds(ids), self._dictionary.arrays().payload[ids]
        whole, found = kinds == INT, payload.view(np.float64)
        if not ((kinds == FLOAT) | whole).all() or (whole.any() and not integers):
            return None
        if (np.abs(payload[whole]) > _EXACT).any() or (payload[whole] == -(2**63)).any():
            return None
        found = np.where(whole, payload, found)
        # Neither NaN nor -0.0 is a number like others, nor is what is infinitely good.
        plain = (self._sign * found > -np.inf) & ((found != 0) | ~np.signbit(found))
        return self._sign * found if plain.all() else None


def double_values(dictionary: Dictionary, sign: int, given: Ids, added: list[Ids], copies: bool) -> DoubleValues | None:
    """What counts given values and what steps add as doubles, if every sum is one; some steps may copy values instead."""
    for of_integers in (False, True):
        if of_integers and (copies or sign < 0):  # of equal values the greatest is the double
            return None
        values = DoubleValues(dictionary, sign, of_integers)
        if values.numbers(given) is not None and all(values.added(ids) is not None for ids in added):
            return values
    return None

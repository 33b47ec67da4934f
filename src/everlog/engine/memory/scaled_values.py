"""Integers beside decimals, as whole numbers that can be added up: sums of both are exact, whatever is added first.

A number stands for a value times a power of ten, and has room at its end for how many of the summands are decimals. So of
two equal values, an integer and a decimal, the better one is the lesser number here, too: the decimal where the least value
is sought, which `total_order.py` has before the integer, and the integer where the greatest is.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.values import Value
from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.memory.term_kinds import INT, LITERAL
from everlog.engine.memory.value_ranks import Values
from everlog.expressions.numbers import number, number_value

_MOST: Final = 2**62
"""Numbers are less: sums of two of them have 64 bits."""


class ScaledValues(Values):
    """Integers and decimals, `digits` of these behind the point, in sums of less than `2 ** room` of them."""

    def __init__(self, dictionary: Dictionary, sign: int, digits: int, room: int) -> None:
        self._dictionary, self._sign, self._digits, self._room = dictionary, sign, digits, room
        self._numbers: NDArray[np.int64] = np.zeros(0, np.int64)
        """By id, what is added; 0 where nobody has asked."""
        self._states = np.zeros(0, np.int8)
        """By id, whether it is known what is added: 0 if not, 1 if so, -1 if it is no such number."""

    def numbers(self, ids: Ids) -> NDArray[np.int64] | None:
        distinct, places = np.unique(ids, return_inverse=True)
        found = [self._number(value, given=True) for value in self._dictionary.values(distinct)]
        if any(one is None for one in found):
            return None
        return np.array(found, np.int64)[places]

    def added(self, ids: Ids) -> NDArray[np.int64] | None:
        size = len(self._dictionary)
        if size > len(self._states):
            self._numbers, self._states = (
                np.append(array, np.zeros(size + size // 8 - len(array), array.dtype))
                for array in (self._numbers, self._states)
            )
        new = np.unique(ids[self._states[ids] == 0])
        for id, value in zip(new.tolist(), self._dictionary.values(new), strict=True):
            one = self._number(value)
            self._states[id] = -1 if one is None or one < 0 else 1
            self._numbers[id] = max(one or 0, 0)
        return None if (self._states[ids] < 0).any() else self._numbers[ids]

    def added_by_id(self) -> NDArray[np.int64]:
        return self._numbers

    def ids(self, numbers: NDArray[np.int64]) -> Ids:
        distinct, places = np.unique(numbers, return_inverse=True)
        found = self._dictionary.encode_values([self._value(one) for one in distinct.tolist()])
        return found[places]

    def are_certain(self, numbers: NDArray[Any], steps: int) -> bool:
        farthest = int(np.abs(numbers).max(initial=0)) + int(self._numbers.max(initial=0))
        return farthest < _MOST and steps < 1 << self._room

    def _number(self, value: Value, given: bool = False) -> int | None:
        """The number for a value; None if there is none. What is given is written as sums are."""
        exact = number(value)
        if not isinstance(exact, int | Decimal) or (given and number_value(exact) != value):
            return None
        scaled = exact.scaleb(self._digits) if isinstance(exact, Decimal) else Decimal(exact * 10**self._digits)
        if scaled != int(scaled):
            return None
        found = (self._sign * int(scaled) << self._room) - self._sign * isinstance(exact, Decimal)
        return found if abs(found) < _MOST else None

    def _value(self, found: int) -> Value:
        """The value of a number."""
        counted = -self._sign * found
        scaled, decimals = -(counted >> self._room), counted & ((1 << self._room) - 1)
        if not decimals:
            return int(scaled // 10**self._digits)
        value = number_value(Decimal(scaled).scaleb(-self._digits))
        assert value is not None
        return value


def scaled_values(dictionary: Dictionary, sign: int, given: Ids, added: Sequence[Ids]) -> ScaledValues | None:
    """A scale for given values and what steps add, if these are integers and decimals."""
    seen = np.zeros(len(dictionary), np.bool_)
    for ids in (given, *added):
        seen[ids] = True
    distinct = np.flatnonzero(seen).astype(np.int32)
    others = distinct[dictionary.kinds(distinct) != INT]
    if not len(others) or (dictionary.kinds(others) != LITERAL).any():
        return None
    digits = 0
    for value in dictionary.values(others):
        exact = number(value)
        if not isinstance(exact, int | Decimal):
            return None
        if isinstance(exact, Decimal):
            digits = max(digits, -int(exact.normalize().as_tuple().exponent))
    steps = sum(map(len, added)) + len(given)
    return ScaledValues(dictionary, sign, digits, (2 * steps + 64).bit_length())

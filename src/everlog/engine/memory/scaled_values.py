"""Integers beside decimals, or beside doubles, as whole numbers that can be added up: sums are exact, whatever comes first.

A number stands for a value times a scale, a power of ten for decimals and of two for doubles, and has room at its end for
how many of the summands are no integers. So of two equal values, an integer and another number, the better one is the
lesser number here, too: the integer where the least value is sought, which `total_order.py` has before others, and the
other one where the greatest is. Doubles whose sums would have to be rounded have no such numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.values import Value
from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.memory.term_kinds import FLOAT, INT
from everlog.engine.memory.value_ranks import Values
from everlog.expressions.numbers import number, number_value

_MOST: Final = 2**62
"""Numbers are less: sums of two of them have 64 bits."""
_EXACT: Final = 2**53
"""Whole numbers up to this are doubles, and so is a power of two of them."""


class ScaledValues(Values):
    """Integers and numbers of another kind, all of them multiples of `1 / scale`, in sums of less than `2 ** room`."""

    def __init__(self, dictionary: Dictionary, sign: int, kind: type, scale: int, room: int) -> None:
        self._dictionary, self._sign, self._kind, self._scale, self._room = dictionary, sign, kind, scale, room
        self._most = min(_MOST, _EXACT << room) if kind is float else _MOST
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
        return farthest < self._most and steps < 1 << self._room

    def _number(self, value: Value, given: bool = False) -> int | None:
        """The number for a value; None if there is none. What is given is written as sums are."""
        exact = number(value)
        if not isinstance(exact, int | Decimal | float) or not isinstance(exact, int | self._kind):
            return None
        if not _is_plain(exact) or (given and number_value(exact) != value):
            return None
        scaled = Fraction(exact) * self._scale
        if scaled.denominator != 1:
            return None
        found = self._sign * ((int(scaled) << self._room) + (not isinstance(exact, int)))
        return found if abs(found) < self._most else None

    def _value(self, found: int) -> Value:
        """The value of a number."""
        counted = self._sign * found
        scaled, others = counted >> self._room, counted & ((1 << self._room) - 1)
        if not others:
            return scaled // self._scale
        exact = Fraction(scaled, self._scale)
        if self._kind is float:
            return float(exact)
        value = number_value(Decimal(exact.numerator) / Decimal(exact.denominator))
        assert value is not None
        return value


def _is_plain(exact: int | Decimal | float) -> bool:
    """Whether a number is finite and not -0.0, which differs from 0.0."""
    return isinstance(exact, int | Decimal) or (math.isfinite(exact) and (exact != 0 or math.copysign(1, exact) > 0))


def scaled_values(dictionary: Dictionary, sign: int, given: Ids, added: Sequence[Ids]) -> ScaledValues | None:
    """A scale for given values and what steps add, if these are integers and decimals, or integers and doubles."""
    seen = np.zeros(len(dictionary), np.bool_)
    for ids in (given, *added):
        seen[ids] = True
    distinct = np.flatnonzero(seen).astype(np.int32)
    others = distinct[dictionary.kinds(distinct) != INT]
    if not len(others):
        return None
    kind = float if dictionary.kinds(others[:1])[0] == FLOAT else Decimal
    scale = 1
    for value in dictionary.values(others):
        exact = number(value)
        if not isinstance(exact, int | kind) or not _is_plain(exact):
            return None
        if kind is float:
            scale = max(scale, exact.as_integer_ratio()[1])
        elif isinstance(exact, Decimal):
            scale = max(scale, 10 ** max(0, -int(exact.normalize().as_tuple().exponent)))
        if scale > _MOST:
            return None
    steps = sum(map(len, added)) + len(given)
    return ScaledValues(dictionary, sign, kind, scale, (2 * steps + 64).bit_length())

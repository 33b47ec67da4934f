"""Arithmetic and comparisons over whole columns of integers, doubles and booleans.

Each function gives None for columns of other kinds, whose values are then computed one by one. Integers have 64 bits; a row
whose result has more is missing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from everlog.expressions.columns import Booleans, Column, Doubles, Integers, Mask, joined
from everlog.expressions.numbers import round_doubles

_LEAST: Final = np.iinfo(np.int64).min
_FAR: Final = 2.0**32
"""Less than what a product is off after an overflow, and more than what computing it with doubles is off without one."""


def _arithmetic(
    of_numbers: Callable[[Any, Any], Any], overflow: Callable[[Any, Any, Any], Mask | None]
) -> Callable[[Column, Column], Column | None]:
    def computed(left: Column, right: Column) -> Column | None:
        if not isinstance(left, Integers | Doubles) or not isinstance(right, Integers | Doubles):
            return None
        result = of_numbers(left.array, right.array)
        if result.dtype == np.float64:
            return Doubles(result, joined([left.missing, right.missing]))
        return Integers(result, joined([left.missing, right.missing, overflow(left.array, right.array, result)]))

    return computed


def _where(mask: Mask) -> Mask | None:
    return mask if mask.any() else None


def _sum_overflow(left: NDArray[np.int64], right: NDArray[np.int64], result: NDArray[np.int64]) -> Mask | None:
    """A sum that overflows has a sign that neither operand has."""
    return None if _spread(left) + _spread(right) < 2**63 else _where(((left ^ result) & (right ^ result)) < 0)


def _difference_overflow(left: NDArray[np.int64], right: NDArray[np.int64], result: NDArray[np.int64]) -> Mask | None:
    return None if _spread(left) + _spread(right) < 2**63 else _where(((left ^ right) & (left ^ result)) < 0)


def _product_overflow(left: NDArray[np.int64], right: NDArray[np.int64], result: NDArray[np.int64]) -> Mask | None:
    """A product that overflows is off by a multiple of 2**64, which doubles are precise enough to tell."""
    if _spread(left) * _spread(right) < 2**63:
        return None
    off = np.multiply(left, right, dtype=np.float64)
    off -= result
    return _where(np.abs(off, out=off) > _FAR)


def _spread(array: NDArray[np.int64]) -> int:
    """The greatest absolute value of some integers."""
    return max(-int(array.min()), int(array.max())) if len(array) else 0


add: Final = _arithmetic(operator.add, _sum_overflow)
subtract: Final = _arithmetic(operator.sub, _difference_overflow)
multiply: Final = _arithmetic(operator.mul, _product_overflow)


def divide(left: Column, right: Column) -> Column | None:
    """A quotient of which one side at least is a double; that of integers is a decimal."""
    if not isinstance(left, Integers | Doubles) or not isinstance(right, Integers | Doubles):
        return None
    if isinstance(left, Integers) and isinstance(right, Integers):
        return None
    return Doubles(np.divide(left.array, right.array), joined([left.missing, right.missing]))


def _of_one(
    of_doubles: Callable[[Any], Any], of_integers: Callable[[Any], Any], overflows: bool = False
) -> Callable[[Column], Column | None]:
    def computed(column: Column) -> Column | None:
        if isinstance(column, Doubles):
            return Doubles(of_doubles(column.array), column.missing)
        if isinstance(column, Integers):
            least = _where(column.array == _LEAST) if overflows else None
            return Integers(of_integers(column.array), joined([column.missing, least]))
        return None

    return computed


plus: Final = _of_one(operator.pos, operator.pos)
negate: Final = _of_one(operator.neg, operator.neg, overflows=True)
absolute: Final = _of_one(np.abs, np.abs, overflows=True)
ceiling: Final = _of_one(np.ceil, operator.pos)
floor: Final = _of_one(np.floor, operator.pos)
rounded: Final = _of_one(round_doubles, operator.pos)


def comparison(compare: Callable[[Any, Any], Any]) -> Callable[[Column, Column], Column | None]:
    """An operator on two columns of numbers, or on two columns of booleans."""

    def computed(left: Column, right: Column) -> Column | None:
        for kinds in ((Integers, Doubles), (Booleans,)):
            if isinstance(left, kinds) and isinstance(right, kinds):
                one, other = left.array, right.array
                if one.dtype != other.dtype:
                    one, other = one.astype(np.float64), other.astype(np.float64)
                return Booleans(compare(one, other), joined([left.missing, right.missing]))
        return None

    return computed

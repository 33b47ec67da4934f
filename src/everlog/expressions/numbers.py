"""Numbers of XML Schema: reading them from values, computing with them one by one, and making values of them again.

A number is a Python int (64 bits), a `Decimal`, a `numpy.float32` or a float. Operands are promoted in this order, so that
an integer and a double are two doubles. A decimal has 18 digits behind the point and 128 bits: further digits of a product
or a quotient are cut off, and what is larger is no number. A double becomes the shortest decimal that denotes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, Context, Decimal
from typing import Any, Final, TypeAlias

import numpy as np
from pyoxigraph import Literal, NamedNode

from everlog.datalog.calendar_values import decimal_text
from everlog.datalog.comparing import INTEGERS, LEXICAL
from everlog.datalog.values import XSD, Value, canonical_double

Number: TypeAlias = int | Decimal | np.float32 | float

_DECIMAL: Final = NamedNode(XSD + "decimal")
_FLOAT: Final = NamedNode(XSD + "float")
_INT64: Final = range(-(2**63), 2**63)
_BOUNDS: Final[Mapping[str, range]] = {
    "nonNegativeInteger": range(2**63),
    "positiveInteger": range(1, 2**63),
    "nonPositiveInteger": range(-(2**63), 1),
    "negativeInteger": range(-(2**63), 0),
    "int": range(-(2**31), 2**31),
    "short": range(-(2**15), 2**15),
    "byte": range(-(2**7), 2**7),
    "unsignedLong": range(2**63),
    "unsignedInt": range(2**32),
    "unsignedShort": range(2**16),
    "unsignedByte": range(2**8),
}
"""The integers of 64 bits that a type of XML Schema has, where it does not have all of them."""

_EXACT: Final = Context(prec=100, rounding=ROUND_DOWN, traps=[])
_LAST_DIGIT: Final = Decimal("1E-18")
_GREATEST: Final = Decimal(2**127 - 1).scaleb(-18, _EXACT)
_HALF: Final = Decimal("0.5")


def number(value: Value) -> Number | None:
    """The number that a value stands for, if it is one."""
    if isinstance(value, bool | str):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, Literal) and value.language is None and value.datatype.value.startswith(XSD):
        return read_number(value.datatype.value.removeprefix(XSD), value.value)
    return None


def read_number(name: str, text: str) -> Number | None:
    """The number that a text denotes, given the name of a type of XML Schema.

    >>> read_number("decimal", "2.50"), read_number("byte", "07"), read_number("byte", "300")
    (Decimal('2.50'), 7, None)
    """
    if name not in NUMERIC or not LEXICAL[name].fullmatch(text):
        return None
    if name in INTEGERS:
        short = len(text.lstrip("+-0")) < 20
        return found if short and (found := int(text)) in _BOUNDS.get(name, _INT64) else None
    if name == "decimal":
        exact = Decimal(text)
        return exact if exact == _cut(exact) else None
    return np.float32(text) if name == "float" else float(text)


def number_value(result: Number | None) -> Value | None:
    """The value that a number is in facts, or None if it does not fit into its type."""
    if result is None or isinstance(result, float):
        return None if result is None else float(result)
    if isinstance(result, int):
        return result if result in _INT64 else None
    if isinstance(result, np.float32):
        return Literal(canonical_double(float(str(result))), datatype=_FLOAT)
    cut = _cut(result)
    return None if cut is None else Literal(decimal_text(cut), datatype=_DECIMAL)


def promoted(left: Number, right: Number) -> tuple[Any, Any]:
    """Two numbers as numbers of one type."""
    if type(left) is type(right):
        return left, right
    kind = max(left, right, key=_rank)
    return _as(kind, left), _as(kind, right)


def to_double(one: Number) -> float:
    return float(one)


def to_float(one: Number) -> np.float32:
    return np.int64(one).astype(np.float32) if isinstance(one, int) else np.float32(one)


def to_decimal(one: Number) -> Decimal | None:
    """A number as a decimal; a double as the shortest one that denotes it."""
    if isinstance(one, int | Decimal):
        return Decimal(one)
    return Decimal(str(one)) if math.isfinite(one) else None


def to_integer(one: Number) -> int | None:
    """A number without what is behind its point."""
    return int(one) if math.isfinite(one) else None


def _arithmetic(compute: Callable[[Any, Any], Any]) -> Callable[[Value, Value], Value | None]:
    def computed(left: Value, right: Value) -> Value | None:
        one, other = number(left), number(right)
        return None if one is None or other is None else number_value(compute(*promoted(one, other)))

    return computed


def _sum(left: Any, right: Any) -> Number:
    return _EXACT.add(left, right) if isinstance(left, Decimal) else left + right


def _difference(left: Any, right: Any) -> Number:
    return _EXACT.subtract(left, right) if isinstance(left, Decimal) else left - right


def _product(left: Any, right: Any) -> Number:
    return _EXACT.multiply(left, right) if isinstance(left, Decimal) else left * right


def _quotient(left: Any, right: Any) -> Any:
    if isinstance(left, int | Decimal):
        return _EXACT.divide(Decimal(left), Decimal(right)) if right else None
    return np.divide(left, right)


add: Final = _arithmetic(_sum)
subtract: Final = _arithmetic(_difference)
multiply: Final = _arithmetic(_product)
divide: Final = _arithmetic(_quotient)


def _of_one(compute: Callable[[Any], Any]) -> Callable[[Value], Value | None]:
    def computed(value: Value) -> Value | None:
        one = number(value)
        return None if one is None else number_value(compute(one))

    return computed


def _rounding(
    of_decimal: Callable[[Decimal], Decimal], of_double: Callable[[Any], Any]
) -> Callable[[Value], Value | None]:
    def rounded(one: Any) -> Any:
        return one if isinstance(one, int) else of_decimal(one) if isinstance(one, Decimal) else of_double(one)

    return _of_one(rounded)


def round_doubles(one: Any) -> Any:
    """A double, or each of an array of them, rounded to an integer; a half is rounded up."""
    below = np.floor(one)
    return np.copysign(below + (one - below >= 0.5), one)


def _whole(one: Decimal, direction: str) -> Decimal:
    return one.quantize(Decimal(1), direction, _EXACT)


plus: Final = _of_one(lambda one: one)
negate: Final = _of_one(lambda one: _EXACT.minus(one) if isinstance(one, Decimal) else -one)
absolute: Final = _of_one(lambda one: _EXACT.abs(one) if isinstance(one, Decimal) else abs(one))
ceiling: Final = _rounding(lambda one: _whole(one, ROUND_CEILING), np.ceil)
floor: Final = _rounding(lambda one: _whole(one, ROUND_FLOOR), np.floor)
rounded: Final = _rounding(lambda one: _whole(_EXACT.add(one, _HALF), ROUND_FLOOR), round_doubles)

NUMERIC: Final = INTEGERS | {"decimal", "float", "double"}
"""The names of the types of numbers."""


def _cut(exact: Decimal) -> Decimal | None:
    """A decimal of 18 digits behind the point, or None if it does not fit into 128 bits."""
    cut = exact.quantize(_LAST_DIGIT, ROUND_DOWN, _EXACT)
    return cut if cut.is_finite() and cut.copy_abs() <= _GREATEST else None


def _rank(one: Number) -> int:
    return 0 if isinstance(one, int) else 1 if isinstance(one, Decimal) else 2 if isinstance(one, np.float32) else 3


def _as(kind: Number, one: Number) -> Number:
    """A number as one of the type of another, to which it is promoted."""
    if isinstance(kind, np.float32):
        return to_float(one)
    if isinstance(kind, float):
        return np.float64(one)
    return Decimal(one) if isinstance(kind, Decimal) and isinstance(one, int) else one

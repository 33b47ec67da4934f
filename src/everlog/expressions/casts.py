"""Casts to XML Schema's types, one by one: the functions named by a datatype's IRI."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from everlog.datalog.calendar_values import decimal_text
from everlog.datalog.values import Value, canonical_double
from everlog.expressions.durations import duration, duration_text
from everlog.expressions.moments import moment, moment_text
from everlog.expressions.numbers import (
    Number,
    number,
    number_value,
    read_number,
    to_decimal,
    to_double,
    to_float,
    to_integer,
)
from everlog.expressions.term_functions import string
from everlog.expressions.truth import boolean, read_boolean


def _to_number(name: str, convert: Callable[[Number], Number | None]) -> Callable[[Value], Value | None]:
    """A cast to a type of numbers: of numbers, of booleans, and of strings that denote one."""

    def cast(value: Value) -> Value | None:
        found = read_number(name, value) if isinstance(value, str) else number(value)
        truth = boolean(value)
        found = found if truth is None else int(truth)
        return None if found is None else number_value(convert(found))

    return cast


to_xsd_integer: Final = _to_number("integer", to_integer)
to_xsd_decimal: Final = _to_number("decimal", to_decimal)
to_xsd_float: Final = _to_number("float", to_float)
to_xsd_double: Final = _to_number("double", to_double)


def to_xsd_boolean(value: Value) -> bool | None:
    """A number is true unless it is zero or NaN."""
    if isinstance(value, str):
        return read_boolean(value)
    found = number(value)
    return boolean(value) if found is None else bool(found != 0 and found == found)


def to_xsd_string(value: Value) -> str | None:
    """The text of an IRI or a literal; that of a number, a moment or a duration is the shortest one."""
    truth = boolean(value)
    if truth is not None:
        return string(truth)
    if (found := number(value)) is not None:
        return _number_text(found)
    if (point := moment(value)) is not None:
        return moment_text(point)
    time = duration(value)
    return string(value) if time is None else duration_text(time)


def _number_text(found: Number) -> str:
    if isinstance(found, int):
        return str(found)
    if isinstance(found, Decimal):
        return decimal_text(found)
    if found == 0:
        return "-0" if math.copysign(1, found) < 0 else "0"
    shortest = str(found)
    plain = 1e-6 <= abs(float(shortest)) < 1e6
    return decimal_text(Decimal(shortest)) if plain else canonical_double(float(shortest))

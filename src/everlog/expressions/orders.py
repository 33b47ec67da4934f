"""What `=`, `<` and their kin say of two values: true, false, or nothing, which is an error of the row.

Numbers, strings, booleans, strings of one language, dates, times and durations are compared by what they stand for, each
with its own kind. Values of two kinds differ. A literal of another datatype equals itself, and whether it equals another
literal nobody knows; IRIs and blank nodes equal themselves alone and have no order.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from pyoxigraph import Literal

from everlog.datalog.values import Value, identity
from everlog.expressions.durations import Duration, duration
from everlog.expressions.moments import Moment, compared, durations_compared, moment
from everlog.expressions.numbers import number, promoted
from everlog.expressions.term_functions import is_literal
from everlog.expressions.truth import boolean

_SIGNS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def equal(left: Value, right: Value) -> bool | None:
    """Whether two values are equal."""
    if not (is_literal(left) and is_literal(right)):
        return left == right
    one, other = _meaning(left), _meaning(right)
    if one is None or other is None:
        same = identity(left) == identity(right)
        return True if same else False if _language(left) or _language(right) else None
    if one[0] != other[0]:
        return False
    first, second = one[1], other[1]
    if isinstance(first, Moment):
        return compared(first, second) == 0
    if isinstance(first, Duration):
        return (first.months, first.ticks) == (second.months, second.ticks)
    if one[0] == "number":
        first, second = promoted(first, second)
    return bool(first == second)


def unequal(left: Value, right: Value) -> bool | None:
    """Whether two values are not equal."""
    same = equal(left, right)
    return None if same is None else not same


def order(sign: str) -> Callable[[Value, Value], bool | None]:
    """What one of `<`, `<=`, `>` and `>=` says of two values."""
    compare = _SIGNS[sign]

    def ordered(left: Value, right: Value) -> bool | None:
        one, other = _meaning(left), _meaning(right)
        if one is None or other is None or one[0] != other[0]:
            return None
        first, second = one[1], other[1]
        if isinstance(first, Moment | Duration):
            apart = compared(first, second) if isinstance(first, Moment) else durations_compared(first, second)
            return None if apart is None else compare(apart, 0)
        if one[0] == "number":
            first, second = promoted(first, second)
        return bool(compare(first, second))

    return ordered


def _meaning(value: Value) -> tuple[object, Any] | None:
    """The kind of a value, and what it is compared by among those of its kind."""
    if isinstance(value, str):
        return "string", value
    if (truth := boolean(value)) is not None:
        return "boolean", truth
    if (found := number(value)) is not None:
        return "number", found
    if (point := moment(value)) is not None:
        return point.kind, point
    if (time := duration(value)) is not None:
        return "duration", time
    if isinstance(value, Literal) and value.language is not None:
        return (value.language, value.direction), value.value
    return None


def _language(value: Value) -> bool:
    return isinstance(value, Literal) and value.language is not None

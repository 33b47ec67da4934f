"""What `=`, `!=`, `<`, `<=`, `>` and `>=` mean between two values.

Numbers, strings, booleans, instants (`xsd:dateTime`), dates and times are compared by what they stand for, each with its
own kind: `1`, `1.0` and `"01"^^xsd:byte` are equal, and `"1"` is none of them. Of everything else a term equals itself and
has no order. `=` always holds between a term and itself, and `!=` is its contrary; so equal values are classes of terms.

A number is an integer of 64 bits or a double, whatever its type: `0.1` equals `"0.1"^^xsd:decimal`, and decimals that
differ behind the 15th digit may be equal. Integers and doubles are compared exactly. A date or time without a zone is taken
to be in UTC, which makes the order total; nothing finer than microseconds counts. NaN has no order.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final, NamedTuple, TypeAlias

from pyoxigraph import Literal

from everlog.datalog.values import XSD, Value, identity

Kind: TypeAlias = str
"""`number`, `string`, `boolean`, `dateTime`, `date` or `time`."""

INTEGERS: Final = frozenset(
    {"integer", "nonNegativeInteger", "nonPositiveInteger", "positiveInteger", "negativeInteger"}
    | {"long", "int", "short", "byte", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"}
)
"""The names of XML Schema's types of integers."""

INTEGER: Final = r"[+-]?[0-9]+"
DECIMAL: Final = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
DOUBLE: Final = rf"{DECIMAL}(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN"
BOOLEAN: Final = r"true|false|1|0"
DATE: Final = r"(-?[0-9]{4,})-([0-9]{2})-([0-9]{2})"
TIME: Final = r"([01][0-9]|2[0-3]|24(?=:00:00(?:\.0+)?(?:[Z+-]|$))):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]+))?"
ZONE: Final = r"(Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?"
"""How values are written, for Python and for Spark alike."""

YEAR: Final = 6
"""So many characters a year may have; beyond it, 64 bits would not hold the microseconds of all."""

LEXICAL: Final[Mapping[str, re.Pattern[str]]] = {
    **dict.fromkeys(INTEGERS, re.compile(INTEGER)),
    "decimal": re.compile(DECIMAL),
    **dict.fromkeys(("double", "float"), re.compile(DOUBLE)),
    "boolean": re.compile(BOOLEAN),
    **dict.fromkeys(("dateTime", "dateTimeStamp"), re.compile(f"{DATE}T{TIME}{ZONE}")),
    "date": re.compile(DATE + ZONE),
    "time": re.compile(TIME + ZONE),
}
"""By the name of a type of XML Schema, the texts that values are read from."""

_INT64 = range(-(2**63), 2**63)
_MINUTE: Final = 60_000_000
_DAY: Final = 24 * 60 * _MINUTE
_ORDERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Comparable(NamedTuple):
    """A value of an order: a number, or a text; instants are microseconds, dates and times those of their beginning."""

    kind: Kind
    value: int | float | str


def comparable(value: Value) -> Comparable | None:
    """What a value is compared by, or None if it has no order.

    >>> comparable(Literal("5.50", datatype=NamedNode(XSD + "decimal")))
    Comparable(kind='number', value=5.5)
    """
    if isinstance(value, str):
        return Comparable("string", value)
    if isinstance(value, bool):
        return Comparable("boolean", int(value))
    if isinstance(value, int | float):
        return Comparable("number", value)
    if isinstance(value, Literal) and value.language is None and value.datatype.value.startswith(XSD):
        return comparable_literal(value.datatype.value.removeprefix(XSD), value.value)
    return None


def comparable_literal(name: str, text: str) -> Comparable | None:
    """What a literal of a type of XML Schema is compared by, given the name of the type."""
    form = LEXICAL.get(name)
    found = None if form is None else form.fullmatch(text)
    if found is None:
        return None
    if name in INTEGERS:
        return Comparable("number", _integer(text))
    if name == "decimal":
        whole, _, fraction = text.partition(".")
        has_digits = whole not in ("", "+", "-")
        return Comparable("number", float(text) if fraction.strip("0") else _integer(whole) if has_digits else 0)
    if name in ("double", "float"):
        return Comparable("number", float(text))
    if name == "boolean":
        return Comparable("boolean", int(text in ("true", "1")))
    if name == "time":
        hour, *rest = found.groups()
        return Comparable("time", _of_day("00" if hour == "24" else hour, *rest))
    days = _days(*found.groups()[:3])
    if days is None:
        return None
    if name == "date":
        return Comparable("date", days * _DAY - _offset(found[4]))
    return Comparable("dateTime", days * _DAY + _of_day(*found.groups()[3:]))


def holds(sign: str, left: Value, right: Value) -> bool:
    """Whether a comparison of two values holds.

    >>> holds("=", 1, 1.0), holds("<", 1, "a"), holds("!=", 1, "a"), holds("<=", NamedNode("a:b"), NamedNode("a:b"))
    (True, False, True, False)
    """
    if sign == "is not":
        return identity(left) != identity(right)
    if sign == "!=":
        return not holds("=", left, right)
    if sign == "=" and identity(left) == identity(right):
        return True
    one, other = comparable(left), comparable(right)
    return one is not None and other is not None and one.kind == other.kind and _ORDERS[sign](one.value, other.value)


def is_told_by_its_term(value: Value) -> bool:
    """Whether no other term equals a value: true of all but numbers, booleans, dates and times."""
    one = comparable(value)
    return one is None or one.kind == "string"


def _integer(text: str) -> int | float:
    """An integer of any length; one that 64 bits do not hold is a double."""
    if len(text) < 40 and (number := int(text)) in _INT64:
        return number
    return float(text)


def _days(year: str, month: str, day: str) -> int | None:
    """Days since 1970 in the Gregorian calendar, in which years repeat after 400; None for a day that there is not."""
    if len(year) > YEAR:
        return None
    cycles, within = divmod(int(year), 400)
    try:
        ordinal = date(within + 400, int(month), int(day)).toordinal()
    except ValueError:
        return None
    return ordinal + (cycles - 1) * 146_097 - date(1970, 1, 1).toordinal()


def _of_day(hour: str, minute: str, second: str, fraction: str | None, zone: str | None) -> int:
    whole = (int(hour) * 60 + int(minute)) * _MINUTE + int(second) * 1_000_000
    return whole + int((fraction or "")[:6].ljust(6, "0")) - _offset(zone)


def _offset(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[4:])
    return (-minutes if zone[0] == "-" else minutes) * _MINUTE

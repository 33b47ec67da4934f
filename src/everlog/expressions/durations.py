"""Durations of XML Schema: reading, writing, adding and comparing them.

A duration is a number of months and a number of seconds, which have the same sign. One of type `xsd:yearMonthDuration` has
no seconds, and one of type `xsd:dayTimeDuration` has no months.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from pyoxigraph import Literal, NamedNode

from everlog.datalog.values import XSD, Value

Ticks: TypeAlias = int
"""Time in steps of 10⁻¹⁸ seconds."""

SECOND: Final = 10**18
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR

_WRITTEN: Final = re.compile(
    r"(-?)P(?=[0-9]|T[0-9])(?:([0-9]{1,18})Y)?(?:([0-9]{1,18})M)?(?:([0-9]{1,18})D)?"
    r"(?:T(?=[0-9])(?:([0-9]{1,18})H)?(?:([0-9]{1,18})M)?(?:([0-9]{1,18})(?:\.([0-9]{1,18}))?S)?)?"
)
_KINDS: Final = ("duration", "yearMonthDuration", "dayTimeDuration")
_MOST_MONTHS: Final = 2**63 - 1
_MOST_TICKS: Final = 2**127 - 1


@dataclass(frozen=True, slots=True)
class Duration:
    """Months and time, and the name of its type."""

    kind: str
    months: int
    ticks: Ticks


def duration(value: Value) -> Duration | None:
    """The duration that a value is, if it is one."""
    if isinstance(value, Literal) and value.datatype.value.startswith(XSD):
        return read_duration(value.datatype.value.removeprefix(XSD), value.value)
    return None


def read_duration(kind: str, text: str) -> Duration | None:
    """The duration that a text denotes, given the name of a type of XML Schema."""
    found = _WRITTEN.fullmatch(text) if kind in _KINDS else None
    if found is None:
        return None
    years, months, days, hours, minutes, seconds = (int(found[place] or 0) for place in range(2, 8))
    ticks = days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND + int((found[8] or "").ljust(18, "0"))
    sign = -1 if found[1] else 1
    has_time, has_months = any(map(found.group, range(4, 9))), bool(found[2] or found[3])
    if (kind == "yearMonthDuration" and has_time) or (kind == "dayTimeDuration" and has_months):
        return None
    return made(kind, sign * (12 * years + months), sign * ticks)


def made(kind: str, months: int, ticks: Ticks) -> Duration | None:
    """A duration of so many months and so much time; None if they point in two directions, or are too many."""
    if months * ticks < 0 or abs(months) > _MOST_MONTHS or abs(ticks) > _MOST_TICKS:
        return None
    return Duration(kind, months, ticks)


def as_kind(kind: str, one: Duration) -> Duration | None:
    """A duration as one of another type, which may have no room for its months or its time."""
    if (kind == "yearMonthDuration" and one.kind == "dayTimeDuration") or (
        kind == "dayTimeDuration" and one.kind == "yearMonthDuration"
    ):
        return None
    fits = not one.ticks if kind == "yearMonthDuration" else not one.months if kind == "dayTimeDuration" else True
    return Duration(kind, one.months, one.ticks) if fits else None


def added(left: Duration, right: Duration) -> Duration | None:
    kind = left.kind if left.kind == right.kind else "duration"
    return made(kind, left.months + right.months, left.ticks + right.ticks)


def reversed_duration(one: Duration) -> Duration:
    return Duration(one.kind, -one.months, -one.ticks)


def duration_value(one: Duration | None) -> Value | None:
    return None if one is None else Literal(duration_text(one), datatype=NamedNode(XSD + one.kind))


def duration_text(one: Duration) -> str:
    """A duration as XML Schema's canonical text.

    >>> duration_text(Duration("duration", -14, -90 * MINUTE))
    '-P1Y2MT1H30M'
    """
    years, months = divmod(abs(one.months), 12)
    days, rest = divmod(abs(one.ticks), DAY)
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    date = _parts((years, "Y"), (months, "M"), (days, "D"))
    time = _parts((hours, "H"), (minutes, "M")) + (f"{seconds_text(rest)}S" if rest else "")
    zero = "0M" if one.kind == "yearMonthDuration" else "T0S"
    sign = "-" if one.months < 0 or one.ticks < 0 else ""
    return f"{sign}P{date}{'T' if time else ''}{time}" if date or time else f"P{zero}"


def seconds_text(ticks: Ticks) -> str:
    """Time as seconds, without zeros at the end."""
    whole, fraction = divmod(ticks, SECOND)
    return f"{whole}.{fraction:018}".rstrip("0").rstrip(".")


def _parts(*parts: tuple[int, str]) -> str:
    return "".join(f"{count}{unit}" for count, unit in parts if count)

"""Moments of XML Schema, which are dates, times, and dates with a time: reading, writing, moving and comparing them.

A moment is where clocks of its zone are, in time since the year 0, and that zone, if it has one. Moments with and without a
zone can be compared if they are more than 14 hours apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from pyoxigraph import Literal, NamedNode

from everlog.datalog.comparing import LEXICAL, YEAR
from everlog.datalog.values import XSD, Value
from everlog.expressions.durations import DAY, HOUR, MINUTE, SECOND, Duration, Ticks, seconds_text

_CYCLE: Final = 146_097
"""So many days have 400 years, after which the calendar repeats."""
_START: Final = date(400, 1, 1).toordinal()
_FURTHEST: Final = 14 * HOUR
"""How far from UTC a zone can be."""
_KINDS: Final = {"dateTime": "dateTime", "dateTimeStamp": "dateTime", "date": "date", "time": "time"}
_REFERENCES: Final = ((1696, 9), (1697, 2), (1903, 3), (1903, 7))
"""The months that durations are compared by, since they differ in length as months can."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A date (its beginning), a time (of the year 0's first day), or both, and minutes from UTC."""

    kind: str
    clock: Ticks
    zone: int | None


def moment(value: Value) -> Moment | None:
    """The moment that a value is, if it is one."""
    if isinstance(value, Literal) and value.datatype.value.startswith(XSD):
        return read_moment(value.datatype.value.removeprefix(XSD), value.value)
    return None


def read_moment(name: str, text: str) -> Moment | None:
    """The moment that a text denotes, given the name of a type of XML Schema."""
    kind = _KINDS.get(name)
    found = None if kind is None else LEXICAL[name].fullmatch(text)
    if kind is None or found is None:
        return None
    parts = found.groups()
    days, parts = (0, parts) if kind == "time" else (_days(*parts[:3]), parts[3:])
    if days is None:
        return None
    if kind == "date":
        return Moment(kind, days * DAY, _zone(parts[0]))
    hour, minute, second, fraction, zone = parts
    if len(fraction or "") > 18:
        return None
    clock = int(hour) * HOUR + int(minute) * MINUTE + int(second) * SECOND + int((fraction or "").ljust(18, "0"))
    return Moment(kind, days * DAY + (clock % DAY if kind == "time" else clock), _zone(zone))


def as_moment(kind: str, one: Moment) -> Moment | None:
    """A moment as one of another type: a date begins at midnight, and a date with a time has both."""
    if kind == one.kind:
        return one
    if "time" in (kind, one.kind) and one.kind != "dateTime":
        return None
    return Moment(kind, _clock(kind, one.clock), one.zone)


def moment_value(one: Moment | None) -> Value | None:
    """The value that a moment is in facts, or None if its year is too far away."""
    if one is None or len(str(year_month_day(one)[0])) > YEAR:
        return None
    return Literal(moment_text(one), datatype=NamedNode(XSD + one.kind))


def moment_text(one: Moment) -> str:
    """A moment as XML Schema's canonical text, in its own zone."""
    hours, minutes, rest = hours_minutes_seconds(one)
    whole, point, fraction = seconds_text(rest).partition(".")
    time = f"{hours:02}:{minutes:02}:{whole:0>2}{point}{fraction}"
    if one.kind == "time":
        return time + zone_text(one)
    year, month, day = year_month_day(one)
    written = f"{'-' if year < 0 else ''}{abs(year):04}-{month:02}-{day:02}"
    return f"{written}{'' if one.kind == 'date' else 'T' + time}{zone_text(one)}"


def zone_text(one: Moment) -> str:
    if not one.zone:
        return "" if one.zone is None else "Z"
    hours, minutes = divmod(abs(one.zone), 60)
    return f"{'-' if one.zone < 0 else '+'}{hours:02}:{minutes:02}"


def year_month_day(one: Moment) -> tuple[int, int, int]:
    cycles, days = divmod(one.clock // DAY - _START, _CYCLE)
    found = date.fromordinal(days + _START)
    return found.year + 400 * cycles, found.month, found.day


def hours_minutes_seconds(one: Moment) -> tuple[int, int, Ticks]:
    """The time of day, of which the seconds are given in ticks."""
    minutes, seconds = divmod(one.clock % DAY, MINUTE)
    return *divmod(minutes, 60), seconds


def moved(one: Moment, by: Duration) -> Moment:
    """A moment some time later: first by months, to the last day of a shorter month, and then by time.

    A time has no months to be moved by, and begins again after midnight.
    """
    clock = one.clock
    if one.kind != "time" and by.months:
        year, month, day = year_month_day(one)
        years, month = divmod(12 * year + month - 1 + by.months, 12)
        last = _ordinal(years + month // 11, (month + 1) % 12 + 1, 1) - 1
        clock = min(_ordinal(years, month + 1, 1) + day - 1, last) * DAY + clock % DAY
    return replace(one, clock=_clock(one.kind, clock + by.ticks))


def difference(left: Moment, right: Moment) -> Ticks | None:
    """The time between two moments, if both or neither has a zone."""
    return None if (left.zone is None) != (right.zone is None) else instant(left) - instant(right)


def compared(left: Moment, right: Moment) -> int | None:
    """A number below, at or above 0, as one moment is before another one, at the same time, or after; or None."""
    apart = difference(left, right)
    if apart is not None:
        return apart
    apart = instant(left) - instant(right)
    return apart if abs(apart) > _FURTHEST else None


def durations_compared(left: Duration, right: Duration) -> int | None:
    """A number below, at or above 0, as one duration is shorter, as long, or longer, wherever they begin; or None."""
    found = set()
    for year, month in _REFERENCES:
        start = Moment("dateTime", _ordinal(year, month, 1) * DAY, None)
        apart = moved(start, left).clock - moved(start, right).clock
        found.add((apart > 0) - (apart < 0))
    return found.pop() if len(found) == 1 else None


def instant(one: Moment) -> Ticks:
    """When a moment is in UTC, which is the zone of one that has none."""
    return one.clock - (one.zone or 0) * MINUTE


def _clock(kind: str, clock: Ticks) -> Ticks:
    """What a clock has of a type: only the day, only the time of day, or all."""
    return clock - clock % DAY if kind == "date" else clock % DAY if kind == "time" else clock


def _days(year: str, month: str, day: str) -> int | None:
    if len(year) > YEAR:
        return None
    try:
        return _ordinal(int(year), int(month), int(day))
    except ValueError:
        return None


def _ordinal(year: int, month: int, day: int) -> int:
    """The number of a day, by a year within the 400 that Python's calendar and this one have in common."""
    cycles, within = divmod(year, 400)
    return date(within + 400, month, day).toordinal() + (cycles - 1) * _CYCLE


def _zone(text: str | None) -> int | None:
    if text is None or text == "Z":
        return None if text is None else 0
    minutes = int(text[1:3]) * 60 + int(text[4:])
    return -minutes if text[0] == "-" else minutes

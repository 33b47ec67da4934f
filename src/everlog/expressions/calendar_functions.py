"""SPARQL's functions on dates, times and durations, one by one, and arithmetic with them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Final

from everlog.datalog.values import Value
from everlog.expressions.durations import (
    MINUTE,
    Duration,
    added,
    as_kind,
    duration,
    duration_value,
    made,
    read_duration,
    reversed_duration,
    seconds_text,
)
from everlog.expressions.moments import (
    Moment,
    as_moment,
    difference,
    hours_minutes_seconds,
    moment,
    moment_value,
    moved,
    read_moment,
    year_month_day,
    zone_text,
)
from everlog.expressions.numbers import number_value


def _part(take: Callable[[Moment], Value | None], without: str | None = None) -> Callable[[Value], Value | None]:
    """A part of a moment, which moments of one type do not have."""

    def taken(value: Value) -> Value | None:
        found = moment(value)
        return None if found is None or found.kind == without else take(found)

    return taken


def _seconds(found: Moment) -> Value | None:
    return number_value(Decimal(seconds_text(hours_minutes_seconds(found)[2])))


def _zone(found: Moment) -> Value | None:
    return None if found.zone is None else duration_value(Duration("dayTimeDuration", 0, found.zone * MINUTE))


year: Final = _part(lambda found: year_month_day(found)[0], without="time")
month: Final = _part(lambda found: year_month_day(found)[1], without="time")
day: Final = _part(lambda found: year_month_day(found)[2], without="time")
hours: Final = _part(lambda found: hours_minutes_seconds(found)[0], without="date")
minutes: Final = _part(lambda found: hours_minutes_seconds(found)[1], without="date")
seconds: Final = _part(_seconds, without="date")
timezone: Final = _part(_zone)
zone: Final = _part(zone_text)


def add(left: Value, right: Value) -> Value | None:
    """A moment some time later, or the sum of two durations."""
    by = duration(right)
    return None if by is None else _later(left, by)


def subtract(left: Value, right: Value) -> Value | None:
    """A moment some time earlier, the difference of two durations, or the time between two moments."""
    by = duration(right)
    if by is not None:
        return _later(left, reversed_duration(by))
    one, other = moment(left), moment(right)
    if one is None or other is None or one.kind != other.kind:
        return None
    apart = difference(one, other)
    return None if apart is None else duration_value(made("dayTimeDuration", 0, apart))


def plus(value: Value) -> Value | None:
    return duration_value(duration(value))


def negate(value: Value) -> Value | None:
    found = duration(value)
    return None if found is None else duration_value(reversed_duration(found))


def to_moment(kind: str) -> Callable[[Value], Value | None]:
    """The cast to a type of moments."""

    def cast(value: Value) -> Value | None:
        found = read_moment(kind, value) if isinstance(value, str) else moment(value)
        return None if found is None else moment_value(as_moment(kind, found))

    return cast


def to_duration(kind: str) -> Callable[[Value], Value | None]:
    """The cast to a type of durations."""

    def cast(value: Value) -> Value | None:
        found = read_duration(kind, value) if isinstance(value, str) else duration(value)
        return None if found is None else duration_value(as_kind(kind, found))

    return cast


def _later(value: Value, by: Duration) -> Value | None:
    start = moment(value)
    if start is not None:
        return None if start.kind == "time" and by.kind == "yearMonthDuration" else moment_value(moved(start, by))
    one = duration(value)
    return None if one is None else duration_value(added(one, by))

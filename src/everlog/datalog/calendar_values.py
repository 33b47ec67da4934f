"""Dates, timestamps and decimals of Python as texts that are the same for equal values."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

from everlog.errors import UnsupportedValue


def date_text(value: date) -> str:
    """A date as `xsd:date` has it."""
    return value.isoformat()


def datetime_text(value: datetime) -> str:
    """A timestamp as `xsd:dateTime` has it: in UTC if it has a zone, without one if not.

    >>> datetime_text(datetime(2026, 1, 1, 10, 0, 0, 120_000)), datetime_text(datetime(2026, 1, 1, tzinfo=UTC))
    ('2026-01-01T10:00:00.12', '2026-01-01T00:00:00Z')
    """
    if value.tzinfo is not None:
        return datetime_text(value.astimezone(UTC).replace(tzinfo=None)) + "Z"
    whole, point, fraction = value.isoformat().partition(".")
    return f"{whole}.{fraction.rstrip('0')}" if point else whole


def decimal_text(value: Decimal) -> str:
    """A decimal as `xsd:decimal` has it, whatever its scale.

    >>> decimal_text(Decimal("1.50")), decimal_text(Decimal("2E+3")), decimal_text(Decimal("-0.0"))
    ('1.5', '2000', '0')
    """
    if not value.is_finite():
        raise UnsupportedValue(f"the decimal {value} is no number")
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text

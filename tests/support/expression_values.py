"""Values of all kinds that expressions meet, and expressions written shortly."""

from __future__ import annotations

import math

from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.datalog.syntax import Call, Constant, Expression, Variable
from everlog.datalog.values import XSD, Value, normalise


def xsd(name: str, text: str) -> Value:
    """A value of a type of XML Schema."""
    return normalise(Literal(text, datatype=NamedNode(XSD + name)))


def tagged(text: str, language: str) -> Literal:
    return Literal(text, language=language)


def call(function: str, *arguments: Expression | Value) -> Call:
    """A call; arguments that are no expressions are constants."""
    return Call(
        function, tuple(one if isinstance(one, Variable | Constant | Call) else Constant(one) for one in arguments)
    )


INTEGERS: list[Value] = [0, 1, -1, 2, 7, 10**18, 2**53 + 1, 2**63 - 1, -(2**63)]
DOUBLES: list[Value] = [0.0, -0.0, 1.0, 2.5, -2.5, 0.1, 1e300, 1e-5, math.inf, -math.inf, math.nan]
DECIMALS = [xsd("decimal", text) for text in ("0", "2.5", "-2.5", "0.1", "123456789.123456789")]
LARGE_DECIMALS = [xsd("decimal", text) for text in ("0.000000000000000001", "170141183460469231731.687303715884105727")]
FLOATS = [xsd("float", text) for text in ("0.0E0", "2.5E0", "1.0E-1", "INF", "NaN", "1.0E30")]
STRINGS: list[Value] = ["", "a", "b", "abc", "é", "straße", "1", "-1.5", "true", "http://example.org/é"]
STRINGS += ["2020-01-01", "2020-01-01T24:00:00", "10:00:00.50", "P1Y", "PT36H"]
TAGGED: list[Value] = [
    tagged("", "en"),
    tagged("abc", "en"),
    tagged("b", "en"),
    tagged("b", "de"),
    tagged("abc", "en-us"),
]
BOOLEANS: list[Value] = [True, False]
NAMES: list[Value] = [NamedNode("a:b"), NamedNode("a:c"), NamedNode(XSD + "integer"), BlankNode("x"), BlankNode("y")]
OTHERS: list[Value] = [
    Literal("z", datatype=NamedNode("x:y")),
    Literal("w", datatype=NamedNode("x:y")),
    xsd("integer", "x"),
    xsd("integer", "99999999999999999999"),
    xsd("decimal", "1e5"),
    xsd("boolean", "maybe"),
    *(xsd("date", "2020-02-30"), xsd("dateTime", "2020-13-01T00:00:00"), xsd("time", "25:00:00")),
    *(xsd("duration", "P"), xsd("yearMonthDuration", "P1D"), xsd("dayTimeDuration", "P1M")),
]
MOMENTS = [
    *(xsd("dateTime", text) for text in ("2020-01-01T00:00:00", "2020-01-31T23:59:59.5", "0000-01-01T00:00:00")),
    *(
        xsd("dateTime", text)
        for text in ("2020-01-01T00:00:00Z", "2020-01-01T13:00:00+14:00", "2019-12-31T10:00:00-14:00")
    ),
    *(xsd("dateTime", text) for text in ("2020-01-02T14:00:00.001-05:30", "-0044-03-15T00:00:00Z")),
    *(xsd("date", text) for text in ("2020-01-01", "2020-02-29Z", "2020-01-31+05:00", "2021-03-01", "-0001-01-01")),
    *(xsd("time", text) for text in ("10:00:00", "23:59:59.25Z", "00:00:00+14:00", "10:00:00-01:00")),
]
DURATIONS = [
    *(xsd("duration", text) for text in ("P1Y", "P365D", "P1Y2M3DT4H5M6.7S", "-P1M", "PT0S", "P400Y")),
    *(xsd("yearMonthDuration", text) for text in ("P1Y", "P1M", "-P2Y1M", "P0M")),
    *(xsd("dayTimeDuration", text) for text in ("P1D", "-PT1.5S", "PT0S", "P31D", "P4166DT16H")),
]
REWRITTEN = [
    *(xsd("byte", "7"), xsd("byte", "-7"), xsd("unsignedLong", "5"), xsd("integer", "01"), xsd("boolean", "1")),
    *(xsd("decimal", "2.50"), xsd("decimal", "+1"), xsd("double", "1e0"), xsd("float", "1")),
    *(xsd("dateTime", "2020-01-01T24:00:00"), xsd("time", "24:00:00"), xsd("dateTime", "2020-01-01T00:00:00.0-00:00")),
    *(xsd("yearMonthDuration", "P12M"), xsd("dayTimeDuration", "PT24H"), xsd("duration", "P1Y0M")),
]
"""Values that are written in another way than the canonical one, which pyoxigraph forgets."""

VALUES = [
    *(INTEGERS + DOUBLES + DECIMALS + LARGE_DECIMALS + FLOATS + REWRITTEN),
    *(STRINGS + TAGGED + BOOLEANS + MOMENTS + DURATIONS + NAMES + OTHERS),
]

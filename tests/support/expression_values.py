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
SMALL_INTEGERS = [xsd("byte", "7"), xsd("byte", "-7"), xsd("unsignedLong", "5")]
STRINGS: list[Value] = ["", "a", "b", "abc", "é", "straße", "1", "-1.5", "true", "2020-01-01", "http://example.org/é"]
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
    xsd("date", "2020-02-30"),
]
VALUES = [
    *(INTEGERS + DOUBLES + DECIMALS + LARGE_DECIMALS + FLOATS + SMALL_INTEGERS),
    *(STRINGS + TAGGED + BOOLEANS + NAMES + OTHERS),
]

"""Values that break careless readers and writers."""

from __future__ import annotations

import math

from pyoxigraph import Literal, NamedNode

from everlog.datalog.values import XSD, Value

STRINGS = [
    "",
    " ",
    "plain",
    'say "hi"',
    '"',
    '""',
    "a,b",
    "a;b",
    "tab\there",
    "line\nbreak",
    "return\rhere",
    "both\r\nof them",
    "back\\slash",
    "\\u0041",
    "bell\x07 null\x00",
    "caf\u00e9",
    "e\u0301",
    "\U0001f600\U0010ffff",
    "\u2028\u2029\ufeff",
    "5",
    "-0",
    "007",
    "1.5",
    "true",
    "<http://example.org/looks-like-an-iri>",
    "_:looks-like-a-blank",
    '"looks"@en',
    f'"5"^^<{XSD}integer>',
    "# no comment",
    "'single'",
    "null",
    "NULL",
    "long " * 40_000,
]
INTEGERS = [0, 1, -1, 2**31, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, 1.5, -2.5e-300, 1e300, 5e-324, 0.1, math.inf, -math.inf, math.nan]
BOOLEANS = [True, False]
IRIS = [
    NamedNode("http://example.org/a"),
    NamedNode("http://example.org/a,b;c'd"),
    NamedNode("http://example.org/caf\u00e9\U0001f600"),
    NamedNode("urn:x:y"),
]
LITERALS = [
    Literal("chat", language="en"),
    Literal("chat", language="fr-be"),
    Literal('a "quoted", tagged\ttext\nof lines', language="en"),
    Literal("", language="en"),
    Literal("007", datatype=NamedNode(XSD + "integer")),
    Literal(str(2**63), datatype=NamedNode(XSD + "integer")),
    Literal(str(-(2**63) - 1), datatype=NamedNode(XSD + "integer")),
    # More digits than Python likes to read.
    Literal("9" * 5000, datatype=NamedNode(XSD + "integer")),
    Literal("1", datatype=NamedNode(XSD + "double")),
    Literal("1.50", datatype=NamedNode(XSD + "decimal")),
    Literal("2024-02-29", datatype=NamedNode(XSD + "date")),
    Literal('odd "type", this', datatype=NamedNode("http://example.org/t,y")),
]
ALL: list[Value] = [*STRINGS, *INTEGERS, *FLOATS, *BOOLEANS, *IRIS, *LITERALS]

"""Values: what a fact is made of.

A value is a Python `str`, `int`, `float` or `bool`, or one of pyoxigraph's `NamedNode`, `BlankNode` and `Literal`. Some
RDF literals are plain Python values under another name, and Python's dates, timestamps and decimals are literals under
another name; `normalise` gives every value its one form, and everything
behind this door sees only that form. Danger: Python holds `1 == 1.0 == True`, and they are three values here, so dicts
and sets of values must be keyed by `identity`.
"""

from __future__ import annotations

import math
import re
import struct
import sys
from datetime import date, datetime
from decimal import Decimal
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.datalog.calendar_values import date_text, datetime_text, decimal_text
from everlog.errors import UnsupportedValue

Value: TypeAlias = str | int | float | bool | NamedNode | BlankNode | Literal

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
SAME_AS = NamedNode("http://www.w3.org/2002/07/owl#sameAs")
DIFFERENT_FROM = NamedNode("http://www.w3.org/2002/07/owl#differentFrom")

_SHORT_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
"""A canonical integer that may fit into 64 bits; Python refuses to read one with thousands of digits."""
_INT64 = range(-(2**63), 2**63)


def normalise(value: object) -> Value:
    """The one form of a value, or `UnsupportedValue`.

    >>> normalise(Literal("5", datatype=NamedNode(XSD + "integer")))
    5
    """
    if isinstance(value, bool | str | NamedNode | BlankNode | float):
        return value
    if isinstance(value, int):
        if value not in _INT64:
            raise UnsupportedValue(f"the integer {value} does not fit into 64 bits")
        return value
    if isinstance(value, Literal):
        return _normalise_literal(value)
    if isinstance(value, datetime):
        return Literal(datetime_text(value), datatype=NamedNode(XSD + "dateTime"))
    if isinstance(value, date):
        return Literal(date_text(value), datatype=NamedNode(XSD + "date"))
    if isinstance(value, Decimal):
        return Literal(decimal_text(value), datatype=NamedNode(XSD + "decimal"))
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return normalise(value.item())
    raise UnsupportedValue(
        f"{value!r} is of type {type(value).__name__}; a fact holds str, int, float, bool, date, datetime, Decimal, "
        "or pyoxigraph's NamedNode, BlankNode and Literal"
    )


def _normalise_literal(literal: Literal) -> Value:
    if literal.language is not None:
        return literal
    datatype, text = literal.datatype.value, literal.value
    if datatype == XSD + "string":
        return text
    if datatype == XSD + "integer" and _SHORT_INTEGER.fullmatch(text) and int(text) in _INT64:
        return int(text)
    if datatype == XSD + "boolean" and text in ("true", "false"):
        return text == "true"
    if datatype == XSD + "double":
        try:
            number = float(text)
        except ValueError:
            return literal
        if canonical_double(number) == text:
            return number
    return literal


def canonical_double(number: float) -> str:
    """The canonical lexical form of an `xsd:double`.

    >>> canonical_double(1.0), canonical_double(-0.00025), canonical_double(float("inf"))
    ('1.0E0', '-2.5E-4', 'INF')
    """
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "INF" if number > 0 else "-INF"
    if number == 0:
        return "-0.0E0" if math.copysign(1.0, number) < 0 else "0.0E0"
    sign = "-" if number < 0 else ""
    digits, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, fraction = digits.partition(".")
    scale = int(exponent or 0) + len(whole) - 1
    mantissa = (whole + fraction).rstrip("0")
    leading = len(mantissa) - len(mantissa.lstrip("0"))
    mantissa = mantissa[leading:]
    return f"{sign}{mantissa[0]}.{mantissa[1:] or '0'}E{scale - leading}"


def identity(value: Value) -> tuple[str, object]:
    """A key under which two values are equal exactly when they are the same value."""
    if isinstance(value, float):
        return "float", struct.pack("<d", math.nan if math.isnan(value) else value)
    return type(value).__name__, value


def term_order(value: Value) -> tuple[int, str]:
    """The order in which terms represent others: IRIs, then blank nodes, then strings, each by code points.

    What is a literal among other names represents none of them (`planning/literal_places.py`).
    """
    if isinstance(value, NamedNode):
        return 0, value.value
    if isinstance(value, BlankNode):
        return 1, value.value
    return 2, str(value)

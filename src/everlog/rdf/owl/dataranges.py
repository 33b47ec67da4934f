"""Data ranges as comparisons, as far as they go.

`<` and its kin compare numbers by value and strings by code point, and are false between kinds: so `?v <= INF` says that
?v is a number and `?v >= ""` that it is a string. There is no such test for dates, language tags, or for the difference
between an integer and another number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal

from everlog.datalog.syntax import Comparison, Constant, Operator, Term
from everlog.datalog.values import XSD
from everlog.rdf.owl.structure import Datatype, Restricted
from everlog.rdf.owl.vocabulary import DATATYPES, INTEGERS, LITERAL, NUMBERS, RDF

_LIMITS: dict[str, tuple[Operator, Operator]] = {
    "minInclusive": (">=", "<"),
    "minExclusive": (">", "<="),
    "maxInclusive": ("<=", ">"),
    "maxExclusive": ("<", ">="),
}
_SIGNED = {
    XSD + "nonNegativeInteger": ("minInclusive", 0),
    XSD + "positiveInteger": ("minInclusive", 1),
    XSD + "nonPositiveInteger": ("maxInclusive", 0),
    XSD + "negativeInteger": ("maxInclusive", -1),
}


@dataclass(frozen=True)
class Test:
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...] = ()


def is_blank(constant: Constant) -> bool:
    return isinstance(constant.value, BlankNode)


def inside(term: Term, expression: Datatype | Restricted) -> Test | None:
    """A test that a literal is in a data range; None if there is none."""
    base = expression.datatype if isinstance(expression, Restricted) else expression.iri
    facets = expression.facets if isinstance(expression, Restricted) else ()
    if base in _SIGNED:
        name, limit = _SIGNED[base]
        facets = (*facets, (name, Constant(limit)))
    comparisons = []
    for name, value in facets:
        limit_value = _comparable(value)
        if name not in _LIMITS or limit_value is None:
            return None
        comparisons.append(Comparison(_LIMITS[name][0], term, limit_value))
    if base in NUMBERS:
        notes = ("whether a number is an integer is not tested",) if base in INTEGERS else ()
        return Test(tuple(comparisons) or (_number(term),), notes)
    if base == XSD + "string":
        return Test(tuple(comparisons) or (_string(term),))
    if base == LITERAL and not facets:
        return Test(())
    return None


def outside(term: Term, expression: Datatype | Restricted) -> list[tuple[Comparison, ...]] | None:
    """Ways to be surely outside of a data range; None if there are none that comparisons can tell, [] if there is none."""
    base = expression.datatype if isinstance(expression, Restricted) else expression.iri
    facets = expression.facets if isinstance(expression, Restricted) else ()
    if base in _SIGNED:
        name, limit = _SIGNED[base]
        facets = (*facets, (name, Constant(limit)))
    if base == LITERAL:
        return []
    if base not in DATATYPES:
        return None
    found: list[tuple[Comparison, ...]] = []
    for name, value in facets:
        limit_value = _comparable(value)
        if name in _LIMITS and limit_value is not None:
            found.append((Comparison(_LIMITS[name][1], term, limit_value),))
    if base not in NUMBERS:
        found.append((_number(term),))
    if base not in (XSD + "string", RDF + "PlainLiteral"):
        found.append((_string(term),))
    return found


def outside_members(term: Term, members: Sequence[Constant]) -> list[tuple[Comparison, ...]] | None:
    """Ways to be none of some literals: only for strings and numbers, whose identity is their value."""
    different = tuple(Comparison("!=", term, member) for member in members)
    found = []
    kinds = {type(member.value) for member in members}
    if kinds <= {str, int, float, bool}:
        found = [(_number(term), *different), (_string(term), *different)]
    return found or None


def _number(term: Term) -> Comparison:
    return Comparison("<=", term, Constant(math.inf))


def _string(term: Term) -> Comparison:
    return Comparison(">=", term, Constant(""))


def _comparable(constant: Constant) -> Constant | None:
    """A limit that comparisons understand: a number, or a string."""
    value = constant.value
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float | str):
        return constant
    if isinstance(value, Literal) and value.datatype.value in NUMBERS:
        try:
            return Constant(int(value.value) if value.datatype.value in INTEGERS else float(value.value))
        except ValueError:
            return None
    return None


_LEXICAL = {
    **dict.fromkeys(INTEGERS, re.compile(r"[+-]?[0-9]+")),
    XSD + "decimal": re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"),
    **dict.fromkeys(
        (XSD + "double", XSD + "float"), re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN")
    ),
    XSD + "boolean": re.compile(r"true|false|1|0"),
    XSD + "date": re.compile(r"-?[0-9]{4,}-[0-9]{2}-[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})?"),
    XSD + "dateTime": re.compile(
        r"-?[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?"
    ),
}


def is_ill_typed(constant: Constant) -> bool:
    """Whether a literal is none of its datatype, such as "abc"^^xsd:integer."""
    value = constant.value
    if not isinstance(value, Literal) or value.language is not None:
        return False
    pattern = _LEXICAL.get(value.datatype.value)
    return pattern is not None and pattern.fullmatch(value.value.strip()) is None

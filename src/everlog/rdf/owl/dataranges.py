"""Data ranges as comparisons, as far as they go.

`<` and its kin compare values of one kind, and are false between kinds: so `?v <= INF` says that ?v is a number and
`?v >= ""` that it is a string. Dates are not tested, and there is no test for language tags, or for the difference between
an integer and another number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pyoxigraph import Literal

from everlog.datalog.comparing import LEXICAL
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
    XSD + "nonNegativeInteger": (("minInclusive", Constant(0)),),
    XSD + "positiveInteger": (("minInclusive", Constant(1)),),
    XSD + "nonPositiveInteger": (("maxInclusive", Constant(0)),),
    XSD + "negativeInteger": (("maxInclusive", Constant(-1)),),
}


def _base(expression: Datatype | Restricted) -> tuple[str, tuple[tuple[str, Constant], ...]]:
    """The datatype that a data range restricts, and the facets by which it does."""
    if isinstance(expression, Datatype):
        return expression.iri, _SIGNED.get(expression.iri, ())
    return expression.datatype, (*expression.facets, *_SIGNED.get(expression.datatype, ()))


def inside(term: Term, expression: Datatype | Restricted) -> tuple[Sequence[Comparison], Sequence[str]] | None:
    """Comparisons that a literal is in a data range, and notes on what they do not test; None if there are none."""
    base, facets = _base(expression)
    comparisons = []
    for name, value in facets:
        limit_value = _comparable(value)
        if name not in _LIMITS or limit_value is None:
            return None
        comparisons.append(Comparison(_LIMITS[name][0], term, limit_value))
    if base in NUMBERS:
        notes = ("whether a number is an integer is not tested",) if base in INTEGERS else ()
        return comparisons or [_number(term)], notes
    if base == XSD + "string":
        return comparisons or [_string(term)], ()
    return ((), ()) if base == LITERAL and not facets else None


def outside(term: Term, expression: Datatype | Restricted) -> list[tuple[Comparison, ...]] | None:
    """Ways to be surely outside of a data range; None if there are none that comparisons can tell, [] if there is none."""
    base, facets = _base(expression)
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
    """Ways to be none of some literals: only for strings and numbers, of which it is known how to be another one."""
    if not all(isinstance(member.value, str | int | float) for member in members):
        return None
    different = tuple(Comparison("!=", term, member) for member in members)
    return [(_number(term), *different), (_string(term), *different)]


def _number(term: Term) -> Comparison:
    return Comparison("<=", term, Constant(math.inf))


def _string(term: Term) -> Comparison:
    return Comparison(">=", term, Constant(""))


def _comparable(constant: Constant) -> Constant | None:
    """A limit that comparisons understand: a number, or a string."""
    value = constant.value
    if isinstance(value, int | float | str):
        return None if isinstance(value, bool) else constant
    if isinstance(value, Literal) and value.datatype.value in NUMBERS:
        try:
            return Constant(int(value.value) if value.datatype.value in INTEGERS else float(value.value))
        except ValueError:
            return None
    return None


def is_ill_typed(constant: Constant) -> bool:
    """Whether a literal is none of its datatype, such as "abc"^^xsd:integer."""
    value = constant.value
    if not isinstance(value, Literal) or value.language is not None:
        return False
    pattern = LEXICAL.get(value.datatype.value.removeprefix(XSD))
    return pattern is not None and pattern.fullmatch(value.value.strip()) is None

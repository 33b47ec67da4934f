"""Constraints on single values as expressions of the rule language: true where a value fails.

An expression without a value would drop the node, so whatever may have none is said to be false first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from everlog.datalog.syntax import Call, Constant, Expression, Term
from everlog.datalog.values import normalise
from everlog.rdf.owl.graph import Object
from everlog.rdf.shacl.shacl_vocabulary import SH

_ORDERS = {"minExclusive": ">", "minInclusive": ">=", "maxExclusive": "<", "maxInclusive": "<="}
_KINDS = {
    "IRI": ("ISIRI",),
    "BlankNode": ("ISBLANK",),
    "Literal": ("ISLITERAL",),
    "BlankNodeOrIRI": ("ISBLANK", "ISIRI"),
    "BlankNodeOrLiteral": ("ISBLANK", "ISLITERAL"),
    "IRIOrLiteral": ("ISIRI", "ISLITERAL"),
}
_FALSE = Constant(False)


def failing(name: str, value: Term, given: Sequence[Object], settings: Mapping[str, Object]) -> Expression:
    """What holds of a value that fails a parameter."""
    if name == "datatype":
        typed = _same(_of("DATATYPE", value), Constant(normalise(given[0])))
        return _not(_surely(_and(typed, _of("ISVALID", value))))
    if name == "nodeKind":
        kinds = _KINDS[_text(given[0]).removeprefix(SH)]
        return _not(_any([_of(kind, value) for kind in kinds]))
    if name in _ORDERS:
        return not_ordered(_ORDERS[name], value, Constant(normalise(given[0])))
    if name in ("minLength", "maxLength"):
        sign = "<" if name == "minLength" else ">"
        length = Call(sign, (_of("STRLEN", _of("STR", value)), Constant(int(_text(given[0])))))
        return _any([_of("ISBLANK", value), length])
    if name == "pattern":
        flags = [Constant(_text(settings["flags"]))] if "flags" in settings else []
        found = Call("REGEX", (_of("STR", value), Constant(_text(given[0])), *flags))
        return _any([_of("ISBLANK", value), _not(found)])
    assert name == "languageIn", name
    tag = _of("LANG", value)
    matching = [Call("LANGMATCHES", (tag, Constant(_text(one)))) for one in given]
    return _not(_surely(_any(matching))) if matching else Constant(True)


def not_ordered(sign: str, value: Term, other: Term) -> Expression:
    """What holds of two values that are not in an order; a time with a zone and one without have none."""
    zones = [_same(_of("TZ", one), Constant("")) for one in (value, other)]
    alike = Call("COALESCE", (Call("=", tuple(zones)), Constant(True)))
    return _not(_surely(_and(Call(sign, (value, other)), alike)))


def _of(function: str, argument: Expression) -> Expression:
    return Call(function, (argument,))


def _same(one: Expression, other: Expression) -> Expression:
    return Call("SAMETERM", (one, other))


def _and(one: Expression, other: Expression) -> Expression:
    return Call("&&", (one, other))


def _any(several: Sequence[Expression]) -> Expression:
    return reduce(lambda one, other: Call("||", (one, other)), several)


def _not(one: Expression) -> Expression:
    return Call("!", (one,))


def _surely(one: Expression) -> Expression:
    return Call("COALESCE", (one, _FALSE))


def _text(node: Object) -> str:
    return node.value

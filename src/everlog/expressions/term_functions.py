"""SPARQL's functions on terms, one by one: their texts, languages and datatypes, what they are, and making them.

A term is taken as it was given: `STR("01"^^xsd:integer)` is `"01"`, and `DATATYPE("1"^^xsd:byte)` is `xsd:byte`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.datalog.comparing import LEXICAL, comparable_literal
from everlog.datalog.values import XSD, Value, canonical_double, identity, normalise
from everlog.expressions.numbers import number


def string(value: Value) -> str | None:
    """`STR`: an IRI, or what a literal is written as."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return canonical_double(value)
    if isinstance(value, BlankNode):
        return None
    return str(value) if isinstance(value, str | int) else value.value


def language(value: Value) -> str | None:
    """The language of a literal, which is empty if it has none."""
    return (isinstance(value, Literal) and value.language) or "" if is_literal(value) else None


def language_matches(tag: Value, wanted: Value) -> bool | None:
    """Whether a language is a wanted one, or a variety of it; `*` is any language."""
    if not isinstance(tag, str) or not isinstance(wanted, str):
        return None
    return bool(tag) if wanted == "*" else f"{tag}-".lower().startswith(f"{wanted}-".lower())


def datatype(value: Value) -> NamedNode | None:
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "double"), (str, "string")):
        if isinstance(value, kind):
            return NamedNode(XSD + name)
    return value.datatype if isinstance(value, Literal) else None


def iri(value: Value) -> NamedNode | None:
    """The IRI that a string is; it must be absolute."""
    if isinstance(value, NamedNode):
        return value
    try:
        return NamedNode(value) if isinstance(value, str) else None
    except ValueError:
        return None


def with_datatype(text: Value, named: Value) -> Value | None:
    if not isinstance(text, str) or not isinstance(named, NamedNode):
        return None
    try:
        return normalise(Literal(text, datatype=named))
    except ValueError:
        return None


def with_language(text: Value, tag: Value) -> Literal | None:
    if not isinstance(text, str) or not isinstance(tag, str):
        return None
    try:
        return Literal(text, language=tag)
    except ValueError:
        return None


def same_term(left: Value, right: Value) -> bool:
    return identity(left) == identity(right)


def is_iri(value: Value) -> bool:
    return isinstance(value, NamedNode)


def is_blank(value: Value) -> bool:
    return isinstance(value, BlankNode)


def is_literal(value: Value) -> bool:
    return not isinstance(value, NamedNode | BlankNode)


def is_numeric(value: Value) -> bool:
    return number(value) is not None


def is_valid(value: Value) -> bool | None:
    """Whether a literal is one of its datatype, as far as XML Schema's types are known; not of SPARQL, but of SHACL."""
    if not is_literal(value):
        return None
    if not isinstance(value, Literal) or value.language is not None:
        return True
    name = value.datatype.value.removeprefix(XSD)
    form = LEXICAL.get(name)
    if form is None or name == value.datatype.value:
        return True
    if form.fullmatch(value.value) is None:
        return False
    if name in _BOUNDS:
        least, most = _BOUNDS[name]
        number = int(value.value)
        return (least is None or number >= least) and (most is None or number <= most)
    return name not in ("date", "dateTime", "dateTimeStamp") or comparable_literal(name, value.value) is not None


_BOUNDS: Final[Mapping[str, tuple[int | None, int | None]]] = {
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    **{
        name: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        for name, bits in (("long", 64), ("int", 32), ("short", 16), ("byte", 8))
    },
    **{f"unsigned{name}": (0, 2**bits - 1) for name, bits in (("Long", 64), ("Int", 32), ("Short", 16), ("Byte", 8))},
}
"""The least and the greatest integer of each type."""

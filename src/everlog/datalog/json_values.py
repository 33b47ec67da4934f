"""Values in JSON: strings, numbers and truth values are themselves; other terms are as SPARQL's results in JSON have them.

`{"type": "uri", "value": "http://example.org/a"}`, `{"type": "bnode", "value": "b1"}`, and
`{"type": "literal", "value": "2026-01-01", "datatype": "…"}`, or with `"xml:lang"`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.datalog.values import XSD, Value, canonical_double
from everlog.errors import UnsupportedValue


def json_value(value: Value) -> object:
    """A value as JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"type": "literal", "value": canonical_double(value), "datatype": f"{XSD}double"}
    if isinstance(value, NamedNode | BlankNode):
        return {"type": "uri" if isinstance(value, NamedNode) else "bnode", "value": value.value}
    if isinstance(value, Literal):
        kind = {"xml:lang": value.language} if value.language else {"datatype": value.datatype.value}
        return {"type": "literal", "value": value.value, **kind}
    return value


def json_term(value: Value) -> dict[str, str]:
    """A value as SPARQL's results in JSON have every term: an object that says of which kind it is."""
    if isinstance(value, bool):
        return {"type": "literal", "value": str(value).lower(), "datatype": f"{XSD}boolean"}
    if isinstance(value, int):
        return {"type": "literal", "value": str(value), "datatype": f"{XSD}integer"}
    if isinstance(value, float):
        return {"type": "literal", "value": canonical_double(value), "datatype": f"{XSD}double"}
    if isinstance(value, str):
        return {"type": "literal", "value": value}
    if isinstance(value, NamedNode | BlankNode):
        return {"type": "uri" if isinstance(value, NamedNode) else "bnode", "value": value.value}
    kind = {"xml:lang": value.language} if value.language else {"datatype": value.datatype.value}
    return {"type": "literal", "value": value.value, **kind}


def value_of_json(found: object) -> Value:
    """The value that JSON stands for, or `UnsupportedValue`.

    >>> value_of_json(5), value_of_json({"type": "uri", "value": "http://example.org/a"})
    (5, <NamedNode value=http://example.org/a>)
    """
    if isinstance(found, bool | int | str):
        return _text(found) if isinstance(found, str) else found
    if isinstance(found, float):
        if not math.isfinite(found):
            raise UnsupportedValue("a number that is too large for a float")
        return found
    if not isinstance(found, Mapping):
        what = "null" if found is None else "an array"
        raise UnsupportedValue(
            f"{what} is no value; a value is a string, a number, true, false, or an object of a term"
        )
    known = {"type", "value", "datatype", "xml:lang"}
    kind, value = found.get("type"), found.get("value")
    if not isinstance(value, str) or not set(found) <= known or (kind != "literal" and len(found) != 2):
        raise UnsupportedValue(
            'a term is {"type": "uri", "bnode" or "literal", "value": TEXT}, perhaps with a "datatype"'
        )
    try:
        if kind == "uri":
            return NamedNode(_text(value))
        if kind == "bnode":
            return BlankNode(_text(value))
        if kind == "literal":
            return _literal(value, found.get("datatype"), found.get("xml:lang"))
    except (ValueError, TypeError) as mistake:
        raise UnsupportedValue(f"{value!r} is no {kind}: {mistake}") from None
    raise UnsupportedValue(f"a term is of the type uri, bnode or literal, not {kind!r}")


def _literal(value: str, datatype: object, language: object) -> Value:
    if language is not None:
        if datatype is not None or not isinstance(language, str):
            raise ValueError("a language is text, and there is no datatype beside it")
        return Literal(_text(value), language=_text(language))
    if datatype is None:
        return _text(value)
    if not isinstance(datatype, str):
        raise ValueError("a datatype is the text of an IRI")
    return Literal(_text(value), datatype=NamedNode(_text(datatype)))


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UnsupportedValue("a text holds a lone surrogate, which is no character") from None
    return text

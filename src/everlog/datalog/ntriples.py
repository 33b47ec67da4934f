r"""One value as one N-Triples term, and back.

Reading is strict (the grammar of N-Triples, absolute IRIs) and gives normal forms: `"5"^^xsd:integer` reads as the int
5. Writing names the datatype of every value but a string, so that what was written reads back as the same value.
"""

from __future__ import annotations

import re

from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode

from everlog.datalog.escapes import SIMPLE
from everlog.datalog.values import XSD, Value, canonical_double, normalise
from everlog.errors import UnsupportedValue

_TERM = re.compile(
    r"<(?P<iri>[^<>]*)>"
    r"|_:(?P<blank>\S+)"
    r'|"(?P<text>[^"\\\n\r]*(?:\\.[^"\\\n\r]*)*)"'
    r"(?:@(?P<language>[A-Za-z0-9-]+?)(?:--(?P<direction>ltr|rtl))?|\^\^<(?P<datatype>[^<>]*)>)?"
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_IRI_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([^\\]?))")


def read_term(text: str) -> Value:
    r"""The value that an N-Triples term names, or `UnsupportedValue`.

    >>> read_term('"5"^^<http://www.w3.org/2001/XMLSchema#integer>'), read_term(r'"a\tb"')
    (5, 'a\tb')
    """
    match = _TERM.fullmatch(text)
    if match is None:
        raise _malformed(text, "a term is <iri>, _:label, or a literal in double quotes")
    try:
        if (iri := match["iri"]) is not None:
            return NamedNode(_unescape_iri(iri))
        if (label := match["blank"]) is not None:
            return BlankNode(label)
        return normalise(_literal(match))
    except (ValueError, OverflowError) as mistake:
        raise _malformed(text, str(mistake)) from mistake


def write_term(value: Value) -> str:
    """The N-Triples term that names a value in its normal form.

    >>> write_term(True), write_term("a")
    ('"true"^^<http://www.w3.org/2001/XMLSchema#boolean>', '"a"')
    """
    if isinstance(value, bool):
        return f'"{"true" if value else "false"}"^^<{XSD}boolean>'
    if isinstance(value, int):
        return f'"{value}"^^<{XSD}integer>'
    if isinstance(value, float):
        return f'"{canonical_double(value)}"^^<{XSD}double>'
    return str(Literal(value) if isinstance(value, str) else value)


def _literal(match: re.Match[str]) -> Literal:
    text = _ESCAPE.sub(_unescape, match["text"])
    if match["direction"] is not None:
        return Literal(text, language=match["language"], direction=BaseDirection(match["direction"]))
    if match["language"] is not None:
        return Literal(text, language=match["language"])
    if match["datatype"] is not None:
        return Literal(text, datatype=NamedNode(_unescape_iri(match["datatype"])))
    return Literal(text)


def _unescape(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code is not None:
        return chr(int(code, 16))
    if match[3] not in SIMPLE:
        raise ValueError(f"unknown escape {match[0]}")
    return SIMPLE[match[3]]


def _unescape_iri(iri: str) -> str:
    return _IRI_ESCAPE.sub(_unescape_numeric, iri) if "\\" in iri else iri


def _unescape_numeric(match: re.Match[str]) -> str:
    if match[3] is not None:
        raise ValueError(f"unknown escape {match[0]} in an IRI")
    return _unescape(match)


def _malformed(text: str, why: str) -> UnsupportedValue:
    shown = text if len(text) <= 200 else text[:200] + "…"
    return UnsupportedValue(f"{shown!r} is not an N-Triples term: {why}")

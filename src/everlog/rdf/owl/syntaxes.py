"""Which syntax a document is in, by what it begins with: `.owl` may be any of them."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from pyoxigraph import RdfFormat

OwlSyntax: TypeAlias = Literal["functional", "owl/xml"]

HEAD: Final = 100_000
"""Characters that are looked at."""

_ROOT = re.compile(r"<(?![?!])([\w.\-]+:)?([\w.\-]+)")
_FUNCTIONAL = re.compile(r"\s*(?:#[^\n]*\s*)*(?:Prefix\s*\(|Ontology\s*\()")
_DOCTYPE = re.compile(r"<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>|<\?.*?\?>", re.DOTALL)


def syntax_of(text: str, otherwise: RdfFormat = RdfFormat.TURTLE) -> RdfFormat | OwlSyntax:
    """The syntax of a document that begins with a text; `otherwise` where that tells nothing.

    >>> syntax_of("Prefix(:=<http://ex.org/>)"), syntax_of("<?xml version='1.0'?><Ontology>")
    ('functional', 'owl/xml')
    """
    if _FUNCTIONAL.match(text):
        return "functional"
    if text.lstrip()[:1] == "<":
        root = _ROOT.search(_DOCTYPE.sub("", text[:HEAD]))
        if root is not None and root[2] == "Ontology":
            return "owl/xml"
        if root is not None and (root[2] == "RDF" or text.lstrip().startswith("<?xml")):
            return RdfFormat.RDF_XML
    return otherwise

"""The IRIs of a query: prefixes, a base, and what relative ones are resolved to."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pyoxigraph import NamedNode, RdfFormat, parse

from everlog.errors import SyntaxMistake

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_WITHOUT_SCHEME: Final = "everlog:"
"""Where an IRI belongs that has no scheme, if there is no base: as in the rule language."""
_ESCAPED: Final = re.compile(r"\\(.)")


@lru_cache(maxsize=4096)
def resolved(iri: str, base: str | None) -> NamedNode:
    """The IRI that a text is, relative to a base; `ValueError` if it is none."""
    if _SCHEME.match(iri):
        return NamedNode(iri)
    if base is None:
        return NamedNode(_WITHOUT_SCHEME + iri)
    try:
        (quad,) = parse(f"<{iri}> <a:b> <a:b> .", format=RdfFormat.TURTLE, base_iri=base)
    except SyntaxError as mistake:
        raise ValueError(str(mistake)) from mistake
    assert isinstance(quad.subject, NamedNode)
    return quad.subject


class IriNames:
    """The prologue of a query, and the names that follow it."""

    def __init__(self, base: str | None) -> None:
        self.base = base
        self.prefixes: dict[str, str] = {}

    def full(self, iri: str) -> NamedNode:
        """An IRI without its brackets, resolved."""
        try:
            return resolved(iri, self.base)
        except ValueError as mistake:
            raise SyntaxMistake(f"<{iri}> is not an IRI: {mistake}") from mistake

    def prefixed(self, name: str) -> NamedNode:
        """The IRI of a name such as `ex:thing`."""
        prefix, _, local = name.partition(":")
        if prefix not in self.prefixes:
            raise SyntaxMistake(f"the prefix '{prefix}:' is not declared: write PREFIX {prefix}: <…> before the query")
        try:
            return NamedNode(self.prefixes[prefix] + _ESCAPED.sub(r"\1", local))
        except ValueError as mistake:
            raise SyntaxMistake(f"{name} is not an IRI: {mistake}") from mistake

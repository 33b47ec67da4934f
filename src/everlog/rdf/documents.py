"""Turtle, TriG and RDF/XML: a whole document at a time, by pyoxigraph.

pyoxigraph names a node without a label (`[]`) at random, and a Spark task that is run again must give the same names: so
the blank nodes of a document are numbered in order of appearance, all but Everlog's own.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, RdfFormat, Triple, parse

from everlog.rdf.blanks import OWN
from everlog.rdf.mistakes import NESTED, reason_of

_XMLNS = re.compile(r"""xmlns:(\w+)\s*=\s*["']([^"'&]+)["']""")


class MalformedDocument(Exception):
    """A document that cannot be read on: the line, if pyoxigraph knows it, and the reason."""

    def __init__(self, line: int | None, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def parse_document(
    source: str | IO[bytes], format: RdfFormat, mark: str, base: str
) -> Iterator[tuple[str, str, str, str | None]]:
    """The canonical texts of subject, predicate, object and graph of each statement; the default graph is None.

    `source` is a path or an open file. Relative IRIs are relative to `base`.
    """
    names: dict[str, str] = {}
    try:
        quads = (
            parse(path=source, format=format, base_iri=base)
            if isinstance(source, str)
            else parse(source, format=format, base_iri=base)
        )
        for quad in quads:
            graph = quad.graph_name
            yield (
                _text(quad.subject, mark, names),
                str(quad.predicate),
                _text(quad.object, mark, names),
                None if isinstance(graph, DefaultGraph) else _text(graph, mark, names),
            )
    except SyntaxError as mistake:
        raise MalformedDocument(mistake.lineno, reason_of(mistake)) from mistake
    except ValueError as mistake:
        raise MalformedDocument(None, str(mistake)) from mistake


def document_prefixes(text: str, format: RdfFormat) -> dict[str, str]:
    """The prefixes that a document declares, given all of it or its beginning."""
    quads = parse(text, format=format, base_iri="urn:everlog:document")
    with suppress(SyntaxError, ValueError):
        deque(quads, maxlen=0)
    return quads.prefixes or dict(_XMLNS.findall(text))


def _text(term: object, mark: str, names: dict[str, str]) -> str:
    if isinstance(term, NamedNode):
        return str(term)
    if isinstance(term, BlankNode):
        label = term.value
        if label not in names:
            names[label] = f"_:{label}" if OWN.fullmatch(label) else f"_:{mark}n{len(names)}"
        return names[label]
    if isinstance(term, Triple):
        raise ValueError(NESTED)
    return str(term)

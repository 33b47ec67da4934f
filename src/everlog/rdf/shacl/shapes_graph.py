"""Shapes graphs from files and texts, in any syntax of RDF; several are one graph.

Blank nodes are numbered as they appear, so that a file reads the same each time.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse

from everlog.errors import EverlogError
from everlog.rdf.documents import document_prefixes
from everlog.rdf.mistakes import NESTED, reason_of
from everlog.rdf.owl.graph import Graph, Object, Triple

_BY_NAME = {
    ".nt": RdfFormat.N_TRIPLES,
    ".nq": RdfFormat.N_QUADS,
    ".ttl": RdfFormat.TURTLE,
    ".trig": RdfFormat.TRIG,
    ".rdf": RdfFormat.RDF_XML,
    ".owl": RdfFormat.RDF_XML,
    ".xml": RdfFormat.RDF_XML,
}


@dataclass(frozen=True)
class ShapesGraph:
    """Triples that describe shapes, and prefixes for what is said about them."""

    graph: Graph
    prefixes: Mapping[str, str]


def read_shapes(paths: Sequence[Path], texts: Sequence[str] = ()) -> ShapesGraph:
    """The graph that some files, and texts of Turtle, are together."""
    triples: list[Triple] = []
    prefixes: dict[str, str] = {}
    for number, path in enumerate(dict.fromkeys(paths)):
        text, format = _text(path), _BY_NAME.get(Path(path.name.removesuffix(".gz")).suffix, RdfFormat.TURTLE)
        triples += _triples(text, format, str(path), path.absolute().as_uri(), f"shapes{number}n")
        prefixes = {**document_prefixes(text, format), **prefixes}
    for number, text in enumerate(texts, len(paths)):
        triples += _triples(text, RdfFormat.TURTLE, "<shapes>", "everlog:", f"shapes{number}n")
        prefixes = {**document_prefixes(text, RdfFormat.TURTLE), **prefixes}
    return ShapesGraph(Graph(dict.fromkeys(triples)), prefixes)


def _triples(text: str, format: RdfFormat, name: str, base: str, mark: str) -> list[Triple]:
    labels: dict[str, BlankNode] = {}

    def stable(node: object) -> Object:
        if isinstance(node, BlankNode):
            return labels.setdefault(node.value, BlankNode(f"{mark}{len(labels)}"))
        if isinstance(node, NamedNode | Literal):
            return node
        raise ValueError(NESTED)

    found: list[Triple] = []
    try:
        for quad in parse(text, format=format, base_iri=base):
            subject, target = stable(quad.subject), stable(quad.object)
            if isinstance(subject, Literal):
                raise ValueError("a literal cannot be a subject")
            found.append((subject, quad.predicate.value, target))
    except SyntaxError as mistake:
        line = f":{mistake.lineno}" if mistake.lineno else ""
        raise EverlogError(f"{name}{line}: {reason_of(mistake)}") from mistake
    except ValueError as mistake:
        raise EverlogError(f"{name}: {mistake}") from mistake
    return found


def _text(path: Path) -> str:
    if not path.is_file():
        raise EverlogError(f"{path}: {'this is a folder' if path.is_dir() else 'no such file'}")
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.name.endswith(".gz") else data).decode("utf-8-sig")
    except UnicodeDecodeError as mistake:
        raise EverlogError(f"{path}: not UTF-8 text (byte {mistake.start}); is this a shapes graph?") from None
    except (OSError, EOFError, zlib.error) as mistake:
        raise EverlogError(f"{path}: {getattr(mistake, 'strerror', None) or mistake}") from None

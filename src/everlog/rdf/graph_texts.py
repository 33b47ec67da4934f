"""Graphs that are read as a whole, ontologies and shapes: the text of a file, and its triples."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Final
from xml.parsers import expat

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse

from everlog.errors import EverlogError
from everlog.rdf.mistakes import NESTED, reason_of
from everlog.rdf.owl.graph import Object, Triple

FORMATS: Final = {
    ".nt": RdfFormat.N_TRIPLES,
    ".nq": RdfFormat.N_QUADS,
    ".ttl": RdfFormat.TURTLE,
    ".trig": RdfFormat.TRIG,
    ".rdf": RdfFormat.RDF_XML,
}
"""What files hold by the ends of their names."""


def graph_text(path: Path, kind: str) -> str:
    """The text of a file, which may be packed; messages ask whether it is of a kind, such as "an ontology"."""
    if not path.is_file():
        raise EverlogError(f"{path}: {'this is a folder' if path.is_dir() else 'no such file'}")
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.name.endswith(".gz") else data).decode("utf-8-sig")
    except UnicodeDecodeError as mistake:
        raise EverlogError(f"{path}: not UTF-8 text (byte {mistake.start}); is this {kind}?") from None
    except (OSError, EOFError, zlib.error) as mistake:
        raise EverlogError(f"{path}: {getattr(mistake, 'strerror', None) or mistake}") from None


def graph_triples(text: str, format: RdfFormat, name: str, base: str | None, mark: str) -> list[Triple]:
    """The triples of a text, whose name is for messages; labels of blank nodes begin with a mark."""
    if format == RdfFormat.RDF_XML:
        _check_xml(name, text)
    labels: dict[str, BlankNode] = {}
    triples: list[Triple] = []
    try:
        for quad in parse(text, format=format, base_iri=base):
            subject, target = (_stable(node, mark, labels) for node in (quad.subject, quad.object))
            if isinstance(subject, Literal):
                raise ValueError("a literal cannot be a subject")
            triples.append((subject, quad.predicate.value, target))
    except SyntaxError as mistake:
        line = f":{mistake.lineno}" if mistake.lineno else ""
        raise EverlogError(f"{name}{line}: {reason_of(mistake)}") from mistake
    except ValueError as mistake:
        raise EverlogError(f"{name}: {mistake}") from mistake
    return triples


def _check_xml(name: str, text: str) -> None:
    """Refuses XML that is not well-formed: pyoxigraph takes a file that ends in the middle for a whole one."""
    try:
        expat.ParserCreate().Parse(text, True)
    except expat.ExpatError as mistake:
        raise EverlogError(f"{name}:{mistake.lineno}: not well-formed XML: {expat.ErrorString(mistake.code)}") from None


def _stable(node: object, mark: str, labels: dict[str, BlankNode]) -> Object:
    """A node whose label does not change from one reading to the next: anonymous ones are numbered as they appear."""
    if isinstance(node, BlankNode):
        return labels.setdefault(node.value, BlankNode(f"{mark}n{len(labels)}"))
    if isinstance(node, NamedNode | Literal):
        return node
    raise ValueError(NESTED)

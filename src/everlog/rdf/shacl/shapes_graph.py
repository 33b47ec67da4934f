"""Shapes graphs from files and texts, in any syntax of RDF; several are one graph.

Blank nodes are numbered as they appear, so that a file reads the same each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import RdfFormat

from everlog.rdf.documents import document_prefixes
from everlog.rdf.graph_texts import FORMATS, graph_text, graph_triples
from everlog.rdf.owl.graph import Graph, Triple

_FORMATS = {**FORMATS, ".owl": RdfFormat.RDF_XML, ".xml": RdfFormat.RDF_XML}


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
        text = graph_text(path, "a shapes graph")
        format = _FORMATS.get(Path(path.name.removesuffix(".gz")).suffix, RdfFormat.TURTLE)
        triples += graph_triples(text, format, str(path), path.absolute().as_uri(), f"shapes{number}")
        prefixes = {**document_prefixes(text, format), **prefixes}
    for number, text in enumerate(texts, len(paths)):
        triples += graph_triples(text, RdfFormat.TURTLE, "<shapes>", "everlog:", f"shapes{number}")
        prefixes = {**document_prefixes(text, RdfFormat.TURTLE), **prefixes}
    return ShapesGraph(Graph(dict.fromkeys(triples)), prefixes)

"""SHACL's property paths: what a node of a shapes graph says, and the same as nodes of a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.errors import EverlogError
from everlog.rdf.owl.graph import FIRST, NIL, REST, Graph, Object, Triple
from everlog.rdf.shacl.shacl_vocabulary import SH


class IllFormed(EverlogError):
    """A shapes graph that SHACL gives no meaning to; the message says which shape, and what was expected."""


@dataclass(frozen=True)
class Step:
    """A property."""

    iri: str


@dataclass(frozen=True)
class Composed:
    """A path made of others: `sequence`, `alternative`, `inverse`, `zeroOrMore`, `oneOrMore`, `zeroOrOne`."""

    kind: str
    parts: tuple[Path, ...]


Path: TypeAlias = Step | Composed

_UNARY: Final = {
    SH + "inversePath": "inverse",
    SH + "zeroOrMorePath": "zeroOrMore",
    SH + "oneOrMorePath": "oneOrMore",
    SH + "zeroOrOnePath": "zeroOrOne",
}
_SIGNS: Final = {"zeroOrMore": "*", "oneOrMore": "+", "zeroOrOne": "?"}


def path_of(graph: Graph, node: Object, within: frozenset[Object] = frozenset()) -> Path:
    """The path that a node stands for; a path inside itself is refused."""
    if isinstance(node, NamedNode):
        return Step(node.value)
    if isinstance(node, Literal) or node in within:
        raise IllFormed(f"sh:path: {'a literal' if isinstance(node, Literal) else 'a path inside itself'} is no path")
    inside, said = within | {node}, graph.of(node)
    if REST in said or FIRST in said:
        return Composed("sequence", tuple(path_of(graph, one, inside) for one in _several(graph, node, "sequence")))
    if SH + "alternativePath" in said:
        members = _several(graph, graph.need(node, SH + "alternativePath"), "alternative")
        return Composed("alternative", tuple(path_of(graph, one, inside) for one in members))
    for iri, kind in _UNARY.items():
        if iri in said:
            return Composed(kind, (path_of(graph, graph.need(node, iri), inside),))
    raise IllFormed(
        "sh:path: an anonymous node is a list, or has sh:inversePath, sh:alternativePath or another operator"
    )


def _several(graph: Graph, head: Object, kind: str) -> list[Object]:
    members = graph.list(head)
    if len(members) < 2:
        raise IllFormed(f"sh:path: a path that is a {kind} has at least two parts, not {len(members)}")
    return members


def path_text(path: Path, short: Any) -> str:
    """A path as SPARQL writes it."""
    if isinstance(path, Step):
        return str(short(path.iri))
    inner = [path_text(part, short) for part in path.parts]
    if path.kind == "inverse":
        return f"^{_enclosed(path.parts[0], inner[0])}"
    if path.kind in _SIGNS:
        return f"{_enclosed(path.parts[0], inner[0])}{_SIGNS[path.kind]}"
    sign = "/" if path.kind == "sequence" else "|"
    return sign.join(_enclosed(part, text) for part, text in zip(path.parts, inner, strict=True))


def _enclosed(path: Path, text: str) -> str:
    return text if isinstance(path, Step) else f"({text})"


def path_json(path: Path) -> Any:
    """A path as JSON has it: an IRI, or an operator with what it is made of."""
    return path.iri if isinstance(path, Step) else [path.kind, *map(path_json, path.parts)]


def path_from_json(given: Any) -> Path:
    if isinstance(given, str):
        return Step(given)
    kind, *parts = given
    return Composed(kind, tuple(map(path_from_json, parts)))


def path_triples(path: Path, labels: Iterator[str]) -> tuple[NamedNode | BlankNode, list[Triple]]:
    """A path as nodes of a graph: the first one, and what is said about it."""
    if isinstance(path, Step):
        return NamedNode(path.iri), []
    found: list[Triple] = []
    nodes: list[NamedNode | BlankNode] = []
    for part in path.parts:
        node, triples = path_triples(part, labels)
        nodes.append(node)
        found += triples
    if path.kind == "sequence":
        return _as_list(nodes, labels, found), found
    node = BlankNode(next(labels))
    if path.kind == "alternative":
        found.append((node, SH + "alternativePath", _as_list(nodes, labels, found)))
    else:
        found.append((node, f"{SH}{path.kind}Path", nodes[0]))
    return node, found


def _as_list(nodes: list[NamedNode | BlankNode], labels: Iterator[str], found: list[Triple]) -> NamedNode | BlankNode:
    rest: NamedNode | BlankNode = NIL
    for node in reversed(nodes):
        cell = BlankNode(next(labels))
        found += [(cell, FIRST, node), (cell, REST, rest)]
        rest = cell
    return rest

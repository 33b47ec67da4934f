"""An RDF graph in memory, as the mapping from RDF to OWL 2 reads it: by subject and property."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.errors import EverlogError
from everlog.rdf.owl.vocabulary import OWL, RDF, RDFS, TYPE

Node: TypeAlias = NamedNode | BlankNode
Object: TypeAlias = NamedNode | BlankNode | Literal
Triple: TypeAlias = tuple[Node, str, Object]

FIRST, REST, NIL = RDF + "first", RDF + "rest", NamedNode(RDF + "nil")


class Unreadable(EverlogError):
    """A part of an ontology that means nothing in OWL 2; the message says what was expected."""


class Graph:
    """Triples in their order, found by subject and property."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._out: dict[Node, dict[str, list[Object]]] = {}
        for subject, predicate, target in triples:
            self._out.setdefault(subject, {}).setdefault(predicate, []).append(target)
        self.used: set[Node] = set()
        """The anonymous nodes that were read as parts of axioms."""

    def __iter__(self) -> Iterator[Triple]:
        for subject, properties in self._out.items():
            for predicate, objects in properties.items():
                for target in objects:
                    yield subject, predicate, target

    def of(self, subject: Node) -> Mapping[str, list[Object]]:
        """What the graph says about a subject."""
        return self._out.get(subject, {})

    def objects(self, subject: Node, predicate: str) -> list[Object]:
        return self.of(subject).get(predicate, [])

    def types(self, subject: Node) -> set[str | None]:
        """The names of a subject's types."""
        return {name(each) for each in self.objects(subject, TYPE)}

    def one(self, subject: Node, predicate: str) -> Object | None:
        """The value of a property that has at most one."""
        values = self.objects(subject, predicate)
        if len(set(values)) > 1:
            raise Unreadable(f"{shown(subject)} has several values of {short(predicate)}, where one is allowed")
        return values[0] if values else None

    def need(self, subject: Node, predicate: str) -> Object:
        value = self.one(subject, predicate)
        if value is None:
            raise Unreadable(f"{shown(subject)} has no {short(predicate)}")
        return value

    def list(self, head: Object) -> list[Object]:
        """The members of an RDF list."""
        members: list[Object] = []
        seen: set[Object] = set()
        while head != NIL:
            if isinstance(head, Literal) or head in seen:
                raise Unreadable(f"the list at {shown(head)} has no end: each rest is a list, and the last is rdf:nil")
            seen.add(head)
            self.used.add(head)
            members.append(self.need(head, FIRST))
            head = self.need(head, REST)
        return members


def name(node: Object) -> str | None:
    """The IRI of a node that has one."""
    return node.value if isinstance(node, NamedNode) else None


def short(iri: str) -> str:
    """The IRI of a vocabulary with its usual prefix."""
    for prefix, namespace in (("owl:", OWL), ("rdf:", RDF), ("rdfs:", RDFS)):
        if iri.startswith(namespace):
            return prefix + iri[len(namespace) :]
    return f"<{iri}>"


def shown(node: Object) -> str:
    return "an anonymous node" if isinstance(node, BlankNode) else str(node)

"""Class expressions, data ranges and property expressions out of RDF: tables 11 to 15 of the OWL 2 mapping from RDF."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.datalog.syntax import Constant
from everlog.datalog.values import XSD, normalise
from everlog.rdf.owl import structure as owl
from everlog.rdf.owl.entities import DATA_RANGES, Entities
from everlog.rdf.owl.graph import Graph, Node, Object, Unreadable, shown
from everlog.rdf.owl.vocabulary import LITERAL, OWL, THING, TYPE, terms

_CARDINALITIES: Mapping[str, Sequence[type[owl.AtLeast | owl.AtMost]]] = {
    "minCardinality": [owl.AtLeast],
    "maxCardinality": [owl.AtMost],
    "cardinality": [owl.AtLeast, owl.AtMost],
    "minQualifiedCardinality": [owl.AtLeast],
    "maxQualifiedCardinality": [owl.AtMost],
    "qualifiedCardinality": [owl.AtLeast, owl.AtMost],
}
CONNECTIVES = tuple(OWL + name for name in ("intersectionOf", "unionOf", "complementOf", "oneOf"))
EXPRESSION_PROPERTIES = frozenset(
    {*CONNECTIVES, *(OWL + name for name in _CARDINALITIES)}
    | terms(OWL, "someValuesFrom allValuesFrom hasValue hasSelf onProperty onProperties onClass onDataRange")
    | terms(OWL, "onDatatype withRestrictions datatypeComplementOf")
)


class Expressions:
    """Reads the expressions of a graph. A node may be read many times; a node inside itself is refused."""

    def __init__(self, graph: Graph, entities: Entities) -> None:
        self._graph = graph
        self._entities = entities
        self._open: list[Node] = []

    def classes(self, head: Object, data: bool = False) -> tuple[owl.Expression, ...]:
        """The members of a list: class expressions or, with `data`, data ranges."""
        return tuple(self.expression(each, data) for each in self._graph.list(head))

    def expression(self, node: Object, data: bool = False) -> owl.Expression:
        """A class expression or, with `data`, a data range."""
        if isinstance(node, NamedNode):
            return owl.Datatype(node.value) if data else owl.Named(node.value)
        if isinstance(node, Literal):
            raise Unreadable(f"the literal {node} stands where a {'data range' if data else 'class'} is expected")
        return self._inside(node, data)

    def definition(self, node: Node, data: bool = False) -> list[owl.Expression]:
        """What a node is said to be by connectives and restrictions. A named node may have several, and then is each."""
        graph, found = self._graph, list[owl.Expression]()
        for name, make in (("intersectionOf", owl.And), ("unionOf", owl.Or)):
            found += [make(self.classes(each, data)) for each in graph.objects(node, OWL + name)]
        found += [owl.Not(self.expression(each, data)) for each in graph.objects(node, OWL + "complementOf")]
        found += [owl.Not(self.expression(each, True)) for each in graph.objects(node, OWL + "datatypeComplementOf")]
        found += [owl.OneOf(constants(graph.list(each))) for each in graph.objects(node, OWL + "oneOf")]
        if OWL + "onProperty" in graph.of(node):
            found.append(self._restriction(node))
        if OWL + "onDatatype" in graph.of(node):
            found.append(self._facets(node))
        if OWL + "onProperties" in graph.of(node):
            raise Unreadable("restrictions on several properties at once (owl:onProperties) are not supported")
        return found

    def property(self, node: Object) -> owl.Property:
        if isinstance(node, NamedNode):
            return self._entities.property(node.value)
        if isinstance(node, BlankNode):
            inverse = self._graph.one(node, OWL + "inverseOf")
            if inverse is not None:
                self._graph.used.add(node)
                property = self.property(inverse)
                return owl.Property(property.iri, not property.inverse)
        raise Unreadable(f"{shown(node)} stands where a property is expected")

    def properties(self, head: Object) -> tuple[owl.Property, ...]:
        return tuple(map(self.property, self._graph.list(head)))

    def _inside(self, node: Node, data: bool) -> owl.Expression:
        if node in self._open:
            raise Unreadable("an anonymous class is a part of itself")
        self._open.append(node)
        try:
            data = data or not DATA_RANGES.isdisjoint(self._graph.types(node))
            found = self.definition(node, data)
        finally:
            self._open.pop()
        self._graph.used.add(node)
        if not found:
            raise Unreadable(
                f"an anonymous node without owl:intersectionOf, owl:onProperty or the like stands where a "
                f"{'data range' if data else 'class'} is expected"
            )
        return found[0] if len(found) == 1 else owl.And(tuple(found))

    def _restriction(self, node: Node) -> owl.Expression:
        graph = self._graph
        property = self.property(graph.need(node, OWL + "onProperty"))
        found = list[owl.Expression]()
        for name, make in (("someValuesFrom", owl.Some), ("allValuesFrom", owl.All)):
            found += [make(property, self.expression(each, property.data)) for each in graph.objects(node, OWL + name)]
        found += [owl.HasValue(property, constant(each)) for each in graph.objects(node, OWL + "hasValue")]
        found += [owl.HasSelf(property) for each in graph.objects(node, OWL + "hasSelf") if _is_true(each)]
        for name, limits in _CARDINALITIES.items():
            for value in graph.objects(node, OWL + name):
                number, filler = _number(value), self._qualified(node, property)
                found += [limit(number, property, filler) for limit in limits]
        if not found:
            raise Unreadable(f"the restriction on <{property.iri}> says nothing: it has none of owl:someValuesFrom, …")
        return found[0] if len(found) == 1 else owl.And(tuple(found))

    def _qualified(self, node: Node, property: owl.Property) -> owl.Expression:
        for name, data in (("onClass", False), ("onDataRange", True)):
            filler = self._graph.one(node, OWL + name)
            if filler is not None:
                return self.expression(filler, data)
        return owl.Datatype(LITERAL) if property.data else owl.Named(THING)

    def _facets(self, node: Node) -> owl.Expression:
        graph = self._graph
        base = graph.need(node, OWL + "onDatatype")
        if not isinstance(base, NamedNode):
            raise Unreadable("the facets of a datatype restriction stand on a named datatype")
        facets = []
        for each in graph.list(graph.need(node, OWL + "withRestrictions")):
            if isinstance(each, Literal):
                raise Unreadable(f"the literal {each} stands where a facet is expected")
            graph.used.add(each)
            for name, values in graph.of(each).items():
                facets += [(name.removeprefix(XSD), constant(value)) for value in values if name != TYPE]
        return owl.Restricted(base.value, tuple(facets))


def constant(node: Object) -> Constant:
    """An individual or a literal."""
    return Constant(normalise(node))


def constants(nodes: Iterable[Object]) -> tuple[Constant, ...]:
    return tuple(map(constant, nodes))


def _number(node: Object) -> int:
    if isinstance(node, Literal) and node.value.strip().isdigit():
        return int(node.value)
    raise Unreadable(f"{shown(node)} is not the number of a cardinality")


def _is_true(node: Object) -> bool:
    return isinstance(node, Literal) and node.value.strip() in ("true", "1")

"""From RDF to OWL 2: the axioms of a graph, after the OWL 2 mapping, with the names of what cannot be read.

More is accepted than the mapping allows, because published ontologies need it: properties and classes without a
declaration, RDFS vocabularies, and OWL 1's connectives on named classes. What no axiom explains is a warning, never lost
in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import get_args

from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.datalog.values import XSD
from everlog.rdf.owl import structure as owl
from everlog.rdf.owl.entities import Entities
from everlog.rdf.owl.expressions import CONNECTIVES, EXPRESSION_PROPERTIES, Expressions, constant, constants
from everlog.rdf.owl.graph import FIRST, REST, Graph, Node, Object, Triple, Unreadable, name, short, shown
from everlog.rdf.owl.swrl import SwrlReader
from everlog.rdf.owl.vocabulary import DIFFERENT_FROM, NOTHING, OWL, RDF, RDFS, SAME_AS, SWRL, THING, TYPE

_CHARACTERISTICS: Mapping[str | None, owl.Kind] = {f"{OWL}{kind}Property": kind for kind in get_args(owl.Kind)}
_ASIDE = (OWL + "Ontology", OWL + "Axiom", OWL + "Annotation")
_SILENT = frozenset({OWL + "imports", OWL + "members", OWL + "distinctMembers", FIRST, REST, *EXPRESSION_PROPERTIES})


def read_graph(triples: Sequence[Triple], prefixes: Mapping[str, str]) -> owl.Ontology:
    """The ontology that a graph is."""
    # Without what is said about the ontology itself, and about its axioms and annotations.
    aside = {subject for subject, predicate, target in triples if predicate == TYPE and name(target) in _ASIDE}
    mapping = _Mapping(Graph(each for each in triples if each[0] not in aside))
    axioms = tuple(dict.fromkeys(mapping.axioms()))
    return owl.Ontology(axioms, prefixes, tuple(dict.fromkeys([*mapping.entities.warnings, *mapping.warnings])))


class _Mapping:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.entities = Entities(graph)
        self._expressions = Expressions(graph, self.entities)
        self._swrl = SwrlReader(graph, self._expressions)
        self.warnings: list[str] = []
        read = self._expressions
        self._handlers: dict[str, Callable[[Node, Object], list[owl.Axiom]]] = {
            RDFS + "subClassOf": lambda s, o: [owl.SubClassOf(read.expression(s), read.expression(o))],
            OWL + "equivalentClass": self._equivalent,
            OWL + "disjointWith": lambda s, o: [owl.DisjointClasses((read.expression(s), read.expression(o)))],
            OWL + "disjointUnionOf": lambda s, o: [owl.DisjointUnion(_name(s), read.classes(o))],
            RDFS + "subPropertyOf": lambda s, o: [owl.SubProperty((read.property(s),), read.property(o))],
            OWL + "propertyChainAxiom": lambda s, o: [owl.SubProperty(read.properties(o), read.property(s))],
            OWL + "equivalentProperty": lambda s, o: [owl.EquivalentProperties((read.property(s), read.property(o)))],
            OWL + "propertyDisjointWith": lambda s, o: [owl.DisjointProperties((read.property(s), read.property(o)))],
            OWL + "inverseOf": self._inverse,
            RDFS + "domain": lambda s, o: [owl.Domain(read.property(s), read.expression(o))],
            RDFS + "range": self._range,
            OWL + "hasKey": lambda s, o: [owl.HasKey(read.expression(s), read.properties(o))],
            SAME_AS: lambda s, o: [owl.SameIndividual(constants((s, o)))],
            DIFFERENT_FROM: lambda s, o: [owl.DifferentIndividuals(constants((s, o)))],
            OWL + "sourceIndividual": self._denial,
            TYPE: self._type,
        }

    def axioms(self) -> list[owl.Axiom]:
        axioms: list[owl.Axiom] = []
        for subject, predicate, target in self._graph:
            try:
                axioms += self._axioms_of(subject, predicate, target)
            except Unreadable as mistake:
                triple = f"{shown(subject)} {short(predicate)} {shown(target)}"
                self.warnings.append(f"{triple} cannot be read and is left out: {mistake}")
        self._left_over()
        return axioms

    def _axioms_of(self, subject: Node, predicate: str, target: Object) -> list[owl.Axiom]:
        handler = self._handlers.get(predicate)
        if handler is not None:
            return handler(subject, target)
        if isinstance(subject, NamedNode) and (predicate in CONNECTIVES or predicate == OWL + "onProperty"):
            return self._defined(subject, predicate)
        if predicate in self.entities.annotations or predicate in _SILENT:
            return []
        if predicate.startswith((OWL, RDFS, SWRL, XSD)) or (predicate.startswith(RDF) and self._is_part(subject)):
            return []
        return [self._assertion(subject, predicate, target)]

    def _is_part(self, subject: Node) -> bool:
        """Whether an anonymous node is a part of axioms rather than an individual."""
        return any(each.startswith((OWL, SWRL)) for each in self._graph.of(subject))

    def _defined(self, subject: NamedNode, predicate: str) -> list[owl.Axiom]:
        """A named class with a connective or a restriction is equivalent to it, as in OWL 1."""
        own = (each for each in (*CONNECTIVES, OWL + "onProperty") if each in self._graph.of(subject))
        if predicate != next(own):
            return []
        iri = subject.value
        if iri in self.entities.datatypes:
            return [owl.DatatypeDefinition(iri, each) for each in self._expressions.definition(subject, data=True)]
        return [owl.EquivalentClasses((owl.Named(iri), each)) for each in self._expressions.definition(subject)]

    def _equivalent(self, subject: Node, target: Object) -> list[owl.Axiom]:
        read = self._expressions.expression
        if isinstance(subject, NamedNode) and subject.value in self.entities.datatypes:
            return [owl.DatatypeDefinition(subject.value, read(target, data=True))]
        return [owl.EquivalentClasses((read(subject), read(target)))]

    def _inverse(self, subject: Node, target: Object) -> list[owl.Axiom]:
        if isinstance(subject, BlankNode):
            return []  # an expression: ObjectInverseOf
        return [owl.InverseProperties(self._expressions.property(subject), self._expressions.property(target))]

    def _range(self, subject: Node, target: Object) -> list[owl.Axiom]:
        property = self._expressions.property(subject)
        return [owl.Range(property, self._expressions.expression(target, property.data))]

    def _assertion(self, subject: Node, predicate: str, target: Object) -> owl.Axiom:
        property = self.entities.property(predicate)
        if isinstance(target, Literal) and not property.data:
            raise Unreadable(f"<{predicate}> is an object property, and {target} is a literal")
        return owl.PropertyAssertion(property, constant(subject), constant(target))

    def _type(self, subject: Node, target: Object) -> list[owl.Axiom]:
        kind = name(target)
        if kind in _CHARACTERISTICS:
            return [owl.Characteristic(_CHARACTERISTICS[kind], self._expressions.property(subject))]
        if kind is None or not kind.startswith((OWL, RDF, RDFS, SWRL)) or kind in (THING, NOTHING):
            return [owl.ClassAssertion(self._expressions.expression(target), constant(subject))]
        return self._anonymous_axiom(subject, kind)

    def _anonymous_axiom(self, subject: Node, kind: str) -> list[owl.Axiom]:
        graph, read = self._graph, self._expressions
        if kind == OWL + "AllDisjointClasses":
            return [owl.DisjointClasses(read.classes(graph.need(subject, OWL + "members")))]
        if kind == OWL + "AllDisjointProperties":
            return [owl.DisjointProperties(read.properties(graph.need(subject, OWL + "members")))]
        if kind == OWL + "AllDifferent":
            own = "members" if graph.objects(subject, OWL + "members") else "distinctMembers"
            return [owl.DifferentIndividuals(constants(graph.list(graph.need(subject, OWL + own))))]
        if kind == OWL + "NegativePropertyAssertion":
            return [self._negative(subject)]
        if kind == SWRL + "Imp":
            return [self._swrl.rule(subject)]
        return []

    def _denial(self, subject: Node, source: Object) -> list[owl.Axiom]:
        """A negative assertion that is not said to be one; its parts are enough."""
        declared = OWL + "NegativePropertyAssertion" in self._graph.types(subject)
        return [] if declared else [self._negative(subject)]

    def _negative(self, subject: Node) -> owl.Axiom:
        graph = self._graph
        graph.used.add(subject)
        property = self._expressions.property(graph.need(subject, OWL + "assertionProperty"))
        source = constant(graph.need(subject, OWL + "sourceIndividual"))
        values = [*graph.objects(subject, OWL + "targetIndividual"), *graph.objects(subject, OWL + "targetValue")]
        if len(values) != 1:
            raise Unreadable("a negative assertion has one owl:targetIndividual or owl:targetValue")
        return owl.PropertyAssertion(property, source, constant(values[0]), negative=True)

    def _left_over(self) -> None:
        """Anonymous expressions that no axiom has used."""
        for subject, predicate, _ in self._graph:
            unused = isinstance(subject, BlankNode) and subject not in self._graph.used
            if unused and predicate in EXPRESSION_PROPERTIES:
                about = next(iter(self._graph.objects(subject, OWL + "onProperty")), None)
                where = f" on {shown(about)}" if about is not None else ""
                self.warnings.append(f"an anonymous class with {short(predicate)}{where} belongs to no axiom")
                self._graph.used.add(subject)


def _name(node: Node) -> str:
    if isinstance(node, NamedNode):
        return node.value
    raise Unreadable("an anonymous node stands where a named class is expected")

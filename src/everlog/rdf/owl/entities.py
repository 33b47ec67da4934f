"""What the names in an ontology are: classes, properties of objects, of data, annotations, datatypes.

Declarations say so; where one is missing, how a property is used decides: by a characteristic that only object properties
have, by a datatype as its range, by a property of known kind that it is compared with, and last by its values.
"""

from __future__ import annotations

from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.datalog.values import XSD
from everlog.rdf.owl.graph import Graph, Object
from everlog.rdf.owl.structure import Property
from everlog.rdf.owl.vocabulary import (
    ANNOTATION_PROPERTIES,
    BOTTOM_DATA,
    BOTTOM_OBJECT,
    DATATYPES,
    OWL,
    RDF,
    RDFS,
    SWRL,
    TOP_DATA,
    TOP_OBJECT,
    TYPE,
)

_OBJECT_TYPES = frozenset(
    OWL + f"{name}Property"
    for name in ["Object", "InverseFunctional", "Transitive", "Symmetric", "Asymmetric", "Reflexive", "Irreflexive"]
)
_CLASS_TYPES = frozenset({OWL + "Class", RDFS + "Class", OWL + "DeprecatedClass", OWL + "Restriction"})
_ALIKE = (RDFS + "subPropertyOf", OWL + "equivalentProperty", OWL + "propertyDisjointWith")
_VOCABULARIES = (OWL, RDF, RDFS, SWRL, XSD)


class Entities:
    """The kinds of an ontology's names."""

    def __init__(self, graph: Graph) -> None:
        self.classes: set[str] = set()
        self.datatypes: set[str] = set(DATATYPES)
        self.objects: set[str] = {TOP_OBJECT, BOTTOM_OBJECT}
        self.data: set[str] = {TOP_DATA, BOTTOM_DATA}
        self.annotations: set[str] = set(ANNOTATION_PROPERTIES)
        self.warnings: list[str] = []
        for subject, predicate, target in graph:
            if predicate == TYPE and isinstance(subject, NamedNode) and isinstance(target, NamedNode):
                self._declare(subject.value, target.value)
        for name in sorted(self.objects & self.data):
            self.warnings.append(
                f"<{name}> is declared as an object property and as a data property, which OWL 2 DL forbids: it is "
                "read as an object property"
            )
            self.data.discard(name)
        for name in sorted(self.classes & (self.datatypes - DATATYPES)):
            self.warnings.append(
                f"<{name}> is declared as a class and as a datatype, which OWL 2 DL forbids: it is read as a class"
            )
            self.datatypes.discard(name)
        # A property that is used in axioms and only declared an annotation property would lose them: RDF vocabularies do.
        self.annotations -= self.objects | self.data
        self._infer(graph)

    def property(self, iri: str) -> Property:
        """A property that is not an expression."""
        return Property(iri, data=iri in self.data, annotation=iri in self.annotations)

    def _declare(self, name: str, kind: str) -> None:
        if kind in _CLASS_TYPES:
            self.classes.add(name)
        elif kind in _OBJECT_TYPES:
            self.objects.add(name)
        elif kind == OWL + "DatatypeProperty":
            self.data.add(name)
        elif kind == OWL + "AnnotationProperty":
            self.annotations.add(name)
        elif kind == RDFS + "Datatype":
            self.datatypes.add(name)

    def _infer(self, graph: Graph) -> None:
        """The kinds of properties without a declaration."""
        used, values = self._uses(graph)
        alike: list[tuple[str, str]] = []
        for subject, predicate, target in graph:
            if predicate in _ALIKE and isinstance(subject, NamedNode) and isinstance(target, NamedNode):
                alike.append((subject.value, target.value))
            elif predicate == RDFS + "range" and isinstance(subject, NamedNode) and subject.value in used:
                (self.data if self._is_data_range(graph, target) else self.objects).add(subject.value)
            elif predicate == OWL + "inverseOf":
                self.objects.update(each.value for each in (subject, target) if isinstance(each, NamedNode))
            elif predicate == OWL + "propertyChainAxiom" and isinstance(subject, NamedNode):
                self.objects.add(subject.value)
            elif predicate == OWL + "onProperty" and isinstance(target, NamedNode) and target.value in used:
                fillers = [
                    each for name in ("someValuesFrom", "allValuesFrom") for each in graph.objects(subject, OWL + name)
                ]
                fillers += graph.objects(subject, OWL + "hasValue")
                if fillers:
                    data = all(isinstance(each, Literal) or self._is_data_range(graph, each) for each in fillers)
                    (self.data if data else self.objects).add(target.value)
        self.data -= self.objects
        known = self.objects | self.data | self.annotations
        changed = True
        while changed:
            changed = False
            for pair in alike:
                for one, other in (pair, pair[::-1]):
                    if one in known and other not in known:
                        kinds = self.objects if one in self.objects else self.data if one in self.data else None
                        if kinds is not None:
                            kinds.add(other)
                            known.add(other)
                            changed = True
        for name in sorted(used - known):
            literal = values.get(name) is True
            (self.data if literal else self.objects).add(name)
            kind = "a data property" if literal else "an object property"
            self.warnings.append(f"the property <{name}> is not declared: it is read as {kind}")

    def _uses(self, graph: Graph) -> tuple[set[str], dict[str, bool]]:
        """Names that are used as properties without a declaration, and whether all their values are literals."""
        used: set[str] = set()
        values: dict[str, bool] = {}
        known = self.objects | self.data | self.annotations
        about = {RDFS + "domain", RDFS + "range", OWL + "propertyChainAxiom", OWL + "inverseOf", *_ALIKE}
        for subject, predicate, target in graph:
            if predicate in about and isinstance(subject, NamedNode) and subject.value not in known:
                used.add(subject.value)
            if predicate in _ALIKE and isinstance(target, NamedNode) and target.value not in known:
                used.add(target.value)
            if predicate == OWL + "onProperty" and isinstance(target, NamedNode) and target.value not in known:
                used.add(target.value)
            if predicate not in known and not predicate.startswith(_VOCABULARIES):
                used.add(predicate)
                values[predicate] = values.get(predicate, True) and isinstance(target, Literal)
        return used, values

    def _is_data_range(self, graph: Graph, node: Object) -> bool:
        if isinstance(node, NamedNode):
            return node.value in self.datatypes
        if not isinstance(node, BlankNode):
            return False
        types = {each.value for each in graph.objects(node, TYPE) if isinstance(each, NamedNode)}
        if types & {RDFS + "Datatype", OWL + "DataRange"}:
            return True
        return bool(graph.objects(node, OWL + "onDatatype") or graph.objects(node, OWL + "datatypeComplementOf"))

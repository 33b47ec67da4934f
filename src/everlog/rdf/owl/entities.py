"""What the names in an ontology are: classes, properties of objects, of data, annotations, datatypes.

Declarations say so; where one is missing, how a property is used decides: by a characteristic that only object properties
have, by a datatype as its range, by a property of known kind that it is compared with, and last by its values.
"""

from __future__ import annotations

from typing import get_args

from pyoxigraph import Literal, NamedNode

from everlog.datalog.values import XSD
from everlog.rdf.owl.graph import Graph, Object, name
from everlog.rdf.owl.structure import Kind, Property
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

_OBJECT_TYPES = [f"{OWL}{kind}Property" for kind in ("Object", *get_args(Kind)) if kind != "Functional"]
_CLASS_TYPES = (OWL + "Class", RDFS + "Class", OWL + "DeprecatedClass", OWL + "Restriction")
DATA_RANGES = frozenset({RDFS + "Datatype", OWL + "DataRange"})
_ALIKE = (RDFS + "subPropertyOf", OWL + "equivalentProperty", OWL + "propertyDisjointWith")
_ABOUT_SUBJECT = {RDFS + "domain", RDFS + "range", OWL + "propertyChainAxiom", OWL + "inverseOf", *_ALIKE}
_ABOUT_TARGET = {OWL + "onProperty", *_ALIKE}
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
        kinds = {
            **dict.fromkeys(_CLASS_TYPES, self.classes),
            **dict.fromkeys(_OBJECT_TYPES, self.objects),
            OWL + "DatatypeProperty": self.data,
            OWL + "AnnotationProperty": self.annotations,
            RDFS + "Datatype": self.datatypes,
        }
        for subject, predicate, target in graph:
            if predicate == TYPE and isinstance(subject, NamedNode) and (kind := name(target)) in kinds:
                kinds[kind].add(subject.value)
        for both in sorted(self.objects & self.data):
            self.warnings.append(
                f"<{both}> is declared as an object property and as a data property, which OWL 2 DL forbids: it is "
                "read as an object property"
            )
            self.data.discard(both)
        for both in sorted(self.classes & (self.datatypes - DATATYPES)):
            self.warnings.append(
                f"<{both}> is declared as a class and as a datatype, which OWL 2 DL forbids: it is read as a class"
            )
            self.datatypes.discard(both)
        # A property that is used in axioms and only declared an annotation property would lose them: RDF vocabularies do.
        self.annotations -= self.objects | self.data
        self._infer(graph)

    def property(self, iri: str) -> Property:
        """A property that is not an expression."""
        return Property(iri, data=iri in self.data, annotation=iri in self.annotations)

    def _infer(self, graph: Graph) -> None:
        """The kinds of properties without a declaration."""
        used, values = self._uses(graph)
        alike: list[tuple[str, str]] = []
        for subject, predicate, target in graph:
            one, other = name(subject), name(target)
            if predicate in _ALIKE and one is not None and other is not None:
                alike += [(one, other), (other, one)]
            elif predicate == RDFS + "range" and one in used:
                (self.data if self._is_data_range(graph, target) else self.objects).add(one)
            elif predicate == OWL + "inverseOf":
                self.objects.update(each for each in (one, other) if each is not None)
            elif predicate == OWL + "propertyChainAxiom" and one is not None:
                self.objects.add(one)
            elif predicate == OWL + "onProperty" and other in used:
                kinds = ("someValuesFrom", "allValuesFrom", "hasValue")
                fillers = [each for kind in kinds for each in graph.objects(subject, OWL + kind)]
                if fillers:
                    data = all(isinstance(each, Literal) or self._is_data_range(graph, each) for each in fillers)
                    (self.data if data else self.objects).add(other)
        self.data -= self.objects
        known = self.objects | self.data | self.annotations
        changed = True
        while changed:
            changed = False
            for known_one, new in alike:
                for properties in (self.objects, self.data):
                    if known_one in properties and new not in known:
                        properties.add(new)
                        known.add(new)
                        changed = True
        for unknown in sorted(used - known):
            literal = values.get(unknown) is True
            (self.data if literal else self.objects).add(unknown)
            kind = "a data property" if literal else "an object property"
            self.warnings.append(f"the property <{unknown}> is not declared: it is read as {kind}")

    def _uses(self, graph: Graph) -> tuple[set[str], dict[str, bool]]:
        """Names that are used as properties without a declaration, and whether all their values are literals."""
        used: set[str | None] = set()
        values: dict[str, bool] = {}
        for subject, predicate, target in graph:
            if predicate in _ABOUT_SUBJECT:
                used.add(name(subject))
            if predicate in _ABOUT_TARGET:
                used.add(name(target))
            if not predicate.startswith(_VOCABULARIES):
                used.add(predicate)
                values[predicate] = values.get(predicate, True) and isinstance(target, Literal)
        return {each for each in used if each is not None} - self.objects - self.data - self.annotations, values

    def _is_data_range(self, graph: Graph, node: Object) -> bool:
        if isinstance(node, Literal):
            return False
        if isinstance(node, NamedNode):
            return node.value in self.datatypes
        facets = any(graph.objects(node, OWL + each) for each in ("onDatatype", "datatypeComplementOf"))
        return facets or not DATA_RANGES.isdisjoint(graph.types(node))

"""The triples that hold in every OWL 2 RL materialisation: what the vocabulary says of itself, and of datatypes.

Those of the W3C's tables are prp-ap, cls-thing, cls-nothing1 and dt-type1. The others are of the RDF-based semantics: the
classes and properties of RDF, RDFS and OWL, with their domains and ranges, how datatypes lie within each other, and which
have no value in common. Of the members of containers the first three are named; rules name those that are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import permutations
from typing import Final

from pyoxigraph import NamedNode

from everlog.datalog.prefixes import WELL_KNOWN
from everlog.datalog.syntax import TRIPLE, Atom, Constant
from everlog.datalog.value_spaces import DATATYPES_OF, ILL_TYPED, KIND, KNOWN, PLAIN
from everlog.rdf.owl.vocabulary import OWL, RDFS, TYPE

_ANNOTATIONS: Final = (
    "rdfs:label rdfs:comment rdfs:seeAlso rdfs:isDefinedBy owl:deprecated owl:versionInfo owl:priorVersion "
    "owl:backwardCompatibleWith owl:incompatibleWith"
)

_FACETS: Final = (
    "rdf:langRange xsd:length xsd:minLength xsd:maxLength xsd:pattern xsd:minInclusive xsd:minExclusive "
    "xsd:maxInclusive xsd:maxExclusive"
)

_TYPES: Final = f"""
owl:Class: owl:Thing owl:Nothing
owl:AnnotationProperty: {_ANNOTATIONS} owl:versionIRI
owl:OntologyProperty: owl:imports owl:priorVersion owl:backwardCompatibleWith owl:incompatibleWith owl:versionIRI
owl:ObjectProperty: owl:topObjectProperty owl:bottomObjectProperty
owl:DatatypeProperty: owl:topDataProperty owl:bottomDataProperty {_FACETS}
rdf:List: rdf:nil
owl:Class: owl:AllDifferent owl:AllDisjointClasses owl:AllDisjointProperties owl:Annotation owl:AnnotationProperty
owl:Class: owl:AsymmetricProperty owl:Axiom owl:Class owl:DataRange owl:DatatypeProperty owl:DeprecatedClass
owl:Class: owl:DeprecatedProperty owl:FunctionalProperty owl:InverseFunctionalProperty owl:IrreflexiveProperty
owl:Class: owl:NamedIndividual owl:NegativePropertyAssertion owl:ObjectProperty owl:Ontology owl:OntologyProperty
owl:Class: owl:ReflexiveProperty owl:Restriction owl:SymmetricProperty owl:TransitiveProperty
owl:Class: rdfs:Class rdfs:Datatype rdfs:Literal rdfs:Resource rdfs:Container rdfs:ContainerMembershipProperty
owl:Class: rdf:Alt rdf:Bag rdf:Seq rdf:List rdf:Property rdf:Statement
rdfs:ContainerMembershipProperty: rdf:_1 rdf:_2 rdf:_3
"""
"""Classes with their members."""

_BELOW: Final = """
rdfs:Class: owl:Restriction owl:DeprecatedClass rdfs:Datatype owl:Class
owl:Class: rdfs:Class
rdfs:Datatype: owl:DataRange
owl:DataRange: rdfs:Datatype
rdf:Property: owl:ObjectProperty owl:DatatypeProperty owl:AnnotationProperty owl:OntologyProperty owl:DeprecatedProperty
rdf:Property: owl:FunctionalProperty rdfs:ContainerMembershipProperty
owl:ObjectProperty: rdf:Property owl:AsymmetricProperty owl:InverseFunctionalProperty owl:IrreflexiveProperty
owl:ObjectProperty: owl:ReflexiveProperty owl:SymmetricProperty owl:TransitiveProperty
rdfs:Resource: owl:Thing
owl:Thing: owl:NamedIndividual
rdfs:Container: rdf:Alt rdf:Bag rdf:Seq
"""
"""Classes with those below them."""

_USES: Final = """
rdf:first rdf:List rdfs:Resource
rdf:rest rdf:List rdf:List
rdf:subject rdf:Statement rdfs:Resource
rdf:predicate rdf:Statement rdfs:Resource
rdf:object rdf:Statement rdfs:Resource
rdfs:domain rdf:Property rdfs:Class
rdfs:range rdf:Property rdfs:Class
rdfs:subPropertyOf rdf:Property rdf:Property
rdfs:subClassOf rdfs:Class rdfs:Class
rdfs:comment rdfs:Resource rdfs:Literal
rdfs:label rdfs:Resource rdfs:Literal
owl:allValuesFrom owl:Restriction rdfs:Class
owl:annotatedProperty rdfs:Resource rdfs:Resource
owl:assertionProperty owl:NegativePropertyAssertion rdf:Property
owl:backwardCompatibleWith owl:Ontology owl:Ontology
owl:cardinality owl:Restriction xsd:nonNegativeInteger
owl:complementOf rdfs:Class rdfs:Class
owl:datatypeComplementOf rdfs:Datatype rdfs:Datatype
owl:disjointUnionOf rdfs:Class rdf:List
owl:disjointWith rdfs:Class rdfs:Class
owl:distinctMembers owl:AllDifferent rdf:List
owl:equivalentClass rdfs:Class rdfs:Class
owl:equivalentProperty rdf:Property rdf:Property
owl:hasKey rdfs:Class rdf:List
owl:hasSelf owl:Restriction rdfs:Resource
owl:hasValue owl:Restriction rdfs:Resource
owl:imports owl:Ontology owl:Ontology
owl:incompatibleWith owl:Ontology owl:Ontology
owl:intersectionOf rdfs:Class rdf:List
owl:inverseOf rdf:Property rdf:Property
owl:maxCardinality owl:Restriction xsd:nonNegativeInteger
owl:maxQualifiedCardinality owl:Restriction xsd:nonNegativeInteger
owl:members rdfs:Resource rdf:List
owl:minCardinality owl:Restriction xsd:nonNegativeInteger
owl:minQualifiedCardinality owl:Restriction xsd:nonNegativeInteger
owl:onClass owl:Restriction rdfs:Class
owl:onDataRange owl:Restriction rdfs:Datatype
owl:onDatatype rdfs:Datatype rdfs:Datatype
owl:oneOf rdfs:Class rdf:List
owl:onProperties owl:Restriction rdf:List
owl:onProperty owl:Restriction rdf:Property
owl:priorVersion owl:Ontology owl:Ontology
owl:propertyChainAxiom rdf:Property rdf:List
owl:propertyDisjointWith rdf:Property rdf:Property
owl:qualifiedCardinality owl:Restriction xsd:nonNegativeInteger
owl:someValuesFrom owl:Restriction rdfs:Class
owl:sourceIndividual owl:NegativePropertyAssertion rdfs:Resource
owl:targetIndividual owl:NegativePropertyAssertion rdfs:Resource
owl:targetValue owl:NegativePropertyAssertion rdfs:Literal
owl:topDataProperty rdfs:Resource rdfs:Literal
owl:bottomDataProperty rdfs:Resource rdfs:Literal
owl:unionOf rdfs:Class rdf:List
owl:versionIRI owl:Ontology owl:Ontology
owl:withRestrictions rdfs:Datatype rdf:List
rdfs:seeAlso rdfs:Resource rdfs:Resource
rdfs:isDefinedBy rdfs:Resource rdfs:Resource
rdfs:member rdfs:Resource rdfs:Resource
rdf:_1 rdfs:Resource rdfs:Resource
rdf:_2 rdfs:Resource rdfs:Resource
rdf:_3 rdfs:Resource rdfs:Resource
rdf:type rdfs:Resource rdfs:Class
rdf:value rdfs:Resource rdfs:Resource
owl:annotatedSource rdfs:Resource rdfs:Resource
owl:annotatedTarget rdfs:Resource rdfs:Resource
owl:deprecated rdfs:Resource rdfs:Resource
owl:differentFrom rdfs:Resource rdfs:Resource
owl:sameAs rdfs:Resource rdfs:Resource
owl:versionInfo rdfs:Resource rdfs:Resource
owl:topObjectProperty rdfs:Resource rdfs:Resource
owl:bottomObjectProperty rdfs:Resource rdfs:Resource
"""
"""Properties with their domains and ranges."""

DATATYPE: Final = "rl_datatype"
"""The predicate of kinds of literals with their datatypes."""
OUTSIDE: Final = "rl_outside"
"""The predicate of kinds of literals with the other datatypes."""
MANY: Final = "rl_many"
"""The predicate of kinds whose values may be written in several ways."""
_WIDE: Final = {f"{OWL}real", f"{OWL}rational", PLAIN}
"""Datatypes that are little known: what is disjoint with them is said of those below as well."""
_WRITTEN_ONCE: Final = ("string", "normalizedString", "token", "NMTOKEN", "Name", "NCName", "language", "HTML")


@cache
def rl_axioms() -> tuple[Atom, ...]:
    """All axioms, as facts."""
    return tuple(dict.fromkeys((*_vocabulary(), *_datatypes(), *_kinds())))


def _vocabulary() -> Iterator[Atom]:
    for members, below in ((_TYPES, TYPE), (_BELOW, f"{RDFS}subClassOf")):
        for line in members.strip().splitlines():
            kind, _, names = line.partition(": ")
            yield from (_fact(_iri(name), below, _iri(kind)) for name in names.split())
    yield _fact(f"{RDFS}isDefinedBy", f"{RDFS}subPropertyOf", f"{RDFS}seeAlso")
    for facet in _FACETS.split():
        yield _fact(_iri(facet), f"{RDFS}domain", f"{RDFS}Resource")
    for line in _USES.strip().splitlines():
        property, *ends = line.split()
        yield _fact(_iri(property), TYPE, _iri("rdf:Property"))
        for use, end in zip(("domain", "range"), ends, strict=True):
            yield _fact(_iri(property), RDFS + use, _iri(end))


def _datatypes() -> Iterator[Atom]:
    kinds = {name: {kind for kind, names in DATATYPES_OF.items() if name in names} for name in KNOWN}
    above: dict[str, set[str]] = {name: set() for name in KNOWN}
    for name in sorted(KNOWN):
        yield _fact(name, TYPE, f"{RDFS}Datatype")
    for one, other in permutations(sorted(KNOWN), 2):
        if kinds[one] < kinds[other] or (kinds[one] == kinds[other] and other == f"{OWL}real"):
            above[one] |= {other} - _WIDE
            yield _fact(one, f"{RDFS}subClassOf", other)
    for one, other in permutations(sorted(KNOWN), 2):
        # What lies below disjoint datatypes is disjoint, and need not be said to be.
        implied = any(not kinds[each] & kinds[other] for each in above[one])
        if (
            not kinds[one] & kinds[other]
            and not implied
            and not any(not kinds[one] & kinds[each] for each in above[other])
        ):
            yield _fact(one, f"{OWL}disjointWith", other)


def _kinds() -> Iterator[Atom]:
    """What each kind of literals belongs to, and does not."""
    for kind, names in DATATYPES_OF.items():
        for name in sorted(KNOWN):
            yield Atom(DATATYPE if name in names else OUTSIDE, (_constant(kind), _constant(name)))
        if kind not in {ILL_TYPED, *(KIND + name for name in _WRITTEN_ONCE)}:
            yield Atom(MANY, (_constant(kind),))


def _iri(name: str) -> str:
    prefix, _, local = name.partition(":")
    return WELL_KNOWN[prefix] + local


def _constant(iri: str) -> Constant:
    return Constant(NamedNode(iri))


def _fact(subject: str, predicate: str, target: str) -> Atom:
    return Atom(TRIPLE, (_constant(subject), _constant(predicate), _constant(target)))

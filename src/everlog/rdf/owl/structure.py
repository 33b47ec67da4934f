"""The structural specification of OWL 2, as immutable values: expressions, axioms, and an ontology of them.

Where the specification has one axiom for object properties and one for data properties, there is one here: a `Property`
knows which it is. Individuals and literals are `Constant`s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

from everlog.datalog.syntax import Constant, Term

# --------------------------------------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Property:
    """An object property or its inverse, a data property, or an annotation property, whose axioms only RDF knows."""

    iri: str
    inverse: bool = False
    data: bool = False
    annotation: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """A class."""

    iri: str


@dataclass(frozen=True, slots=True)
class And:
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    operand: Expression


@dataclass(frozen=True, slots=True)
class OneOf:
    """Individuals or, as a data range, literals."""

    members: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class Some:
    property: Property
    filler: Expression


@dataclass(frozen=True, slots=True)
class All:
    property: Property
    filler: Expression


@dataclass(frozen=True, slots=True)
class HasValue:
    property: Property
    value: Constant


@dataclass(frozen=True, slots=True)
class HasSelf:
    property: Property


@dataclass(frozen=True, slots=True)
class AtLeast:
    number: int
    property: Property
    filler: Expression


@dataclass(frozen=True, slots=True)
class AtMost:
    number: int
    property: Property
    filler: Expression


@dataclass(frozen=True, slots=True)
class Datatype:
    iri: str


@dataclass(frozen=True, slots=True)
class Restricted:
    """A datatype with facets, such as `("minInclusive", 18)`."""

    datatype: str
    facets: tuple[tuple[str, Constant], ...]


Expression: TypeAlias = (
    Named | And | Or | Not | OneOf | Some | All | HasValue | HasSelf | AtLeast | AtMost | Datatype | Restricted
)

# ---------------------------------------------------------------------------------------------------- axioms


@dataclass(frozen=True, slots=True)
class SubClassOf:
    sub: Expression
    sup: Expression


@dataclass(frozen=True, slots=True)
class EquivalentClasses:
    classes: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class DisjointClasses:
    classes: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class DisjointUnion:
    iri: str
    classes: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class SubProperty:
    """A chain of one property or more implies a property."""

    chain: tuple[Property, ...]
    sup: Property


@dataclass(frozen=True, slots=True)
class EquivalentProperties:
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class DisjointProperties:
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class InverseProperties:
    first: Property
    second: Property


@dataclass(frozen=True, slots=True)
class Domain:
    property: Property
    expression: Expression


@dataclass(frozen=True, slots=True)
class Range:
    property: Property
    expression: Expression


Kind: TypeAlias = Literal[
    "Functional", "InverseFunctional", "Reflexive", "Irreflexive", "Symmetric", "Asymmetric", "Transitive"
]


@dataclass(frozen=True, slots=True)
class Characteristic:
    kind: Kind
    property: Property


@dataclass(frozen=True, slots=True)
class HasKey:
    expression: Expression
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class DatatypeDefinition:
    iri: str
    range: Expression


@dataclass(frozen=True, slots=True)
class ClassAssertion:
    expression: Expression
    individual: Constant


@dataclass(frozen=True, slots=True)
class PropertyAssertion:
    property: Property
    subject: Constant
    object: Constant
    negative: bool = False


@dataclass(frozen=True, slots=True)
class SameIndividual:
    individuals: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class DifferentIndividuals:
    individuals: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class RuleAtom:
    """An atom of a SWRL rule: of a class or data range, of a property, an (in)equality, or a built-in."""

    predicate: Expression | Property | Literal["same", "different"] | str
    arguments: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class SwrlRule:
    body: tuple[RuleAtom, ...]
    head: tuple[RuleAtom, ...]


ClassAxiom: TypeAlias = SubClassOf | EquivalentClasses | DisjointClasses | DisjointUnion | HasKey
PropertyAxiom: TypeAlias = SubProperty | EquivalentProperties | DisjointProperties | InverseProperties | Characteristic
Assertion: TypeAlias = ClassAssertion | PropertyAssertion | SameIndividual | DifferentIndividuals
Axiom: TypeAlias = ClassAxiom | PropertyAxiom | Domain | Range | DatatypeDefinition | Assertion | SwrlRule


@dataclass(frozen=True)
class Ontology:
    """Axioms, in the order of the text and each once; what was read but not understood; the prefixes of the text."""

    axioms: tuple[Axiom, ...]
    prefixes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    warnings: tuple[str, ...] = ()
    triples: tuple[tuple[Constant, Constant, Constant], ...] = ()
    """The ontology as RDF, where it was given so."""
    declared: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """All prefixes of the text, also those that rules cannot be written with."""
    missing: tuple[str, ...] = ()
    """Of the warnings, those about imports that are not there."""

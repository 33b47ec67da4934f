"""Axioms and expressions in OWL's functional-style syntax: comments of rules, texts of violations and reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from everlog.datalog.prefixes import NO_PREFIXES
from everlog.datalog.printer import print_term
from everlog.datalog.syntax import Constant, Variable
from everlog.datalog.values import XSD
from everlog.rdf.owl.structure import (
    All,
    And,
    AtLeast,
    AtMost,
    Axiom,
    Characteristic,
    ClassAssertion,
    Datatype,
    DatatypeDefinition,
    DifferentIndividuals,
    DisjointClasses,
    DisjointProperties,
    DisjointUnion,
    Domain,
    EquivalentClasses,
    EquivalentProperties,
    Expression,
    HasKey,
    HasSelf,
    HasValue,
    InverseProperties,
    Named,
    Not,
    OneOf,
    Or,
    Property,
    PropertyAssertion,
    Range,
    Restricted,
    RuleAtom,
    SameIndividual,
    Some,
    SubClassOf,
    SubProperty,
    SwrlRule,
)
from everlog.rdf.owl.vocabulary import THING


class FunctionalSyntax:
    """Texts with some prefixes.

    >>> FunctionalSyntax().axiom(SubClassOf(Named("http://www.w3.org/2002/07/owl#Nothing"), Named("a:b")))
    'SubClassOf(owl:Nothing <a:b>)'
    """

    def __init__(self, prefixes: Mapping[str, str] = NO_PREFIXES) -> None:
        self._prefixes = prefixes
        self._iris: dict[str, str] = {}

    def iri(self, iri: str) -> str:
        text = self._iris.get(iri)
        if text is None:
            from pyoxigraph import NamedNode

            text = self._iris[iri] = print_term(Constant(NamedNode(iri)), self._prefixes)
        return text

    def term(self, term: Constant | Variable) -> str:
        if isinstance(term, Variable):
            return f"Variable(?{term.name})"
        value = term.value
        # A bare name is a string in rules; here it would look like an entity.
        return f'"{value}"' if isinstance(value, str) and '"' not in value else print_term(term, self._prefixes)

    def property(self, property: Property) -> str:
        text = self.iri(property.iri)
        return f"ObjectInverseOf({text})" if property.inverse else text

    def expression(self, expression: Expression, data: bool = False) -> str:
        kind = "Data" if data else "Object"
        match expression:
            case Named(iri) | Datatype(iri):
                return self.iri(iri)
            case And(operands):
                return f"{kind}IntersectionOf({self._all(operands, data)})"
            case Or(operands):
                return f"{kind}UnionOf({self._all(operands, data)})"
            case Not(operand):
                return f"{kind}ComplementOf({self.expression(operand, data)})"
            case OneOf(members):
                return f"{kind}OneOf({self._terms(members)})"
            case Restricted(datatype, facets):
                limits = " ".join(f"{self.iri(XSD + name)} {self.term(value)}" for name, value in facets)
                return f"DatatypeRestriction({self.iri(datatype)} {limits})"
            case Some(property, filler):
                return self._restriction("SomeValuesFrom", property, filler)
            case All(property, filler):
                return self._restriction("AllValuesFrom", property, filler)
            case HasValue(property, value):
                return f"{_kind(property)}HasValue({self.property(property)} {self.term(value)})"
            case HasSelf(property):
                return f"ObjectHasSelf({self.property(property)})"
            case AtLeast(number, property, filler):
                return self._cardinality("MinCardinality", number, property, filler)
            case AtMost(number, property, filler):
                return self._cardinality("MaxCardinality", number, property, filler)

    def _restriction(self, name: str, property: Property, filler: Expression) -> str:
        return f"{_kind(property)}{name}({self.property(property)} {self.expression(filler, property.data)})"

    def _cardinality(self, name: str, number: int, property: Property, filler: Expression) -> str:
        qualified = "" if _is_top(filler) else f" {self.expression(filler, property.data)}"
        return f"{_kind(property)}{name}({number} {self.property(property)}{qualified})"

    def axiom(self, axiom: Axiom) -> str:
        match axiom:
            case SubClassOf(sub, sup):
                return f"SubClassOf({self.expression(sub)} {self.expression(sup)})"
            case EquivalentClasses(classes) | DisjointClasses(classes):
                return f"{type(axiom).__name__}({self._all(classes)})"
            case DisjointUnion(iri, classes):
                return f"DisjointUnion({self.iri(iri)} {self._all(classes)})"
            case SubProperty(chain, implied):
                names = " ".join(map(self.property, chain))
                implying = names if len(chain) == 1 else f"ObjectPropertyChain({names})"
                return f"Sub{_kind(implied)}PropertyOf({implying} {self.property(implied)})"
            case EquivalentProperties(properties):
                return f"Equivalent{_kind(*properties)}Properties({' '.join(map(self.property, properties))})"
            case DisjointProperties(properties):
                return f"Disjoint{_kind(*properties)}Properties({' '.join(map(self.property, properties))})"
            case InverseProperties(first, second):
                return f"InverseObjectProperties({self.property(first)} {self.property(second)})"
            case Domain(property, expression):
                return f"{_kind(property)}PropertyDomain({self.property(property)} {self.expression(expression)})"
            case Range(property, target):
                shown = self.expression(target, property.data)
                return f"{_kind(property)}PropertyRange({self.property(property)} {shown})"
            case Characteristic(kind, property):
                return f"{kind}{_kind(property)}Property({self.property(property)})"
            case HasKey(keyed, properties):
                return f"HasKey({self.expression(keyed)} {self._keys(properties)})"
            case DatatypeDefinition(iri, definition):
                return f"DatatypeDefinition({self.iri(iri)} {self.expression(definition, data=True)})"
            case ClassAssertion(member_of, individual):
                return f"ClassAssertion({self.expression(member_of)} {self.term(individual)})"
            case PropertyAssertion(property, subject, object, negative):
                name = f"{'Negative' if negative else ''}{_kind(property)}PropertyAssertion"
                return f"{name}({self.property(property)} {self.term(subject)} {self.term(object)})"
            case SameIndividual(individuals) | DifferentIndividuals(individuals):
                return f"{type(axiom).__name__}({self._terms(individuals)})"
            case SwrlRule(body, head):
                body_text, head_text = (" ".join(map(self.rule_atom, atoms)) for atoms in (body, head))
                return f"DLSafeRule(Body({body_text}) Head({head_text}))"

    def rule_atom(self, atom: RuleAtom) -> str:
        arguments = self._terms(atom.arguments)
        match atom.predicate:
            case "same":
                return f"SameIndividualAtom({arguments})"
            case "different":
                return f"DifferentIndividualsAtom({arguments})"
            case str() as builtin:
                return f"BuiltInAtom({self.iri(builtin)} {arguments})"
            case Property() as property:
                return f"{_kind(property)}PropertyAtom({self.property(property)} {arguments})"
            case expression:
                data = isinstance(expression, Datatype | Restricted)
                name = "DataRangeAtom" if data else "ClassAtom"
                return f"{name}({self.expression(expression, data)} {arguments})"

    def _keys(self, properties: tuple[Property, ...]) -> str:
        groups = ([self.property(each) for each in properties if each.data is data] for data in (False, True))
        return " ".join(f"({' '.join(group)})" for group in groups)

    def _all(self, expressions: Iterable[Expression], data: bool = False) -> str:
        return " ".join(self.expression(each, data) for each in expressions)

    def _terms(self, terms: Iterable[Constant | Variable]) -> str:
        return " ".join(map(self.term, terms))


def _kind(*properties: Property) -> str:
    if any(property.annotation for property in properties):
        return "Annotation"
    return "Data" if any(property.data for property in properties) else "Object"


def _is_top(filler: Expression) -> bool:
    return filler == Named(THING) or (isinstance(filler, Datatype) and filler.iri.endswith("#Literal"))

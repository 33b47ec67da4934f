"""Axioms and expressions in OWL's functional-style syntax: comments of rules, texts of violations and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyoxigraph import NamedNode

from everlog.datalog.prefixes import NO_PREFIXES
from everlog.datalog.printer import print_term
from everlog.datalog.syntax import Constant, Term, Variable
from everlog.datalog.values import XSD
from everlog.rdf.owl import structure as owl
from everlog.rdf.owl.vocabulary import LITERAL, THING

CONSTRUCTORS: Final[Mapping[type[Any], str]] = {
    owl.And: "{}IntersectionOf",
    owl.Or: "{}UnionOf",
    owl.Not: "{}ComplementOf",
    owl.OneOf: "{}OneOf",
    owl.Some: "{}SomeValuesFrom",
    owl.All: "{}AllValuesFrom",
    owl.HasValue: "{}HasValue",
    owl.HasSelf: "ObjectHasSelf",
    owl.AtLeast: "{}MinCardinality",
    owl.AtMost: "{}MaxCardinality",
    owl.SubClassOf: "SubClassOf",
    owl.EquivalentClasses: "EquivalentClasses",
    owl.DisjointClasses: "DisjointClasses",
    owl.EquivalentProperties: "Equivalent{}Properties",
    owl.DisjointProperties: "Disjoint{}Properties",
    owl.InverseProperties: "InverseObjectProperties",
    owl.Domain: "{}PropertyDomain",
    owl.Range: "{}PropertyRange",
    owl.HasKey: "HasKey",
    owl.ClassAssertion: "ClassAssertion",
    owl.PropertyAssertion: "{}PropertyAssertion",
    owl.SameIndividual: "SameIndividual",
    owl.DifferentIndividuals: "DifferentIndividuals",
}
"""The names of constructors whose parts are the fields of our class, in order; {} is Object, Data or Annotation."""
_TOP = (owl.Named(THING), owl.Datatype(LITERAL))


class FunctionalSyntax:
    """Texts with some prefixes.

    >>> FunctionalSyntax().axiom(owl.SubClassOf(owl.Named("http://www.w3.org/2002/07/owl#Nothing"), owl.Named("a:b")))
    'SubClassOf(owl:Nothing <a:b>)'
    """

    def __init__(self, prefixes: Mapping[str, str] = NO_PREFIXES) -> None:
        self._prefixes = prefixes
        self._iris: dict[str, str] = {}

    def iri(self, iri: str) -> str:
        text = self._iris.get(iri)
        if text is None:
            text = self._iris[iri] = print_term(Constant(NamedNode(iri)), self._prefixes)
        return text

    def term(self, term: Term) -> str:
        if isinstance(term, Variable):
            return f"Variable(?{term.name})"
        value = term.value
        # A bare name is a string in rules; here it would look like an entity.
        return f'"{value}"' if isinstance(value, str) and '"' not in value else print_term(term, self._prefixes)

    def property(self, property: owl.Property) -> str:
        text = self.iri(property.iri)
        return f"ObjectInverseOf({text})" if property.inverse else text

    def expression(self, expression: owl.Expression, data: bool = False) -> str:
        """A class expression or, with `data`, a data range."""
        match expression:
            case owl.Named(iri) | owl.Datatype(iri):
                return self.iri(iri)
            case owl.Restricted(datatype, facets):
                limits = " ".join(f"{self.iri(XSD + name)} {self.term(value)}" for name, value in facets)
                return f"DatatypeRestriction({self.iri(datatype)} {limits})"
        return self._constructed(expression, data)

    def axiom(self, axiom: owl.Axiom) -> str:
        match axiom:
            case owl.DisjointUnion(iri, classes):
                return f"DisjointUnion({self.iri(iri)} {self._part(classes)})"
            case owl.SubProperty(chain, implied):
                implying = self._part(chain) if len(chain) == 1 else f"ObjectPropertyChain({self._part(chain)})"
                return f"Sub{_kind([implied])}PropertyOf({implying} {self.property(implied)})"
            case owl.Characteristic(kind, property):
                return f"{kind}{_kind([property])}Property({self.property(property)})"
            case owl.HasKey(keyed, properties):
                groups = (tuple(each for each in properties if each.data is data) for data in (False, True))
                return f"HasKey({self.expression(keyed)} {' '.join(f'({self._part(group)})' for group in groups)})"
            case owl.DatatypeDefinition(iri, definition):
                return f"DatatypeDefinition({self.iri(iri)} {self.expression(definition, data=True)})"
            case owl.PropertyAssertion(property, subject, object, negative):
                name = f"{'Negative' if negative else ''}{_kind([property])}PropertyAssertion"
                return f"{name}({self.property(property)} {self.term(subject)} {self.term(object)})"
            case owl.SwrlRule(body, head):
                body_text, head_text = (" ".join(map(self._rule_atom, atoms)) for atoms in (body, head))
                return f"DLSafeRule(Body({body_text}) Head({head_text}))"
        return self._constructed(axiom)

    def _constructed(self, it: Any, data: bool = False) -> str:
        """A constructor of the table with its parts."""
        parts = [getattr(it, name) for name in it.__match_args__]
        if isinstance(it, owl.AtLeast | owl.AtMost) and it.filler in _TOP:
            parts.pop()
        properties = getattr(it, "properties", [it.property] if hasattr(it, "property") else [])
        kind = _kind(properties) if properties else "Data" if data else "Object"
        ranges = kind == "Data" and not isinstance(it, owl.Domain)
        return f"{CONSTRUCTORS[type(it)].format(kind)}({' '.join(self._part(part, ranges) for part in parts)})"

    def _part(self, part: Any, data: bool = False) -> str:
        match part:
            case tuple():
                return " ".join(self._part(each, data) for each in part)
            case owl.Property():
                return self.property(part)
            case Constant() | Variable():
                return self.term(part)
            case int():
                return str(part)
            case _:
                return self.expression(part, data)

    def _rule_atom(self, atom: owl.RuleAtom) -> str:
        arguments = self._part(atom.arguments)
        match atom.predicate:
            case "same":
                return f"SameIndividualAtom({arguments})"
            case "different":
                return f"DifferentIndividualsAtom({arguments})"
            case str() as builtin:
                return f"BuiltInAtom({self.iri(builtin)} {arguments})"
            case owl.Property() as property:
                return f"{_kind([property])}PropertyAtom({self.property(property)} {arguments})"
            case expression:
                data = isinstance(expression, owl.Datatype | owl.Restricted)
                name = "DataRangeAtom" if data else "ClassAtom"
                return f"{name}({self.expression(expression, data)} {arguments})"


def _kind(properties: Sequence[owl.Property]) -> str:
    if any(property.annotation for property in properties):
        return "Annotation"
    return "Data" if any(property.data for property in properties) else "Object"

"""Triples that are axioms, where facts are expected: nobody reasons with them unless a rule asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, get_args

from everlog.datalog.syntax import TRIPLE, Atom, Constant, Program, Term, Variable, parts
from everlog.datalog.values import Value
from everlog.datalog.violations import has_violation_rules
from everlog.rdf.owl.expressions import EXPRESSION_PROPERTIES
from everlog.rdf.owl.structure import Kind
from everlog.rdf.owl.vocabulary import OWL, RDFS, terms

AXIOM_PROPERTIES: Final = (
    terms(RDFS, "subClassOf subPropertyOf domain range")
    | terms(OWL, "equivalentClass disjointWith disjointUnionOf hasKey members")
    | terms(OWL, "propertyChainAxiom equivalentProperty propertyDisjointWith inverseOf")
    | EXPRESSION_PROPERTIES
)
AXIOM_TYPES: Final = frozenset(f"{OWL}{kind}Property" for kind in get_args(Kind))
"""What rdf:type says of a property that is an axiom."""

ADVICE: Final = (
    "an ontology is part of the program and not of the facts: `everlog init NEW_STORE --ontology FILE --facts DATA` makes "
    "a store with it, and in Python everlog.ontology reads it"
)


def idle_axioms(found: str, program: Program) -> list[str]:
    """A message about axioms that were `found` among facts and that no rule of a program asks for."""
    return [f"{found}, which no rule asks for: {ADVICE}"] if found and not _asks_for_axioms(program) else []


def _asks_for_axioms(program: Program) -> bool:
    """Whether rules read axioms as facts. Those of an ontology that range over all properties (eq-rep-*) do not."""
    asked = list(_properties_asked_for(program))
    if any(isinstance(term, Constant) and _iri(term.value) in AXIOM_PROPERTIES for term in asked):
        return True
    return any(isinstance(term, Variable) for term in asked) and not has_violation_rules(program)


def _properties_asked_for(program: Program) -> Iterator[Term]:
    for rule in program.rules:
        for part in (part for literal in rule.body for part in parts(literal)):
            if isinstance(part, Atom) and part.predicate == TRIPLE:
                yield part.terms[1]


def _iri(value: Value) -> str:
    return getattr(value, "value", "")

"""An OWL 2 ontology as a program that a knowledge base takes. Nothing is read by Spark."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, get_args

from pyoxigraph import NamedNode

from everlog.datalog.prefixes import with_prefixes
from everlog.datalog.syntax import Program, Rule
from everlog.errors import EverlogError
from everlog.rdf.owl import structure
from everlog.rdf.owl.profiles import Options, Profile, Remark, Translation, translate
from everlog.rdf.owl.reading import read_ontologies
from everlog.wording import counted

ASSERTED: Final = "asserted by the ontology"
"""What a program has a fact from that an ontology asserts."""


@dataclass(frozen=True, slots=True, repr=False)
class Ontology(Program):
    """A program of which the rules are an ontology's axioms, as a profile has them, and the facts its assertions."""

    translation: Translation = field(kw_only=True)
    """The same with the axioms that each rule comes from."""
    source: structure.Ontology = field(kw_only=True)
    """The axioms."""

    @property
    def left_out(self) -> tuple[Remark, ...]:
        """The axioms that the profile drops, keeps in part or approximates, with the reasons."""
        return self.translation.remarks

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was read and not understood, and imports that are not there."""
        return self.translation.warnings

    @property
    def declared_prefixes(self) -> Mapping[str, str]:
        """The prefixes of the documents; `prefixes` has more, for names that these leave long."""
        return self.source.declared

    def __repr__(self) -> str:
        axioms, rules, facts = len(self.source.axioms), len(self.rules), len(self.facts)
        return f"<Ontology: {counted(axioms, 'axiom')}, {counted(rules, 'rule')}, {counted(facts, 'fact')}>"

    def unsatisfiable(self) -> dict[NamedNode, tuple[str, ...]]:
        """The classes that can have no instances, each with axioms that an instance would contradict.

        Whatever the profile, each of them is one in OWL as well; there may be more that a reasoner for all of OWL finds.
        """
        from everlog.knowledge.unsatisfiable_classes import unsatisfiable_classes

        return unsatisfiable_classes(self.source)


def ontology(
    *documents: str | os.PathLike[str],
    text: str | None = None,
    profile: Profile = "L",
    owl_thing: bool = False,
    sameas_rules: bool = False,
    with_schema: bool = False,
    complete: bool = False,
    all_pairs: bool = False,
) -> Ontology:
    """The program of an OWL 2 ontology, for `KnowledgeBase`; all documents are one ontology.

    >>> family = ontology(text="Prefix(:=<http://ex.org/>) Ontology(SubClassOf(:Man :Person) ClassAssertion(:Man :adam))")
    >>> family
    <Ontology: 2 axioms, 5 rules, 1 fact>

    Args:
        documents: paths of files in RDF/XML, Turtle, OWL/XML or functional syntax, perhaps compressed as `.gz`. Imports
            are looked for among them.
        text: a document itself, in one of these syntaxes.
        profile: what becomes of axioms that are no rules: `L` drops them, so that all that follows is right; `U`
            approximates them, so that nothing is missed; `RL` keeps to the rules of OWL 2 RL.
        owl_thing: derive that individuals are of type owl:Thing.
        sameas_rules: add the rules eq-* of OWL 2 RL, which make owl:sameAs equality.
        with_schema: take the ontology's own triples as facts, with the rules scm-* of OWL 2 RL.
        complete: all rules of OWL 2 RL/RDF, with the ontology's triples as facts, axiomatic triples, equality and
            datatypes; with `profile="RL"`. There need be no document: then the schema comes with the facts.
        all_pairs: with `complete`, also what follows about every two terms of documents that have many, and about every
            way to write their literals.
    """
    if profile not in get_args(Profile):
        raise EverlogError(f"profile={profile!r} is not supported; choose one of: {', '.join(get_args(Profile))}")
    if complete and profile != "RL":
        raise EverlogError(f"complete=True means all of OWL 2 RL, and the profile is {profile!r}: choose profile='RL'")
    if all_pairs and not complete:
        raise EverlogError("all_pairs=True is about all of OWL 2 RL: choose profile='RL' and complete=True, too")
    if not documents and text is None and not complete:
        raise EverlogError("there is no ontology: give the paths of its documents, or text=…")
    read = read_ontologies([Path(path) for path in documents], () if text is None else (text,), as_rdf=complete)
    found = translate(read, profile, Options(owl_thing, sameas_rules, with_schema, complete, all_pairs))
    program = with_prefixes(found.program, read.declared)
    origins = {rule: "; ".join(axioms) for rule, axioms in found.origins.items()}
    origins |= {Rule(fact, ()): ASSERTED for fact in program.facts}
    return Ontology(program.rules, program.facts, program.prefixes, origins, translation=found, source=read)

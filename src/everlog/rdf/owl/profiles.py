"""Formulas of form (163) as Datalog rules, by one of three profiles.

`L`, the lower bound: formulas with a disjunction or an existential are dropped. Sound; what follows, follows in OWL.
`U`, the upper bound: existential variables become new constants, disjunctions conjunctions. Complete, not sound.
`RL`: the OWL 2 RL/RDF rules, specialised to the axioms. What they do beyond `L` is reasoning about class expressions
(scm-*), whose subsumptions `schema.py` finds while translating, and about annotation properties, which RDF takes for
properties like others.

A formula without a disjunct is a contradiction: its rule derives `violation(axiom, x)`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from pyoxigraph import Literal as RdfLiteral
from pyoxigraph import NamedNode

from everlog.datalog.constraints import VIOLATION
from everlog.datalog.literal_guards import no_literal
from everlog.datalog.substitution import canonical_rule, substitute_atom, substitute_literal
from everlog.datalog.syntax import TRIPLE, Atom, BodyLiteral, Constant, Program, Rule, Term, Variable
from everlog.rdf.owl import structure as owl
from everlog.rdf.owl.clauses import Clause, Disjunct, NoFormulas, Normaliser, equalities_apart, triple, type_atom
from everlog.rdf.owl.dataranges import is_ill_typed
from everlog.rdf.owl.functional import FunctionalSyntax
from everlog.rdf.owl.naming import with_invented_prefixes
from everlog.rdf.owl.schema import TooManyExpressions, subsumptions
from everlog.rdf.owl.tables import equality_rules, schema_rules
from everlog.rdf.owl.vocabulary import DIFFERENT_FROM, MEMBER, NEW, NOTHING, SAME_AS, THING, TYPE

Profile: TypeAlias = Literal["L", "U", "RL"]
PROFILES: Final = ("L", "U", "RL")


@dataclass(frozen=True, slots=True)
class Options:
    """What a translation is asked for besides its profile."""

    thing: bool = False
    """Derive that individuals are of type owl:Thing."""
    equality_rules: bool = False
    """Add the rules eq-* that make an equality of owl:sameAs."""
    schema: bool = False
    """Take the ontology's triples as facts and add the rules scm-*, which derive more of them."""
    complete: bool = False
    """All rules of OWL 2 RL/RDF, over the ontology's triples as facts; of the profile `RL` alone."""
    all_pairs: bool = False
    """With that, conclusions about every two terms, however many terms there are."""
    definitions: bool = False
    """Keep rules about names that the translation made up, also if nothing derives them."""


@dataclass(frozen=True, slots=True)
class Remark:
    """An axiom that a profile does not keep as it is."""

    axiom: str
    what: Literal["dropped", "partly dropped", "approximated"]
    reason: str

    def __str__(self) -> str:
        return f"{self.what}: {self.axiom}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Translation:
    """A program, the axioms that each of its rules comes from, and what the profile left out."""

    program: Program
    origins: Mapping[Rule, tuple[str, ...]]
    remarks: tuple[Remark, ...]
    warnings: tuple[str, ...]
    dropped: tuple[tuple[str, Clause], ...] = ()
    """The formulas that are no rules, since their heads have disjunctions or existentials, each with its axiom."""


def translate(ontology: owl.Ontology, profile: Profile = "L", options: Options | None = None) -> Translation:
    """The program of an ontology."""
    return _Translator(ontology, profile, options or Options()).translation()


class _Translator:
    def __init__(self, ontology: owl.Ontology, profile: Profile, options: Options) -> None:
        self._ontology = ontology
        self._profile = profile
        self._options = options
        self._prefixes = with_invented_prefixes(ontology.prefixes, _iris(ontology))
        self._texts = FunctionalSyntax(self._prefixes)
        definitions = {a.iri: a.range for a in ontology.axioms if isinstance(a, owl.DatatypeDefinition)}
        self._normaliser = Normaliser(definitions, prefixes=self._prefixes, strict=profile == "RL")
        self._rules: dict[Rule, Rule] = {}
        self._origins: dict[Rule, dict[str, None]] = {}
        self._facts: dict[Atom, None] = {}
        self._remarks: list[Remark] = []
        self._dropped: list[tuple[str, Clause]] = []
        self._warnings: list[str] = []
        self._needs_thing = False

    def translation(self) -> Translation:
        if self._options.complete:
            return self._complete()
        if self._profile == "RL":
            self._find_memberships()
        for axiom in self._ontology.axioms:
            self._axiom(axiom)
        self._general()
        return self._found(self._ontology.warnings)

    def _complete(self) -> Translation:
        """The rules of OWL 2 RL/RDF, whatever the axioms are, and these as facts. SWRL's rules are rules, too."""
        from everlog.rdf.owl.few_terms import TOO_MANY, few_terms
        from everlog.rdf.owl.rl_axioms import rl_axioms
        from everlog.rdf.owl.rl_rules import rl_rules

        for axiom in self._ontology.axioms:
            if isinstance(axiom, owl.SwrlRule):
                self._axiom(axiom)
        few = few_terms(self._ontology.triples, self._options.all_pairs)
        if few is None:
            self._warnings.append(TOO_MANY)
        for name, rule in rl_rules(few=bool(few)):
            self._add(rule, name)
        self._facts.update(dict.fromkeys((*rl_axioms(), *(few or ()))))
        self._facts.update((Atom("triple", statement), None) for statement in self._ontology.triples)
        return self._found(self._ontology.missing)

    def _found(self, warnings: tuple[str, ...]) -> Translation:
        rules = list(self._rules) if self._options.definitions else self._useful()
        order = sorted(rules, key=lambda rule: (*self._origins[rule], repr(rule)))
        program = Program(
            tuple(self._rules[rule] for rule in order),
            tuple(sorted(self._facts, key=repr)),
            dict(sorted(self._prefixes.items())),
        )
        return Translation(
            program,
            {self._rules[rule]: tuple(self._origins[rule]) for rule in order},
            tuple(sorted(set(self._remarks), key=lambda remark: (remark.what, remark.axiom, remark.reason))),
            (*warnings, *self._warnings),
            tuple(self._dropped),
        )

    def _find_memberships(self) -> None:
        first = self._normaliser
        for axiom in self._ontology.axioms:
            with suppress(NoFormulas):
                first.clauses(axiom)
        try:
            found = subsumptions(self._ontology.axioms, list(first.in_heads), list(first.in_bodies))
        except TooManyExpressions:
            self._warnings.append("there are too many class expressions to compare them with each other (scm-*)")
            return
        self._normaliser = replace(first, memberships=found)

    # --------------------------------------------------------------------------------------------- axioms

    def _axiom(self, axiom: owl.Axiom) -> None:
        text = self._texts.axiom(axiom)
        if self._profile != "RL" and any(property.annotation for property in _properties(axiom)):
            self._remarks.append(Remark(text, "dropped", "axioms about annotation properties mean nothing outside RDF"))
            return
        if isinstance(axiom, owl.DatatypeDefinition):
            return
        if isinstance(axiom, owl.PropertyAssertion) and is_ill_typed(axiom.object):
            reason = f"{self._texts.term(axiom.object)} is no value of its datatype"
            self._facts.setdefault(Atom(VIOLATION, (Constant(f"{text}: {reason}"), axiom.subject)))
        try:
            clauses = self._normaliser.clauses(axiom)
        except NoFormulas as reason:
            self._remarks.append(Remark(text, "dropped", str(reason)))
            return
        key = FunctionalSyntax().axiom(axiom)  # the names of new constants do not hang on prefixes
        notes: dict[str, None] = {}
        lost = [self._clause(clause, text, f"{key} {number}", notes) for number, clause in enumerate(clauses)]
        what: Literal["dropped", "partly dropped"] = "partly dropped" if None in lost else "dropped"
        self._remarks += [Remark(text, what, why) for why in lost if why is not None]
        self._remarks += [Remark(text, "approximated", note) for note in notes]

    def _clause(self, clause: Clause, text: str, key: str, notes: dict[str, None]) -> str | None:
        """Adds the rules of a formula, or says why there are none."""
        if clause.beyond:
            return f"OWL 2 RL has no rule for {' and '.join(clause.beyond)}"
        if clause.untested:
            reason = f"no comparison can test {' and '.join(clause.untested)}"
            if self._profile != "U" or not clause.heads:
                return reason
            notes.setdefault(f"{reason}: the condition is left out")
        if self._profile != "U":
            several = len(clause.heads) > 1
            if several or any(disjunct.exists for disjunct in clause.heads):
                self._dropped.append((text, clause))
                return "a disjunction in the head" if several else "an existential in the head"
        elif len(clause.heads) > 1:
            notes.setdefault("a disjunction becomes a conjunction")
        for note in clause.approximate:
            notes.setdefault(note)
        if any(each == type_atom(variable, THING) for each in clause.body for variable in each.variables()):
            self._needs_thing = True
            if self._profile != "U" and not self._options.thing:
                notes.setdefault(
                    "it holds for individuals that are said to be of type owl:Thing, since that is not derived"
                )
        if not clause.heads:
            self._contradiction(text, *clause.body)
        for place, disjunct in enumerate(clause.heads):
            self._disjunct(clause, disjunct, f"{key} {place}", text, notes)
        return None

    def _disjunct(self, clause: Clause, disjunct: Disjunct, key: str, text: str, notes: dict[str, None]) -> None:
        constants: dict[Variable, Term] = {}
        for number, variable in enumerate(disjunct.exists):
            constants[variable] = _new_constant(f"{key} {number}", variable in disjunct.literals)
            notes.setdefault("an existential becomes a new constant")
        for atom in (substitute_atom(atom, constants) for atom in disjunct.atoms):
            apart = [each for each in equalities_apart([atom]) if each not in clause.body]
            self._add(Rule(atom, (*clause.body, *apart)), text)

    # ---------------------------------------------------------------------------------------------- rules

    def _add(self, rule: Rule, origin: str) -> None:
        if not rule.body and not any(True for _ in rule.head.variables()):
            self._facts.setdefault(rule.head)
            return
        rule = _named(rule if self._options.complete else _about_things(rule))
        key = canonical_rule(rule)
        self._rules.setdefault(key, rule)
        self._origins.setdefault(key, {}).setdefault(origin)

    def _general(self) -> None:
        """Rules that belong to no axiom."""
        x, y = Variable("x"), Variable("y")
        self._contradiction("owl:Nothing is empty", type_atom(x, NOTHING))
        self._contradiction("nothing is different from itself", triple(x, DIFFERENT_FROM, x))
        for pair in ((x, y), (y, x)):
            what = "owl:differentFrom and owl:sameAs exclude each other"
            self._contradiction(what, triple(x, DIFFERENT_FROM, y), triple(pair[0], SAME_AS, pair[1]))
        if self._options.thing or (self._needs_thing and self._profile == "U"):
            self._things()
        if self._options.equality_rules:
            for name, rule in equality_rules():
                self._add(rule, name)
        if self._options.schema:
            for statement in self._ontology.triples:
                self._facts.setdefault(Atom("triple", statement))
            for name, rule in schema_rules():
                self._add(rule, name)

    def _things(self) -> None:
        x, y = Variable("x"), Variable("y")
        self._add(Rule(type_atom(x, THING), (triple(x, TYPE, y),)), "owl:Thing: whatever has a type")
        for property in sorted({p for a in self._ontology.axioms for p in _properties(a)}, key=lambda p: p.iri):
            if not property.annotation:
                for end in (x,) if property.data else (x, y):
                    self._add(
                        Rule(type_atom(end, THING), (triple(x, property.iri, y),)), "owl:Thing: whatever is related"
                    )

    def _contradiction(self, what: str, *body: BodyLiteral) -> None:
        self._add(Rule(violation(what, body), body), what)

    def _useful(self) -> list[Rule]:
        """The rules without those about names that this translation made up and derives nothing of."""
        made = [rule for rule in self._rules if any(_is_new_class(atom) for atom in rule.positive)]
        kept = set(self._rules)
        while True:
            names = {rule.head.terms[2] for rule in kept if _is_new_class(rule.head)}
            unused = {
                rule
                for rule in made
                if rule in kept and any(_is_new_class(atom) and atom.terms[2] not in names for atom in rule.positive)
            }
            if not unused:
                return [rule for rule in self._rules if rule in kept]
            kept -= unused


def _about_things(rule: Rule) -> Rule:
    """The rule without instances that make a subject of a literal, or say that one is the same as something.

    What is a subject in the body is no literal already.
    """
    head, known = rule.head, set[Term]()
    for atom in rule.positive:
        known.update(atom.terms[:1] if atom.predicate == TRIPLE else atom.terms)
    if head.predicate == TRIPLE:
        subjects = head.terms[::2] if head.terms[1] == Constant(NamedNode(SAME_AS)) else head.terms[:1]
    else:
        subjects = head.terms[1:] if head.predicate == MEMBER else ()
    new = [term for term in dict.fromkeys(subjects) if isinstance(term, Variable) and term not in known]
    return replace(rule, body=(*rule.body, *map(no_literal, new)))


def violation(axiom: str, body: Sequence[BodyLiteral]) -> Atom:
    """The head of a contradiction: the axiom, and the individual that the body is about first."""
    terms = [term for literal in body if isinstance(literal, Atom) for term in literal.terms]
    about = next((term for term in terms if isinstance(term, Variable)), terms[0] if terms else Constant(""))
    return Atom(VIOLATION, (Constant(axiom), about))


def _new_constant(key: str, literal: bool) -> Constant:
    name = hashlib.blake2b(key.encode(), digest_size=6).hexdigest()
    if literal:
        return Constant(RdfLiteral(name, datatype=NamedNode(f"{NEW}literal")))
    return Constant(NamedNode(f"{NEW}{name}"))


def _is_new_class(atom: Atom) -> bool:
    value = atom.terms[-1].value if isinstance(atom.terms[-1], Constant) else None
    return isinstance(value, NamedNode) and value.value.startswith(f"{NEW}class-")


def _iris(ontology: owl.Ontology) -> Iterator[str]:
    """The names of classes and properties, once for each axiom that they are the subject of or used in."""
    for axiom in ontology.axioms:
        yield from (property.iri for property in _properties(axiom))
        parts = [getattr(axiom, name, None) for name in ("sub", "sup", "expression")]
        yield from (part.iri for part in (*parts, *getattr(axiom, "classes", ())) if isinstance(part, owl.Named))


_NAMES = ("x", "y", "z", "u", "v", "w")


def _named(rule: Rule) -> Rule:
    """The rule with its variables called x, y, z… in the order of the body."""
    order: dict[Variable, None] = {}
    for literal in (*rule.body, rule.head):
        order.update(dict.fromkeys(literal.variables()))
    names = {v: Variable(_NAMES[n] if n < len(_NAMES) else f"x{n}") for n, v in enumerate(order)}
    return Rule(substitute_atom(rule.head, names), tuple(substitute_literal(each, names) for each in rule.body))


def _properties(axiom: owl.Axiom) -> Iterable[owl.Property]:
    """The properties that an axiom is about."""
    match axiom:
        case owl.SubProperty(chain, sup):
            return (*chain, sup)
        case owl.EquivalentProperties(properties):
            return properties
    return [axiom.property] if hasattr(axiom, "property") else []

"""Classes of an ontology that can have no instances, as far as rules tell.

Each class gets an individual of its own, and what contradicts the axioms then is found by materialising them all at once.
Rules alone would not see that an axiom demands something impossible: a formula with a disjunction or an existential in its
head (profile L drops it) is tried as well, each disjunct with individuals of its own. If every disjunct is contradictory,
so is the formula's body, which makes one more rule; then everything is tried again.

The trials must not see each other. They do not where rules join what is connected and bring in no constants. Otherwise
the trials are halved until a contradiction is that of a single one: what contradicts nothing together does not apart.

The ontology's assertions about individuals play no part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from pyoxigraph import NamedNode

from everlog.datalog.constraints import VIOLATION
from everlog.datalog.syntax import TRIPLE, Atom, Constant, Program, Rule, Term, Variable
from everlog.datalog.values import Value
from everlog.knowledge.base import KnowledgeBase
from everlog.rdf.owl.clauses import Clause, type_atom
from everlog.rdf.owl.profiles import Options, translate, violation
from everlog.rdf.owl.structure import Named, Ontology, Property
from everlog.rdf.owl.vocabulary import NEW, NOTHING, THING, TYPE


@dataclass(frozen=True)
class _Trial:
    """Facts about new individuals: those of a class, or those that a disjunct of a formula demands."""

    about: str | tuple[int, int]
    """The class, or the number of the formula and that of the disjunct."""
    atoms: tuple[Atom, ...]

    def facts(self, number: int) -> Iterator[tuple[Value, ...]]:
        """The facts, with individuals that no other trial has."""
        for atom in self.atoms:
            yield tuple(t.value if isinstance(t, Constant) else NamedNode(_individual(number, t)) for t in atom.terms)


def unsatisfiable_classes(ontology: Ontology) -> dict[NamedNode, tuple[str, ...]]:
    """The classes, sorted, each with axioms that an instance would contradict."""
    translation = translate(ontology, "L", Options(definitions=True))
    rules = list(translation.program.rules)
    general = (each for each in translation.dropped if any(True for part in each[1].body for _ in part.variables()))
    formulas = dict(enumerate(general))
    parts = list(_parts(ontology.axioms))
    data = {part.iri for part in parts if isinstance(part, Property) and part.data}
    named = {part.iri for part in parts if isinstance(part, Named)} - {THING, NOTHING}
    classes = [_Trial(iri, _things([type_atom(Variable("x"), iri)])) for iri in sorted(named)]
    while True:
        trials = [
            *classes,
            *(trial for number, (_, clause) in formulas.items() for trial in _tried(number, clause, data)),
        ]
        found = _contradictory(rules, trials)
        impossible = [
            number
            for number, (_, clause) in formulas.items()
            if all((number, place) in found for place in range(len(clause.heads)))
        ]
        if not impossible:
            return {NamedNode(about): axioms for about, axioms in found.items() if isinstance(about, str)}
        for number in impossible:
            axiom, clause = formulas.pop(number)
            rules.append(Rule(violation(axiom, clause.body), clause.body))


def _parts(value: Any) -> Iterator[Any]:
    """A value of the structural specification, and all values in it."""
    if isinstance(value, tuple):
        for each in value:
            yield from _parts(each)
    elif is_dataclass(value):
        yield value
        for field in fields(value):
            yield from _parts(getattr(value, field.name))


def _tried(number: int, clause: Clause, data: set[str]) -> Iterator[_Trial]:
    """A formula's body together with each of its disjuncts. What is said about literals is left out."""
    body = [literal for literal in clause.body if isinstance(literal, Atom)]
    for place, disjunct in enumerate(clause.heads):
        atoms = [atom for atom in (*body, *disjunct.atoms) if not _is_data(atom, data)]
        yield _Trial((number, place), _things(atoms))


def _is_data(atom: Atom, data: set[str]) -> bool:
    predicate = atom.terms[1]
    return isinstance(predicate, Constant) and getattr(predicate.value, "value", "") in data


def _things(atoms: Sequence[Atom]) -> tuple[Atom, ...]:
    """Atoms, and that what they are about are things."""
    variables = dict.fromkeys(variable for atom in atoms for variable in atom.variables())
    return (*atoms, *(type_atom(variable, THING) for variable in variables))


# ---------------------------------------------------------------------------------------- contradictions


def _contradictory(rules: Sequence[Rule], trials: Sequence[_Trial]) -> dict[Any, tuple[str, ...]]:
    """What those trials are about that contradict rules, each with the axioms of these."""
    apart = all(map(_keeps_apart, rules)) and not any(_shared(atom) for trial in trials for atom in trial.atoms)
    rows = _violations(rules, trials)
    if not rows:
        return {}
    if not apart and len(trials) > 1:
        half = len(trials) // 2
        return {**_contradictory(rules, trials[:half]), **_contradictory(rules, trials[half:])}
    numbers = {
        _individual(number, variable): number
        for number, trial in enumerate(trials)
        for atom in trial.atoms
        for variable in atom.variables()
    }
    found: dict[Any, set[str]] = {}
    for axiom, about in rows:
        number = 0 if len(trials) == 1 else numbers[getattr(about, "value", "")]
        found.setdefault(trials[number].about, set()).add(str(axiom))
    return {about: tuple(sorted(axioms)) for about, axioms in found.items()}


def _individual(number: int, variable: Variable) -> str:
    return f"{NEW}trial-{number}-{variable.name}"


def _violations(rules: Sequence[Rule], trials: Iterable[_Trial]) -> list[tuple[Value, ...]]:
    kb = KnowledgeBase(Program(tuple(rules)), engine="memory")
    kb.add({TRIPLE: [fact for number, trial in enumerate(trials) for fact in trial.facts(number)]})
    kb.materialise()
    return kb.rows(VIOLATION)


def _keeps_apart(rule: Rule) -> bool:
    """Whether a rule joins only what is connected, and brings in no constant."""
    groups: list[set[Variable]] = []
    for atom in rule.positive:
        mine = set(atom.variables())
        touching = [group for group in groups if group & mine]
        groups = [*(group for group in groups if not group & mine), mine.union(*touching)]
    return len(groups) <= 1 and (rule.head.predicate == VIOLATION or not _shared(rule.head))


def _shared(atom: Atom) -> bool:
    """Whether an atom has a constant that is neither a property nor a class."""
    subject, predicate, target = atom.terms
    is_type = predicate == Constant(NamedNode(TYPE))
    return isinstance(subject, Constant) or (isinstance(target, Constant) and not is_type) or _is_variable(predicate)


def _is_variable(term: Term) -> bool:
    return isinstance(term, Variable)

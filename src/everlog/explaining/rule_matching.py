"""Small programs that find the instances of a rule that derive some facts.

The facts are those of a hidden predicate, which is joined with the rule's positive atoms first; so what is looked at are
the facts, and not the relations. Negations and aggregates are then asked about what was found, for the same reason:

    ¬why_rows(B)      :- ¬why_asked(head), positive atoms, tests .
    ¬why_guard(g)     :- ¬why_rows(B) .
    ¬why_group(g, v)  :- AGGREGATE(¬why_guard(g), body ON g BIND … AS v) .
    ¬why_given(V)     :- ¬why_rows(B), ¬why_group(g, v), tests .
    ¬why_fails(s)     :- ¬why_given(V), what is negated .
    ¬why_found(n, V)  :- ¬why_given(V), not ¬why_fails(s) .

What is found is marked by the number of the rule, so that rules with as many variables share a relation and are fetched
together.

Equalities that give a variable its value are substituted before (`datalog/equalities.py`), as they are when a program is
evaluated: the value that the head has must not become a test of equal values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from everlog.datalog.equalities import eliminate_equalities
from everlog.datalog.syntax import (
    HIDDEN,
    Aggregate,
    Atom,
    BodyLiteral,
    Comparison,
    Computation,
    Constant,
    Negation,
    Rule,
    Term,
    Test,
    Variable,
)

_WHY: Final = f"{HIDDEN}why"


def asked_about(predicate: str) -> str:
    """The hidden predicate of the facts that are asked about."""
    return f"{_WHY}_asked_{predicate}"


@dataclass(frozen=True)
class Matching:
    """The program for one rule: its first rule has positive atoms and tests, the others what comes after."""

    first: Rule
    rest: tuple[Rule, ...]
    answer: Atom
    """The instances that are found: the number of the rule, and the values of its variables."""
    variables: tuple[Variable, ...]
    sources: tuple[tuple[str, tuple[Constant | int, ...]], ...]
    """The head and the positive atoms of the rule, with the places of their variables among the variables."""

    def facts(self, values: Sequence[Constant]) -> tuple[Atom, tuple[Atom, ...]]:
        """What an instance derives, and its positive body facts, each once."""
        head, *body = (
            Atom(name, tuple(values[one] if isinstance(one, int) else one for one in terms))
            for name, terms in self.sources
        )
        return head, tuple(dict.fromkeys(body))


def visible(rule: Rule) -> tuple[Variable, ...]:
    """The variables that an instance gives values to: all but the local ones of negations and aggregates."""
    local = {variable for literal in rule.body for variable in getattr(literal, "local", ())}
    literals: tuple[BodyLiteral, ...] = (rule.head, *rule.body)
    found = dict.fromkeys(variable for literal in literals for variable in literal.variables())
    return tuple(variable for variable in found if variable not in local)


def matching(rule: Rule, number: int) -> Matching | None:
    """The program that finds instances of a rule, which has a number; None if its body can never hold."""
    variables, size = visible(rule), len(rule.head.terms)
    at = {variable: place for place, variable in enumerate(variables)}
    sources = tuple(
        (atom.predicate, tuple(at[one] if isinstance(one, Variable) else one for one in atom.terms))
        for atom in (rule.head, *rule.positive)
    )
    places = {f"{_WHY}_group{number}_{place}": one for place, one in enumerate(rule.aggregates)}
    groups = iter(places)
    body = tuple(Atom(next(groups), tuple(one.variables())) if isinstance(one, Aggregate) else one for one in rule.body)
    solved = eliminate_equalities(Rule(Atom(_WHY, (*rule.head.terms, *variables)), body))
    if solved is None:
        return None
    head, values = solved.head.terms[:size], solved.head.terms[size:]
    grouped = [atom for atom in solved.positive if atom.predicate in places]
    asked = Atom(asked_about(rule.head.predicate), head)
    atoms = [asked, *(atom for atom in solved.positive if atom.predicate not in places)]
    now, later = _tests(solved, {variable for atom in atoms for variable in atom.variables()})
    bound = tuple(dict.fromkeys(variable for one in (*atoms, *now) for variable in one.variables()))
    if not grouped and not solved.negative:
        answer = _answer(number, values)
        return Matching(Rule(answer, (*atoms, *now)), (), answer, variables, sources)
    rows = Atom(f"{_WHY}_rows{number}", bound)
    rest: list[Rule] = []
    for atom in grouped:
        rest += _grouping(places[atom.predicate], atom, rows)
    more = (variable for one in (*grouped, *later) for variable in one.variables())
    found = Atom(f"{_WHY}_given{number}", tuple(dict.fromkeys((*bound, *more))))
    rest.append(Rule(found, (rows, *grouped, *later)))
    answer = _answer(number, values)
    negated: list[Negation] = []
    for place, negation in enumerate(solved.negative):
        fails = Atom(f"{_WHY}_fails{number}_{place}", tuple(dict.fromkeys(negation.variables())))
        rest.append(Rule(fails, (found, *negation.atoms, *negation.tests)))
        negated.append(Negation((fails,)))
    rest.append(Rule(answer, (found, *negated)))
    return Matching(Rule(rows, (*atoms, *now)), tuple(rest), answer, variables, sources)


def _answer(number: int, values: tuple[Term, ...]) -> Atom:
    """What rules with as many variables have in common: the number of the rule, and the values."""
    return Atom(f"{_WHY}_found{len(values)}", (Constant(number), *values))


def _tests(rule: Rule, bound: set[Variable]) -> tuple[list[Test], list[Test]]:
    """The tests that can be made once some variables have values, in an order in which they can, and the others."""
    now: list[Test] = []
    later: list[Test] = [one for one in rule.body if isinstance(one, Comparison | Computation)]
    while True:
        ready = [
            one for one in later if bound.issuperset(one.inputs() if isinstance(one, Computation) else one.variables())
        ]
        if not ready:
            return now, later
        now += ready
        later = [one for one in later if one not in ready]
        bound |= {variable for one in ready for variable in one.variables()}


def _grouping(aggregate: Aggregate, atom: Atom, rows: Atom) -> list[Rule]:
    """The rules of the groups that some rows ask about; `atom` is what stands for the aggregate."""
    known = [
        (variable, term)
        for variable, term in zip(aggregate.groups, atom.terms, strict=False)
        if isinstance(term, Constant) or term in rows.terms
    ]
    head = Atom(atom.predicate, tuple(aggregate.variables()))
    if not known:
        return [Rule(head, (aggregate,))]
    name = f"{atom.predicate}_guard"
    guard = Rule(Atom(name, tuple(term for _, term in known)), (rows,))
    inside = Atom(name, tuple(variable for variable, _ in known))
    return [guard, Rule(head, (Aggregate((inside, *aggregate.body), aggregate.groups, aggregate.aggregations),))]

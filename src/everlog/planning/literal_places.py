"""Conditions that a term is no literal, left out where no literal can come.

Rules of an ontology ask that what becomes a subject is no literal (`literal_guards.py`). In most data it never is one:
object properties have no literals as values. Such a condition would cost time, and worse, hide from planning that a
relation is symmetric, or that a rule is a key. So it is found out to which *places* literals can come, arguments of
predicates and of properties, from the facts that are given and through the rules; where a variable of a condition has a
place to which none comes, the condition holds whatever follows, and the rule is evaluated without it.

Where constants are rewritten that is right as well: a class that has a name other than a literal is represented by one
(`term_order`), so that representatives in a place without literals are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, TypeAlias

from everlog.datalog.literal_guards import guarded, is_literal
from everlog.datalog.substitution import REMEMBERED
from everlog.datalog.syntax import TRIPLE, Atom, BodyLiteral, Constant, Rule, Term, Variable

Place: TypeAlias = tuple[str, Constant | None, int]
"""A predicate, the property if its facts are triples, and which argument, counted from 0."""

_Feed: TypeAlias = tuple[Place, ...]
"""The places of a variable that a rule hands on: a literal comes from there only if all of them have some."""

_PROPERTY: Final = 1
_NO_TERMS: Final[Mapping[Variable, Constant]] = {}


class LiteralFlow:
    """How literals get to the places that a program's conditions are about."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self._heads: dict[tuple[str, Constant | None], list[Rule]] = {}
        for rule in rules:
            self._heads.setdefault((rule.head.predicate, _property(rule.head, _NO_TERMS)), []).append(rule)
        self._guards = [(number, *guard) for number, rule in enumerate(rules) for guard in _guards(rule)]
        self._feeds: dict[Place, Sequence[_Feed]] = {}
        waiting = [place for _, _, places in self._guards for place in places or ()]
        while waiting:
            place = waiting.pop()
            if place not in self._feeds:
                self._feeds[place] = self._feeding(place)
                waiting += [other for feed in self._feeds[place] for other in feed]
        self._made: dict[frozenset[int], tuple[Rule, ...]] = {}
        self._known: dict[frozenset[Place], tuple[Rule, ...]] = {}

    @property
    def asked(self) -> frozenset[Place]:
        """The places where it matters whether given facts have literals."""
        return frozenset(self._feeds)

    def needed(self, literals: frozenset[Place]) -> tuple[Rule, ...]:
        """The rules without conditions that always hold, if given facts have literals in some places and no others.

        The same places give the same value.
        """
        known = self._known.get(literals)
        if known is None:
            known = self._known[literals] = self._without(self._idle(literals))
        return known

    def _idle(self, literals: frozenset[Place]) -> frozenset[int]:
        """The conditions that always hold."""
        reached = self._reached(literals)
        return frozenset(
            at for at, (_, _, places) in enumerate(self._guards) if places and not reached.issuperset(places)
        )

    def _without(self, idle: frozenset[int]) -> tuple[Rule, ...]:
        """The rules without some conditions."""
        if idle not in self._made:
            rules = list(self._rules)
            for number, literal, _ in (self._guards[at] for at in idle):
                rule = rules[number]
                rules[number] = _without(rule, literal)
            self._made[idle] = tuple(rules)
        return self._made[idle]

    def _reached(self, literals: frozenset[Place]) -> set[Place]:
        """All places that may have literals."""
        reached = set(literals & self._feeds.keys())
        while True:
            more = {
                place
                for place, feeds in self._feeds.items()
                if place not in reached and any(reached.issuperset(feed) for feed in feeds)
            }
            if not more:
                return reached
            reached |= more

    def _feeding(self, place: Place) -> Sequence[_Feed]:
        """How rules may bring literals to a place."""
        predicate, property, _ = place
        keys = [(predicate, property)] if property is None else [(predicate, property), (predicate, None)]
        return _feeds(place, tuple([rule for key in keys for rule in self._heads.get(key, ())]))


@lru_cache(REMEMBERED)
def _guards(rule: Rule) -> tuple[tuple[BodyLiteral, _Feed | None], ...]:
    """The conditions of a rule that a variable is no literal, and where else the rule has that."""
    found = ((literal, guarded(literal)) for literal in rule.body)
    return tuple((literal, _places(rule, one, _NO_TERMS)) for literal, one in found if one is not None)


@lru_cache(REMEMBERED)
def _without(rule: Rule, literal: BodyLiteral) -> Rule:
    return replace(rule, body=tuple(one for one in rule.body if one != literal))


@lru_cache(REMEMBERED)
def _feeds(place: Place, rules: tuple[Rule, ...]) -> tuple[_Feed, ...]:
    """How rules whose heads may be of a place bring literals there."""
    _, property, argument = place
    found: list[_Feed] = []
    for rule in rules:
        verb = rule.head.terms[_PROPERTY] if property is not None else None
        fixed = {verb: property} if isinstance(verb, Variable) and property is not None else _NO_TERMS
        term = rule.head.terms[argument]
        term = fixed.get(term, term) if isinstance(term, Variable) else term
        if isinstance(term, Constant):
            if is_literal(term.value):
                found.append(())
        elif term not in map(guarded, rule.body):
            found.append(_places(rule, term, fixed) or ())
    return tuple(dict.fromkeys(found))


def _places(rule: Rule, variable: Variable, fixed: Mapping[Variable, Constant]) -> _Feed | None:
    """Where atoms of a rule's body have a variable, as far as their properties are known; None if no atom has it.

    Without any the variable may be a literal, whatever the facts are.
    """
    atoms = [atom for atom in rule.positive if variable in atom.terms]
    return tuple(place for atom in atoms for place in _of(atom, variable, fixed)) if atoms else None


def _of(atom: Atom, variable: Variable, fixed: Mapping[Variable, Constant]) -> Iterator[Place]:
    property = _property(atom, fixed)
    if atom.predicate == TRIPLE and property is None:
        return
    for argument, term in enumerate(atom.terms):
        if term == variable and (property is None or argument != _PROPERTY):
            yield atom.predicate, property, argument


def _property(atom: Atom, fixed: Mapping[Variable, Constant]) -> Constant | None:
    """The property of a triple, if it is known."""
    if atom.predicate != TRIPLE or len(atom.terms) != 3:
        return None
    verb: Term = atom.terms[_PROPERTY]
    return fixed.get(verb) if isinstance(verb, Variable) else verb


@lru_cache(maxsize=16)
def literal_flow(rules: tuple[Rule, ...]) -> LiteralFlow | None:
    """How literals get to the conditions of a program; None if it has no conditions about them."""
    if not any(map(_guards, rules)):
        return None
    return LiteralFlow(rules)


def without_guards(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Rules as they are evaluated where no given fact has a literal that conditions are about."""
    flow = literal_flow(tuple(rules))
    return tuple(rules) if flow is None else flow.needed(frozenset())

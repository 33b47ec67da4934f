"""Replacing variables in atoms, literals and rules, and normal names for them: variants become equal.

Danger: a substitution is not applied to the local variables of a negation, and must not map to one of them (capture).
It cannot in a rule that passed `safety.check_safety`, whose local variables occur nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import count
from typing import Final, TypeAlias, TypeVar

from everlog.datalog.syntax import (
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
    parts,
)

L = TypeVar("L", Atom, Comparison, Computation, Negation, Aggregate, Test, Atom | Comparison, Atom | Test, BodyLiteral)

REMEMBERED: Final = 2**16
"""A program that changes by a rule is looked at again as a whole: so much is known from the last time."""

Substitution: TypeAlias = Mapping[Variable, Term]

# A predicate and its terms, with a variable given as the number of its first occurrence.
Pattern: TypeAlias = tuple[str, tuple[Constant | int, ...]]


def substitute_term(term: Term, substitution: Substitution) -> Term:
    return substitution.get(term, term) if isinstance(term, Variable) else term


def substitute_atom(atom: Atom, substitution: Substitution) -> Atom:
    return atom.mapped(lambda term: substitute_term(term, substitution))


def substitute_literal(literal: L, substitution: Substitution) -> L:
    if isinstance(literal, Negation | Aggregate):
        substitution = {variable: term for variable, term in substitution.items() if variable not in literal.local}
    return literal.mapped(lambda term: substitute_term(term, substitution))


@lru_cache(REMEMBERED)
def pattern(atom: Atom) -> Pattern:
    """A key that two atoms share exactly when they are equal up to renaming of variables."""
    numbers: dict[Variable, int] = {}
    terms = tuple(numbers.setdefault(term, len(numbers)) if isinstance(term, Variable) else term for term in atom.terms)
    return _shared((atom.predicate, terms))


@lru_cache(REMEMBERED)
def _shared(key: Pattern) -> Pattern:
    """The same pattern wherever it is asked for, so that it is found without looking at its terms."""
    return key


@lru_cache(REMEMBERED)
def canonical_rule(rule: Rule) -> Rule:
    """The rule with its variables named by first occurrence, head first, so that variants become equal."""
    names: dict[Variable, Variable] = {}
    numbers = count()

    def extend(scope: dict[Variable, Variable], literal: BodyLiteral) -> None:
        for part in (*parts(literal), literal):
            for variable in part.variables():
                if variable not in scope:
                    scope[variable] = Variable(str(next(numbers)))

    def renamed(literal: BodyLiteral) -> BodyLiteral:
        if not isinstance(literal, Negation | Aggregate):
            extend(names, literal)
            return substitute_literal(literal, names)
        # A local variable is another variable than its namesake outside, so the literal has a scope of its own.
        hidden = set(literal.local)
        scope = {variable: name for variable, name in names.items() if variable not in hidden}
        extend(scope, literal)
        names.update((variable, name) for variable, name in scope.items() if variable not in hidden)
        inside = literal.mapped(lambda term: substitute_term(term, scope))
        if isinstance(inside, Aggregate):
            return inside
        return replace(inside, local=tuple(name for variable, name in scope.items() if variable in hidden))

    extend(names, rule.head)
    head = substitute_atom(rule.head, names)
    return replace(rule, head=head, body=tuple(renamed(literal) for literal in rule.body))

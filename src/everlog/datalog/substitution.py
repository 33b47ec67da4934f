"""Replacing variables in atoms, literals and rules, and normal names for them: variants become equal.

Danger: a substitution is not applied to the local variables of a negation, and must not map to one of them (capture).
It cannot in a rule that passed `safety.check_safety`, whose local variables occur nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import TypeAlias

from everlog.datalog.syntax import Atom, BodyLiteral, Comparison, Constant, Negation, Rule, Term, Variable

Substitution: TypeAlias = Mapping[Variable, Term]

# A predicate and its terms, with a variable given as the number of its first occurrence.
Pattern: TypeAlias = tuple[str, tuple[Constant | int, ...]]


def substitute_term(term: Term, substitution: Substitution) -> Term:
    return substitution.get(term, term) if isinstance(term, Variable) else term


def substitute_atom(atom: Atom, substitution: Substitution) -> Atom:
    return Atom(atom.predicate, tuple(substitute_term(term, substitution) for term in atom.terms))


def substitute_comparison(comparison: Comparison, substitution: Substitution) -> Comparison:
    left, right = substitute_term(comparison.left, substitution), substitute_term(comparison.right, substitution)
    return Comparison(comparison.operator, left, right)


def substitute_negation(negation: Negation, substitution: Substitution) -> Negation:
    shared = {variable: term for variable, term in substitution.items() if variable not in negation.local}
    return Negation(
        tuple(substitute_atom(atom, shared) for atom in negation.atoms),
        negation.local,
        tuple(substitute_comparison(comparison, shared) for comparison in negation.comparisons),
    )


def substitute_literal(literal: BodyLiteral, substitution: Substitution) -> BodyLiteral:
    if isinstance(literal, Atom):
        return substitute_atom(literal, substitution)
    if isinstance(literal, Comparison):
        return substitute_comparison(literal, substitution)
    return substitute_negation(literal, substitution)


def pattern(atom: Atom) -> Pattern:
    """A key that two atoms share exactly when they are equal up to renaming of variables."""
    numbers: dict[Variable, int] = {}
    terms = tuple(numbers.setdefault(term, len(numbers)) if isinstance(term, Variable) else term for term in atom.terms)
    return atom.predicate, terms


def canonical_rule(rule: Rule) -> Rule:
    """The rule with its variables named by first occurrence, head first, so that variants become equal."""
    names: dict[Variable, Variable] = {}
    numbers = count()

    def extend(scope: dict[Variable, Variable], *parts: Atom | Comparison) -> None:
        for part in parts:
            for variable in part.variables():
                if variable not in scope:
                    scope[variable] = Variable(str(next(numbers)))

    def renamed(literal: BodyLiteral) -> BodyLiteral:
        if not isinstance(literal, Negation):
            extend(names, literal)
            return substitute_literal(literal, names)
        # A local variable is another variable than its namesake outside, so the negation has a scope of its own.
        scope = {variable: name for variable, name in names.items() if variable not in literal.local}
        extend(scope, *literal.atoms, *literal.comparisons)
        names.update((variable, name) for variable, name in scope.items() if variable not in literal.local)
        return Negation(
            tuple(substitute_atom(atom, scope) for atom in literal.atoms),
            tuple(name for variable, name in scope.items() if variable in literal.local),
            tuple(substitute_comparison(comparison, scope) for comparison in literal.comparisons),
        )

    extend(names, rule.head)
    return Rule(substitute_atom(rule.head, names), tuple(renamed(literal) for literal in rule.body))

"""The constants that rules and goals mention, and others in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from everlog.datalog.syntax import Atom, BodyLiteral, Comparison, Constant, Negation, Rule, Term

Replacement = Callable[[Constant], Constant]


def constants(rules: Iterable[Rule]) -> Iterator[Constant]:
    """The values that rules mention, once per occurrence."""
    for rule in rules:
        yield from _mentioned(rule.head)
        for literal in rule.body:
            yield from _mentioned(literal)


def _mentioned(literal: BodyLiteral) -> Iterator[Constant]:
    if isinstance(literal, Negation):
        for atom in literal.atoms:
            yield from _mentioned(atom)
        for comparison in literal.comparisons:
            yield from _mentioned(comparison)
        return
    terms = literal.terms if isinstance(literal, Atom) else (literal.left, literal.right)
    yield from (term for term in terms if isinstance(term, Constant))


def replaced(rule: Rule, other: Replacement) -> Rule:
    """The rule with other constants."""
    return Rule(_atom(rule.head, other), tuple(replaced_in(literal, other) for literal in rule.body))


def replaced_in(literal: BodyLiteral, other: Replacement) -> BodyLiteral:
    """The literal with other constants."""
    if isinstance(literal, Atom):
        return _atom(literal, other)
    if isinstance(literal, Comparison):
        return _comparison(literal, other)
    return Negation(
        tuple(_atom(atom, other) for atom in literal.atoms),
        literal.local,
        tuple(_comparison(comparison, other) for comparison in literal.comparisons),
    )


def _atom(atom: Atom, other: Replacement) -> Atom:
    return Atom(atom.predicate, tuple(_term(term, other) for term in atom.terms))


def _comparison(comparison: Comparison, other: Replacement) -> Comparison:
    return Comparison(comparison.operator, _term(comparison.left, other), _term(comparison.right, other))


def _term(term: Term, other: Replacement) -> Term:
    return other(term) if isinstance(term, Constant) else term

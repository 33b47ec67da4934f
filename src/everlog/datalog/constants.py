"""The constants that rules and goals mention, and others in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from everlog.datalog.syntax import BodyLiteral, Constant, Rule, Term, parts

Replacement = Callable[[Constant], Constant]


def constants(rules: Iterable[Rule]) -> Iterator[Constant]:
    """The values that rules mention, once per occurrence."""
    literals = (literal for rule in rules for literal in (rule.head, *rule.body))
    terms = (term for literal in literals for part in parts(literal) for term in part.terms)
    return (term for term in terms if isinstance(term, Constant))


def replaced(rule: Rule, other: Replacement) -> Rule:
    """The rule with other constants."""
    change = _change(other)
    return replace(rule, head=rule.head.mapped(change), body=tuple(literal.mapped(change) for literal in rule.body))


def replaced_in(literal: BodyLiteral, other: Replacement) -> BodyLiteral:
    """The literal with other constants."""
    return literal.mapped(_change(other))


def _change(other: Replacement) -> Callable[[Term], Term]:
    return lambda term: other(term) if isinstance(term, Constant) else term

"""Conjunctive goals: which of their variables are asked for, in which order answers come, and which values they mention."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from everlog.datalog.syntax import Atom, BodyLiteral, Constant, Negation, Rule, Variable
from everlog.datalog.values import Value, identity

_ANONYMOUS = re.compile(r"_[0-9]+")
"""The names that the reader gives to `_`."""


def answer_variables(goal: Sequence[BodyLiteral]) -> list[Variable]:
    """The variables of a goal in the order of their first occurrence, without local and anonymous ones."""
    local = {variable for literal in goal for variable in getattr(literal, "local", ())}
    return list(
        dict.fromkeys(
            variable
            for literal in goal
            for variable in literal.variables()
            if variable not in local and not _ANONYMOUS.fullmatch(variable.name)
        )
    )


def answer_order(value: Value) -> tuple[str, str | float, str]:
    """A key that sorts values by kind and then by value."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "", value, type(value).__name__
    kind, _ = identity(value)
    return kind, str(value), ""


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

"""Conjunctive goals: which of their variables are asked for, and in which order answers come."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Final

from everlog import interrupts
from everlog.datalog.syntax import BodyLiteral, Term, Variable
from everlog.datalog.values import Value, identity

WORTH_SORTING: Final = 10_000
"""Up to so many facts or answers are fetched and sorted for the sake of the first ones."""

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


def named(term: Term) -> Term:
    """A variable without a name gets one, so that its value is asked for."""
    return Variable(f"any{term.name}") if isinstance(term, Variable) and term.name[0] == "_" else term


def in_order(answers: Sequence[tuple[Value, ...]]) -> list[tuple[Value, ...]]:
    """Answers sorted by kind and value; an interrupt may end that anywhere, as nothing is changed."""
    return interrupts.uncovered(partial(sorted, answers, key=lambda row: tuple(map(answer_order, row))))


def part_of(answers: list[tuple[Value, ...]], limit: int | None, after: int | None) -> list[tuple[Value, ...]]:
    """At most so many answers, those that come after so many others."""
    first = after or 0
    return answers[first : None if limit is None else first + limit]


def answer_order(value: Value) -> tuple[str, str | float, str]:
    """A key that sorts values by kind and then by value."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "", value, type(value).__name__
    kind, _ = identity(value)
    return kind, str(value), ""

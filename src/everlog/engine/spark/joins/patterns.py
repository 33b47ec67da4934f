"""Atoms as the Spark engine matches them: relations are numbers, values are ids, rules of one shape share patterns.

A shape is what is left of a rule when its predicates and constants are taken out: they become *parameters*, and a table
with one row of parameters per rule stands for all rules of the shape. A term of a pattern is a variable (0, 1, …) or a
parameter (~0, ~1, …).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from everlog.datalog.syntax import Expression, Operator, Variable, terms_of
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.runs import classes_of

Term = int


class Pattern(NamedTuple):
    """An atom: the parameter with the number of its relation, and its terms."""

    relation: Term
    terms: tuple[Term, ...]

    def variables(self) -> Iterator[Term]:
        return (term for term in self.terms if term >= 0)

    def parameters(self) -> Iterator[Term]:
        return (term for term in (self.relation, *self.terms) if term < 0)


class Compared(NamedTuple):
    """A comparison of two terms."""

    operator: Operator
    left: Term
    right: Term


class Computed(NamedTuple):
    """A computation; the variables of its expression have their numbers as names."""

    expression: Expression
    result: Term | None

    @property
    def inputs(self) -> list[Term]:
        """The variables that must have values first, in order, each once."""
        variables = (one for one in terms_of(self.expression) if isinstance(one, Variable))
        return sorted({int(variable.name) for variable in variables})

    @property
    def giving(self) -> tuple[set[Term], set[Term]]:
        """What must have values first, and what gets one if it has none."""
        return set(self.inputs), set() if self.result is None or self.result < 0 else {self.result}


@dataclass(frozen=True)
class Shape:
    """What rules have in common that are equal up to their predicates and constants."""

    head: Pattern
    positive: tuple[Pattern, ...]
    negative: tuple[Pattern, ...]
    comparisons: tuple[Compared, ...]
    computations: tuple[Computed, ...] = ()


class Parameters:
    """The parameters of rules of one shape, a row for each; those that are the same in all rows are `fixed`."""

    def __init__(self, rows: Sequence[tuple[int, ...]]) -> None:
        self.rows = rows
        columns = list(zip(*rows, strict=True))
        self.values = [frozenset(column) for column in columns]
        self.fixed = {~number: column[0] for number, column in enumerate(columns) if len(self.values[number]) == 1}
        self.varying = tuple(~number for number in range(len(columns)) if ~number not in self.fixed)

    def wanted(self, pattern: Pattern) -> dict[str, int]:
        """The classes of ids (see `runs.py`) that instances of a pattern have, by column."""
        columns = zip(fact_schema.columns(len(pattern.terms)), (pattern.relation, *pattern.terms), strict=True)
        return {column: classes_of(self.of(term)) for column, term in columns if term < 0}

    def of(self, parameter: Term) -> frozenset[int]:
        """The values that a parameter has in some row."""
        return self.values[~parameter]

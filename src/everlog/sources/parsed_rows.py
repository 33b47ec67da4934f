"""What parsing gives: columns of facts in text form, and problems. One pass finds all facts and all mistakes."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from everlog.sources.null_policy import LEFT_OUT
from everlog.sources.problems import Problem

Parsed: TypeAlias = tuple[Sequence[pa.Array], list[tuple[int, str]]]
"""The columns of the facts in some lines, and the rows of other lines with the reasons."""


def columns_of_terms(
    records: Iterable[tuple[int, str]], terms: Callable[[str], Sequence[str]], width: int, malformed: type[Exception]
) -> Parsed:
    """The columns of numbered records, given the terms of each, and what is wrong with others."""
    facts, mistakes = [], []
    for number, record in records:
        try:
            facts.append(terms(record))
        except malformed as mistake:
            mistakes.append((number, str(mistake)))
    if not width:
        return [pa.array([True] * len(facts), type=pa.bool_())], mistakes
    columns = zip(*facts, strict=True) if facts else [()] * width
    return [pa.array(column, type=pa.string()) for column in columns], mistakes


def without(columns: Sequence[pa.Array], rows: Container[int]) -> list[pa.Array]:
    """The columns without some rows."""
    keep = pa.array([row not in rows for row in range(len(columns[0]))])
    return [column.filter(keep) for column in columns]


@dataclass(frozen=True)
class Given:
    """What a task gives of one table: facts by columns, or problems, in the order of the input.

    Facts without arguments come as a column of true.
    """

    source: int
    columns: Sequence[pa.Array] = ()
    problems: Sequence[Problem] = ()

    def arranged(self, constants: Sequence[str | None], order: Sequence[int] | None) -> Given:
        """With arguments that are the same for all facts behind the others, and then all of them in an order.

        Where such an argument is null, the facts are left out. The order lists the places that arguments come from.
        """
        if not self.columns or (not constants and order is None):
            return self
        height = len(self.columns[0])
        if None in constants:
            return Given(self.source, problems=[*self.problems, *[Problem("", None, LEFT_OUT)] * height])
        columns = [] if pa.types.is_boolean(self.columns[0].type) else list(self.columns)
        columns += [pa.repeat(pa.scalar(text, pa.string()), height) for text in constants]
        return Given(self.source, columns if order is None else [columns[place] for place in order], self.problems)

"""What parsing gives: rows of many tables that are facts or problems, in one DataFrame.

A Spark job costs a second or so before it has done anything, so all files that are read in one way are read by one job.
Columns are `source`, the number of the table; `a0`, `a1`, … as many as the widest table has, null beyond a table's own;
and `problem`, which is null for a fact and else says in JSON what is wrong. One pass finds all facts and all mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from everlog.sources.null_policy import LEFT_OUT
from everlog.sources.problems import Problem

Parsed: TypeAlias = tuple[Sequence[pa.Array], list[tuple[int, str]]]
"""The columns of the facts in some lines, and the rows of other lines with the reasons."""

SOURCE = "source"
PROBLEM = "problem"


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


def rows_schema(width: int) -> str:
    """The columns of rows, as Spark writes schemas."""
    return ", ".join([f"{SOURCE} int", *(f"a{number} string" for number in range(width)), f"{PROBLEM} string"])


@dataclass(frozen=True)
class Sheet:
    """Makes the rows of one table, in the width of all."""

    source: int
    width: int
    constants: tuple[str | None, ...] = ()
    """The last arguments of all facts, where the file's folder tells them; None for a null, which leaves facts out."""
    order: tuple[int, ...] | None = None
    """The places that arguments come from, unless they are in order already."""

    def facts(self, columns: Sequence[pa.Array]) -> pa.RecordBatch:
        """Facts by columns. Facts without arguments come as a column of true."""
        height = len(columns[0])
        if None in self.constants:
            return self.problems([Problem("", None, LEFT_OUT)] * height)
        own = [] if pa.types.is_boolean(columns[0].type) else list(columns)
        own += [pa.repeat(pa.scalar(text, pa.string()), height) for text in self.constants]
        if self.order is not None:
            own = [own[place] for place in self.order]
        return self._batch([*own, *[pa.nulls(height, pa.string())] * (self.width - len(own) + 1)], height)

    def problems(self, problems: Sequence[Problem]) -> pa.RecordBatch:
        """Problems, in the order given."""
        texts = pa.array([problem.to_json() for problem in problems], type=pa.string())
        return self._batch([*[pa.nulls(len(problems), pa.string())] * self.width, texts], len(problems))

    def _batch(self, texts: list[pa.Array], height: int) -> pa.RecordBatch:
        names = [SOURCE, *(f"a{number}" for number in range(self.width)), PROBLEM]
        return pa.RecordBatch.from_arrays([pa.repeat(pa.scalar(self.source, pa.int32()), height), *texts], names=names)

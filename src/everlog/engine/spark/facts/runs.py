"""Runs: pieces of sets of facts that Spark has computed and that nothing can change.

A set is a few disjoint runs. A run knows how many facts it has and, for each column, which of 63 classes its ids fall
into: enough to see, without asking Spark, that an atom matches nothing in it, or that two runs have no fact in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import count
from operator import or_
from typing import Final, TypeAlias

from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.fact_schema import COUNT, PADDING
from everlog.engine.spark.facts.sql_text import Table, select

CLASSES: Final = 63
"""Ids are classed by their remainder, so that a set of classes is a positive bigint."""

_numbers = count()


Fact: TypeAlias = tuple[int, ...]
"""A fact on the driver: the number of the relation, and the arguments without padding."""

Local: TypeAlias = frozenset[Fact]
Numbers: TypeAlias = Mapping[Fact, int]
"""Facts on the driver with a number beside each: how often it occurs, or its annotation; 1 where nothing is counted."""


def _new_number() -> frozenset[int]:
    return frozenset({next(_numbers)})


def class_of(id: int) -> int:
    return 1 << (id % CLASSES)


def classes_of(ids: Iterable[int]) -> int:
    return reduce(or_, map(class_of, ids), 0)


@dataclass(eq=False)
class Run:
    """Facts, each once, or other rows: in Spark under the name of a view, on the driver, or both."""

    name: Table | None
    columns: tuple[str, ...]
    rows: int
    classes: Mapping[str, int]
    """By column; a column that is not there holds padding only."""
    apart: frozenset[int] = frozenset()
    """The numbers of runs that have no fact of this one."""
    parts: frozenset[int] = field(default_factory=_new_number)
    """The numbers of the runs that were merged into this one; its own, if it is not a merger."""
    source: Run | None = None
    """The run that has the rows, where this one is part of its columns."""
    sum: int = 0
    """The sum of the numbers beside the facts, where there are such numbers."""
    local: Numbers | None = None
    """The facts with their numbers, once the driver has them."""
    known: dict[Fact, int | None] = field(default_factory=dict)
    """For facts that a run in Spark was asked for: the number beside each, or None if it does not have the fact."""
    hubs: frozenset[tuple[int, str, int]] | None = None
    """Relations, columns and values that very many facts have, once somebody has asked."""
    from_driver: dict[int, Table] = field(default_factory=dict)
    """The names, by width, under which Spark finds what the driver has."""

    def view(self) -> Table:
        """The name in Spark of a run that is not on the driver alone."""
        assert self.name is not None
        return self.name

    def may_match(self, wanted: Mapping[str, int]) -> bool:
        """Whether there can be a fact whose ids are in given classes."""
        return all(self._classes(column) & classes for column, classes in wanted.items())

    def is_apart(self, others: Iterable[Run]) -> bool:
        """Whether the run is known to have no fact in common with others."""
        return all(
            other.parts <= self.apart
            or self.parts <= other.apart
            or any(not self._classes(column) & other._classes(column) for column in {*self.classes, *other.classes})
            for other in others
        )

    def may_have(self, fact: Fact, width: int) -> bool:
        """Whether the run may have a fact, by the classes of its ids."""
        padded = zip(fact_schema.columns(width), _padded(fact, width), strict=True)
        return all(self._classes(column) & class_of(id) for column, id in padded)

    def _classes(self, column: str) -> int:
        return self.classes.get(column, class_of(PADDING))


def local_run(facts: Numbers, width: int, apart: frozenset[int] = frozenset(), counted: bool = False) -> Run:
    """A run of facts on the driver; `counted` if their numbers matter."""
    columns = tuple(fact_schema.columns(width))
    padded = (_padded(fact, width) for fact in facts)
    classes = {name: classes_of(ids) for name, ids in zip(columns, zip(*padded, strict=True), strict=False)}
    named = (*columns, COUNT) if counted else columns
    return Run(None, named, len(facts), classes, apart, sum=sum(facts.values()), local=facts)


def numbered(run: Run, number: int) -> Run:
    """The facts of a run, each with the same number beside it."""
    return _renumbered(run, (*run.columns, COUNT), [*run.columns, f"{number}L AS {COUNT}"], number)


def unnumbered(run: Run) -> Run:
    """The facts of a run without the numbers."""
    columns = tuple(name for name in run.columns if name != COUNT)
    return _renumbered(run, columns, columns, 1)


def _renumbered(run: Run, columns: tuple[str, ...], selected: Sequence[str], number: int) -> Run:
    local = None if run.local is None else dict.fromkeys(run.local, number)
    name = None if run.name is None else select(selected, run.name)
    return Run(name, columns, run.rows, run.classes, run.apart, run.parts, run, number * run.rows, local)


def _padded(fact: Fact, width: int) -> Fact:
    return (*fact, *[PADDING] * (width + 1 - len(fact)))


def columns_of(facts: Numbers, width: int, counted: bool) -> list[list[int]]:
    """Facts by column, padded; with `counted`, their numbers are the last."""
    found = [list(column) for column in zip(*(_padded(fact, width) for fact in facts), strict=True)]
    return [*found, list(facts.values())] if counted else found


def total(runs: Iterable[Run]) -> int:
    return sum(run.rows for run in runs)


def merged_length(sizes: Sequence[int], most: int) -> int:
    """How many of the newest runs become one when there are `most` or more, given the sizes of all, the newest last.

    What stays is larger than all that follows it together, so that facts are copied a few times only.
    """
    if len(sizes) < most:
        return 0
    length, rows = 2, sizes[-1] + sizes[-2]
    while length < len(sizes) and sizes[-length - 1] <= rows:
        length += 1
        rows += sizes[-length]
    return length

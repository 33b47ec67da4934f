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
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from everlog.engine.spark import tuning
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts import row_kernels as kernels
from everlog.engine.spark.facts.driver_facts import DriverFacts, together, widened
from everlog.engine.spark.facts.fact_schema import COUNT, PADDING
from everlog.engine.spark.facts.row_indexes import Rows
from everlog.engine.spark.facts.sorted_files import SortedFiles
from everlog.engine.spark.facts.sql_text import Table, select

CLASSES: Final = kernels.CLASSES

_numbers = count()


def _new_number() -> frozenset[int]:
    return frozenset({next(_numbers)})


def class_of(id: int) -> int:
    return 1 << (id % CLASSES)


def classes_of(ids: Iterable[int]) -> int:
    return reduce(or_, map(class_of, ids), 0)


class Answers(NamedTuple):
    """Keys that a run was asked for, and the facts that have them."""

    keys: DriverFacts
    facts: DriverFacts


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
    whole: DriverFacts | None = None
    """The facts with their numbers, once the driver has them; perhaps with some that are gone."""
    gone: DriverFacts | None = None
    """Facts among these, or among those of the source in Spark, that are not of the run: few of many, for which no others
    are copied, and no index made anew."""
    answers: dict[tuple[int, ...], Answers] = field(default_factory=dict)
    """What a run in Spark has told when it was asked for facts by some of their columns."""
    files: list[SortedFiles] = field(default_factory=list)
    """Sorted copies of a run in Spark."""
    times_asked: int = 0
    """How many jobs have asked a run in Spark."""
    passed_over: Run | None = None
    """The facts of the source that are gone, where the query for this run names them."""
    sizes: Mapping[int, int] | None = None
    """How many facts of each relation a run in Spark has, once somebody has asked."""
    hubs: frozenset[tuple[int, str, int]] | None = None
    """Relations, columns and values that very many facts have, once somebody has asked."""
    from_driver: dict[int, Table] = field(default_factory=dict)
    """The names, by width, under which Spark finds what the driver has."""

    @property
    def asked(self) -> Run:
        """The run in Spark that is asked instead of this one, which has its facts but for those that are gone."""
        return self if self.gone is None or self.source is None else self.source

    @property
    def near(self) -> bool:
        """Whether the driver has the facts."""
        return self.whole is not None

    @property
    def local(self) -> DriverFacts | None:
        """The facts with their numbers, if the driver has them."""
        if self.whole is not None and self.gone is not None:
            self.whole, self.gone = self.whole - self.gone, None
        return self.whole

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

    def may_have(self, places: Sequence[int], keys: Rows) -> NDArray[np.bool_]:
        """For which keys there may be facts that have them at some places, by the classes of their ids."""
        found = np.ones(len(keys), np.bool_)
        for place, ids in zip(places, keys.T, strict=True):
            classes = self._classes(fact_schema.columns(place)[place])
            found &= ((classes >> (ids % CLASSES)) & 1).astype(np.bool_)
        return found

    def _classes(self, column: str) -> int:
        return self.classes.get(column, class_of(PADDING))


def local_run(facts: DriverFacts, apart: frozenset[int] = frozenset(), counted: bool = False) -> Run:
    """A run of facts on the driver; `counted` if their numbers matter."""
    columns = tuple(fact_schema.columns(facts.rows.shape[1] - 1))
    classes = dict(zip(columns, facts.classes().tolist(), strict=True))
    named = (*columns, COUNT) if counted else columns
    return Run(None, named, len(facts), classes, apart, sum=facts.total, whole=facts)


def remaining(run: Run, gone: DriverFacts, apart: frozenset[int]) -> Run:
    """A run on the driver without some of its facts, which are not counted."""
    assert run.whole is not None
    rows, known = run.rows - len(gone), gone if run.gone is None else together([run.gone, gone])
    left = Run(None, run.columns, rows, run.classes, run.apart | apart, sum=rows, whole=run.whole)
    if tuning.GONE_SHARE * len(known) <= rows:
        left.gone = known
        return left
    return local_run((run.whole - known).with_numbers(None), left.apart)


def numbered(run: Run, number: int) -> Run:
    """The facts of a run, each with the same number beside it."""
    return _renumbered(run, (*run.columns, COUNT), [*run.columns, f"{number}L AS {COUNT}"], number)


def unnumbered(run: Run) -> Run:
    """The facts of a run without the numbers."""
    columns = tuple(name for name in run.columns if name != COUNT)
    return _renumbered(run, columns, columns, 1)


def _renumbered(run: Run, columns: tuple[str, ...], selected: Sequence[str], number: int) -> Run:
    local = None if run.local is None else run.local.with_numbers(number if COUNT in columns else None)
    name = None if run.name is None else select(selected, run.name)
    return Run(name, columns, run.rows, run.classes, run.apart, run.parts, run, number * run.rows, local)


def columns_of(facts: DriverFacts, width: int, counted: bool) -> list[NDArray[np.int64]]:
    """Facts by column, padded; with `counted`, their numbers are the last."""
    found = list(np.ascontiguousarray(widened(facts.rows, width + 1).T))
    return [*found, facts.numbers] if counted else found


def total(runs: Iterable[Run]) -> int:
    return sum(run.rows for run in runs)


def merged_length(sizes: Sequence[int], most: int) -> int:
    """How many of the last runs become one when there are `most` or more, given the sizes of all.

    What stays is larger than all that follows it together, so that facts are copied a few times only.
    """
    if len(sizes) < most:
        return 0
    length, rows = 2, sizes[-1] + sizes[-2]
    while length < len(sizes) and sizes[-length - 1] <= rows:
        length += 1
        rows += sizes[-length]
    return length

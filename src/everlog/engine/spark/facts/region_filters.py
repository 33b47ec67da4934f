"""Regions such as `Out^s` as conditions on columns.

A region may have thousands of atoms, most of them equal but for a constant or two: atoms with the same places of constants
and variables, and the same constants but for the last one, become one test of that last one among many values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import Atom, Constant, Variable
from everlog.engine.algebra import Region
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.driver_facts import DriverFacts
from everlog.engine.spark.facts.fact_schema import RELATION
from everlog.engine.spark.facts.row_indexes import column_of
from everlog.engine.spark.facts.runs import Run, classes_of
from everlog.engine.spark.facts.sets import ComputedFacts, SparkFacts, Tested, Wanted
from everlog.engine.spark.facts.sql_text import Keys, Table, padded, select

if TYPE_CHECKING:
    from everlog.engine.spark.engine import SparkEngine

Twins = tuple[tuple[str, str], ...]
"""Pairs of columns that must be equal, since an atom has one variable in both."""


class Tests:
    """A test whether a fact is an instance of one of some atoms."""

    def __init__(self, engine: SparkEngine, atoms: Sequence[Atom]) -> None:
        ids = engine.ids(term for atom in atoms for term in atom.terms if isinstance(term, Constant))
        self._groups: dict[tuple[tuple[tuple[str, int], ...], str, Twins], set[int]] = {}
        for atom in atoms:
            bound = {RELATION: engine.relation(atom.predicate, len(atom.terms))}
            first: dict[Variable, str] = {}
            twins = []
            for place, term in enumerate(atom.terms):
                if isinstance(term, Constant):
                    bound[f"a{place}"] = ids[term]
                elif term in first:
                    twins.append((first[term], f"a{place}"))
                else:
                    first[term] = f"a{place}"
            last = list(bound)[-1]
            value = bound.pop(last)
            self._groups.setdefault((tuple(bound.items()), last, tuple(twins)), set()).add(value)
        self._wanted = [
            {last: classes_of(values), **{column: classes_of([value]) for column, value in bound}}
            for (bound, last, _), values in self._groups.items()
        ]

    def __bool__(self) -> bool:
        return bool(self._groups)

    def condition(self, keys: Mapping[str, str]) -> str:
        """The test as an SQL condition on the fact whose columns are some expressions."""
        found = []
        for (bound, last, twins), values in self._groups.items():
            tests = [f"{keys[last]} IN ({', '.join(f'{value}L' for value in sorted(values))})"]
            tests += [f"{keys[column]} = {value}L" for column, value in bound]
            tests += [f"{keys[column]} = {keys[other]}" for column, other in twins]
            found.append(" AND ".join(tests))
        return f"({' OR '.join(found)})" if found else "false"

    def those(self, facts: DriverFacts) -> NDArray[np.bool_]:
        """Which facts on the driver are instances of one of the atoms."""
        found = np.zeros(len(facts), np.bool_)
        for (bound, last, twins), values in self._groups.items():
            tests = [*((_place(column), {id}) for column, id in bound), (_place(last), values)]
            alike = [(_place(column), _place(other)) for column, other in twins]
            if max(*(place for place, _ in tests), *chain.from_iterable(alike), 0) >= facts.rows.shape[1]:
                continue  # facts of that relation are wider
            numbers: NDArray[np.int64] | None = None  # all of them
            if len(tests) > 1:
                numbers, tests = _having(facts, *tests[:2]), tests[2:]
            mine = np.ones(len(facts) if numbers is None else len(numbers), np.bool_)
            for place, ids in tests:
                column = facts.rows[:, place] if numbers is None else column_of(facts.rows, numbers, place)
                mine &= column == next(iter(ids)) if len(ids) == 1 else _among(column, ids)
            for place, other in alike:
                some = facts.rows if numbers is None else facts.rows[numbers]
                mine &= some[:, place] == some[:, other]
            if numbers is None:
                found |= mine
            else:
                found[numbers[mine]] = True
        return found

    def may_match(self, run: Run) -> bool:
        """Whether a run may have an instance of one of the atoms."""
        return any(run.may_match(wanted) for wanted in self._wanted)


def _place(column: str) -> int:
    """Where a column is in the rows of the driver."""
    return 0 if column == RELATION else int(column[1:]) + 1


def _having(facts: DriverFacts, *tests: tuple[int, Collection[int]]) -> NDArray[np.int64]:
    """The numbers of the facts that have some ids at each of some places."""
    keys = np.array(list(product(*(ids for _, ids in tests))), np.int64)
    found = facts.index([place for place, _ in tests]).all(keys, len(facts))
    assert found is not None, "a fact has one key"
    return found[1]


def _among(ids: NDArray[np.int64], values: Collection[int]) -> NDArray[np.bool_]:
    """Which ids are among some values. A table of what is between these is faster than comparisons, unless it is large."""
    wanted = np.array(sorted(values), np.int64)
    return np.isin(ids, wanted, kind="table" if wanted[-1] - wanted[0] <= len(ids) else None)


class RegionFilter(Tested):
    """The facts of a region, as a test in queries and on the driver."""

    on_driver = True

    def __init__(self, engine: SparkEngine, region: Region) -> None:
        super().__init__(engine)
        self._inside, self._elsewhere = Tests(engine, region.patterns), Tests(engine, region.elsewhere)
        self._rest = region.rest

    def of(self, facts: SparkFacts) -> SparkFacts:
        """The facts that are in the region."""
        if self._rest and not self._elsewhere:
            return facts
        if isinstance(facts, ComputedFacts):
            runs = [run for run in facts.runs if self._rest or self._inside.may_match(run)]
            facts = ComputedFacts(facts.engine, runs)
        return facts & self

    def among(self, facts: DriverFacts) -> DriverFacts:
        inside = self._inside.those(facts)
        return facts.chosen(inside | ~self._elsewhere.those(facts) if self._rest else inside)

    def inside(self, rows: Table, keys: Keys, wanted: Wanted, at_most: int | None) -> Table:
        return select(["l.*"], f"{rows} l", [self._condition(keys)])

    def outside(self, rows: Table, keys: Keys, wanted: Wanted, at_most: int | None) -> Table:
        return select(["l.*"], f"{rows} l", [f"NOT {self._condition(keys)}"])

    def _condition(self, keys: Keys) -> str:
        """The region as an SQL condition on a row that has a fact as its keys."""
        columns = dict(zip(fact_schema.columns(self.engine.width), padded(keys, self.engine.width), strict=True))
        inside = self._inside.condition(columns)
        return f"({inside} OR NOT {self._elsewhere.condition(columns)})" if self._rest else inside

"""Small sets live on the driver: a job costs more than all that is done with them. This is the place that decides.

A run of few rows is fetched once, when it is first asked for, or never leaves the driver at all. What a large run has of
a few facts is asked by one job, and remembered: a run never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, Row

from everlog.datalog.ntriples import read_term
from everlog.datalog.values import Value
from everlog.engine.spark import tuning
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.fact_schema import COUNT
from everlog.engine.spark.facts.runs import Fact, Local, Numbers, Run, local_run, total
from everlog.engine.spark.facts.sql_text import own_keys, same, select, union

if TYPE_CHECKING:
    from everlog.engine.spark.engine import SparkEngine
    from everlog.engine.spark.facts.sets import SparkFacts


class Driver:
    """The facts of an engine that are on the driver."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine
        self._values: dict[int, Value] = {}
        """The values of constants, as far as somebody asked."""

    def takes(self, rows: int) -> bool:
        """Whether so many facts are few enough for the driver."""
        return rows <= tuning.DRIVER_FACTS

    def has(self, sets: Iterable[SparkFacts]) -> bool:
        """Whether the driver has all that some sets are made of, and none of them may have many facts."""
        return all(facts.on_driver and self.takes(facts.at_most()) for facts in sets)

    def values(self, ids: Iterable[int]) -> Mapping[int, Value]:
        """The values of some constants, and perhaps of others; what was asked once is remembered, as none ever changes."""
        unknown = sorted(set(ids) - self._values.keys())
        if unknown:
            query = f"SELECT id, term FROM {self._engine.texts()} WHERE id IN ({', '.join(map(str, unknown))})"
            self._values.update((id, read_term(term)) for id, term in self._engine.spark.sql(query).collect())
        return self._values

    def rows(self, runs: Sequence[Run]) -> Numbers | None:
        """The facts of some runs with their numbers, if they are few."""
        if not self.takes(total(runs)):
            return None
        found: dict[Fact, int] = {}
        for run in runs:
            found.update(self.fetched(run))
        return found

    def merged(self, runs: Sequence[Run]) -> Run | None:
        """One run on the driver with the facts of some runs; None if they are many."""
        few = self.rows(runs)
        if few is None:
            return None
        run = local_run(few, self._engine.width, counted=COUNT in runs[0].columns)
        run.parts = frozenset[int]().union(*(run.parts for run in runs))
        return run

    def fetched(self, run: Run) -> Numbers:
        """The facts of a small run with their numbers."""
        if run.local is None:
            names = ", ".join(run.columns)
            run.local = self._numbers(run.columns, self._engine.spark.sql(f"SELECT {names} FROM {run.name}").collect())
        return run.local

    def computed(self, frame: DataFrame) -> Numbers | None:
        """The facts that a query gives, if they are few; one job, and Spark keeps nothing."""
        rows = frame.limit(tuning.DRIVER_FACTS + 1).collect()
        return self._numbers(frame.columns, rows) if self.takes(len(rows)) else None

    def numbers(self, facts: Local, runs: Iterable[Run]) -> dict[Fact, int]:
        """Those of a few facts that some runs have, with their numbers; the runs have no fact in common."""
        found: dict[Fact, int] = {}
        far = []
        for run in runs:
            if run.local is None:
                far.append(run)
            else:
                found.update((fact, run.local[fact]) for fact in facts & run.local.keys())
        rest = facts.difference(found)
        self._ask(rest, far)
        for run in far:
            found.update((fact, number) for fact in rest if (number := run.known[fact]) is not None)
        return found

    def _ask(self, facts: Local, runs: Sequence[Run]) -> None:
        """Asks Spark, by one job, which of some facts some runs have, and notes the answers in `known` of these runs."""
        width = self._engine.width
        for run in runs:
            if len(run.known) > tuning.BROADCAST_LOOK_UP_FACTS:
                run.known.clear()
        asked = frozenset(fact for fact in facts if any(fact not in run.known for run in runs))
        there = [run for run in runs if any(run.may_have(fact, width) for fact in asked)]
        for run in runs:
            run.known.update(dict.fromkeys(asked))
        if not there:
            return
        sought = local_run(dict.fromkeys(asked, 1), width)
        names = [f"s.{name}" for name in fact_schema.columns(width)]
        parts = []
        for number, run in enumerate(there):
            count = COUNT if COUNT in run.columns else f"1L AS {COUNT}"
            columns = [f"{number} AS run", *fact_schema.columns(width), count]
            parts.append(select(columns, self._engine.table_of(run)))
        joined = f"{union(parts)} s JOIN {self._engine.table_of(sought)} l ON {same(own_keys(width))}"
        query = select([*names, f"s.{COUNT}", "s.run"], joined, hint="BROADCAST(l)")
        for *row, number in self._engine.spark.sql(f"SELECT * FROM {query}").collect():
            run = there[number]
            run.known.update(self._numbers([*fact_schema.columns(width), COUNT], [row]))

    def _numbers(self, columns: Sequence[str], rows: Sequence[Row | Sequence[int]]) -> dict[Fact, int]:
        """Rows as facts without padding, with the number beside each, or 1."""
        places = [columns.index(name) for name in fact_schema.columns(self._engine.width) if name in columns]
        numbered = columns.index(COUNT) if COUNT in columns else None
        arities = self._engine.arities
        return {
            tuple(row[place] for place in places[: arities[row[places[0]]] + 1]): 1
            if numbered is None
            else row[numbered]
            for row in rows
        }

"""Small sets live on the driver: a job costs more than all that is done with them. This is the place that decides.

What is on the driver stays there as long as all that it meets is there, too, up to a few million facts. A run of few rows
is fetched once, when it is first asked for. What a large run has of a few facts is asked by one job, and remembered: a
run never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from everlog.engine.spark import tuning
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.asked_runs import Questions
from everlog.engine.spark.facts.driver_facts import DriverFacts, matrix, together
from everlog.engine.spark.facts.driver_terms import DriverTerms
from everlog.engine.spark.facts.fact_schema import COUNT
from everlog.engine.spark.facts.runs import Run, local_run, total

if TYPE_CHECKING:
    from everlog.engine.spark.engine import SparkEngine
    from everlog.engine.spark.facts.sets import SparkFacts


class Numbered(NamedTuple):
    """Columns of facts, the number of each fact's group among those that agree in them, and for each group a fact."""

    columns: Sequence[NDArray[np.int64]]
    groups: NDArray[np.intp]
    first: NDArray[np.intp]


class Driver:
    """The facts of an engine that are on the driver."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine
        self.terms = DriverTerms(engine)
        self.questions = Questions(engine)
        self.grouped: WeakKeyDictionary[SparkFacts, dict[tuple[int, ...], Numbered]] = WeakKeyDictionary()
        """Groups of sets, as long as somebody has these, by a relation and the places of arguments."""

    def takes(self, rows: int) -> bool:
        """Whether so many facts that come in are few enough for the driver."""
        return rows <= tuning.DRIVER_FACTS

    def keeps(self, rows: int) -> bool:
        """Whether so many facts, all of which are there already, stay there: what follows may be as many."""
        return rows <= 2 * tuning.DRIVER_FACTS

    def fetches(self, rows: int) -> bool:
        """Whether so many facts are few enough to be fetched, or to be asked for one by one."""
        return rows <= min(tuning.FETCHED_FACTS, tuning.DRIVER_FACTS)

    def local_if_few(self, facts: SparkFacts) -> DriverFacts | None:
        """The facts of a set on the driver, if they are so few that it asks Spark for what they meet."""
        return facts.local() if self.fetches(facts.at_most()) else None

    def has(self, sets: Iterable[SparkFacts]) -> bool:
        """Whether the driver has all that some sets are made of, and none of them may have many facts."""
        return all(facts.on_driver and self.keeps(facts.at_most()) for facts in sets)

    def rows(self, runs: Sequence[Run], most: int = 0) -> DriverFacts | None:
        """The facts of some runs with their numbers, if they are few, or at most so many."""
        far = total(run for run in runs if not run.near)
        few = self.takes(total(runs)) and self.fetches(far) if far else self.keeps(total(runs))
        if total(runs) > most and not few:
            return None
        return together(self.fetched(run) for run in runs)

    def merged(self, runs: Sequence[Run]) -> Run | None:
        """One run on the driver with the facts of some runs; None if they are many."""
        few = self.rows(runs)
        if few is None:
            return None
        run = local_run(few, counted=COUNT in runs[0].columns)
        run.parts = frozenset[int]().union(*(run.parts for run in runs))
        return run

    def fetched(self, run: Run) -> DriverFacts:
        """The facts of a run with their numbers."""
        local = run.local
        if local is None:
            query = f"SELECT {', '.join(run.columns)} FROM {run.name}"
            local = run.whole = self._facts(self._engine.fetched(query, run.columns, run.rows))
            run.gone = None
        return local

    def computed(self, frame: DataFrame) -> DriverFacts | None:
        """The facts that a query gives, if they are few; one job, and Spark keeps nothing."""
        most = min(tuning.FETCHED_FACTS, tuning.DRIVER_FACTS)
        found = self._facts(frame.limit(most + 1).toArrow())
        return found if len(found) <= most else None

    def numbers(self, facts: DriverFacts, runs: Iterable[Run]) -> DriverFacts:
        """Those of a few facts that some runs have, with their numbers; the runs have no fact in common."""
        found, far, rest = [], [], facts
        for run in runs:
            if run.whole is None:
                far.append(run)
            elif len(rest):
                mine, there = rest.shared(run.whole)
                if run.gone is not None:
                    left = DriverFacts(rest.rows[mine]).places_in(run.gone) < 0
                    mine, there = mine[left], there[left]
                found.append(DriverFacts(rest.rows[mine], run.whole.numbers_at(there)))
                rest = rest.without(mine)
        if far and len(rest):
            found.append(self.questions.among(rest, far))
        return together(found)

    def _facts(self, table: pa.Table) -> DriverFacts:
        """The facts in a table, perhaps with a column of numbers."""
        columns = [name for name in fact_schema.columns(self._engine.width) if name in table.column_names]
        rows = matrix(table.select(columns))
        return DriverFacts(rows, table.column(COUNT).to_numpy() if COUNT in table.column_names else None)

"""Questions to runs in Spark: which facts they have with some ids in some columns.

A job takes as long for one question as for thousands. So work on the driver that needs answers is an *inquiry*: each task
of it notes what it does not know, and stops; one job answers all that was noted, and the tasks begin again, as often as
it takes. Answers are remembered with their run, which never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakSet

import numpy as np

from everlog.engine.spark import tuning
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.driver_facts import DriverFacts, each_once, matrix, together, widened
from everlog.engine.spark.facts.fact_schema import COUNT
from everlog.engine.spark.facts.row_indexes import Rows
from everlog.engine.spark.facts.runs import Answers, Run
from everlog.engine.spark.facts.sorted_files import SortedFiles
from everlog.engine.spark.facts.sql_text import Keys, Table, any_present, partitioned_union, select

if TYPE_CHECKING:
    from everlog.engine.spark.engine import SparkEngine

_Places: TypeAlias = tuple[int, ...]
_Noted: TypeAlias = dict[tuple[Run, _Places], DriverFacts]
"""Keys that are asked for, by run and places."""


class Unanswered(Exception):
    """Something was asked that nobody knows yet; it is noted."""


class TooMany(Exception):
    """More than the driver should look at."""


class Questions:
    """What is asked of the runs of an engine."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine
        self._noted: _Noted = {}
        self._inquiring = False
        self._asked = WeakSet[Run]()

    def inquire(self, tasks: Iterable[Callable[[], None]]) -> None:
        """Does some tasks; each that meets something unknown is done again when that is known.

        Raises `TooMany` where the answers are many.
        """
        waiting = list(tasks)
        self._forget()
        while waiting:
            self._inquiring = True
            try:
                waiting = [task for task in waiting if not self._done(task)]
                noted = self._noted
            finally:
                self._inquiring, self._noted = False, {}
            if noted:
                self._answer(noted)

    def _done(self, task: Callable[[], None]) -> bool:
        try:
            task()
        except Unanswered:
            return False
        return True

    def _forget(self) -> None:
        """Forgets answers that are many."""
        for run in self._asked:
            for places, (keys, facts) in [*run.answers.items()]:
                if len(keys) + len(facts) > tuning.REMEMBERED_ANSWERS:
                    del run.answers[places]

    # ------------------------------------------------------------------------------------ questions

    def having(self, run: Run, places: Sequence[int], keys: Rows) -> DriverFacts:
        """Facts of a run in Spark, among them all that have some keys at some places."""
        place = tuple(places)
        self._need([(run, place, each_once(keys))])
        return run.answers[place].facts if run.whole is None else run.whole

    def among(self, facts: DriverFacts, runs: Sequence[Run]) -> DriverFacts:
        """Those of some facts that some runs in Spark have, with their numbers; the runs have no fact in common."""
        width = self._engine.width
        places = tuple(range(width + 1))
        rest = DriverFacts(widened(facts.rows, width + 1)[:, : width + 1])
        found, left = self._known(rest, runs)
        if len(left):
            unknown = [(run.asked, places, left if run.gone is None else left - run.gone) for run in runs]
            self._need(unknown)
            more, _ = self._known(left, runs)
            found = together([found, more])
        return found

    def _known(self, facts: DriverFacts, runs: Sequence[Run]) -> tuple[DriverFacts, DriverFacts]:
        """Those of some facts that runs are known to have, and all others."""
        found = []
        for run in runs:
            asked = run.asked
            for some in [answers.facts for answers in asked.answers.values()] if asked.whole is None else [asked.whole]:
                there = some & facts
                if run.gone is not None:
                    there = there - run.gone
                if len(there):
                    found.append(there)
                    facts = facts - there
        return together(found), facts

    def _need(self, asked: Sequence[tuple[Run, _Places, DriverFacts]]) -> None:
        """Sees to it that some keys of runs are known: now, or, if this is an inquiry, when it goes on."""
        noted: _Noted = {}
        for run, places, keys in asked:
            if run.whole is not None:
                continue
            known = run.answers.get(places)
            if known is None:
                known = run.answers[places] = Answers(together([]), together([]))
            unknown = keys.chosen(run.may_have(places, keys.rows))
            unknown = unknown if not len(known.keys) else unknown - known.keys
            if len(unknown):
                noted[run, places] = unknown
        if not noted:
            return
        if not self._inquiring:
            self._answer(noted)
            return
        for question, keys in noted.items():
            self._noted[question] = self._noted[question] | keys if question in self._noted else keys
        raise Unanswered

    # ------------------------------------------------------------------------------------ answers

    def _answer(self, noted: _Noted) -> None:
        """Looks into sorted files, asks Spark about all else, by one job, and remembers what is there."""
        left: _Noted = {}
        for (run, places), keys in noted.items():
            if run.times_asked >= tuning.ASKED_BEFORE_SORTED and run.rows <= tuning.BROADCAST_JOIN_FACTS:
                self._engine.driver.fetched(run)
                continue
            files = self._files(run, places)
            if files is None:
                left[run, places] = keys
            else:
                most = tuning.ANSWERS + len(keys)
                rows = files.having(places, keys.rows, most)
                if rows is None:
                    raise TooMany
                self._remember(run, places, keys, rows)
        if left:
            runs = list(dict.fromkeys(run for run, _ in left))
            rows = self._found(left, runs)
            for (run, places), keys in left.items():
                mine = rows[rows[:, -1] == runs.index(run), :-1]
                has = keys.index(range(len(places))).has(np.ascontiguousarray(mine[:, places]))
                self._remember(run, places, keys, mine[has])
            for run in runs:
                run.times_asked += 1

    def _remember(self, run: Run, places: _Places, keys: DriverFacts, rows: Rows) -> None:
        """Notes which facts, given with their numbers, have some keys."""
        facts = DriverFacts(rows[:, :-1], np.ascontiguousarray(rows[:, -1]) if COUNT in run.columns else None)
        known = run.answers[places]
        run.answers[places] = Answers(together([known.keys, keys]), together([known.facts, facts]))
        self._asked.add(run)

    def _files(self, run: Run, places: _Places) -> SortedFiles | None:
        """Sorted files by which some keys are found, once a run has been asked a few times."""
        width = self._engine.width
        for files in run.files:
            if files.serves(places) and files.width == width:
                return files
        if run.times_asked < tuning.ASKED_BEFORE_SORTED:
            return None
        return self._engine.sorted_copy(run, [*places, *(place for place in range(width + 1) if place not in places)])

    def _found(self, noted: _Noted, runs: Sequence[Run]) -> Rows:
        """The facts of some runs that have keys which are asked for, each with its number, and that of the run."""
        engine, names = self._engine, fact_schema.columns(self._engine.width)
        keys = dict[_Places, DriverFacts]()
        for (_, places), some in noted.items():
            keys[places] = keys[places] | some if places in keys else some
        most = tuning.ANSWERS + sum(len(some) for places, some in keys.items() if len(places) == len(names))
        if sum(map(len, keys.values())) > max(most, tuning.BROADCAST_JOIN_FACTS):
            raise TooMany
        parts = []
        for number, run in enumerate(runs):
            count = COUNT if COUNT in run.columns else f"1L AS {COUNT}"
            parts.append(select([*names, count, f"{number}L AS run"], engine.table_of(run)))
        asked, held = list[tuple[Keys, Table, int]](), list[Run]()
        for places, some in keys.items():
            held.append(engine.few(fact_schema.columns(len(places) - 1), list(np.ascontiguousarray(some.rows.T))))
            asked.append(([f"l.{names[place]}" for place in places], held[-1].view(), 0))
        query = f"SELECT * FROM {any_present(partitioned_union(parts), asked)} LIMIT {most + 1}"
        found = matrix(engine.spark.sql(query).toArrow())
        if len(found) > most:
            raise TooMany
        return found

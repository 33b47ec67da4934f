"""Sets of facts as values on Spark: runs, and views over them that a job computes where it needs them.

A view is a set expression; it becomes part of the query of whatever uses it. Known relations between runs are used before
Spark is: `I - Δ` is `I` without the runs of `Δ`, and `I |= Δ` is free when `Δ` was derived to have nothing of `I`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from everlog.engine.algebra import FactSet, Region
from everlog.engine.spark import tuning
from everlog.engine.spark.facts.asked_runs import Unanswered
from everlog.engine.spark.facts.driver_facts import DriverFacts, each_once
from everlog.engine.spark.facts.row_indexes import Rows
from everlog.engine.spark.facts.runs import Run, local_run, total
from everlog.engine.spark.facts.sql_text import Keys, Table, absent, own_keys, partitioned_union, present, union

if TYPE_CHECKING:
    from everlog.engine.spark.engine import SparkEngine

Wanted = Mapping[str, int]
"""Classes of ids by column (see `runs.py`): facts with others are not needed."""

EVERYTHING: Wanted = {}


def as_spark_facts(facts: FactSet) -> SparkFacts:
    """A set that an algorithm hands over; it must be of this engine."""
    assert isinstance(facts, SparkFacts), "facts of another engine"
    return facts


def computed(facts: FactSet) -> ComputedFacts:
    """A set that an algorithm hands over, as runs."""
    return as_spark_facts(facts).computed()


class Part(NamedTuple):
    """Facts of which those count that are in some sets, and outside of others; the driver has them, or asks Spark."""

    facts: DriverFacts | None
    tests: tuple[tuple[SparkFacts, bool], ...] = ()
    ask: Callable[[Sequence[int], Rows], DriverFacts] | None = None

    def having(self, places: Sequence[int], keys: Rows) -> DriverFacts:
        """Facts on the driver, among them all that have some keys at some places."""
        if self.facts is not None:
            return self.facts
        assert self.ask is not None, "facts are somewhere"
        return self.ask(places, keys)

    def tested(self, test: SparkFacts, inside: bool) -> Part:
        """Those that pass one more test."""
        return self._replace(tests=(*self.tests, (test, inside)))

    def without(self, engine: SparkEngine, gone: DriverFacts | None) -> Part:
        """Those that are not gone."""
        return self if gone is None else self.tested(engine.local(gone), False)

    def passing(self, rows: Rows) -> NDArray[np.bool_]:
        """Which of some rows, perhaps several times the same, count."""
        found = np.ones(len(rows), np.bool_)
        some = each_once(rows) if self.tests and len(rows) else DriverFacts(rows)
        for test, inside in self.tests if len(rows) else ():
            found &= (DriverFacts(rows).places_in(test.among(some)) >= 0) == inside
        return found


def pieces_having(parts: Sequence[Part], places: Sequence[int], keys: Rows) -> list[DriverFacts]:
    """What `having` gives, part by part; all parts are asked before anybody waits for an answer."""
    found, unanswered = [], False
    for part in parts:
        try:
            found.append(part.having(places, keys))
        except Unanswered:
            unanswered = True
    if unanswered:
        raise Unanswered
    return found


class SparkFacts(FactSet):
    """A set of facts of a Spark engine."""

    def __init__(self, engine: SparkEngine) -> None:
        self.engine = engine

    @abstractmethod
    def table(self, wanted: Wanted = EVERYTHING, to_broadcast: bool = False) -> Table | None:
        """The facts, each once, but perhaps not those that are not wanted; None if there are certainly none.

        With `to_broadcast`, they are going to be broadcast, and are better on the driver if there are few.
        """

    @property
    @abstractmethod
    def on_driver(self) -> bool:
        """Whether the driver has all that this set is made of, so that no question about it takes a job."""

    @abstractmethod
    def local(self) -> DriverFacts | None:
        """The facts on the driver, if they are there, or so few that it fetches them."""

    @abstractmethod
    def among(self, facts: DriverFacts) -> DriverFacts:
        """Those of a few facts on the driver that are in this set."""

    @abstractmethod
    def at_most(self, wanted: Wanted = EVERYTHING) -> int:
        """At most so many facts are there; 0 means that there is none."""

    @abstractmethod
    def sources(self) -> Sequence[Run]:
        """The runs that the facts of the set are in; these may have other facts, too."""

    @abstractmethod
    def computed(self) -> ComputedFacts:
        """The set as runs, which a job computes unless that has been done."""

    def parts(self) -> Sequence[Part]:
        """The facts of a set that the driver has, as those of some runs that pass tests; no part has a fact of another.

        What is made of a run, such as an index, lasts.
        """
        return self.computed().parts()

    def covered(self) -> frozenset[int]:
        """The numbers of runs whose facts the set certainly has."""
        return frozenset()

    def inside(self, rows: Table, keys: Keys, wanted: Wanted, at_most: int | None) -> Table | None:
        """The rows whose keys are a fact of this set; None if there are certainly none.

        Only the wanted facts are asked for. There are at most `at_most` rows (None: nobody knows).
        """
        sought = self.table(wanted, to_broadcast=True)
        return None if sought is None else present(rows, keys, sought, self.at_most(wanted), at_most, self.engine.width)

    def outside(self, rows: Table, keys: Keys, wanted: Wanted, at_most: int | None) -> Table:
        """The rows whose keys are no fact of this set."""
        sought = self.table(wanted, to_broadcast=True)
        return rows if sought is None else absent(rows, keys, sought, self.at_most(wanted), at_most, self.engine.width)

    def __or__(self, other: FactSet) -> SparkFacts:
        right = as_spark_facts(other)
        if self is right or not right.at_most():
            return self
        if not self.at_most():
            return right
        if isinstance(self, ComputedFacts) and isinstance(right, ComputedFacts):
            new = [run for run in right.runs if run not in self.runs]
            if all(run.is_apart(self.runs) for run in new):
                return ComputedFacts(self.engine, (*self.runs, *new)) if new else self
        return View("|", self, right)

    def __sub__(self, other: FactSet) -> SparkFacts:
        left, right = self, as_spark_facts(other)
        if left is right:
            return self.engine.empty()
        if isinstance(left, ComputedFacts) and isinstance(right, ComputedFacts):
            shared = set(left.runs) & set(right.runs)
            left = ComputedFacts(self.engine, [run for run in left.runs if run not in shared])
            mine = left.runs
            right = ComputedFacts(
                self.engine, [run for run in right.runs if run not in shared and not run.is_apart(mine)]
            )
        return View("-", left, right) if left.at_most() and right.at_most() else left

    def __and__(self, other: FactSet) -> SparkFacts:
        # A test, of which nobody knows the size, comes second.
        left, right = sorted((self, as_spark_facts(other)), key=lambda facts: facts.at_most())
        if left is right:
            return left
        if not left.at_most():
            return self.engine.empty()
        if isinstance(left, ComputedFacts) and isinstance(right, ComputedFacts):
            shared = set(left.runs) & set(right.runs)
            others = [run for run in right.runs if run not in shared]
            if all(run.is_apart(others) for run in left.runs if run not in shared):
                return ComputedFacts(self.engine, [run for run in left.runs if run in shared])
        return View("&", left, right)

    def __ior__(self, other: FactSet) -> ComputedFacts:
        return self.computed().united(as_spark_facts(other))

    def __isub__(self, other: FactSet) -> ComputedFacts:
        return (self - other).computed()

    def __iand__(self, other: FactSet) -> ComputedFacts:
        return (self & other).computed()

    def __bool__(self) -> bool:
        return self.at_most() > 0 and len(self) > 0

    def __len__(self) -> int:
        return total(self.computed().runs)

    def within(self, region: Region) -> SparkFacts:
        return self.engine.region_filter(region).of(self)


class ComputedFacts(SparkFacts):
    """A computed set: runs that have no fact in common."""

    def __init__(self, engine: SparkEngine, runs: Sequence[Run]) -> None:
        super().__init__(engine)
        self.runs = tuple(run for run in runs if run.rows)
        self._one: Run | None = None
        """All facts, in one run on the driver."""
        self._local: DriverFacts | None = None

    def table(self, wanted: Wanted = EVERYTHING, to_broadcast: bool = False) -> Table | None:
        chosen = [run for run in self.runs if run.may_match(wanted)]
        if not chosen:
            return None
        if to_broadcast and len(chosen) > 1 and self.engine.driver.fetches(total(self.runs)):
            # Spark broadcasts one list of rows without a job, but not the union of several.
            self._one = self._one or self.engine.driver.merged(self.runs)
            chosen = [self._one] if self._one is not None else chosen
        return partitioned_union([self.engine.table_of(run, to_broadcast) for run in chosen])

    def outside(self, rows: Table, keys: Keys, wanted: Wanted, at_most: int | None) -> Table:
        asked = [self.engine.placed(run) for run in self.runs if run.may_match(wanted)]
        # Runs on the driver are not partitioned, so each sort of runs is asked by itself.
        for on_driver in (True, False):
            runs = [run for run in asked if (run.name is None) == on_driver]
            if runs:
                size = total(runs)
                few = size <= tuning.BROADCAST_LOOK_UP_FACTS
                sought = partitioned_union([self.engine.table_of(run, to_broadcast=few) for run in runs])
                rows = absent(rows, keys, sought, size, at_most, self.engine.width)
        return rows

    @property
    def on_driver(self) -> bool:
        return all(run.near for run in self.runs)

    def local(self) -> DriverFacts | None:
        if self._local is None:
            self._local = self.engine.driver.rows(self.runs)
        return self._local

    def fetched(self, most: int) -> DriverFacts | None:
        """The facts on the driver, if they are at most so many."""
        if self._local is None:
            self._local = self.engine.driver.rows(self.runs, most)
        return self._local

    def pieces(self) -> Sequence[DriverFacts]:
        """The facts of a set that the driver has, run by run: what is made of a run, such as an index, lasts."""
        return [run.local for run in self.runs if run.local is not None]

    def parts(self) -> Sequence[Part]:
        ask = self.engine.driver.questions.having
        parts = (Part(run.whole) if run.near else Part(None, ask=partial(ask, run.asked)) for run in self.runs)
        return [part.without(self.engine, run.gone) for part, run in zip(parts, self.runs, strict=True)]

    def among(self, facts: DriverFacts) -> DriverFacts:
        return self.engine.driver.numbers(facts, self.runs).with_numbers(None)

    def at_most(self, wanted: Wanted = EVERYTHING) -> int:
        return total(run for run in self.runs if run.may_match(wanted))

    def sources(self) -> Sequence[Run]:
        return self.runs

    def computed(self) -> ComputedFacts:
        return self

    def covered(self) -> frozenset[int]:
        return frozenset[int]().union(*(run.parts for run in self.runs))

    def united(self, other: SparkFacts) -> ComputedFacts:
        """The union with another set, as runs."""
        if not self.runs:
            return other.computed()
        if not isinstance(other, ComputedFacts):
            other = (other - self).computed()
            return ComputedFacts(self.engine, (*self.engine.compacted(self.runs), *other.runs)) if other.runs else self
        new = [run for run in other.runs if run not in self.runs]
        apart = [run for run in new if run.is_apart(self.runs)]
        overlapping = [run for run in new if run not in apart]
        if overlapping:
            apart += (ComputedFacts(self.engine, overlapping) - self).computed().runs
        return ComputedFacts(self.engine, (*self.engine.compacted(self.runs), *apart)) if apart else self


class Tested(SparkFacts):
    """All facts that pass a test; nobody knows how many there are, and it has none of its own."""

    def table(self, wanted: Wanted = EVERYTHING, to_broadcast: bool = False) -> Table | None:
        raise TypeError("a test has no facts of its own: intersect it with a set")

    def at_most(self, wanted: Wanted = EVERYTHING) -> int:
        return 2**62

    def local(self) -> DriverFacts | None:
        return None

    def sources(self) -> Sequence[Run]:
        return ()

    def computed(self) -> ComputedFacts:
        raise TypeError("a test has no facts of its own: intersect it with a set")


class View(SparkFacts):
    """`left | right`, `left - right` or `left & right`; computed at most once, when it must be."""

    def __init__(self, operator: str, left: SparkFacts, right: SparkFacts) -> None:
        super().__init__(left.engine)
        self.operator, self.left, self.right = operator, left, right
        self._computed: ComputedFacts | None = None
        self._local: DriverFacts | None = None

    def table(self, wanted: Wanted = EVERYTHING, to_broadcast: bool = False) -> Table | None:
        if self._is_settled():
            return self.computed().table(wanted, to_broadcast)
        left = self.left.table(wanted)
        keys = own_keys(self.engine.width)
        if self.operator == "-":
            return None if left is None else self.right.outside(left, keys, wanted, self.left.at_most(wanted))
        if self.operator == "&":
            return None if left is None else self.right.inside(left, keys, wanted, self.left.at_most(wanted))
        right = self.right.table(wanted)
        if left is None or right is None:
            return right if left is None else left
        # The smaller set gives way to the larger one.
        if self.left.at_most(wanted) < self.right.at_most(wanted):
            return union([self.right.outside(left, keys, wanted, self.left.at_most(wanted)), right])
        return union([left, self.left.outside(right, keys, wanted, self.right.at_most(wanted))])

    def inside(self, rows: Table, keys: Keys, wanted: Wanted, at_most: int | None) -> Table | None:
        if self.operator == "|" or self._is_settled():
            return super().inside(rows, keys, wanted, at_most)
        found = self.left.inside(rows, keys, wanted, at_most)
        if found is None:
            return None
        if self.operator == "&":
            return self.right.inside(found, keys, wanted, at_most)
        return self.right.outside(found, keys, wanted, at_most)

    def outside(self, rows: Table, keys: Keys, wanted: Wanted, at_most: int | None) -> Table:
        if self.operator != "|" or self._is_settled():
            return super().outside(rows, keys, wanted, at_most)
        return self.right.outside(self.left.outside(rows, keys, wanted, at_most), keys, wanted, at_most)

    def at_most(self, wanted: Wanted = EVERYTHING) -> int:
        if self._computed is not None:
            return self._computed.at_most(wanted)
        left = self.left.at_most(wanted)
        if self.operator == "-":
            return left
        right = self.right.at_most(wanted)
        return left + right if self.operator == "|" else min(left, right)

    def sources(self) -> Sequence[Run]:
        if self._computed is not None:
            return self._computed.runs
        left = self.left.sources()
        return [*left, *self.right.sources()] if self.operator == "|" else left

    def covered(self) -> frozenset[int]:
        return self.left.covered() | self.right.covered() if self.operator == "|" else frozenset()

    def _is_settled(self) -> bool:
        """Whether the set is computed, or can be on the driver without a job: then it is no expression of a query."""
        return self._computed is not None or (self.on_driver and self.engine.driver.keeps(self.at_most()))

    @property
    def on_driver(self) -> bool:
        return self.left.on_driver and self.right.on_driver if self._computed is None else self._computed.on_driver

    def local(self) -> DriverFacts | None:
        if self._computed is not None:
            return self._computed.local()
        if self._local is None:
            self._local = self._made()
        return self._local

    def _made(self) -> DriverFacts | None:
        """The facts on the driver, made of those of both sides."""
        left = self.left.local()
        if left is None:
            return None
        if self.operator != "|":
            asks = not self.right.on_driver
            return None if asks and not self.engine.driver.fetches(len(left)) else self._chosen(left)
        right = self.right.local()
        return None if right is None else left | right

    def parts(self) -> Sequence[Part]:
        if self._computed is not None:
            return self._computed.parts()
        left = self.left.parts()
        if self.operator == "|":
            return [*left, *(part.tested(self.left, False) for part in self.right.parts())]
        return [part.tested(self.right, self.operator == "&") for part in left]

    def among(self, facts: DriverFacts) -> DriverFacts:
        if self._computed is not None:
            return self._computed.among(facts)
        if self.operator == "|":
            found = self.left.among(facts)
            return found | self.right.among(facts - found)
        if self.operator == "&" and self.right.on_driver:
            return self.left.among(self.right.among(facts))
        return self._chosen(self.left.among(facts))

    def _chosen(self, facts: DriverFacts) -> DriverFacts:
        """Those of some facts of the left set that the operator keeps: outside of the right set, or inside of it."""
        found = self.right.among(facts) if len(facts) else facts
        return facts - found if self.operator == "-" else found

    def _run_by_run(self, left: ComputedFacts) -> ComputedFacts | None:
        """`left - right` where runs stay what they are but for a few facts; None if they cannot."""
        driver, apart = self.engine.driver, self.right.covered()
        if not left.on_driver:
            few = self.right.local() if self.right.on_driver and driver.fetches(self.right.at_most()) else None
            if few is None or driver.fetches(left.at_most()):
                return None
            driver.numbers(few, left.runs)  # all runs are asked at once
        elif not self._is_settled():
            return None
        return ComputedFacts(self.engine, [self._outside(run, apart) for run in left.runs])

    def _outside(self, run: Run, apart: frozenset[int]) -> Run:
        """The facts of a run of the left set that are not in the right set; the run itself, if all are."""
        few = self.right.local() if run.rows > self.right.at_most() or not run.near else None
        if few is not None:
            gone = self.engine.driver.numbers(few, [run]).with_numbers(None)
            return self.engine.remaining(run, gone, apart) if len(gone) else run
        assert run.local is not None
        found = run.local - self.right.among(run.local)
        return run if found is run.local else local_run(found.with_numbers(None), run.apart | apart)

    def computed(self) -> ComputedFacts:
        if self._computed is None and self.operator == "-" and isinstance(self.left, ComputedFacts):
            self._computed = self._run_by_run(self.left)
        if self._computed is None:
            apart = self.right.covered() if self.operator == "-" else frozenset[int]()
            local, engine = self.local(), self.engine
            self._computed = engine.computed(self.table(), apart) if local is None else engine.local(local, apart)
        return self._computed

"""Multisets and annotations: facts with a number beside them.

Both are runs of facts, each once, whose numbers are in the column `COUNT`. An annotation has the facts whose value is not
0. Where few of many values change, the new ones are on the driver and lie over the old.
Runs and what lies over them are replaced, never changed, so that a savepoint is what there was at that time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from everlog.engine.algebra import Annotation, Counted, FactSet
from everlog.engine.spark import tuning
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.driver_facts import DriverFacts, together
from everlog.engine.spark.facts.fact_schema import COUNT
from everlog.engine.spark.facts.runs import Run, local_run, numbered, total, unnumbered
from everlog.engine.spark.facts.sets import (
    EVERYTHING,
    ComputedFacts,
    SparkFacts,
    Tested,
    Wanted,
    as_spark_facts,
    computed,
)
from everlog.engine.spark.facts.sql_text import Keys, Table, absent, own_keys, partitioned_union, present, select, union

if TYPE_CHECKING:
    from everlog.engine.spark.engine import SparkEngine


class SparkCounted(Counted):
    """A multiset: distinct facts with positive numbers."""

    def __init__(self, engine: SparkEngine, runs: Iterable[Run]) -> None:
        self.engine = engine
        self.runs = tuple(run for run in runs if run.rows)

    def table(self) -> Table | None:
        """The facts with their numbers in the column `COUNT`."""
        return partitioned_union([self.engine.table_of(run) for run in self.runs]) if self.runs else None

    def local(self) -> DriverFacts | None:
        """The facts with their numbers on the driver, if there are few."""
        return self.engine.driver.rows(self.runs)

    def __bool__(self) -> bool:
        return bool(self.runs)

    def total(self) -> int:
        return sum(run.sum for run in self.runs)

    def support(self) -> ComputedFacts:
        return ComputedFacts(self.engine, [unnumbered(run) for run in self.runs])

    def __add__(self, other: Counted | FactSet) -> SparkCounted:
        return self._combined(other, 1)

    def __sub__(self, other: Counted | FactSet) -> SparkCounted:
        return self._combined(other, -1)

    def _combined(self, other: Counted | FactSet, sign: int) -> SparkCounted:
        more = as_counted(other)
        if not more or not self:
            return more if sign == 1 and not self else self
        mine, others = self.local(), more.local()
        if mine is not None and others is not None:
            return positive(self.engine, mine.plus(others, sign))
        table = select(["*"], added(self.engine, self.table(), more.table(), sign), [f"{COUNT} > 0"])
        return SparkCounted(self.engine, [self.engine.run(table)])


def as_counted(facts: Counted | FactSet) -> SparkCounted:
    """A multiset of this engine; a set is one in which each fact occurs once."""
    if isinstance(facts, SparkCounted):
        return facts
    assert isinstance(facts, SparkFacts), "facts of another engine"
    return SparkCounted(facts.engine, [numbered(run, 1) for run in facts.computed().runs])


def positive(engine: SparkEngine, facts: DriverFacts) -> SparkCounted:
    """A multiset on the driver, of the facts whose numbers are positive."""
    return SparkCounted(engine, [local_run(facts.chosen(facts.numbers > 0), counted=True)])


def added(engine: SparkEngine, left: Table | None, right: Table | None, sign: int) -> Table:
    """A query for the sum of two tables of facts with numbers, those of the second with a sign; one may be missing."""
    names = fact_schema.columns(engine.width)
    tables = [] if left is None else [left]
    if right is not None:
        tables.append(select([*names, f"{sign} * {COUNT} AS {COUNT}"], right))
    columns = ", ".join(names)
    return f"(SELECT {columns}, sum({COUNT}) AS {COUNT} FROM {union(tables)} GROUP BY {columns})"


class AnnotationSnapshot(NamedTuple):
    """The values of an annotation at some time."""

    runs: tuple[Run, ...]
    over: Run | None

    def of(self, engine: SparkEngine, facts: DriverFacts) -> DriverFacts:
        """The values of a few facts; facts whose value is 0 may be missing."""
        over = self.overlay()
        if over is None:
            return engine.driver.numbers(facts, self.runs)
        return together([over & facts, engine.driver.numbers(facts - over, self.runs)])

    def overlay(self) -> DriverFacts | None:
        return None if self.over is None else self.over.local


def differences(
    engine: SparkEngine, before: AnnotationSnapshot, after: AnnotationSnapshot
) -> tuple[DriverFacts, DriverFacts] | None:
    """What facts had before and what they have afterwards, where that differs; None if these facts may be many."""
    changed = together([])
    others = [run for run in (*before.runs, *after.runs) if run not in before.runs or run not in after.runs]
    theirs = [engine.driver.rows([run]) for run in others]
    if any(one is None for one in theirs):
        return None
    for one in [before.overlay(), after.overlay(), *theirs]:
        changed = changed if one is None else changed | one.with_numbers(None)
    old, new = (changed.numbers_in(values.of(engine, changed)) for values in (before, after))
    left, right = (changed.with_numbers(values).chosen((old != new) & (values != 0)) for values in (old, new))
    return left, right


class SparkAnnotation(Annotation):
    """An integer for every fact."""

    def __init__(self, engine: SparkEngine) -> None:
        self.engine = engine
        self._runs: tuple[Run, ...] = ()
        self._over: Run | None = None
        """On the driver: facts whose values differ from those of the runs."""

    @property
    def on_driver(self) -> bool:
        return all(run.near for run in self._runs)

    @property
    def rows(self) -> int:
        return total(self._runs) + (0 if self._over is None else self._over.rows)

    def table(self) -> Table | None:
        """The facts whose value is not 0, with that value as `COUNT`."""
        width = self.engine.width
        values = partitioned_union([self.engine.table_of(run) for run in self._runs]) if self._runs else None
        if self._over is None:
            return values
        over = self.engine.table_of(self._over)
        tables = [select(["*"], over, [f"{COUNT} != 0"])]
        if values is not None:
            tables.append(absent(values, own_keys(width), over, self._over.rows, total(self._runs), width))
        return union(tables)

    def of(self, facts: DriverFacts) -> DriverFacts:
        """The values of a few facts; facts whose value is 0 may be missing."""
        return self.values().of(self.engine, facts)

    def values(self) -> AnnotationSnapshot:
        return AnnotationSnapshot(self._runs, self._over)

    # ------------------------------------------------------------------------------------ changes

    def _put(self, values: DriverFacts) -> None:
        """Gives new values to a few facts, on the driver; where these have become many, all values become one run."""
        old = self.values().overlay()
        over = values if old is None else together([values, old - values])
        whole = self.engine.driver.rows(self._runs) if self.on_driver else None
        if whole is not None and len(over) * tuning.OVERLAY_SHARE > len(whole):
            over = together([over, whole - over])
            over = over.chosen(over.numbers != 0)
            self._runs, self._over = (local_run(over, counted=True),) if len(over) else (), None
            return
        self._over = local_run(over, counted=True) if len(over) else None
        if whole is None and len(over) > tuning.BROADCAST_LOOK_UP_FACTS:
            self._replace(self.table())

    def _replace(self, table: Table | None) -> None:
        found = None if table is None else self.engine.run(select(["*"], table, [f"{COUNT} != 0"]))
        self._runs, self._over = () if found is None or not found.rows else (found,), None

    def _append(self, runs: Iterable[Run]) -> bool:
        """Takes values of further facts as they are, if it is known that these have none."""
        new = [run for run in runs if run.rows]
        if self._over is not None or not all(run.is_apart(self._runs) for run in new):
            return False
        self._runs = (*self.engine.compacted(self._runs), *new)
        return True

    def _with_others(self, facts: SparkFacts, table: Table) -> Table:
        """A query for the new values of some facts, given as a table, together with the old values of all others."""
        values = self.table()
        if values is None:
            return table
        return partitioned_union([facts.outside(values, own_keys(self.engine.width), EVERYTHING, self.rows), table])

    def set(self, facts: FactSet, value: int) -> None:
        chosen = computed(facts)
        few = chosen.local()
        if few is not None:
            self._put(few.with_numbers(value))
        elif not value or not self._append(numbered(run, value) for run in chosen.runs):
            table = chosen.table()
            assert table is not None, "many facts"
            self._replace(self._with_others(chosen, select(["*", f"{value}L AS {COUNT}"], table)))

    def add(self, facts: Counted | FactSet, sign: int = 1) -> None:
        more = as_counted(facts)
        if not more or (sign == 1 and not self.rows and self._append(more.runs)):
            return
        few = more.local()
        if few is not None:
            self._put(few.with_numbers(few.numbers_in(self.of(few)) + sign * few.numbers))
        elif sign != 1 or not self._append(more.runs):
            self._replace(added(self.engine, self.table(), more.table(), sign))

    def assign(self, facts: FactSet, other: Annotation) -> None:
        assert isinstance(other, SparkAnnotation), "an annotation of another engine"
        chosen = computed(facts)
        few = chosen.local()
        if few is not None:
            self._put(few.with_numbers(few.numbers_in(other.of(few))))
            return
        table = other.beside(chosen)
        if table is not None:
            self._replace(self._with_others(chosen, table))

    def savepoint(self) -> Callable[[], None]:
        values = self.values()

        def undo() -> None:
            self._runs, self._over = values

        return undo

    # ------------------------------------------------------------------------------------ values

    def beside(self, facts: SparkFacts) -> Table | None:
        """A query for facts, each with its value as `COUNT`."""
        table, values, names = facts.table(), self.table(), fact_schema.columns(self.engine.width)
        if table is None:
            return None
        if values is None:
            return select(["*", f"0L AS {COUNT}"], table)
        columns = [*(f"l.{name}" for name in names), f"coalesce(s.{COUNT}, 0L) AS {COUNT}"]
        same = " AND ".join(f"l.{name} = s.{name}" for name in names)
        return select(columns, f"{table} l LEFT JOIN {values} s ON {same}", hint="SHUFFLE_HASH(l)")

    def nbytes(self) -> int:
        return 0

    def between(self, least: int, greatest: int) -> Between:
        return Between(self, least, greatest)

    def counted(self, facts: FactSet) -> SparkCounted:
        chosen = as_spark_facts(facts)
        few = chosen.local()
        if few is not None:
            return positive(self.engine, few.with_numbers(few.numbers_in(self.of(few))))
        table = self.beside(chosen)
        if table is None:
            return SparkCounted(self.engine, ())
        return SparkCounted(self.engine, [self.engine.run(select(["*"], table, [f"{COUNT} > 0"]))])


class Between(Tested):
    """All facts whose annotation lies in a range."""

    def __init__(self, annotation: SparkAnnotation, least: int, greatest: int) -> None:
        super().__init__(annotation.engine)
        self._annotation, self._least, self._greatest = annotation, least, greatest
        self._has_zero = least <= 0 <= greatest

    @property
    def on_driver(self) -> bool:
        return self._annotation.on_driver

    def among(self, facts: DriverFacts) -> DriverFacts:
        values = facts.numbers_in(self._annotation.of(facts))
        return facts.chosen((self._least <= values) & (values <= self._greatest))

    def inside(self, rows: Table, keys: Keys, wanted: Wanted, at_most: int | None) -> Table | None:
        values = self._annotation.table()
        if values is None:
            return rows if self._has_zero else None
        return self._chosen(rows, keys, values, at_most, negated=False)

    def outside(self, rows: Table, keys: Keys, wanted: Wanted, at_most: int | None) -> Table:
        values = self._annotation.table()
        if values is None:
            return select(["*"], rows, ["false"]) if self._has_zero else rows
        return self._chosen(rows, keys, values, at_most, negated=True)

    def _chosen(self, rows: Table, keys: Keys, values: Table, at_most: int | None, negated: bool) -> Table:
        # What has no value of its own has 0: the others tell which rows are to go, or which are to stay.
        sign = "NOT " if self._has_zero else ""
        told = select(["*"], values, [f"{COUNT} {sign}BETWEEN {self._least}L AND {self._greatest}L"])
        chosen = absent if self._has_zero != negated else present
        return chosen(rows, keys, told, self._annotation.rows, at_most, self.engine.width)

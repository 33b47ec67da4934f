"""Multisets and annotations: facts with a number beside them.

An annotation is a run of the facts whose value is not the default, with the difference. It is replaced, never changed, so
that a savepoint is the run of that time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from everlog.engine.algebra import Annotation, Counted, FactSet
from everlog.engine.spark import naming
from everlog.engine.spark.naming import COUNT
from everlog.engine.spark.queries import Keys, Table, absent, own_keys, present, select, union
from everlog.engine.spark.runs import Local, Run
from everlog.engine.spark.sets import EVERYTHING, SparkFacts, Stored, Wanted, own

if TYPE_CHECKING:
    from everlog.engine.spark.engine import SparkEngine


class SparkCounted(Counted):
    """A multiset: distinct facts with positive numbers, computed when it is first asked for."""

    def __init__(self, engine: SparkEngine, table: Table | None, run: Run | None = None) -> None:
        self.engine = engine
        self._table = table
        self._run = run

    def run(self) -> Run | None:
        if self._run is None and self._table is not None:
            self._run = self.engine.run(self._table)
            self._table = None
        return self._run

    def computed_run(self) -> Run | None:
        """The run of a multiset that is computed already."""
        return self._run

    def table(self) -> Table | None:
        """Facts with `COUNT`."""
        if self._run is not None:
            return with_numbers(self._run, self.engine.width)
        return self._table

    def __bool__(self) -> bool:
        run = self.run()
        return run is not None and run.rows > 0

    def total(self) -> int:
        run = self.run()
        return 0 if run is None else run.sum

    def support(self) -> Stored:
        run = self.run()
        if run is None:
            return self.engine.empty()
        columns = tuple(name for name in run.columns if name != COUNT)
        facts = Run(select(columns, run.view()), columns, run.rows, run.classes, run.apart, run.parts, run)
        return Stored(self.engine, [facts])

    def __add__(self, other: Counted | FactSet) -> SparkCounted:
        return self._combined(other, 1)

    def __sub__(self, other: Counted | FactSet) -> SparkCounted:
        return self._combined(other, -1)

    def _combined(self, other: Counted | FactSet, sign: int) -> SparkCounted:
        self.run()
        more = as_counted(other)
        summed = added(self.engine, self.table(), more.table(), sign)
        found = SparkCounted(self.engine, None if summed is None else select(["*"], summed, [f"{COUNT} > 0"]))
        found.run()
        return found


def as_counted(facts: Counted | FactSet) -> SparkCounted:
    """A multiset of this engine, computed as far as it has to be; a set is one in which each fact occurs once."""
    if isinstance(facts, SparkCounted):
        facts.run()
        return facts
    assert isinstance(facts, SparkFacts), "facts of another engine"
    table = facts.computed().table()
    return SparkCounted(facts.engine, None if table is None else select(["*", f"1L AS {COUNT}"], table))


def with_numbers(run: Run, width: int) -> Table | None:
    """The facts of a run with their numbers."""
    return select([*naming.columns(width), COUNT], f"{_widened(run, width)} l") if run.rows else None


def _widened(run: Run, width: int) -> Table:
    missing = [name for name in naming.columns(width) if name not in run.columns]
    return select(["*", *(f"{naming.PADDING}L AS {name}" for name in missing)], run.view()) if missing else run.view()


def added(engine: SparkEngine, left: Table | None, right: Table | None, sign: int) -> Table | None:
    """The numbers of two tables added, those of the second with a sign; facts that neither has are not there."""
    names = naming.columns(engine.width)
    if right is None:
        return left
    right = select([*names, f"{sign} * {COUNT} AS {COUNT}"], right)
    if left is None:
        return right
    columns = ", ".join(names)
    return f"(SELECT {columns}, sum({COUNT}) AS {COUNT} FROM {union([left, right])} GROUP BY {columns})"


class SparkAnnotation(Annotation):
    """An integer for every fact."""

    def __init__(self, engine: SparkEngine, default: int) -> None:
        self.engine = engine
        self.default = default
        self._values: Run | None = None

    def table(self) -> Table | None:
        """The facts whose value is not the default, with the difference as `COUNT`."""
        return None if self._values is None else with_numbers(self._values, self.engine.width)

    @property
    def rows(self) -> int:
        return 0 if self._values is None else self._values.rows

    def _replace(self, table: Table | None) -> None:
        self._values = None if table is None else self.engine.run(select(["*"], table, [f"{COUNT} != 0"]))

    def _with_others(self, facts: SparkFacts, table: Table) -> Table:
        """New values of some facts, and the values of all others."""
        values = self.table()
        if values is None:
            return table
        return union([facts.outside(values, own_keys(self.engine.width), EVERYTHING, self.rows), table])

    def set(self, facts: FactSet, value: int) -> None:
        chosen = own(facts).computed()
        table = chosen.table()
        if table is not None:
            self._replace(self._with_others(chosen, select(["*", f"{value - self.default}L AS {COUNT}"], table)))

    def add(self, facts: Counted | FactSet, sign: int = 1) -> None:
        given = as_counted(facts)
        if self._values is None and sign == 1 and (run := given.computed_run()) is not None:
            self._values = run
            return
        more = given.table()
        if more is not None:
            self._replace(added(self.engine, self.table(), more, sign))

    def assign(self, facts: FactSet, other: Annotation) -> None:
        assert isinstance(other, SparkAnnotation), "an annotation of another engine"
        chosen = own(facts).computed()
        table = other.offsets(chosen, self.default)
        if table is not None:
            self._replace(self._with_others(chosen, table))

    def offsets(self, facts: SparkFacts, default: int) -> Table | None:
        """Facts with the difference of their value to some default."""
        table, values, names = facts.table(), self.table(), naming.columns(self.engine.width)
        shift = self.default - default
        if table is None:
            return None
        if values is None:
            return select(["*", f"{shift}L AS {COUNT}"], table)
        columns = [*(f"l.{name}" for name in names), f"coalesce(s.{COUNT}, 0L) + {shift} AS {COUNT}"]
        same = " AND ".join(f"l.{name} = s.{name}" for name in names)
        return select(columns, f"{table} l LEFT JOIN {values} s ON {same}", hint="SHUFFLE_HASH(l)")

    def savepoint(self) -> Callable[[], None]:
        values = self._values

        def undo() -> None:
            self._values = values

        return undo

    def nbytes(self) -> int:
        return 0

    def between(self, least: int, greatest: int) -> Between:
        return Between(self, least, greatest)

    def counted(self, facts: FactSet) -> SparkCounted:
        table = self.offsets(own(facts), 0)
        found = SparkCounted(self.engine, None if table is None else select(["*"], table, [f"{COUNT} > 0"]))
        found.run()
        return found


class Between(SparkFacts):
    """All facts whose annotation lies in a range; it has no facts of its own, only a test."""

    def __init__(self, annotation: SparkAnnotation, least: int, greatest: int) -> None:
        super().__init__(annotation.engine)
        self._annotation = annotation
        self._least, self._greatest = least - annotation.default, greatest - annotation.default
        self._usual = self._least <= 0 <= self._greatest
        """Whether the default is in the range."""

    def table(self, wanted: Wanted = EVERYTHING, near: bool = False) -> Table | None:
        raise TypeError("a range of annotations has no facts of its own: intersect it with a set")

    def about(self, wanted: Wanted = EVERYTHING) -> int:
        return 2**62

    def local(self) -> Local | None:
        return None

    def computed(self) -> Stored:
        raise TypeError("a range of annotations has no facts of its own: intersect it with a set")

    def inside(self, rows: Table, keys: Keys, wanted: Wanted, about: int | None) -> Table | None:
        values = self._annotation.table()
        if values is None:
            return rows if self._usual else None
        return self._chosen(rows, keys, values, about, negated=False)

    def outside(self, rows: Table, keys: Keys, wanted: Wanted, about: int | None) -> Table:
        values = self._annotation.table()
        if values is None:
            return select(["*"], rows, ["false"]) if self._usual else rows
        return self._chosen(rows, keys, values, about, negated=True)

    def _chosen(self, rows: Table, keys: Keys, values: Table, about: int | None, negated: bool) -> Table:
        # What has no value of its own has the default: the others tell which rows are to go, or which are to stay.
        sign = "NOT " if self._usual else ""
        told = select(["*"], values, [f"{COUNT} {sign}BETWEEN {self._least}L AND {self._greatest}L"])
        chosen = absent if self._usual != negated else present
        return chosen(rows, keys, told, self._annotation.rows, about, self.engine.width)

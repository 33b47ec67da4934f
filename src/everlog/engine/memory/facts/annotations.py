"""Multisets and annotations in memory: rows of tables with a number beside each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from everlog.engine.algebra import Annotation, Counted, FactSet
from everlog.engine.memory import tuning
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.rows import NO_ANNOTATION, NO_ROWS
from everlog.engine.memory.facts.sets import Between, ComputedFacts, MemoryFacts, Within, as_memory_facts
from everlog.engine.memory.facts.table import Ids, Table, grown

RowValues = npt.NDArray[np.int32]

Tally = tuple[Ids, npt.NDArray[np.int64]]
"""Distinct rows and how often each occurs, or another value of each."""

_NO_TALLY: Tally = (NO_ROWS, np.empty(0, np.int64))


class CountedFacts(Counted):
    """A multiset: rows of tables with positive multiplicities."""

    def __init__(self, within: Within, parts: Mapping[Table, Tally]) -> None:
        self._within = within
        self._parts = parts

    def parts(self) -> Mapping[Table, Tally]:
        return self._parts

    def __bool__(self) -> bool:
        return any(len(rows) for rows, _ in self._parts.values())

    def total(self) -> int:
        return sum(int(counts.sum()) for _, counts in self._parts.values())

    def support(self) -> ComputedFacts:
        parts = {table: row_sets.listed(table, rows) for table, (rows, _) in self._parts.items() if len(rows)}
        return ComputedFacts(self._within, parts)

    def __add__(self, other: Counted | FactSet) -> CountedFacts:
        return self._combined(other, 1)

    def __sub__(self, other: Counted | FactSet) -> CountedFacts:
        return self._combined(other, -1)

    def _combined(self, other: Counted | FactSet, sign: int) -> CountedFacts:
        parts = dict(self._parts)
        for table, (rows, counts) in as_counted(other).parts().items():
            total, sums = summed(parts.get(table, _NO_TALLY), (rows, sign * counts))
            parts[table] = total[sums > 0], sums[sums > 0]
        return CountedFacts(self._within, parts)


def as_counted(facts: Counted | FactSet) -> CountedFacts:
    """A multiset of this engine; a set is one in which each fact occurs once."""
    if isinstance(facts, CountedFacts):
        return facts
    assert isinstance(facts, MemoryFacts), "facts of another engine"
    return CountedFacts(facts._within, {table: (rows, np.ones(len(rows), np.int64)) for table, rows in facts.arrays()})


class RowAnnotation(Annotation):
    """What the two kinds of annotation have in common: values of rows, by table."""

    _values: Mapping[Table, object]

    def __init__(self, within: Within) -> None:
        self._within = within

    def mentions(self, table: Table) -> bool:
        """Whether a row of a table may have another value than 0."""
        return table in self._values

    @abstractmethod
    def of(self, table: Table, rows: Ids) -> RowValues:
        """The values of some rows."""

    def values(self, table: Table) -> RowValues:
        """The values by row, for at least all rows of the table, as joins test them."""
        raise TypeError("a sparse annotation is no view of a join")

    @abstractmethod
    def changed(self) -> Iterator[tuple[Table, Ids, RowValues, RowValues]]:
        """Rows, with their values at the savepoint and now, of all facts whose value may have changed since."""

    @abstractmethod
    def _put(self, table: Table, rows: Ids, values: RowValues) -> None:
        """Gives some rows other values."""

    def assign(self, facts: FactSet, other: Annotation) -> None:
        assert isinstance(other, RowAnnotation), "an annotation of another engine"
        for table, rows in as_memory_facts(facts).arrays():
            self._put(table, rows, other.of(table, rows))

    def between(self, least: int, greatest: int) -> Between:
        return Between(self._within, self, least, greatest)

    def counted(self, facts: FactSet) -> CountedFacts:
        parts = {}
        for table, rows in as_memory_facts(facts).arrays():
            counts = self.of(table, rows).astype(np.int64)
            parts[table] = rows[counts > 0], counts[counts > 0]
        return CountedFacts(self._within, parts)


class DenseAnnotation(RowAnnotation):
    """An integer for every row of every table that it mentions."""

    def __init__(self, within: Within) -> None:
        super().__init__(within)
        self._values: dict[Table, npt.NDArray[np.int32]] = {}
        self._log: list[tuple[Table, Ids, npt.NDArray[np.int32]]] | None = None
        """Values that were replaced since the savepoint, oldest first."""

    def of(self, table: Table, rows: Ids) -> RowValues:
        return self.values(table)[rows] if table in self._values else np.zeros(len(rows), np.int32)

    def values(self, table: Table) -> RowValues:
        values = self._values.get(table, NO_ANNOTATION)
        values = self._values[table] = grown(values, table.n, max(16, 2 * len(values)))
        return values

    def _changed(self, table: Table, rows: Ids) -> RowValues:
        """The values by row, of which some are about to change."""
        values = self.values(table)
        if self._log is not None:
            self._log.append((table, rows, values[rows]))
        return values

    def _changing(self, facts: MemoryFacts) -> Iterator[tuple[RowValues, slice | Ids]]:
        """The values by row, table by table, and where those of some facts, which are about to change, stand."""
        for table in facts.tables():
            rows = facts.rows(table)
            if rows.is_span and self._log is None:
                yield self.values(table), slice(rows.lo, rows.hi)
            else:
                array = rows.array()
                yield self._changed(table, array), array

    def set(self, facts: FactSet, value: int) -> None:
        for values, places in self._changing(as_memory_facts(facts)):
            values[places] = value

    def add(self, facts: Counted | FactSet, sign: int = 1) -> None:
        if isinstance(facts, MemoryFacts):
            for values, places in self._changing(facts):
                values[places] += sign
            return
        for table, (rows, counts) in as_counted(facts).parts().items():
            self._changed(table, rows)[rows] += (sign * counts).astype(np.int32)

    def _put(self, table: Table, rows: Ids, values: RowValues) -> None:
        self._changed(table, rows)[rows] = values

    def savepoint(self) -> Callable[[], None]:
        log = self._log = []

        def undo() -> None:
            for table, rows, values in reversed(log):
                self._values[table][rows] = values
            log.clear()

        return undo

    def changed(self) -> Iterator[tuple[Table, Ids, RowValues, RowValues]]:
        by_table: dict[Table, list[tuple[Ids, RowValues]]] = {}
        for table, rows, values in self._log or ():
            by_table.setdefault(table, []).append((rows, values))
        for table, parts in by_table.items():
            # Of several old values of a row the first one is that of the savepoint.
            rows, first = np.unique(np.concatenate([rows for rows, _ in parts]), return_index=True)
            old = np.concatenate([values for _, values in parts])[first]
            yield table, rows, old, self.of(table, rows)

    def nbytes(self) -> int:
        return sum(values.nbytes for values in self._values.values())


class SparseAnnotation(RowAnnotation):
    """Integers for few rows: sorted rows with their values, and what was added to these since they were merged last."""

    def __init__(self, within: Within) -> None:
        super().__init__(within)
        self._values: dict[Table, tuple[Tally, Tally]] = {}
        self._before: dict[Table, tuple[Tally, Tally]] = {}
        self._touched: dict[Table, list[Ids]] | None = None
        """The rows that were changed since the savepoint; None if there was none."""

    def of(self, table: Table, rows: Ids) -> RowValues:
        return _looked_up(self._values.get(table, ()), rows)

    def set(self, facts: FactSet, value: int) -> None:
        for table, rows in as_memory_facts(facts).arrays():
            self._put(table, rows, np.full(len(rows), value, np.int32))

    def add(self, facts: Counted | FactSet, sign: int = 1) -> None:
        for table, (rows, counts) in as_counted(facts).parts().items():
            self._add(table, rows, sign * counts)

    def _put(self, table: Table, rows: Ids, values: RowValues) -> None:
        self._add(table, rows, values.astype(np.int64) - self.of(table, rows))

    def _add(self, table: Table, rows: Ids, counts: npt.NDArray[np.int64]) -> None:
        if self._touched is not None:
            self._touched.setdefault(table, []).append(rows)
        merged, added = self._values.get(table, (_NO_TALLY, _NO_TALLY))
        added = summed(added, (rows, counts))
        if len(added[0]) * tuning.SPARSE_MERGE_SHARE > len(merged[0]):
            merged, added = summed(merged, added), _NO_TALLY
        self._values[table] = merged, added

    def savepoint(self) -> Callable[[], None]:
        before = self._before = dict(self._values)
        self._touched = {}

        def undo() -> None:
            self._values = dict(before)
            self._touched = {}

        return undo

    def changed(self) -> Iterator[tuple[Table, Ids, RowValues, RowValues]]:
        touched = self._touched
        if touched is None:
            touched = {table: [rows for rows, _ in parts] for table, parts in self._values.items()}
        for table, pieces in touched.items():
            rows = np.unique(np.concatenate(pieces))
            yield table, rows, _looked_up(self._before.get(table, ()), rows), self.of(table, rows)

    def nbytes(self) -> int:
        return sum(array.nbytes for parts in self._values.values() for part in parts for array in part)


def _looked_up(parts: Iterable[Tally], rows: Ids) -> RowValues:
    """The sums of the values that sorted tallies have for some rows."""
    values = np.zeros(len(rows), np.int64)
    for mine, counts in parts:
        if len(mine):
            places = np.minimum(np.searchsorted(mine, rows), len(mine) - 1)
            values += np.where(mine[places] == rows, counts[places], 0)
    return values.astype(np.int32)


def summed(x: Tally, y: Tally) -> Tally:
    """Distinct rows, sorted, with the sums of their values; those with none are left out."""
    rows, values = np.concatenate([x[0], y[0]]), np.concatenate([x[1], y[1]])
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    starts = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]])[: len(rows)])
    sums = np.add.reduceat(values[order], starts) if len(rows) else values
    kept = sums != 0
    return rows[starts][kept], sums[kept]

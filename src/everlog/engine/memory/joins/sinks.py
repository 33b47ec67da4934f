"""Where the bindings of a join end up: as new facts, as counted facts, or as rows of the driver.

Heads are collected in a buffer per table and worker and entered when a buffer is full or the join is done (see
`table_entry.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock

import numpy as np

from everlog.engine.algebra import FactSet
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.annotations import CountedFacts
from everlog.engine.memory.facts.rows import NO_ROWS, Mark
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids, Table
from everlog.engine.memory.facts.table_entry import Entry
from everlog.engine.memory.joins.join_plan import KeepNew, Layout, Literal, Sink, sources_of
from everlog.engine.memory.joins.shared_views import SharedViews
from everlog.engine.memory.kernels import table_kernels as kernels


class Heads:
    """The heads of rules, as a set without those in another. Several plans, with their heads, may share one."""

    def __init__(self, engine: MemoryEngine, excluding: FactSet | None = None) -> None:
        self._engine = engine
        self.shared = SharedViews()
        """For the plans whose heads these are."""
        self._excluding = None if excluding is None else as_memory_facts(excluding)
        self._entries: dict[Table, Entry] = {}
        self._apart: set[Table] = set()
        self._lock = Lock()
        self._pending = [0] * engine.workers
        self.instances = [0] * engine.workers

    def expect_apart(self, table: Table) -> None:
        """Is told, before there is a sink, that all heads of a table are new, and different from each other."""
        self._apart.add(table)

    def _entry(self, table: Table) -> Entry:
        """The tuples on their way into a table; several threads may ask at once."""
        with self._lock:
            found = self._entries.get(table)
            if found is None:
                excluding = None if self._excluding is None else self.shared[self._excluding][table].view
                found = self._entries[table] = Entry(table, self._engine.workers, excluding, table in self._apart)
            return found

    @property
    def leaves_out(self) -> bool:
        """Whether there are heads that nobody wants."""
        return self._excluding is not None

    def keep_new(self, head: Literal) -> KeepNew | None:
        """What keeps bindings of one head, in the course of a plan, that are worth to be gone on with."""
        return None if self._excluding is None or head.static is None else self._entry(head.static).keep_new

    def sink(self, layout: Layout, *heads: Literal) -> Sink:
        """Takes the bindings of one plan, each an instance, and makes facts of one or several heads of them."""
        makers = [self._maker(layout, head) for head in heads]

        def take(worker: int, block: Ids, n: int) -> bool:
            self.instances[worker] += n
            self._pending[worker] += n
            for make in makers:
                make(worker, block, n)
            return self._pending[worker] >= tuning.COLLECTED_TUPLES

        return take

    def _maker(self, layout: Layout, head: Literal) -> Callable[[int, Ids, int], None]:
        sources, consts = layout.sources(head)
        if head.static is not None:
            entry = self._entry(head.static)
            return lambda worker, block, n: entry.put(worker, block, n, sources, consts)

        def make(worker: int, block: Ids, n: int) -> None:
            facts = np.empty((len(sources), n), np.int32)
            kernels.project(block, 0, n, sources, consts, facts, 0)
            for table, tuples, _ in head.relation.split(facts):
                self._entry(table).put(worker, tuples, tuples.shape[1], np.arange(table.arity), NO_ROWS)

        return make

    def flush(self) -> None:
        """Enters what was collected."""
        for entry in self._entries.values():
            self._enter(entry)
        self._pending = [0] * self._engine.workers

    def _enter(self, entry: Entry) -> None:
        entry.enter(self._engine.parallel)

    def facts(self) -> ComputedFacts:
        if any(self._pending):
            self.flush()
        parts = {table: rows for table, entry in self._entries.items() if (rows := entry.rows()).size}
        return ComputedFacts(self._engine.within, parts)


class CountedHeads(Heads):
    """The heads of rules, as a multiset: counts by row, and the rows that have any."""

    def __init__(self, engine: MemoryEngine) -> None:
        super().__init__(engine)
        self._counts: dict[Table, Ids] = {}
        self._rows: dict[Table, list[Ids]] = {}

    def _enter(self, entry: Entry) -> None:
        table = entry.table
        # Memory that is never touched costs nothing, so this may be as long as the table.
        counts = self._counts[table] if table in self._counts else table.take_zeros()
        self._counts[table], rows = entry.tally(counts)
        self._rows.setdefault(table, []).append(rows)

    def counted(self) -> CountedFacts:
        self.flush()
        parts = {}
        for table, pieces in self._rows.items():
            rows, counts = np.concatenate(pieces), self._counts[table]
            parts[table] = rows, counts[rows].astype(np.int64)
            if len(rows) * tuning.FEW_COUNTED < len(counts):
                counts[rows] = 0
                table.give_zeros(counts)
        self._counts = {}
        return CountedFacts(self._engine.within, parts)


class ProvedHeads:
    """The facts of a set, matched as heads by the drivers of plans, for which there is a binding. One each is enough."""

    def __init__(self, engine: MemoryEngine) -> None:
        self._engine = engine
        self._marks: dict[Table, Mark] = {}
        self.instances = [0]

    def mark(self, table: Table) -> Mark:
        """The mark of the facts that are proved."""
        if table not in self._marks:
            self._marks[table] = Mark(table, on=[])
        return self._marks[table]

    def sink(self, table: Table, slot: int) -> Sink:
        """Takes the bindings of one plan, whose slot holds the rows of the heads in one table."""
        mark = self.mark(table)

        def take(worker: int, block: Ids, n: int) -> bool:
            out = np.empty(n, np.int32)
            k = kernels.collect(block, n, slot, table.mask, np.uint16(mark.bit), out)
            self.instances[0] += k
            if k and mark.on is not None:
                mark.on.append(out[:k].copy())
            return False

        return take

    def flush(self) -> None:
        pass

    def facts(self) -> ComputedFacts:
        parts = {table: np.concatenate([NO_ROWS, *(mark.on or ())]) for table, mark in self._marks.items()}
        found = {table: row_sets.listed(table, rows) for table, rows in parts.items() if len(rows)}
        return ComputedFacts(self._engine.within, found)


def filtered(sink: Sink, layout: Mapping[int, int], tests: Sequence[tuple[Literal, MemoryFacts]]) -> Sink:
    """Passes on the bindings for which one of some literals has its fact in a set: a second condition of a join."""
    literals = [(literal.relation, *sources_of(literal.terms, layout), facts) for literal, facts in tests]

    def take(worker: int, block: Ids, n: int) -> bool:
        passed = np.zeros(n, bool)
        for relation, sources, consts, wanted in literals:
            facts = np.empty((relation.arity, n), np.int32)
            kernels.project(block, 0, n, sources, consts, facts, 0)
            for table, tuples, places in relation.split(facts):
                rows = table.find(tuples)
                there = rows >= 0
                there[there] = wanted.contains(table, rows[there])
                passed[places[there]] = True
        kept = np.ascontiguousarray(block[:, :n][:, passed])
        return kept.shape[1] > 0 and sink(worker, kept, kept.shape[1])

    return take

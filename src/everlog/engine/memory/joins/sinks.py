"""Where the bindings of a join end up: as new facts, as counted facts, or as rows of the driver.

Heads are collected in a buffer per table and worker and entered when a buffer is full or the join is done (see
`table_entry.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import Lock

import numpy as np

from everlog.engine.memory import tuning
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.annotations import CountedFacts
from everlog.engine.memory.facts.rows import NO_ROWS, Mark
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, Within
from everlog.engine.memory.facts.table import Ids, Parallel, Table
from everlog.engine.memory.facts.table_entry import Entry
from everlog.engine.memory.joins.join_plan import Literal, Sink, sources_of
from everlog.engine.memory.kernels import table_kernels as kernels


class Heads:
    """The heads of rules, as a set. Several plans, with their heads, may share one."""

    def __init__(self, within: Within, workers: int, parallel: Parallel, excluding: MemoryFacts | None) -> None:
        self._within = within
        self._workers = workers
        self.parallel = parallel
        self._excluding = excluding
        self._entries: dict[Table, Entry] = {}
        self._lock = Lock()
        self._pending = [0] * workers
        self.instances = [0] * workers

    def entry(self, table: Table) -> Entry:
        """The tuples on their way into a table; several threads may ask at once."""
        with self._lock:
            found = self._entries.get(table)
            if found is None:
                excluding = None if self._excluding is None else self._excluding.view(table)
                found = self._entries[table] = Entry(table, self._workers, excluding)
            return found

    def entries(self) -> Iterable[Entry]:
        return self._entries.values()

    def of(self, layout: Mapping[int, int], head: Literal) -> HeadSink:
        return HeadSink(self, layout, head)

    def taken(self, worker: int, n: int) -> None:
        self.instances[worker] += n
        self._pending[worker] += n

    def full(self, worker: int) -> bool:
        return self._pending[worker] >= tuning.COLLECTED_TUPLES

    def flush(self) -> None:
        for entry in self._entries.values():
            entry.enter(self.parallel)
        self.emptied()

    def emptied(self) -> None:
        """Notes that all that was collected is entered."""
        self._pending = [0] * self._workers

    def facts(self) -> ComputedFacts:
        self.flush()
        return ComputedFacts(
            self._within, {entry.table: rows for entry in self._entries.values() if len(rows := entry.rows())}
        )


class HeadSink:
    """Takes the bindings of one plan and makes heads of them."""

    def __init__(self, heads: Heads, layout: Mapping[int, int], head: Literal) -> None:
        self._heads = heads
        self._head = head
        self._sources, self._consts = sources_of(head.terms, layout)
        table = head.static
        self._entry = None if table is None else heads.entry(table)
        if table is not None:
            self._sources = self._sources[list(table.positions)]

    def take(self, worker: int, block: Ids, n: int) -> None:
        self._heads.taken(worker, n)
        self.put(worker, block, n)

    def put(self, worker: int, block: Ids, n: int) -> None:
        """Makes heads of some bindings, without counting these as instances."""
        if self._entry is not None:
            self._entry.put(worker, block, n, self._sources, self._consts)
            return
        facts = np.empty((len(self._sources), n), np.int32)
        kernels.project(block, 0, n, self._sources, self._consts, facts, 0)
        for table, tuples, _ in self._head.relation.split(facts):
            self._heads.entry(table).put(worker, tuples, tuples.shape[1], np.arange(table.arity), NO_ROWS)

    def full(self, worker: int) -> bool:
        return self._heads.full(worker)


class PremiseSink:
    """Takes the bindings of one plan and makes facts of several atoms of them."""

    def __init__(self, facts: Heads, layout: Mapping[int, int], atoms: Sequence[Literal]) -> None:
        self._facts = facts
        self._sinks = [facts.of(layout, atom) for atom in atoms]

    def take(self, worker: int, block: Ids, n: int) -> None:
        self._facts.taken(worker, n)
        for sink in self._sinks:
            sink.put(worker, block, n)

    def full(self, worker: int) -> bool:
        return self._facts.full(worker)


class CountedHeads:
    """The heads of rules, as a multiset: counts by row, and the rows that have any."""

    def __init__(self, within: Within, workers: int, parallel: Parallel) -> None:
        self._heads = Heads(within, workers, parallel, None)
        self._within = within
        self._counts: dict[Table, Ids] = {}
        self._rows: dict[Table, list[Ids]] = {}

    @property
    def instances(self) -> list[int]:
        return self._heads.instances

    def of(self, layout: Mapping[int, int], head: Literal) -> HeadSink:
        return HeadSink(self._heads, layout, head)

    def flush(self) -> None:
        """Enters what was collected and counts it."""
        for entry in self._heads.entries():
            # Memory that is never touched costs nothing, so this may be as long as the table.
            self._counts[entry.table], rows = entry.tally(self._counts.get(entry.table, NO_ROWS))
            self._rows.setdefault(entry.table, []).append(rows)
        self._heads.emptied()

    def counted(self) -> CountedFacts:
        self.flush()
        parts = {}
        for table, pieces in self._rows.items():
            rows = np.concatenate(pieces)
            parts[table] = rows, self._counts[table][rows].astype(np.int64)
        return CountedFacts(self._within, parts)


class ProvedHeads:
    """The facts of a set, matched as heads by the drivers of plans, for which there is a binding. One each is enough."""

    def __init__(self, within: Within) -> None:
        self._within = within
        self._marks: dict[Table, Mark] = {}
        self.instances = [0]

    def mark(self, table: Table) -> Mark:
        """The mark of the facts that are proved."""
        found = self._marks.get(table)
        if found is None:
            found = self._marks[table] = Mark(table)
        return found

    def of(self, table: Table, slot: int) -> ProvedSink:
        return ProvedSink(self, table, slot)

    def flush(self) -> None:
        pass

    def facts(self) -> ComputedFacts:
        parts = {table: np.concatenate([NO_ROWS, *(mark.on or ())]) for table, mark in self._marks.items()}
        return ComputedFacts(
            self._within, {table: row_sets.listed(table, rows) for table, rows in parts.items() if len(rows)}
        )


class ProvedSink:
    """Takes the bindings of one plan, whose slot holds the rows of the heads in one table."""

    def __init__(self, proved: ProvedHeads, table: Table, slot: int) -> None:
        self._proved, self._table, self._slot = proved, table, slot

    def take(self, worker: int, block: Ids, n: int) -> None:
        mark = self._proved.mark(self._table)
        out = np.empty(n, np.int32)
        k = kernels.collect(block, n, self._slot, self._table.mask, np.uint16(mark.bit), out)
        self._proved.instances[0] += k
        if k and mark.on is not None:
            mark.on.append(out[:k].copy())

    def full(self, worker: int) -> bool:
        return False


class FilteredSink:
    """Passes on the bindings for which one of some literals has its fact in a set: a second condition of a join."""

    def __init__(self, inner: Sink, layout: Mapping[int, int], tests: Sequence[tuple[Literal, MemoryFacts]]) -> None:
        self._inner = inner
        self._tests = [(literal.relation, *sources_of(literal.terms, layout), facts) for literal, facts in tests]

    def take(self, worker: int, block: Ids, n: int) -> None:
        passed = np.zeros(n, bool)
        for relation, sources, consts, wanted in self._tests:
            facts = np.empty((relation.arity, n), np.int32)
            kernels.project(block, 0, n, sources, consts, facts, 0)
            for table, tuples, places in relation.split(facts):
                rows = table.find(tuples)
                there = rows >= 0
                there[there] = wanted.contains(table, rows[there])
                passed[places[there]] = True
        if passed.any():
            kept = np.ascontiguousarray(block[:, :n][:, passed])
            self._inner.take(worker, kept, kept.shape[1])

    def full(self, worker: int) -> bool:
        return self._inner.full(worker)

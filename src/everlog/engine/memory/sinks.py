"""Where the bindings of a join end up: as new facts, as counted facts, as rows of the driver, or as bindings.

Heads are collected in a buffer per table and worker and entered when a buffer is full or the join is done. Entering has
two steps: which tuples are new, and their rows. Where everything that was there before is to be left out, as in a
materialisation, presence is all that counts and threads share the work; otherwise the rows that were there and are not
left out are reported, once each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from threading import Lock, local
from typing import Final

import numpy as np

from everlog.engine.memory import kernels
from everlog.engine.memory import rows as row_sets
from everlog.engine.memory.join import Literal, Sink, sources_of
from everlog.engine.memory.rows import NO_ANNOTATION, NO_ROWS, NO_TERMS, Mark, Rows
from everlog.engine.memory.sets import CountedFacts, Facts, Stored, TableView, Within
from everlog.engine.memory.table import SHARED, Ids, Parallel, Positions, Table, one_by_one
from everlog.interrupts import look

LIMIT: Final = 1 << 18
"""Tuples that a worker collects before they are entered."""

_PIECE: Final = 1 << 17
"""So many of them are entered at a time where rows have to be found."""

_NOTHING: Final = TableView(np.zeros(6, np.int64), NO_TERMS, NO_TERMS, NO_ANNOTATION)


class Entry:
    """The tuples on their way into one table.

    Where all rows that the table has are left out, only presence matters: tuples are collected by shard, and threads
    enter them side by side. Otherwise the rows of tuples that were there have to be found, by one thread.
    """

    def __init__(self, table: Table, workers: int, excluding: TableView | None = None) -> None:
        self.table = table
        self.known = table.n
        self._view = view = _NOTHING if excluding is None else excluding
        whole = self.known == 0 or (view.is_span and view.bounds[0] == 0 and view.bounds[1] >= self.known)
        self._presence = whole and table.has_groups
        self._shards = table.shards if self._presence else 1
        self._buffers = [np.empty((self._shards, table.arity, 0), np.int32) for _ in range(workers)]
        self._counts = [np.zeros(self._shards, np.int64) for _ in range(workers)]
        self._hits: list[Ids] = []
        self._seen: Mark | None = None

    def put(self, worker: int, block: Ids, n: int, sources: Positions, consts: Ids) -> None:
        """Collects the tuples that the sources give for some bindings."""
        buffer, counts = self._buffers[worker], self._counts[worker]
        most = int(counts.max())
        if most + n > buffer.shape[2]:
            grown = np.empty((self._shards, self.table.arity, max(most + n, 2 * buffer.shape[2], 256)), np.int32)
            grown[:, :, :most] = buffer[:, :, :most]
            self._buffers[worker] = buffer = grown
        if self._shards > 1:
            kernels.route(block, n, sources, consts, self._shards, buffer, counts)
        else:
            kernels.project(block, 0, n, sources, consts, buffer[0], most)
            counts[0] += n

    def tally(self, counts: Ids) -> tuple[Ids, Ids]:
        """Enters what was collected and counts it by row; gives the counts and the rows that were counted first."""
        touched = [NO_ROWS]
        for buffer, sizes in zip(self._buffers, self._counts, strict=True):
            for tuples, size in zip(buffer, sizes, strict=True):
                n, table = int(size), self.table
                if n:
                    if len(counts) < table.n + n:
                        grown = np.zeros(max(table.n + n, 2 * len(counts)), np.int32)
                        grown[: len(counts)] = counts
                        counts = grown
                    fresh, first = _scratch(0, n), _scratch(1, n)
                    new, k = kernels.tally(
                        tuples, n, table.slots_of(tuples, n), table.cols, table.n, counts, fresh, first
                    )
                    touched.append(first[:k].copy())
                    self._placed(tuples, fresh, new)
            sizes[:] = 0
        return counts, np.concatenate(touched)

    def enter(self, parallel: Parallel) -> None:
        """Enters what was collected."""
        if self._presence:
            for buffer, counts in zip(self._buffers, self._counts, strict=True):
                if counts.any():
                    self._admit(buffer, counts, parallel)
        else:
            # All at once, since to find rows may mean to look at the whole table.
            sizes = [int(counts[0]) for counts in self._counts]
            parts = [buffer[0, :, :size] for buffer, size in zip(self._buffers, sizes, strict=True) if size]
            if parts:
                together = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
                self._absorb(np.ascontiguousarray(together), together.shape[1])
        for counts in self._counts:
            counts[:] = 0

    def _admit(self, tuples: Ids, counts: Positions, parallel: Parallel) -> None:
        table, total = self.table, int(counts.sum())
        table.presence(parallel)
        together = parallel if total >= SHARED else one_by_one
        fresh = [_scratch(shard, int(n)) for shard, n in enumerate(counts)]
        found = table.admit(tuples, counts, fresh, together)
        try:
            table.reserve_rows(sum(found))
        except BaseException:
            table.forget_groups()
            raise
        jobs = []
        base = table.n
        for shard, new in enumerate(found):
            if new:
                jobs.append(partial(kernels.place, tuples[shard], fresh[shard], new, base, table.cols))
            base += new
        together(jobs)
        table.n = table.groups_entered = base

    def _absorb(self, tuples: Ids, n: int) -> None:
        table = self.table
        if self._seen is None:
            self._seen = Mark(table)
        slots = table.slots_of(tuples, n)
        for lo in range(0, n, _PIECE):
            look()
            self._absorb_piece(tuples if n <= _PIECE else np.ascontiguousarray(tuples[:, lo : lo + _PIECE]), slots)

    def _absorb_piece(self, tuples: Ids, slots: Positions) -> None:
        table, view, n = self.table, self._view, tuples.shape[1]
        assert self._seen is not None
        fresh, hits = _scratch(0, n), _scratch(1, n)
        new, old = kernels.absorb(
            tuples,
            n,
            slots,
            table.cols,
            table.n,
            self.known,
            view.bounds,
            view.care,
            view.want,
            table.mask,
            view.annotation,
            np.uint16(self._seen.bit),
            fresh,
            hits,
        )
        if old and self._seen.on is not None:
            self._hits.append(hits[:old].copy())
            self._seen.on.append(self._hits[-1])
        self._placed(tuples, fresh, new)

    def _placed(self, tuples: Ids, fresh: Ids, new: int) -> None:
        """Gives the next rows to tuples that are new and have their row slots."""
        table = self.table
        try:
            table.reserve_rows(new)
        except BaseException:
            table.forget_slots()
            raise
        kernels.place(tuples, fresh, new, table.n, table.cols)
        table.rows_absorbed(new)

    def rows(self) -> Rows:
        """The rows of all tuples entered, but for those left out."""
        fresh = row_sets.span(self.table, self.known, self.table.n)
        if not self._hits:
            return fresh
        return row_sets.union(row_sets.listed(self.table, np.concatenate(self._hits)), fresh)


class _Scratch(local):
    """Room for positions, kept by each thread for the next time: new memory is slow to touch first."""

    def __init__(self) -> None:
        self.arrays: dict[int, Ids] = {}


_SCRATCH = _Scratch()


def _scratch(number: int, n: int) -> Ids:
    found = _SCRATCH.arrays.get(number)
    if found is None or len(found) < n:
        found = np.empty(max(n, LIMIT), np.int32)
        if n <= 4 * LIMIT:
            _SCRATCH.arrays[number] = found
    return found


class Heads:
    """The heads of rules, as a set. Several plans, with their heads, may share one."""

    def __init__(self, within: Within, workers: int, parallel: Parallel, excluding: Facts | None) -> None:
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
        return self._pending[worker] >= LIMIT

    def flush(self) -> None:
        for entry in self._entries.values():
            entry.enter(self.parallel)
        self.emptied()

    def emptied(self) -> None:
        """Notes that all that was collected is entered."""
        self._pending = [0] * self._workers

    def facts(self) -> Stored:
        self.flush()
        return Stored(
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

    def facts(self) -> Stored:
        parts = {table: np.concatenate([NO_ROWS, *(mark.on or ())]) for table, mark in self._marks.items()}
        return Stored(self._within, {table: row_sets.listed(table, rows) for table, rows in parts.items() if len(rows)})


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


class Filtered:
    """Passes on the bindings for which one of some literals has its fact in a set: a second condition of a join."""

    def __init__(self, inner: Sink, layout: Mapping[int, int], tests: Sequence[tuple[Literal, Facts]]) -> None:
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


class Kept:
    """The bindings themselves, all of them; or, not to `remember` them, only their number."""

    def __init__(self, variables: Sequence[int], remember: bool = True) -> None:
        self.instances = [0]
        self.layout: Mapping[int, int] = {}
        self._blocks: list[Ids] = []
        self._slots = len(variables)
        self._remember = remember

    def of(self, layout: Mapping[int, int]) -> Kept:
        self.layout = layout
        return self

    def take(self, worker: int, block: Ids, n: int) -> None:
        self.instances[0] += n
        if self._remember:
            self._blocks.append(block[:, :n].copy())

    def full(self, worker: int) -> bool:
        return False

    def flush(self) -> None:
        pass

    def bindings(self) -> Ids:
        """The bindings, one per column of the array."""
        return np.concatenate([np.empty((self._slots, 0), np.int32), *self._blocks], axis=1)

"""Tuples on their way into a table: which are new, and which rows they get.

Entering has two steps: which tuples are new, and their rows. Where everything that was there before is to be left out, as
in a materialisation, presence is all that counts: tuples are collected by shard, and threads enter them side by side.
Otherwise the rows that were there and are not left out are found by one thread, and reported once each.
"""

from __future__ import annotations

from functools import partial
from threading import local
from typing import Final

import numpy as np

from everlog.engine.memory import tuning
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.rows import NO_ROWS, Mark, Rows
from everlog.engine.memory.facts.sets import TableView
from everlog.engine.memory.facts.table import Ids, Parallel, Positions, Table, grown, one_by_one, pieces
from everlog.engine.memory.kernels import table_kernels as kernels

_NOTHING: Final = TableView(0, 0)
_NO_ROOM: Final[Ids] = np.empty((1, 1, 0), np.int32)
_NO_COUNTS: Final[Positions] = np.zeros(1, np.int64)


class Entry:
    """The tuples on their way into one table; those in `excluding` are left out.

    Tuples that are `apart` are none of the table's, and no two of them are the same, as the caller knows.
    """

    def __init__(self, table: Table, workers: int, excluding: TableView | None = None, apart: bool = False) -> None:
        self.table = table
        self.known = table.n
        self._apart = apart
        self._view = _NOTHING if excluding is None else excluding
        self._presence = table.has_groups and (self.known == 0 or self._view.has_all(self.known))
        self._shards = table.shards if self._presence and not apart else 1
        self._buffers = [_NO_ROOM] * workers
        self._counts = [_NO_COUNTS] * workers
        """Of a worker that has collected anything, it has its own."""
        self._sizes = [0] * workers
        """How many tuples each worker has collected."""
        self._hits: list[Ids] = []
        self._seen: Mark | None = None

    def put(self, worker: int, block: Ids, n: int, sources: Positions, consts: Ids) -> None:
        """Collects the tuples that the sources give for some bindings."""
        buffer, counts = self._buffers[worker], self._counts[worker]
        before, room = self._sizes[worker], buffer.shape[2]
        self._sizes[worker] = before + n
        if counts is _NO_COUNTS:
            counts = self._counts[worker] = np.zeros(self._shards, np.int64)
        if before + n > room and (most := int(counts.max()) if before else 0) + n > room:
            larger = np.empty((self._shards, self.table.arity, max(most + n, 2 * room, 256)), np.int32)
            larger[:, :, :most] = buffer[:, :, :most]
            self._buffers[worker] = buffer = larger
        if self._shards > 1:
            kernels.route(block, n, sources, consts, self._shards, buffer, counts)
        else:
            kernels.project(block, 0, n, sources, consts, buffer[0], before)
            counts[0] += n

    def keep_new(self, block: Ids, n: int, sources: Positions, consts: Ids) -> int:
        """Keeps, in place, the bindings whose tuples may be new, by the sources of these; how many stay.

        Of a few bindings, and where it would take more than to look tuples up, all do.
        """
        table = self.table
        if n < tuning.MANY_BINDINGS or self._apart:
            return n
        asked = block, n, sources, consts
        kept = n
        if self._presence:
            if table.groups_entered == table.n:
                kept = kernels.probe_presence(*asked, table.groups, table.shards, True)
        elif (slots := table.known_slots()) is not None:
            kept = kernels.probe(*asked, slots, table.cols, *self._view.test(table), True)
        return kept

    def tally(self, counts: Ids) -> tuple[Ids, Ids]:
        """Enters what was collected and counts it by row; gives the counts and the rows that were counted first."""
        touched = [NO_ROWS]
        for buffer, sizes in zip(self._buffers, self._counts, strict=True):
            for tuples, size in zip(buffer, sizes, strict=True):
                n, table = int(size), self.table
                if n:
                    counts = grown(counts, table.n + n, 2 * len(counts))
                    fresh, first = _scratch(0, n), _scratch(1, n)
                    slots = table.slots_of(tuples, n)
                    new, k = kernels.tally(tuples, n, slots, table.cols, table.n, counts, fresh, first)
                    touched.append(first[:k].copy())
                    table.place(tuples, fresh, new)
            sizes[:] = 0
        self._sizes = [0] * len(self._sizes)
        return counts, np.concatenate(touched)

    def enter(self, parallel: Parallel) -> None:
        """Enters what was collected."""
        if not any(self._sizes):
            return
        if self._apart:
            for buffer, size in zip(self._buffers, self._sizes, strict=True):
                self.table.append(buffer[0, :, :size])
        elif self._presence:
            for buffer, counts, size in zip(self._buffers, self._counts, self._sizes, strict=True):
                if size:
                    self._admit(buffer, counts, size, parallel)
        else:
            # All at once, since to find rows may mean to look at the whole table.
            sizes = [int(counts[0]) for counts in self._counts]
            parts = [buffer[0, :, :size] for buffer, size in zip(self._buffers, sizes, strict=True) if size]
            if parts:
                together = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
                self._absorb(np.ascontiguousarray(together), together.shape[1])
        for worker, counts in enumerate(self._counts):
            if self._sizes[worker]:
                counts[:] = 0
                self._sizes[worker] = 0

    def _admit(self, tuples: Ids, counts: Positions, total: int, parallel: Parallel) -> None:
        table = self.table
        table.enter_groups(parallel)
        if total <= tuning.FEW_TUPLES:
            table.enter_few(tuples, counts, total)
            return
        together = parallel if total >= tuning.SHARED_TUPLES else one_by_one
        fresh = [_scratch(shard, int(n)) for shard, n in enumerate(counts)]
        found = table.admit(tuples, counts, fresh, together)
        try:
            table.reserve_rows(sum(found))
        except BaseException:
            table.forget_groups()
            raise
        bases = np.cumsum([table.n, *found]).tolist()
        parts = [part for part in zip(tuples, fresh, found, bases, strict=False) if part[2]]
        together([partial(kernels.place, *part, table.cols) for part in parts])
        table.n = table.groups_entered = bases[-1]

    def _absorb(self, tuples: Ids, n: int) -> None:
        table, bit = self.table, np.uint16(0)
        if not self._view.has_all(self.known):  # else no tuple that was there is wanted
            if self._seen is None:
                self._seen = Mark(table, on=self._hits)
            bit = np.uint16(self._seen.bit)
        slots = table.slots_of(tuples, n)
        for lo, hi in pieces(0, n, tuning.ABSORBED_TUPLES):
            piece, m = np.ascontiguousarray(tuples[:, lo:hi]), hi - lo
            fresh, hits = _scratch(0, m), _scratch(1, m)
            known = table.cols, table.n, self.known, *self._view.test(table)
            new, old = kernels.absorb(piece, m, slots, *known, bit, fresh, hits)
            if old:
                self._hits.append(hits[:old].copy())
            table.place(piece, fresh, new)

    def rows(self) -> Rows:
        """The rows of all tuples entered, but for those left out."""
        fresh = row_sets.span(self.table, self.known, self.table.n)
        if not self._hits:
            return fresh
        return row_sets.union(row_sets.listed(self.table, np.concatenate(self._hits)), fresh)


_SCRATCH = local()


def _scratch(number: int, n: int) -> Ids:
    """Room for positions, kept by each thread for the next time: new memory is slow to touch first."""
    found: Ids = getattr(_SCRATCH, f"room{number}", NO_ROWS)
    if len(found) < n:
        found = np.empty(max(n, tuning.COLLECTED_TUPLES), np.int32)
        if n <= 4 * tuning.COLLECTED_TUPLES:
            setattr(_SCRATCH, f"room{number}", found)
    return found

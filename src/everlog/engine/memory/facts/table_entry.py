"""Tuples on their way into a table: which are new, and which rows they get.

Entering has two steps: which tuples are new, and their rows. Where everything that was there before is to be left out, as
in a materialisation, presence is all that counts and threads share the work; otherwise the rows that were there and are
not left out are reported, once each.
"""

from __future__ import annotations

from functools import partial
from threading import local
from typing import Final

import numpy as np

from everlog.engine.memory import tuning
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.rows import NO_ANNOTATION, NO_ROWS, NO_TERMS, Mark, Rows
from everlog.engine.memory.facts.sets import TableView
from everlog.engine.memory.facts.table import Ids, Parallel, Positions, Table, one_by_one
from everlog.engine.memory.kernels import table_kernels as kernels
from everlog.interrupts import look

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
        together = parallel if total >= tuning.SHARED_TUPLES else one_by_one
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
        most = tuning.ABSORBED_TUPLES
        for lo in range(0, n, most):
            look()
            self._absorb_piece(tuples if n <= most else np.ascontiguousarray(tuples[:, lo : lo + most]), slots)

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
            *view.test(table),
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
        found = np.empty(max(n, tuning.COLLECTED_TUPLES), np.int32)
        if n <= 4 * tuning.COLLECTED_TUPLES:
            _SCRATCH.arrays[number] = found
    return found

"""The tables of binary atoms: their facts as pairs, and pairs as their facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from everlog.datalog.syntax import Atom
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.rows import NO_ROWS, Rows
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts
from everlog.engine.memory.facts.table import Ids, Table, pieces
from everlog.engine.memory.facts.table_entry import Entry
from everlog.engine.memory.graphs.node_numbers import Bits, Nodes
from everlog.engine.memory.kernels import graph_kernels as kernels
from everlog.engine.memory.kernels.table_kernels import unselected
from everlog.interrupts import look


class PairTable:
    """The table of a binary atom: its facts as pairs, and pairs as its facts. `turned`, the ends change places."""

    def __init__(self, engine: MemoryEngine, atom: Atom, turned: bool = False) -> None:
        numbers = {term: place for place, term in enumerate(dict.fromkeys(atom.variables()))}
        table = engine.literal(atom, numbers).static
        assert table is not None and table.arity == len(numbers) == 2, "an atom of a binary table"
        self._engine = engine
        self.table: Table = table
        self.first = int(turned)
        """The column of the pairs' first ends."""

    def pairs(self, facts: MemoryFacts) -> Ids:
        return self.of(facts.rows(self.table).tuples())

    def of(self, tuples: Ids) -> Ids:
        """Tuples as pairs, or pairs as tuples."""
        return np.ascontiguousarray(tuples[::-1] if self.first else tuples)

    def facts(self, rows: Rows) -> ComputedFacts:
        return ComputedFacts(self._engine.within, {self.table: rows} if len(rows) else {})

    def listed(self, rows: Ids) -> ComputedFacts:
        return self.facts(row_sets.listed(self.table, rows))

    def entered_pairs(self, pieces: Iterable[Ids], excluding: MemoryFacts) -> ComputedFacts:
        """The facts of pairs that come in pieces, each once, but for those in a set."""
        entry = Entry(self.table, 1, excluding.view(self.table))
        for pairs in pieces:
            look()
            entry.put(0, self.of(pairs), pairs.shape[1], np.arange(2), NO_ROWS)
            entry.enter(self._engine.parallel)
        return self.facts(entry.rows())

    def entered_bits(self, nodes: Nodes, bits: Bits, excluding: MemoryFacts, between: bool) -> ComputedFacts:
        """The facts of rows of bits, which are written to, but for those in a set; `between`, there are none of these.

        Those that have no rows get new ones, and those whose rows are dead get these.
        """
        table, known = self.table, [NO_ROWS]

        def cleared(tuples: Ids) -> npt.NDArray[np.bool_]:
            pairs, there = self.of(tuples), np.empty(tuples.shape[1], np.bool_)
            kernels.clear(pairs[0], pairs[1], nodes.number, bits, there)
            return there

        if between:
            dead = _dead(table, excluding)
            known.append(dead[cleared(table.tuples(dead))])
        else:
            for lo, hi in pieces(0, table.n, tuning.PAIRS_AT_A_TIME):
                there = np.flatnonzero(cleared(table.cols[:, lo:hi])).astype(np.int32) + np.int32(lo)
                known.append(there[~excluding.contains(table, there)])
        first = table.n
        table.append_sorted(self.of(self._pairs(nodes, bits)), leading=self.first)
        found = row_sets.listed(table, np.concatenate(known))
        return self.facts(row_sets.union(row_sets.span(table, first, table.n), found))

    def _pairs(self, nodes: Nodes, bits: Bits) -> Ids:
        """The pairs of ids of rows of bits."""
        n, workers = len(bits), self._engine.workers
        parts = workers * max(1, bits.size * 64 // (tuning.BITS_PER_PAIR * tuning.PAIRS_AT_A_TIME))
        cuts = list(pairwise(n * part // parts for part in range(parts + 1)))
        ends = np.cumsum([0, *(kernels.count_bits(bits, lo, hi) for lo, hi in cuts)]).tolist()
        out = np.empty((2, ends[-1]), np.int32)
        jobs = [
            partial(kernels.enumerate_bits, bits, lo, hi, nodes.ids, out, at)
            for (lo, hi), at in zip(cuts, ends, strict=False)
        ]
        for first in range(0, parts, workers):
            look()
            self._engine.parallel(jobs[first : first + workers], undoable=True)
        return out


def _dead(table: Table, excluding: MemoryFacts) -> Ids:
    """The rows of a table that are not in a set."""
    view = excluding.view(table)
    if view.has_all(table.n):
        return NO_ROWS
    out = np.empty(tuning.PAIRS_AT_A_TIME, np.int32)
    while (found := unselected(0, table.n, *view.test(table), out)) > len(out):
        out = np.empty(found, np.int32)
    return out[:found]


P = TypeVar("P", int, tuple[int, int])


def in_pieces(found: Callable[[P, Ids], tuple[P, int]], place: P, end: P, nodes: int) -> Iterator[Ids]:
    """The pairs that a kernel finds in pieces: it takes a place and room, and gives the next place and their number."""
    out = np.empty((2, max(tuning.PAIRS_AT_A_TIME, nodes)), np.int32)
    while place < end:
        look()
        place, size = found(place, out)
        yield out[:, :size]

"""Paths of binary relations in memory.

A graph of up to a few ten thousand nodes has a row of bits for every node, and its closure is computed as a whole, over
its strongly connected components: for dense graphs that is hundreds of times faster than joining. In a larger one, nodes
are visited source by source. What was computed last is kept, since an update asks about the same sets several times.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import FactSet, Paths
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.rows import Mark, Rows
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids, Positions, Sorted
from everlog.engine.memory.graphs.node_numbers import Bits, dense_nodes, grouped
from everlog.engine.memory.graphs.pair_tables import PairTable, entered_bits, entered_pairs, listed_facts
from everlog.engine.memory.kernels import graph_kernels as kernels
from everlog.engine.recent_results import Recent
from everlog.interrupts import aside, look


class MemoryPaths(Paths):
    """Paths from the facts of one table along those of another, or of the same."""

    def __init__(self, engine: MemoryEngine, atom: Atom, step: Atom, backwards: bool = False) -> None:
        self._engine = engine
        self._binary, self._steps = PairTable(engine, atom, backwards), PairTable(engine, step, backwards)
        self._recent = Recent[_Graph](2)  # what is new lies between the last two

    def facts(self, X: FactSet, T: FactSet, excluding: FactSet) -> ComputedFacts:
        return self._graph(X, T).facts(self._engine, self._binary, as_memory_facts(excluding))

    def more(self, X: FactSet, T: FactSet, before: tuple[FactSet, FactSet], excluding: FactSet) -> ComputedFacts:
        graph = self._graph(X, T)
        old = self._graph(*before) if graph.small and before[0] else None
        return graph.facts(self._engine, self._binary, as_memory_facts(excluding), old)

    def outside(self, X: FactSet, T: FactSet, facts: FactSet) -> ComputedFacts:
        return self._outside(X, T, facts, None)

    def fewer(self, X: FactSet, T: FactSet, before: tuple[FactSet, FactSet], facts: FactSet) -> ComputedFacts:
        return self._outside(X, T, facts, self._recent.known(*before))

    def _outside(self, X: FactSet, T: FactSet, facts: FactSet, old: _Graph | None) -> ComputedFacts:
        """Those of some facts that `X` and `T` do not lead to; an old graph, if there is one, led to all of them."""
        table, rows = self._binary.table, as_memory_facts(facts).rows(self._binary.table)
        if not len(rows):
            return self._engine.empty()
        graph = self._graph(X, T)
        if rows.size <= tuning.VISITED_PAIRS or not graph.small:
            array = rows.array()
            return listed_facts(self._engine, table, array[~graph.holds(self._binary.of(table.tuples(array)))])
        lost = self._unreached(graph, rows, None if old is None else graph.earlier(old))
        return ComputedFacts(self._engine.within, {table: lost} if len(lost) else {})

    def _unreached(self, graph: _Graph, rows: Rows, old: Bits | None) -> Rows:
        """Those of many rows that there is no path for, looked at where they lie; all of them have one in `old`."""
        table, first = self._binary.table, self._binary.first
        held = None if rows.is_span else rows.pinned()
        bits, number, mark = graph.bits, graph.number, Mark(table)
        mark.on = None
        test = np.uint16(0 if held is None else held.mark.bit), np.uint16(mark.bit), table.mask
        old = bits[:0] if old is None else old
        found: list[tuple[int, Ids]] = []

        def unsorted(lo: int, hi: int) -> None:
            out = np.empty(row_sets.few(hi - lo), np.int32)
            ends = table.cols[first], table.cols[1 - first]
            found.append((kernels.mark_unreached(*ends, lo, hi, number, bits, *test, out), out))

        def in_order(part: Sorted, ids: tuple[int, int]) -> None:
            lo, hi = max(rows.lo, part.lo), min(rows.hi, part.hi)
            out = np.empty(row_sets.few(hi - lo), np.int32)
            where = part.starts, ids, part.lo, lo, hi, table.cols[1 - first]
            found.append((kernels.mark_unreached_sorted(*where, number, bits, old, *test, out), out))

        at = rows.lo
        for part in table.sorted_parts(first):
            if part.hi <= rows.lo or rows.hi <= part.lo:
                continue
            if at < part.lo:
                unsorted(at, part.lo)
            at = part.hi
            workers = self._engine.workers
            ranges = part.shared(
                workers * max(1, (part.hi - part.lo) // (tuning.BITS_PER_PAIR * tuning.PAIRS_AT_A_TIME))
            )
            for one in range(0, len(ranges), workers):
                jobs = [partial(in_order, part, ids) for ids in ranges[one : one + workers]]
                self._engine.parallel(jobs, undoable=True)
        if at < rows.hi:
            unsorted(at, rows.hi)
        return row_sets.marked(mark, rows.lo, rows.hi, found)

    def _graph(self, X: FactSet, T: FactSet) -> _Graph:
        """The graph of some facts."""

        def graph() -> _Graph:
            return _Graph(self._binary.pairs(as_memory_facts(X)), self._steps.pairs(as_memory_facts(T)))

        return self._recent.of(graph, X, T)


class _Graph:
    """`X` and `T` as edges between dense nodes."""

    def __init__(self, first: Ids, steps: Ids) -> None:
        self._nodes = dense_nodes(*first, *steps)
        n = len(self._nodes.ids)
        number = self._nodes.number
        self._starts, self._targets = grouped(number[steps[0]], number[steps[1]], n)
        self._heads, self._first = grouped(number[first[0]], number[first[1]], n)
        self.small = n * ((n + 63) // 64) * 8 <= tuning.GRAPH_BYTES
        self._bits: Bits | None = None

    @property
    def bits(self) -> Bits:
        """For every node the nodes that it reaches."""
        if self._bits is None:
            edges, n = len(self._targets), len(self._starts) - 1
            component, found = aside(edges, kernels.strong_components, self._starts, self._targets)
            steps = edges * ((n + 63) // 64)
            closure = aside(steps, kernels.reflexive_closure, self._starts, self._targets, component, found)
            bits: Bits = np.zeros((n, closure.shape[1]), np.uint64)
            steps = len(self._first) * closure.shape[1]
            aside(steps, kernels.compose, self._heads, self._first, component, closure, 0, n, bits)
            self._bits = bits
        return self._bits

    @property
    def number(self) -> Ids:
        """The node of each id, or -1."""
        return self._nodes.number

    def earlier(self, old: _Graph) -> Bits | None:
        """The bits of an old graph, if it has the same nodes."""
        return old.bits if old.small and np.array_equal(self._nodes.ids, old._nodes.ids) else None

    def holds(self, pairs: Ids) -> npt.NDArray[np.bool_]:
        """Which pairs of ids there is a path for."""
        out = np.empty(pairs.shape[1], np.bool_)
        if self.small and (self._bits is not None or self._many(pairs[0])):
            aside(len(out), kernels.reached, pairs[0], pairs[1], self._nodes.number, self.bits, out)
        else:
            sources, targets = (self._nodes.numbers(ends) for ends in pairs)
            order = np.argsort(sources, kind="stable")
            steps = len(np.unique(sources)) * len(self._targets)
            aside(steps, kernels.visit_pairs, *self._edges(), targets, order, sources, *self._room(), out)
        return out

    def _many(self, sources: Ids) -> bool:
        """Whether there are so many sources that a closure pays."""
        return len(sources) > tuning.VISITED_PAIRS or len(np.unique(sources)) * tuning.VISITED_SOURCES_SHARE > len(
            self._nodes.ids
        )

    def facts(
        self, engine: MemoryEngine, binary: PairTable, excluding: MemoryFacts, old: _Graph | None = None
    ) -> ComputedFacts:
        """The facts of all paths, but for those in a set, among which are all of an old graph.

        They get rows if they have none.
        """
        if not self.small:
            return entered_pairs(engine, binary, self._visited(), excluding)
        bits = self.bits.copy()
        if between := old is not None and old.small:
            # What is new lies between two graphs; what `X` has of it is left out.
            self._without(old, bits)
        return entered_bits(engine, binary, self._nodes, bits, excluding, between)

    def _without(self, old: _Graph, bits: Bits) -> None:
        """Takes the pairs of an old graph out of rows of bits, and those of `X`."""
        if (earlier := self.earlier(old)) is not None:
            np.bitwise_and(bits, ~earlier, out=bits)
        else:
            aside(64 * old.bits.size, kernels.clear_graph, old._nodes.ids, old.bits, self._nodes.number, bits)
        kernels.clear_edges(self._heads, self._first, bits)

    def _visited(self) -> Iterator[Ids]:
        n, lo = len(self._nodes.ids), 0
        out = np.empty((2, max(tuning.PAIRS_AT_A_TIME, n)), np.int32)
        stamps, queue = self._room()
        while lo < n:
            look()
            lo, size = kernels.visit_sources(*self._edges(), lo, n, self._nodes.ids, stamps, queue, out)
            yield out[:, :size]

    def _edges(self) -> tuple[Positions, Ids, Positions, Ids]:
        return self._starts, self._targets, self._heads, self._first

    def _room(self) -> tuple[Ids, Ids]:
        n = len(self._nodes.ids)
        return np.full(n, -1, np.int32), np.empty(n, np.int32)

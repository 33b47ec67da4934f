"""Paths of binary relations in memory.

A graph of up to a few ten thousand nodes has a row of bits for every node, and its closure is computed as a whole, over
its strongly connected components: for dense graphs that is hundreds of times faster than joining. In a larger one, nodes
are visited source by source. What was computed last is kept, since an update asks about the same sets several times.
"""

from __future__ import annotations

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
from everlog.engine.memory.facts.table import Ids, Sorted
from everlog.engine.memory.graphs.node_numbers import Bits, dense_nodes, grouped
from everlog.engine.memory.graphs.pair_tables import PairTable, in_pieces
from everlog.engine.memory.graphs.visits import visits_pay
from everlog.engine.memory.kernels import graph_kernels as kernels
from everlog.engine.recent_results import Recent
from everlog.interrupts import aside


class MemoryPaths(Paths):
    """Paths from the facts of one table along those of another, or of the same."""

    def __init__(self, engine: MemoryEngine, atom: Atom, step: Atom, backwards: bool = False) -> None:
        self._engine = engine
        self._binary, self._steps = PairTable(engine, atom, backwards), PairTable(engine, step, backwards)
        self._recent = Recent[_Graph](2)  # what is new lies between the last two

    def facts(self, X: FactSet, T: FactSet, excluding: FactSet) -> ComputedFacts:
        return self._graph(X, T).facts(self._binary, as_memory_facts(excluding))

    def more(self, X: FactSet, T: FactSet, before: tuple[FactSet, FactSet], excluding: FactSet) -> ComputedFacts:
        graph = self._graph(X, T)
        old = self._graph(*before) if graph.small and before[0] else None
        return graph.facts(self._binary, as_memory_facts(excluding), old)

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
            return self._binary.listed(array[~graph.holds(self._binary.of(table.tuples(array)))])
        return self._binary.facts(self._unreached(graph, rows, old))

    def _unreached(self, graph: _Graph, rows: Rows, old: _Graph | None) -> Rows:
        """Those of many rows that there is no path for, looked at where they lie; all of them have one in `old`."""
        table, first = self._binary.table, self._binary.first
        held = None if rows.is_span else rows.pinned()
        bits, number, mark = graph.bits, graph.nodes.number, Mark(table)
        test = np.uint16(0 if held is None else held.mark.bit), np.uint16(mark.bit), table.mask
        alike = old is not None and old.small and np.array_equal(graph.nodes.ids, old.nodes.ids)
        earlier = old.bits if old is not None and alike else bits[:0]
        found: list[tuple[int, Ids]] = []

        def unsorted(lo: int, hi: int) -> None:
            out = np.empty(row_sets.few(hi - lo), np.int32)
            ends = table.cols[first], table.cols[1 - first]
            found.append((kernels.mark_unreached(*ends, lo, hi, number, bits, *test, out), out))

        def in_order(part: Sorted, ids: tuple[int, int]) -> None:
            lo, hi = max(rows.lo, part.lo), min(rows.hi, part.hi)
            out = np.empty(row_sets.few(hi - lo), np.int32)
            where = part.starts, ids, part.lo, lo, hi, table.cols[1 - first]
            found.append((kernels.mark_unreached_sorted(*where, number, bits, earlier, *test, out), out))

        at = rows.lo
        for part in table.sorted_parts(first):
            if part.hi <= rows.lo or rows.hi <= part.lo:
                continue
            if at < part.lo:
                unsorted(at, part.lo)
            at = part.hi
            workers = self._engine.workers
            pieces = max(1, (part.hi - part.lo) // (tuning.BITS_PER_PAIR * tuning.PAIRS_AT_A_TIME))
            jobs = [partial(in_order, part, ids) for ids in part.shared(workers * pieces)]
            for one in range(0, len(jobs), workers):
                self._engine.parallel(jobs[one : one + workers], undoable=True)
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
        self.nodes = dense_nodes(*first, *steps)
        n, number = len(self.nodes.ids), self.nodes.number
        self._steps = grouped(number[steps], n)
        self._heads = grouped(number[first], n)
        self.small = n * ((n + 63) // 64) * 8 <= tuning.GRAPH_BYTES
        self._bits: Bits | None = None

    @property
    def bits(self) -> Bits:
        """For every node the nodes that it reaches."""
        if self._bits is None:
            edges, n = len(self._steps[1]), len(self.nodes.ids)
            component, found = aside(edges, kernels.strong_components, *self._steps)
            closure = aside(edges * ((n + 63) // 64), kernels.reflexive_closure, *self._steps, component, found)
            bits: Bits = np.zeros((n, closure.shape[1]), np.uint64)
            work = len(self._heads[1]) * closure.shape[1]
            aside(work, kernels.compose, *self._heads, component, closure, 0, n, bits)
            self._bits = bits
        return self._bits

    def holds(self, pairs: Ids) -> npt.NDArray[np.bool_]:
        """Which pairs of ids there is a path for."""
        out = np.empty(pairs.shape[1], np.bool_)
        if self.small and (self._bits is not None or self._many(pairs[0])):
            aside(len(out), kernels.reached, pairs[0], pairs[1], self.nodes.number, self.bits, out)
        else:
            sources, targets = (self.nodes.numbers(ends) for ends in pairs)
            order = np.argsort(sources, kind="stable")
            work = len(np.unique(sources)) * len(self._steps[1])
            edges = *self._steps, *self._heads
            aside(work, kernels.visit_pairs, *edges, targets, order, sources, *self._room(), out)
        return out

    def _many(self, sources: Ids) -> bool:
        """Whether there are so many sources that a closure pays."""
        several = len(np.unique(sources)) * tuning.VISITED_SOURCES_SHARE > len(self.nodes.ids)
        return several or len(sources) > tuning.VISITED_PAIRS

    def facts(self, binary: PairTable, excluding: MemoryFacts, old: _Graph | None = None) -> ComputedFacts:
        """The facts of all paths, which get rows, but for those in a set, among which are all of an old graph."""
        without_bits = self._bits is None and (old is None or old._bits is None)
        if not self.small or (without_bits and visits_pay(self._steps, self._heads)):
            ids, edges, room = self.nodes.ids, (*self._steps, *self._heads), self._room()
            n = len(ids)
            visited = in_pieces(lambda lo, out: kernels.visit_sources(*edges, lo, n, ids, *room, out), 0, n, n)
            return binary.entered_pairs(visited, excluding)
        if old is None or not old.small:
            return binary.entered_bits(self.nodes, self.bits.copy(), excluding, False)
        # What is new lies between two graphs; what `X` has of it is left out.
        bits = self.nodes.beyond(self.bits, old.nodes, old.bits)
        kernels.clear_edges(*self._heads, bits)
        return binary.entered_bits(self.nodes, bits, excluding, True)

    def _room(self) -> tuple[Ids, Ids]:
        n = len(self.nodes.ids)
        return np.full(n, -1, np.int32), np.empty(n, np.int32)

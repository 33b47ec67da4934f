"""Cliques in memory: the facts that connect everything that some of them connect, by connected components."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import Cliques, FactSet
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.rows import NO_ROWS, Mark, Rows
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids, Positions, pieces
from everlog.engine.memory.graphs.node_numbers import Nodes, dense_nodes, grouped
from everlog.engine.memory.graphs.pair_tables import PairTable, in_pieces
from everlog.engine.memory.kernels import graph_kernels as kernels
from everlog.engine.recent_results import Recent
from everlog.interrupts import aside


class MemoryCliques(Cliques):
    """Connected components of a binary table."""

    def __init__(self, engine: MemoryEngine, atom: Atom) -> None:
        self._engine = engine
        self._binary = PairTable(engine, atom)
        self._recent = Recent[tuple[Nodes, Ids]]()

    def _components(self, X: FactSet) -> tuple[Nodes, Ids]:
        """The nodes of `X`, and the component of each."""

        def components() -> tuple[Nodes, Ids]:
            pairs = self._binary.pairs(as_memory_facts(X))
            nodes = dense_nodes(*pairs)
            ends = nodes.number[pairs]
            return nodes, aside(pairs.shape[1], kernels.connected_components, *ends, len(nodes.ids))

        return self._recent.of(components, X)

    def joined(self, X: FactSet, more: FactSet, excluding: FactSet) -> ComputedFacts:
        before, old = self._components(X)
        pairs = self._binary.pairs(as_memory_facts(more))
        nodes = dense_nodes(before.ids, *pairs)
        # Each node is joined to the first one of its old component, and the new pairs to each other.
        n, own = len(nodes.ids), nodes.number[before.ids]
        edges = np.concatenate([[own, own[old]], nodes.number[pairs]], axis=1)
        found = aside(edges.shape[1], kernels.connected_components, *edges, n)
        earlier = np.full(n, -1, np.int32)
        earlier[own] = old
        starts, members = grouped((found, np.arange(n, dtype=np.int32)), n)
        words, pairs_at_most = (n + 63) // 64, int((np.diff(starts) ** 2).sum())
        if n * words <= min(pairs_at_most, tuning.GRAPH_BYTES // 8) and self._binary.table.n <= pairs_at_most:
            # So many pairs are found to be new or not by their bits sooner than one by one.
            bits = np.zeros((n, words), np.uint64)
            aside(pairs_at_most, kernels.joined_bits, starts, members, earlier, bits)
            return self._binary.entered_bits(nodes, bits, as_memory_facts(excluding), between=False)
        return self._binary.entered_pairs(_between(nodes, starts, members, earlier), as_memory_facts(excluding))

    def outside(self, X: FactSet, facts: FactSet) -> ComputedFacts:
        rows = as_memory_facts(facts).rows(self._binary.table)
        if rows.size <= row_sets.few(rows.hi - rows.lo):  # scattered, or none
            array, first, second = self._ends(X, as_memory_facts(facts))
            return self._binary.listed(array[(first < 0) | (first != second)])
        return self._binary.facts(self._apart(X, rows))

    def _apart(self, X: FactSet, rows: Rows) -> Rows:
        """Those of many rows whose ends are in no common component, looked at where they lie."""
        nodes, component = self._components(X)
        by_id = np.append(component, np.int32(-1))[nodes.number]  # -1, where there is no node, is the last place
        table = self._binary.table
        held, mark = None if rows.is_span else rows.pinned(), Mark(table)
        test = np.uint16(0 if held is None else held.mark.bit), np.uint16(mark.bit), table.mask
        found: list[tuple[int, Ids]] = []

        def look_at(lo: int, hi: int) -> None:
            out = np.empty(row_sets.few(hi - lo), np.int32)
            found.append((kernels.mark_apart(*table.cols, lo, hi, by_id, *test, out), out))

        workers = self._engine.workers if rows.hi - rows.lo >= tuning.SHARED_TUPLES else 1
        for lo, hi in pieces(rows.lo, rows.hi, workers * tuning.PAIRS_AT_A_TIME):
            cuts = pairwise(lo + (hi - lo) * part // workers for part in range(workers + 1))
            self._engine.parallel([partial(look_at, *cut) for cut in cuts], undoable=True)
        return row_sets.marked(mark, rows.lo, rows.hi, found)

    def around(self, X: FactSet, edges: FactSet, facts: FactSet) -> ComputedFacts:
        nodes, component = self._components(X)
        near = np.zeros(len(component) + 1, np.bool_)
        for components in self._ends(X, as_memory_facts(edges))[1:]:
            near[components] = True
        near[-1] = False  # the place of what is in no component
        table, inside = self._binary.table, np.flatnonzero(near[component]).astype(np.int32)
        starts, members = grouped((component[inside], inside), len(component))
        if tuning.PAIR_LOOK_UP_COST * int((np.diff(starts) ** 2).sum()) > table.n:
            array, first, second = self._ends(X, as_memory_facts(facts))
            return self._binary.listed(array[near[first] & (first == second)])
        nowhere = np.full(len(component), -1, np.int32)
        found = [table.find(pairs) for pairs in _between(nodes, starts, members, nowhere)]
        array = np.concatenate([NO_ROWS, *found])
        array = array[array >= 0]
        return self._binary.listed(array[as_memory_facts(facts).contains(table, array)])

    def _ends(self, X: FactSet, facts: MemoryFacts) -> tuple[Ids, Ids, Ids]:
        """The rows of some facts, and the components of their ends, -1 where there is none."""
        nodes, component = self._components(X)
        array = facts.rows(self._binary.table).array()
        known = np.append(component, np.int32(-1))  # where the number -1 leads to
        first, second = (known[nodes.numbers(ids)] for ids in self._binary.table.tuples(array))
        return array, first, second


def _between(nodes: Nodes, starts: Positions, members: Ids, earlier: Ids) -> Iterator[Ids]:
    """The pairs of each component's members that were in different ones earlier, or in none (-1)."""
    n, joined, ids = len(nodes.ids), kernels.joined_pairs, nodes.ids
    return in_pieces(lambda place, out: joined(starts, members, place, earlier, ids, out), (0, 0), (n, 0), n)

"""Paths that automata accept, in the memory engine: the product of a graph with the automata's states.

Where rows of bits for all product nodes are few enough, the closure of the product is computed as a whole, over its
strongly connected components; otherwise, and where few sources are concerned, it is searched source by source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import Chains, FactSet, Moves
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids, Positions
from everlog.engine.memory.graphs.node_numbers import Bits, Nodes, dense_nodes, grouped
from everlog.engine.memory.graphs.pair_tables import PairTable, entered_bits, entered_pairs, listed_facts
from everlog.engine.memory.kernels import chain_kernels as kernels
from everlog.engine.memory.kernels.graph_kernels import clear_edges, clear_graph, strong_components
from everlog.engine.recent_results import Recent
from everlog.interrupts import aside, look


class MemoryChains(Chains):
    """Facts of some heads over the facts of some letters."""

    def __init__(
        self, engine: MemoryEngine, heads: Sequence[Atom], letters: Sequence[Atom], moves: Sequence[Moves]
    ) -> None:
        self._engine = engine
        self._heads = [PairTable(engine, atom, False) for atom in heads]
        self._letters = [PairTable(engine, atom, False) for atom in letters]
        states = sum(len(one) for one, _ in moves)
        self._delta = np.full((states, 2 * len(letters)), -1, np.int32)
        self._finals = np.zeros(states, np.bool_)
        self._starts: list[int] = []
        offset = 0
        for one, finals in moves:
            self._starts.append(offset)
            for state, after in enumerate(one):
                for letter, target in after.items():
                    self._delta[offset + state, letter] = offset + target
            self._finals[[offset + state for state in finals]] = True
            offset += len(one)
        self._recent = Recent[_Product](2)  # what is new lies between the last two

    def facts(self, X: FactSet, T: FactSet, excluding: FactSet) -> ComputedFacts:
        graph, found = self._product(X, T), self._engine.empty()
        for number, head in enumerate(self._heads):
            found |= graph.facts(self._engine, number, head, as_memory_facts(excluding))
        return found

    def more(self, X: FactSet, T: FactSet, before: tuple[FactSet, FactSet], excluding: FactSet) -> ComputedFacts:
        old = self._recent.known(*before)
        if old is None:
            return self.facts(X, T, excluding)
        graph, found = self._product(X, T), self._engine.empty()
        for number, head in enumerate(self._heads):
            found |= graph.facts(
                self._engine, number, head, as_memory_facts(excluding), old, head.pairs(as_memory_facts(X))
            )
        return found

    def through(self, X: FactSet, T: FactSet, changed: FactSet, excluding: FactSet) -> ComputedFacts | None:
        graph, found = self._product(X, T), self._engine.empty()
        near = graph.leading_to(self._edges(as_memory_facts(changed)))
        for number, head in enumerate(self._heads):
            sources = graph.sources(number, near)
            if len(sources) * tuning.SEARCHED_SOURCES_SHARE > graph.size:
                return None
            found |= entered_pairs(self._engine, head, graph.searched(number, sources), as_memory_facts(excluding))
        return found

    def outside(self, X: FactSet, T: FactSet, facts: FactSet) -> ComputedFacts:
        lost = as_memory_facts(facts).computed()
        lost -= X
        graph = self._product(X, T) if lost else None
        for number, head in enumerate(self._heads):
            rows = lost.rows(head.table)
            if graph is None or not len(rows):
                continue
            array = rows.array()
            lost -= listed_facts(
                self._engine, head.table, array[graph.holds(number, head.of(head.table.tuples(array)))]
            )
        return lost

    def around(self, X: FactSet, T: FactSet, changed: FactSet, facts: FactSet) -> ComputedFacts:
        graph, found = self._product(X, T), self._engine.empty()
        near = graph.leading_to(self._edges(as_memory_facts(changed)))
        for number, head in enumerate(self._heads):
            array = as_memory_facts(facts).rows(head.table).array()
            nodes = graph.nodes.numbers(head.table.cols[0, array])
            there = (nodes >= 0) & near[self._starts[number] * graph.size + np.maximum(nodes, 0)]
            found |= listed_facts(self._engine, head.table, array[there])
        return found

    def _edges(self, facts: MemoryFacts) -> list[Ids]:
        """Pairs by letter, forwards and backwards."""
        found = []
        for letter in self._letters:
            pairs = letter.pairs(facts)
            found += [pairs, pairs[::-1]]
        return found

    def _product(self, X: FactSet, T: FactSet) -> _Product:
        """The product for some facts."""

        def product() -> _Product:
            pairs = zip(self._edges(as_memory_facts(X)), self._edges(as_memory_facts(T)), strict=True)
            both = [np.concatenate(some, axis=1) for some in pairs]
            return _Product(both, self._delta, self._finals, self._starts)

        return self._recent.of(product, X, T)


class _Product:
    """Edges by letter and the automata, as one graph."""

    def __init__(self, edges: list[Ids], delta: Ids, finals: npt.NDArray[np.bool_], starts: Sequence[int]) -> None:
        self.nodes: Nodes = dense_nodes(*(ends for pairs in edges for ends in pairs))
        self.size = n = len(self.nodes.ids)
        self._delta, self._finals, self._begin = delta, finals, starts
        number = self.nodes.number
        letter_starts = np.cumsum([0, *(pairs.shape[1] for pairs in edges)])
        columns = [np.concatenate([pairs[end] for pairs in edges]) for end in (0, 1)]
        sources, targets = (number[column] if len(column) else column for column in columns)
        letters = np.arange(len(edges))
        steps = len(sources) * len(delta)
        first, second = aside(steps, kernels.product, letters, sources, targets, letter_starts, delta, n)
        self._first, self._second = first, second
        self._starts, self._targets = grouped(first, second, len(finals) * n)
        self._small = len(finals) * n * ((n + 63) // 64) * 8 <= tuning.GRAPH_BYTES
        self._closed: tuple[Ids, Bits] | None = None

    def _closure(self) -> tuple[Ids, Bits]:
        """The component of every product node, and the nodes that each leads to in a final state."""
        if self._closed is None:
            edges = len(self._targets)
            component, found = aside(edges, strong_components, self._starts, self._targets)
            ends = self._starts, self._targets, component, found
            steps = edges * ((self.size + 63) // 64)
            bits = aside(steps, kernels.accepted_closure, *ends, self._finals, max(1, self.size))
            self._closed = component, bits
        return self._closed

    def bits(self, head: int) -> Bits:
        """For every node the nodes that a head has facts for."""
        component, bits = self._closure()
        out = np.empty((self.size, bits.shape[1]), np.uint64)
        kernels.accepted_rows(bits, component, self._begin[head] * self.size, 0, self.size, out)
        return out

    def facts(
        self,
        engine: MemoryEngine,
        head: int,
        binary: PairTable,
        excluding: MemoryFacts,
        old: _Product | None = None,
        held: Ids | None = None,
    ) -> ComputedFacts:
        """The facts of a head, but for those in a set; among these are those of an old product, and those `held`."""
        if not self._small:
            everything = np.arange(self.size, dtype=np.int32)
            return entered_pairs(engine, binary, self.searched(head, everything), excluding)
        bits = self.bits(head)
        between = old is not None and old._small and held is not None
        if old is not None and held is not None and between:
            if np.array_equal(self.nodes.ids, old.nodes.ids):
                np.bitwise_and(bits, ~old.bits(head), out=bits)
            else:
                aside(64 * bits.size, clear_graph, old.nodes.ids, old.bits(head), self.nodes.number, bits)
            starts, targets = grouped(self.nodes.number[held[0]], self.nodes.number[held[1]], self.size)
            clear_edges(starts, targets, bits)
        return entered_bits(engine, binary, self.nodes, bits, excluding, between)

    def holds(self, head: int, pairs: Ids) -> npt.NDArray[np.bool_]:
        """Which pairs of ids a head has facts for."""
        out = np.empty(pairs.shape[1], np.bool_)
        sources, targets = (self.nodes.numbers(ends) for ends in pairs)
        if self._small and (
            self._closed is not None or len(np.unique(sources)) * tuning.SEARCHED_SOURCES_SHARE > self.size
        ):
            component, bits = self._closure()
            known = (sources >= 0) & (targets >= 0)
            rows = component[self._begin[head] * self.size + sources[known]]
            ends = targets[known]
            out[:] = False
            out[known] = (bits[rows, ends >> 6] >> (ends & 63).astype(np.uint64)) & np.uint64(1) != 0
        else:
            order = np.argsort(sources, kind="stable")
            start = self._begin[head] * self.size
            steps = len(np.unique(sources)) * len(self._targets)
            pairs_of = *self._graph(), start, sources, targets, order, *self._room()
            aside(steps, kernels.accepted_pairs, *pairs_of, out)
        return out

    def leading_to(self, edges: list[Ids]) -> npt.NDArray[np.bool_]:
        """The product nodes from which a way leads along one of some edges."""
        seeds: list[Ids] = [np.empty(0, np.int32)]
        for letter, pairs in enumerate(edges):
            nodes = self.nodes.numbers(np.ascontiguousarray(pairs[0]))
            nodes = nodes[nodes >= 0]
            for state in np.flatnonzero(self._delta[:, letter] >= 0):
                seeds.append((state * self.size + nodes).astype(np.int32))
        out = np.zeros(len(self._starts) - 1, np.bool_)
        starts, targets = grouped(self._second, self._first, len(self._starts) - 1)
        aside(len(targets), kernels.leading_to, starts, targets, np.concatenate(seeds), out)
        return out

    def sources(self, head: int, near: npt.NDArray[np.bool_]) -> Ids:
        """The nodes whose facts of a head are among those of some product nodes."""
        start = self._begin[head] * self.size
        return np.flatnonzero(near[start : start + self.size]).astype(np.int32)

    def searched(self, head: int, sources: Ids) -> Iterator[Ids]:
        """The pairs of ids of some sources, found source by source."""
        out = np.empty((2, max(tuning.PAIRS_AT_A_TIME, self.size)), np.int32)
        room, lo = self._room(), 0
        while lo < len(sources):
            look()
            start = self._begin[head] * self.size
            lo, size = kernels.visit_accepted(*self._graph(), start, sources, lo, self.nodes.ids, *room, out)
            yield out[:, :size]

    def _graph(self) -> tuple[Positions, Ids, npt.NDArray[np.bool_], int]:
        return self._starts, self._targets, self._finals, max(1, self.size)

    def _room(self) -> tuple[Ids, Ids, Ids]:
        places = len(self._starts) - 1
        return np.full(places, -1, np.int32), np.full(self.size, -1, np.int32), np.empty(places, np.int32)

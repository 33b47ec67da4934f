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
from everlog.engine.memory.facts.rows import NO_ROWS
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids, Positions
from everlog.engine.memory.graphs.node_numbers import Bits, Nodes, dense_nodes, grouped
from everlog.engine.memory.graphs.pair_tables import PairTable, in_pieces
from everlog.engine.memory.kernels import chain_kernels as kernels
from everlog.engine.memory.kernels.graph_kernels import clear_edges, strong_components
from everlog.engine.recent_results import Recent
from everlog.interrupts import aside


class MemoryChains(Chains):
    """Facts of some heads over the facts of some letters."""

    def __init__(
        self, engine: MemoryEngine, heads: Sequence[Atom], letters: Sequence[Atom], moves: Sequence[Moves]
    ) -> None:
        self._engine = engine
        self._heads = [PairTable(engine, atom) for atom in heads]
        self._letters = [PairTable(engine, atom) for atom in letters]
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
        return self._facts(X, T, None, as_memory_facts(excluding))

    def more(self, X: FactSet, T: FactSet, before: tuple[FactSet, FactSet], excluding: FactSet) -> ComputedFacts:
        return self._facts(X, T, self._recent.known(*before), as_memory_facts(excluding))

    def _facts(self, X: FactSet, T: FactSet, old: _Product | None, excluding: MemoryFacts) -> ComputedFacts:
        """All facts but for those in a set; if there is an old product, its facts and `X` are in the set."""
        graph, found = self._product(X, T), self._engine.empty()
        nodes = graph.nodes
        for number, head in enumerate(self._heads):
            if not graph.small:
                everything = np.arange(graph.size, dtype=np.int32)
                found |= head.entered_pairs(graph.searched(number, everything), excluding)
                continue
            bits = graph.bits(number)
            if between := old is not None and old.small:
                bits = nodes.beyond(bits, old.nodes, old.bits(number))
                clear_edges(*grouped(nodes.number[head.pairs(as_memory_facts(X))], graph.size), bits)
            found |= head.entered_bits(nodes, bits, excluding, between)
        return found

    def through(self, X: FactSet, T: FactSet, changed: FactSet, excluding: FactSet) -> ComputedFacts | None:
        graph, found = self._product(X, T), self._engine.empty()
        near = graph.leading_to(self._edges(as_memory_facts(changed)))
        for number, head in enumerate(self._heads):
            start = self._starts[number] * graph.size
            sources = np.flatnonzero(near[start : start + graph.size]).astype(np.int32)
            if len(sources) * tuning.SEARCHED_SOURCES_SHARE > graph.size:
                return None
            found |= head.entered_pairs(graph.searched(number, sources), as_memory_facts(excluding))
        return found

    def outside(self, X: FactSet, T: FactSet, facts: FactSet) -> ComputedFacts:
        lost = as_memory_facts(facts).computed()
        lost -= X
        graph = self._product(X, T) if lost else None
        for number, head in enumerate(self._heads):
            array = lost.rows(head.table).array()
            if graph is not None and len(array):
                lost -= head.listed(array[graph.holds(number, head.table.tuples(array))])
        return lost

    def around(self, X: FactSet, T: FactSet, changed: FactSet, facts: FactSet) -> ComputedFacts:
        graph, found = self._product(X, T), self._engine.empty()
        near = graph.leading_to(self._edges(as_memory_facts(changed)))
        for number, head in enumerate(self._heads):
            array = as_memory_facts(facts).rows(head.table).array()
            nodes = graph.nodes.numbers(head.table.cols[0, array])
            there = (nodes >= 0) & near[self._starts[number] * graph.size + np.maximum(nodes, 0)]
            found |= head.listed(array[there])
        return found

    def _edges(self, facts: MemoryFacts) -> list[Ids]:
        """Pairs by letter, forwards and backwards."""
        pairs = [letter.pairs(facts) for letter in self._letters]
        return [ends for one in pairs for ends in (one, one[::-1])]

    def _product(self, X: FactSet, T: FactSet) -> _Product:
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
        letter_starts = np.cumsum([0, *(pairs.shape[1] for pairs in edges)])
        sources, targets = self.nodes.number[np.concatenate(edges, axis=1)]
        letters = np.arange(len(edges))
        steps = len(sources) * len(delta)
        self._ends: tuple[Ids, Ids] = aside(steps, kernels.product, letters, sources, targets, letter_starts, delta, n)
        self._places = len(finals) * n
        self._edges = grouped(self._ends, self._places)
        self.small = self._places * ((n + 63) // 64) * 8 <= tuning.GRAPH_BYTES
        self._closed: tuple[Ids, Bits] | None = None

    def _closure(self) -> tuple[Ids, Bits]:
        """The component of every product node, and the nodes that each leads to in a final state."""
        if self._closed is None:
            edges = len(self._edges[1])
            component, found = aside(edges, strong_components, *self._edges)
            graph = *self._edges, component, found, self._finals, max(1, self.size)
            self._closed = component, aside(edges * ((self.size + 63) // 64), kernels.accepted_closure, *graph)
        return self._closed

    def bits(self, head: int) -> Bits:
        """For every node the nodes that a head has facts for."""
        component, bits = self._closure()
        out = np.empty((self.size, bits.shape[1]), np.uint64)
        kernels.accepted_rows(bits, component, self._begin[head] * self.size, 0, self.size, out)
        return out

    def holds(self, head: int, pairs: Ids) -> npt.NDArray[np.bool_]:
        """Which pairs of ids a head has facts for."""
        out = np.zeros(pairs.shape[1], np.bool_)
        sources, targets = (self.nodes.numbers(ends) for ends in pairs)
        start, several = self._begin[head] * self.size, len(np.unique(sources))
        if self.small and (self._closed is not None or several * tuning.SEARCHED_SOURCES_SHARE > self.size):
            component, bits = self._closure()
            known = (sources >= 0) & (targets >= 0)
            rows, ends = component[start + sources[known]], targets[known]
            out[known] = (bits[rows, ends >> 6] >> (ends & 63).astype(np.uint64)) & np.uint64(1) != 0
        else:
            order = np.argsort(sources, kind="stable")
            asked = start, sources, targets, order, *self._room()
            aside(several * len(self._edges[1]), kernels.accepted_pairs, *self._graph(), *asked, out)
        return out

    def leading_to(self, edges: list[Ids]) -> npt.NDArray[np.bool_]:
        """The product nodes from which a way leads along one of some edges."""
        seeds = [NO_ROWS]
        for letter, pairs in enumerate(edges):
            nodes = self.nodes.numbers(np.ascontiguousarray(pairs[0]))
            nodes = nodes[nodes >= 0]
            for state in np.flatnonzero(self._delta[:, letter] >= 0):
                seeds.append((state * self.size + nodes).astype(np.int32))
        out = np.zeros(self._places, np.bool_)
        starts, targets = grouped(self._ends[::-1], self._places)
        aside(len(targets), kernels.leading_to, starts, targets, np.concatenate(seeds), out)
        return out

    def searched(self, head: int, sources: Ids) -> Iterator[Ids]:
        """The pairs of ids of some sources, found source by source."""
        asked, ids, room = (*self._graph(), self._begin[head] * self.size, sources), self.nodes.ids, self._room()
        visit = kernels.visit_accepted
        return in_pieces(lambda lo, out: visit(*asked, lo, ids, *room, out), 0, len(sources), self.size)

    def _graph(self) -> tuple[Positions, Ids, npt.NDArray[np.bool_], int]:
        return *self._edges, self._finals, max(1, self.size)

    def _room(self) -> tuple[Ids, Ids, Ids]:
        places = self._places
        return np.full(places, -1, np.int32), np.full(self.size, -1, np.int32), np.empty(places, np.int32)

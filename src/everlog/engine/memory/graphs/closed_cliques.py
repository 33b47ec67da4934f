"""Symmetric and transitive relations that are closed: a component for each node tells all pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import Closed, Closing, FactSet
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.closed_facts import Booleans, Closure
from everlog.engine.memory.facts.sets import as_memory_facts
from everlog.engine.memory.facts.table import Ids
from everlog.engine.memory.graphs.node_numbers import Nodes, dense_nodes, grouped
from everlog.engine.memory.graphs.pair_tables import PairTable, in_pieces
from everlog.engine.memory.kernels import graph_kernels as kernels
from everlog.interrupts import aside


class ClosingCliques(Closing):
    """Connected components of a binary table, found anew after each change: that takes as long as to look at its edges."""

    def __init__(self, engine: MemoryEngine, atom: Atom) -> None:
        self._binary = PairTable(engine, atom)

    def closed(self, X: FactSet, T: FactSet, always: bool = False, asked: bool = False) -> ClosedCliques | None:
        found = self._closed(X)
        least = tuning.ASKED_CLOSED_FACTS if asked else tuning.CLOSED_CLIQUE_FACTS
        return found if always or len(found) >= least else None

    def changed(self, before: Closed, X: FactSet, T: FactSet, come: FactSet, gone: FactSet) -> ClosedCliques:
        return self._closed(X)

    def _closed(self, X: FactSet) -> ClosedCliques:
        pairs = self._binary.pairs(as_memory_facts(X))
        nodes = dense_nodes(*pairs)
        edges = nodes.number[pairs]
        return ClosedCliques(nodes, aside(pairs.shape[1], kernels.connected_components, *edges, len(nodes.ids)))


class ClosedCliques(Closure):
    """All pairs of nodes of one component."""

    def __init__(self, nodes: Nodes, component: Ids) -> None:
        self._nodes, self._component = nodes, component
        n = len(component)
        self._starts, self._members = grouped((component, np.arange(n, dtype=np.int32)), n)
        self._size = int((np.diff(self._starts) ** 2).sum())

    def __len__(self) -> int:
        return self._size

    def nbytes(self) -> int:
        arrays = *self._nodes, self._component, self._starts, self._members
        return sum(array.nbytes for array in arrays)

    def _components(self, ids: Ids) -> Ids:
        """The components of some ids, -1 for those that are in none."""
        known = np.append(self._component, np.int32(-1))  # where the number -1 leads to
        return known[self._nodes.numbers(ids)]

    def holds(self, pairs: Ids) -> Booleans:
        first, second = map(self._components, pairs)
        found: Booleans = (first >= 0) & (first == second)
        return found

    def pairs(self) -> Iterator[Ids]:
        return self._between(np.full(len(self._component), -1, np.int32))

    def ending(self, place: int, ids: Ids) -> Iterator[Ids]:
        components = self._components(ids)
        for id, component in zip(ids[components >= 0].tolist(), components[components >= 0].tolist(), strict=True):
            others = self._nodes.ids[self._members[self._starts[component] : self._starts[component + 1]]]
            ends = np.full(len(others), id, np.int32), others
            yield np.stack(ends if place == 0 else ends[::-1])

    def spread(self, place: int) -> int:
        return len(self._component)

    def beyond(self, other: Closure) -> Iterator[Ids]:
        return self._between(self._earlier(other))

    def size_beyond(self, other: Closure) -> int:
        earlier = self._earlier(other)
        known = earlier >= 0
        both = (self._component[known].astype(np.int64) << 32) | earlier[known]
        return self._size - int((np.unique(both, return_counts=True)[1] ** 2).sum())

    def _earlier(self, other: Closure) -> Ids:
        """The component of each node in another closure, -1 for none."""
        assert isinstance(other, ClosedCliques), "a closure of the same relation"
        return other._components(self._nodes.ids)

    def _between(self, earlier: Ids) -> Iterator[Ids]:
        """The pairs of each component's members that were in different ones earlier, or in none (-1)."""
        n, ids, parts = len(earlier), self._nodes.ids, (self._starts, self._members)
        return in_pieces(lambda at, out: kernels.joined_pairs(*parts, at, earlier, ids, out), (0, 0), (n, 0), n)

"""Graphs and orders in memory, as modules ask for them (`everlog.engine.algebra`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from everlog.datalog.syntax import Atom, Rule, Variable
from everlog.engine.algebra import FactSet, Graphs, Moves
from everlog.engine.memory.best_facts import MemoryBestFacts
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import as_memory_facts
from everlog.engine.memory.graphs.chains import MemoryChains
from everlog.engine.memory.graphs.cliques import MemoryCliques
from everlog.engine.memory.graphs.closed_cliques import ClosingCliques
from everlog.engine.memory.graphs.closed_paths import ClosingPaths
from everlog.engine.memory.graphs.neighbours import MemoryNeighbours
from everlog.engine.memory.graphs.node_numbers import dense_nodes
from everlog.engine.memory.graphs.pair_tables import PairTable
from everlog.engine.memory.graphs.paths import MemoryPaths
from everlog.engine.memory.grouped_facts import MemoryGroups


class MemoryGraphs(Graphs):
    """Makes graphs of one engine's tables."""

    def __init__(self, engine: MemoryEngine) -> None:
        self._engine = engine

    def paths(self, atom: Atom, step: Atom, backwards: bool = False) -> MemoryPaths:
        return MemoryPaths(self._engine, atom, step, backwards)

    def continued(self, atom: Atom, facts: FactSet) -> tuple[int, int]:
        """How many of some facts an atom has, and how many of these end where another one begins."""
        first, second = PairTable(self._engine, atom).pairs(as_memory_facts(facts))
        nodes = dense_nodes(first)
        return len(second), int((nodes.numbers(second) >= 0).sum())

    def spread(self, atoms: Sequence[Atom], facts: FactSet) -> tuple[int, int]:
        """How many facts of some atoms there are, and how many ways to continue one by another."""
        known = as_memory_facts(facts)
        pairs = np.concatenate([PairTable(self._engine, atom).pairs(known) for atom in atoms], axis=1)
        if not pairs.shape[1]:
            return 0, 0
        degrees = np.bincount(pairs[0], minlength=int(pairs[1].max()) + 1)
        return pairs.shape[1], int(degrees[pairs[1]].sum())

    def cliques(self, atom: Atom) -> MemoryCliques:
        return MemoryCliques(self._engine, atom)

    def closing_paths(self, atom: Atom, step: Atom, backwards: bool = False) -> ClosingPaths:
        return ClosingPaths(self._engine, atom, step, backwards)

    def closing_cliques(self, atom: Atom) -> ClosingCliques:
        return ClosingCliques(self._engine, atom)

    def neighbours(self, atom: Atom, item: Atom) -> MemoryNeighbours:
        return MemoryNeighbours(self._engine, atom, item)

    def keyed_neighbours(self, atom: Atom, item: Atom, key: Variable) -> MemoryNeighbours:
        return MemoryNeighbours(self._engine, atom, item, key)

    def best_facts(self, rule: Rule) -> MemoryBestFacts:
        return MemoryBestFacts(self._engine, rule)

    def groups(self, rule: Rule) -> MemoryGroups:
        return MemoryGroups(self._engine, rule)

    def chains(self, heads: Sequence[Atom], letters: Sequence[Atom], moves: Sequence[Moves]) -> MemoryChains:
        return MemoryChains(self._engine, heads, letters, moves)

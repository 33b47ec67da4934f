"""Neighbours in memory: what follows what, in the order of values or of keys."""

from __future__ import annotations

import numpy as np

from everlog.datalog.syntax import Atom, Variable
from everlog.engine.algebra import FactSet, Neighbours
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import ComputedFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids, Positions, Table
from everlog.engine.memory.graphs.pair_tables import PairTable
from everlog.engine.memory.kernels import graph_kernels as kernels
from everlog.engine.memory.term_kinds import BOOL, DATE, DATETIME, FLOAT, STRING, TIME
from everlog.engine.recent_results import Recent
from everlog.interrupts import aside


class MemoryNeighbours(Neighbours):
    """Values of a unary table in their order, those of each kind (`datalog/comparing.py`) by themselves.

    Or the values of a binary table in the order of their keys; `key` is where these stand.
    """

    def __init__(self, engine: MemoryEngine, atom: Atom, item: Atom, key: Variable | None = None) -> None:
        self._engine = engine
        self._binary = PairTable(engine, atom)
        self._items = _unary(engine, item) if key is None else PairTable(engine, item).table
        self._key = 0 if key is None else list(item.variables()).index(key)
        self._keyed = key is not None
        self._recent = Recent[tuple[Ids, Positions]]()

    def facts(self, P: FactSet, excluding: FactSet) -> ComputedFacts:
        return self._binary.entered_pairs([self._pairs(P)], as_memory_facts(excluding))

    def _pairs(self, P: FactSet) -> Ids:
        """The pairs of neighbours; twice, if two values are neighbours by two keys."""
        ids, rank = self._ranked(P)
        pairs = np.empty((2, kernels.neighbour_pairs(ids, rank, np.empty((2, 0), np.int32))), np.int32)
        kernels.neighbour_pairs(ids, rank, pairs)
        return pairs

    def outside(self, P: FactSet, facts: FactSet) -> ComputedFacts:
        array = as_memory_facts(facts).rows(self._binary.table).array()
        pairs = self._binary.table.tuples(array)
        if self._keyed:
            return self._binary.listed(array[~np.isin(_codes(pairs), _codes(self._pairs(P)))])
        first, second = (_ranks_of(column, *self._ranked(P)) for column in pairs)
        return self._binary.listed(array[(first < 0) | (second != first + 1)])

    def _ranked(self, P: FactSet) -> tuple[Ids, Positions]:
        """The ids in their order, with numbers that grow by one from a value to the next and skip one between kinds."""
        return self._recent.of(lambda: self._ranks(as_memory_facts(P).rows(self._items).array()), P)

    def _ranks(self, rows: Ids) -> tuple[Ids, Positions]:
        keys = self._items.cols[self._key, rows]
        ids = np.unique(keys) if self._keyed else keys
        order = self._engine.dictionary.order()
        kinds = order.kinds[ids]
        nan = (kinds == FLOAT) & np.isnan(order.payload[ids].view(np.float64))
        found, ranks, first = [], [], 0
        for part in (
            ids[(kinds <= FLOAT) & ~nan],
            *(ids[kinds == kind] for kind in (BOOL, STRING, DATETIME, DATE, TIME)),
        ):
            found.append(aside(8 * len(part), kernels.sort_values, np.ascontiguousarray(part), order))
            rank = np.empty(len(part), np.int64)
            first = kernels.ranks(found[-1], order, first, rank) + 1
            ranks.append(rank)
        ranked = np.concatenate(found), np.concatenate(ranks)
        return _by_key(self._items.cols[1 - self._key, rows], keys, *ranked) if self._keyed else ranked


def _codes(pairs: Ids) -> Positions:
    codes: Positions = (pairs[0].astype(np.int64) << 32) | pairs[1]
    return codes


def _by_key(values: Ids, keys: Ids, known: Ids, ranks: Positions) -> tuple[Ids, Positions]:
    """Values in the order of their keys, of which some are known to have ranks."""
    rank = _ranks_of(keys, known, ranks)
    order = np.argsort(rank, kind="stable")
    order = order[rank[order] >= 0]
    return np.ascontiguousarray(values[order]), rank[order]


def _ranks_of(ids: Ids, known: Ids, ranks: Positions) -> Positions:
    """The ranks of some ids, -1 for those that are not known to have one."""
    number = np.full(int(max(known.max(initial=-1), ids.max(initial=-1))) + 1, -1, np.int64)
    number[known] = ranks
    return number[ids]


def _unary(engine: MemoryEngine, atom: Atom) -> Table:
    table = engine.literal(atom, {term: 0 for term in atom.variables()}).static
    assert table is not None and table.arity == 1, "an atom of a unary table"
    return table

"""Graphs in the memory engine: paths and cliques of binary relations.

A graph of up to a few ten thousand nodes has a row of bits for every node, and its closure is computed as a whole, over
its strongly connected components: for dense graphs that is hundreds of times faster than joining. In a larger one, nodes
are visited source by source. What was computed last is kept, since an update asks about the same sets several times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from everlog.datalog.syntax import Atom, Variable
from everlog.engine.algebra import Chains, Cliques, FactSet, Graphs, Moves, Neighbours, Paths
from everlog.engine.memory import graph_kernels as kernels
from everlog.engine.memory import rows as row_sets
from everlog.engine.memory.dictionary import Order
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.kernels import unselected
from everlog.engine.memory.rows import Mark, Rows
from everlog.engine.memory.sets import Facts, Stored, own
from everlog.engine.memory.sinks import Entry
from everlog.engine.memory.table import Ids, Positions, Sorted, Table
from everlog.engine.memory.term_kinds import FLOAT, STRING
from everlog.interrupts import aside, look

_BITS: Final = 1 << 28
"""Up to this many bytes of bits are used for a graph."""

_BUFFER: Final = 1 << 20
"""Pairs that are made at a time."""

_SPARSE: Final = 16
"""One pair in so many bits is taken for what is usual."""

_FEW_PAIRS: Final = 100_000
_FEW_SOURCES: Final = 32
"""Pairs up to so many, from at most one source in so many nodes, are decided by visits."""

_LOOKUP: Final = 16
"""Looking a pair up takes as long as looking at so many that lie one after the other."""

Bits = npt.NDArray[np.uint64]


class Nodes(NamedTuple):
    """Ids as dense numbers: `ids` by number, and `number` (or -1) by id."""

    ids: Ids
    number: Ids

    def numbers(self, ids: Ids) -> Ids:
        found = np.full(len(ids), -1, np.int32)
        known = ids < len(self.number)
        found[known] = self.number[ids[known]]
        return found


def dense_nodes(*columns: Ids) -> Nodes:
    top = max((int(column.max()) for column in columns if len(column)), default=-1)
    seen = np.zeros(top + 1, np.bool_)
    for column in columns:
        seen[column] = True
    ids = np.flatnonzero(seen).astype(np.int32)
    number = np.full(top + 1, -1, np.int32)
    number[ids] = np.arange(len(ids), dtype=np.int32)
    return Nodes(ids, number)


def grouped(sources: Ids, targets: Ids, nodes: int) -> tuple[Positions, Ids]:
    """Edges grouped by their source."""
    found: tuple[Positions, Ids] = aside(len(sources), kernels.adjacency, sources, targets, nodes)
    return found


class Binary:
    """The table of a binary atom, and its pairs; `turned`, their ends change places."""

    def __init__(self, engine: MemoryEngine, atom: Atom, turned: bool) -> None:
        numbers = {term: place for place, term in enumerate(dict.fromkeys(atom.variables()))}
        table = engine.literal(atom, numbers).static
        assert table is not None and table.arity == len(numbers) == 2, "an atom of a binary table"
        self.table: Table = table
        self._turned = turned
        self.first = 1 if turned else 0
        """The column of the pairs' first ends."""

    def pairs(self, facts: Facts) -> Ids:
        rows = facts.rows(self.table)
        return self.of(self.table.cols[:, rows.lo : rows.hi] if rows.is_span else self.table.tuples(rows.array()))

    def of(self, tuples: Ids) -> Ids:
        """Tuples as pairs, or pairs as tuples."""
        return np.ascontiguousarray(tuples[::-1] if self._turned else tuples)


class MemoryPaths(Paths):
    """Paths from the facts of one table along those of another, or of the same."""

    def __init__(self, engine: MemoryEngine, atom: Atom, step: Atom, backwards: bool = False) -> None:
        self._engine = engine
        self._binary, self._steps = Binary(engine, atom, backwards), Binary(engine, step, backwards)
        self._recent: list[tuple[FactSet, FactSet, _Graph]] = []

    def facts(self, X: FactSet, T: FactSet, excluding: FactSet) -> Stored:
        return self._graph(X, T).facts(self._engine, self._binary, own(excluding))

    def more(self, X: FactSet, T: FactSet, before: tuple[FactSet, FactSet], excluding: FactSet) -> Stored:
        graph = self._graph(X, T)
        old = self._graph(*before) if graph.small and before[0] else None
        return graph.facts(self._engine, self._binary, own(excluding), old)

    def outside(self, X: FactSet, T: FactSet, facts: FactSet) -> Stored:
        return self._outside(X, T, facts, None)

    def fewer(self, X: FactSet, T: FactSet, before: tuple[FactSet, FactSet], facts: FactSet) -> Stored:
        return self._outside(X, T, facts, self._known(*before))

    def _outside(self, X: FactSet, T: FactSet, facts: FactSet, old: _Graph | None) -> Stored:
        """Those of some facts that `X` and `T` do not lead to; an old graph, if there is one, led to all of them."""
        table, rows = self._binary.table, own(facts).rows(self._binary.table)
        if not len(rows):
            return self._engine.empty()
        graph = self._graph(X, T)
        if rows.size <= _FEW_PAIRS or not graph.small:
            array = rows.array()
            return stored(self._engine, table, array[~graph.holds(self._binary.of(table.tuples(array)))])
        lost = self._unreached(graph, rows, None if old is None else graph.earlier(old))
        return Stored(self._engine.within, {table: lost} if len(lost) else {})

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
            ranges = part.shared(workers * max(1, (part.hi - part.lo) // (_SPARSE * _BUFFER)))
            for one in range(0, len(ranges), workers):
                jobs = [partial(in_order, part, ids) for ids in ranges[one : one + workers]]
                self._engine.parallel(jobs, undoable=True)
        if at < rows.hi:
            unsorted(at, rows.hi)
        return row_sets.marked(mark, rows.lo, rows.hi, found)

    def _known(self, X: FactSet, T: FactSet) -> _Graph | None:
        return next((graph for first, steps, graph in self._recent if first is X and steps is T), None)

    def _graph(self, X: FactSet, T: FactSet) -> _Graph:
        """The graph of some facts; the last two are kept, since what is new lies between them."""
        found = self._known(X, T)
        if found is None:
            found = _Graph(self._binary.pairs(own(X)), self._steps.pairs(own(T)))
            self._recent = [(X, T, found), *self._recent[:1]]
        return found


class _Graph:
    """`X` and `T` as edges between dense nodes."""

    def __init__(self, first: Ids, steps: Ids) -> None:
        self._nodes = dense_nodes(*first, *steps)
        n = len(self._nodes.ids)
        number = self._nodes.number
        self._starts, self._targets = grouped(number[steps[0]], number[steps[1]], n)
        self._heads, self._first = grouped(number[first[0]], number[first[1]], n)
        self.small = n * ((n + 63) // 64) * 8 <= _BITS
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
        return len(sources) > _FEW_PAIRS or len(np.unique(sources)) * _FEW_SOURCES > len(self._nodes.ids)

    def facts(self, engine: MemoryEngine, binary: Binary, excluding: Facts, old: _Graph | None = None) -> Stored:
        """The facts of all paths, but for those in a set, among which are all of an old graph.

        They get rows if they have none.
        """
        if not self.small:
            return entered(engine, binary, self._visited(), excluding)
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
        out = np.empty((2, max(_BUFFER, n)), np.int32)
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


class MemoryCliques(Cliques):
    """Connected components of a binary table."""

    def __init__(self, engine: MemoryEngine, atom: Atom) -> None:
        self._engine = engine
        self._binary = Binary(engine, atom, False)
        self._last: tuple[FactSet, Nodes, Ids] | None = None

    def _components(self, X: FactSet) -> tuple[Nodes, Ids]:
        """The nodes of `X`, and the component of each."""
        if self._last is None or self._last[0] is not X:
            pairs = self._binary.pairs(own(X))
            nodes = dense_nodes(*pairs)
            number = nodes.number
            ends = number[pairs[0]], number[pairs[1]]
            found = aside(len(ends[0]), kernels.connected_components, *ends, len(nodes.ids))
            self._last = X, nodes, found
        return self._last[1:]

    def joined(self, X: FactSet, more: FactSet, excluding: FactSet) -> Stored:
        before, old = self._components(X)
        pairs = self._binary.pairs(own(more))
        nodes = dense_nodes(before.ids, *pairs)
        # Each node is joined to the first one of its old component, and the new pairs to each other.
        number = nodes.number
        own_number = number[before.ids]
        found = aside(
            pairs.shape[1] + len(own_number),
            kernels.connected_components,
            np.concatenate([own_number, number[pairs[0]]]),
            np.concatenate([own_number[old], number[pairs[1]]]),
            len(nodes.ids),
        )
        earlier = np.full(len(nodes.ids), -1, np.int32)
        earlier[own_number] = old
        n = len(nodes.ids)
        starts, members = grouped(found, np.arange(n, dtype=np.int32), n)
        words, pairs_at_most = (n + 63) // 64, int((np.diff(starts) ** 2).sum())
        if n * words <= min(pairs_at_most, _BITS // 8) and self._binary.table.n <= pairs_at_most:
            # So many pairs are found to be new or not by their bits sooner than one by one.
            bits = np.zeros((n, words), np.uint64)
            aside(pairs_at_most, kernels.joined_bits, starts, members, earlier, bits)
            return entered_bits(self._engine, self._binary, nodes, bits, own(excluding), between=False)
        return entered(self._engine, self._binary, self._between(nodes, starts, members, earlier), own(excluding))

    @staticmethod
    def _between(nodes: Nodes, starts: Positions, members: Ids, earlier: Ids) -> Iterator[Ids]:
        """The pairs of each component's members that were in different ones earlier, or in none (-1)."""
        n = len(nodes.ids)
        out = np.empty((2, max(_BUFFER, n)), np.int32)
        place, size = (0, 0), 0
        while place[0] < n:
            look()
            place, size = kernels.joined_pairs(starts, members, place, earlier, nodes.ids, out)
            yield out[:, :size]

    def outside(self, X: FactSet, facts: FactSet) -> Stored:
        array, first, second = self._ends(X, own(facts))
        return stored(self._engine, self._binary.table, array[(first < 0) | (first != second)])

    def around(self, X: FactSet, edges: FactSet, facts: FactSet) -> Stored:
        _, *touched = self._ends(X, own(edges))
        near = np.zeros(len(self._components(X)[1]) + 1, np.bool_)
        for components in touched:
            near[components] = True
        near[-1] = False  # the place of what is in no component
        nodes, component = self._components(X)
        table, inside = self._binary.table, np.flatnonzero(near[component]).astype(np.int32)
        starts, members = grouped(component[inside], inside, len(component))
        if _LOOKUP * int((np.diff(starts) ** 2).sum()) > table.n:
            array, first, second = self._ends(X, own(facts))
            return stored(self._engine, table, array[near[first] & (first == second)])
        nowhere = np.full(len(component), -1, np.int32)
        found = [table.find(pairs) for pairs in self._between(nodes, starts, members, nowhere)]
        array = np.concatenate([np.empty(0, np.int32), *found])
        array = array[array >= 0]
        return stored(self._engine, table, array[own(facts).contains(table, array)])

    def _ends(self, X: FactSet, facts: Facts) -> tuple[Ids, Ids, Ids]:
        """The rows of some facts, and the components of their ends, -1 where there is none."""
        nodes, component = self._components(X)
        array = facts.rows(self._binary.table).array()
        ends = []
        for ids in self._binary.table.tuples(array):
            numbers = nodes.numbers(ids)
            ends.append(np.where(numbers < 0, -1, component[numbers] if len(component) else -1).astype(np.int32))
        return array, ends[0], ends[1]


class MemoryNeighbours(Neighbours):
    """Values of a unary table in their order: numbers by value, strings by code point, and other values in none.

    Or the values of a binary table in the order of their keys; `key` is where these stand.
    """

    def __init__(self, engine: MemoryEngine, atom: Atom, item: Atom, key: Variable | None = None) -> None:
        self._engine = engine
        self._binary = Binary(engine, atom, False)
        self._items = _unary(engine, item) if key is None else Binary(engine, item, False).table
        self._key = 0 if key is None else list(item.variables()).index(key)
        self._keyed = key is not None
        self._last: tuple[FactSet, Ids, Positions] | None = None

    def facts(self, P: FactSet, excluding: FactSet) -> Stored:
        return entered(self._engine, self._binary, iter([self._pairs(P)]), own(excluding))

    def _pairs(self, P: FactSet) -> Ids:
        """The pairs of neighbours; twice, if two values are neighbours by two keys."""
        ids, rank = self._ranked(P)
        pairs = np.empty((2, kernels.neighbour_pairs(ids, rank, np.empty((2, 0), np.int32))), np.int32)
        kernels.neighbour_pairs(ids, rank, pairs)
        return pairs

    def outside(self, P: FactSet, facts: FactSet) -> Stored:
        if self._keyed:
            array = own(facts).rows(self._binary.table).array()
            there = np.isin(_codes(self._binary.table.tuples(array)), _codes(self._pairs(P)))
            return stored(self._engine, self._binary.table, array[~there])
        ids, rank = self._ranked(P)
        number = np.full(int(ids.max()) + 1 if len(ids) else 0, -2, np.int64)
        number[ids] = rank
        array = own(facts).rows(self._binary.table).array()
        ends = []
        for column in self._binary.table.tuples(array):
            found = np.full(len(column), -2, np.int64)
            known = column < len(number)
            found[known] = number[column[known]]
            ends.append(found)
        return stored(self._engine, self._binary.table, array[(ends[0] < 0) | (ends[1] != ends[0] + 1)])

    def _ranked(self, P: FactSet) -> tuple[Ids, Positions]:
        """The ids in their order, with numbers that grow by one from a value to the next and skip one between kinds."""
        if self._last is None or self._last[0] is not P:
            rows = own(P).rows(self._items).array()
            keys = self._items.cols[self._key, rows]
            ids = np.unique(keys) if self._keyed else keys
            order = self._engine.dictionary.order()
            kinds = order.kinds[ids]
            numbers = ids[(kinds <= FLOAT) & ~_is_nan(order, ids)]
            found, ranks, first = [], [], 0
            for part in (numbers, ids[kinds == STRING]):
                found.append(aside(8 * len(part), kernels.sort_values, np.ascontiguousarray(part), order))
                rank = np.empty(len(part), np.int64)
                first = kernels.ranks(found[-1], order, first, rank) + 1
                ranks.append(rank)
            self._last = P, np.concatenate(found), np.concatenate(ranks)
            if self._keyed:
                self._last = P, *_by_key(self._items.cols[1 - self._key, rows], keys, *self._last[1:])
        return self._last[1], self._last[2]


def entered_bits(
    engine: MemoryEngine, binary: Binary, nodes: Nodes, bits: Bits, excluding: Facts, between: bool
) -> Stored:
    """The facts of rows of bits, which are written to, but for those in a set; `between`, there are none of these.

    Those that have no rows get new ones, and those whose rows are dead get these.
    """
    table, known = binary.table, [np.empty(0, np.int32)]

    def cleared(pairs: Ids) -> npt.NDArray[np.bool_]:
        there = np.empty(pairs.shape[1], np.bool_)
        kernels.clear(pairs[0], pairs[1], nodes.number, bits, there)
        return there

    if between:
        dead = _dead(table, excluding)
        known.append(dead[cleared(binary.of(table.tuples(dead)))])
    else:
        for lo in range(0, table.n, _BUFFER):
            look()
            hi = min(table.n, lo + _BUFFER)
            there = np.flatnonzero(cleared(binary.of(table.cols[:, lo:hi]))).astype(np.int32) + np.int32(lo)
            known.append(there[~excluding.contains(table, there)])
    first = table.n
    table.append_sorted(binary.of(_pairs(engine, nodes, bits)), leading=binary.first)
    return _united(engine, table, np.concatenate(known), row_sets.span(table, first, table.n))


def _pairs(engine: MemoryEngine, nodes: Nodes, bits: Bits) -> Ids:
    """The pairs of ids of rows of bits."""
    n, workers = len(bits), engine.workers
    parts = workers * max(1, bits.size * 64 // (_SPARSE * _BUFFER))
    cuts = [n * part // parts for part in range(parts + 1)]
    sizes = [kernels.count_bits(bits, lo, hi) for lo, hi in pairwise(cuts)]
    out = np.empty((2, sum(sizes)), np.int32)
    at, jobs = 0, []
    for (lo, hi), size in zip(pairwise(cuts), sizes, strict=True):
        jobs.append(partial(kernels.enumerate_bits, bits, lo, hi, nodes.ids, out, at))
        at += size
    for first in range(0, parts, workers):
        look()
        engine.parallel(jobs[first : first + workers], undoable=True)
    return out


def _dead(table: Table, excluding: Facts) -> Ids:
    """The rows of a table that are not in a set."""
    view = excluding.view(table)
    if view.is_span and view.bounds[0] == 0 and view.bounds[1] >= table.n:
        return np.empty(0, np.int32)
    test = (view.bounds, view.care, view.want, table.mask, view.annotation)
    out = np.empty(_BUFFER, np.int32)
    found = unselected(0, table.n, *test, out)
    if found > len(out):
        out = np.empty(found, np.int32)
        unselected(0, table.n, *test, out)
    return out[:found]


def _codes(pairs: Ids) -> Positions:
    codes: Positions = (pairs[0].astype(np.int64) << 32) | pairs[1]
    return codes


def _by_key(values: Ids, keys: Ids, known: Ids, ranks: Positions) -> tuple[Ids, Positions]:
    """Values in the order of their keys, of which some are known to have ranks."""
    number = np.full(int(keys.max()) + 1 if len(keys) else 0, -1, np.int64)
    number[known] = ranks
    rank = number[keys]
    order = np.argsort(rank, kind="stable")
    order = order[rank[order] >= 0]
    return np.ascontiguousarray(values[order]), rank[order]


def _is_nan(order: Order, ids: Ids) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (order.kinds[ids] == FLOAT) & np.isnan(order.payload[ids].view(np.float64))
    return found


def _unary(engine: MemoryEngine, atom: Atom) -> Table:
    table = engine.literal(atom, {term: 0 for term in atom.variables()}).static
    assert table is not None and table.arity == 1, "an atom of a unary table"
    return table


def stored(engine: MemoryEngine, table: Table, rows: Ids) -> Stored:
    return Stored(engine.within, {table: row_sets.listed(table, rows)} if len(rows) else {})


def _united(engine: MemoryEngine, table: Table, rows: Ids, more: Rows) -> Stored:
    together = row_sets.union(more, row_sets.listed(table, rows)) if len(rows) else more
    return Stored(engine.within, {table: together} if len(together) else {})


def entered(engine: MemoryEngine, binary: Binary, pieces: Iterator[Ids], excluding: Facts) -> Stored:
    """The facts of pairs that come in pieces, each once, but for those in a set."""
    table = binary.table
    entry = Entry(table, 1, excluding.view(table))
    for pairs in pieces:
        look()
        tuples = binary.of(pairs)
        entry.put(0, tuples, tuples.shape[1], np.arange(2), np.empty(0, np.int32))
        entry.enter(engine.parallel)
    rows = entry.rows()
    return Stored(engine.within, {table: rows} if len(rows) else {})


class MemoryGraphs(Graphs):
    """Makes graphs of one engine's tables."""

    def __init__(self, engine: MemoryEngine) -> None:
        self._engine = engine

    def binary(self, atom: Atom) -> bool:
        variables = list(atom.variables())
        numbers = {term: place for place, term in enumerate(dict.fromkeys(variables))}
        table = self._engine.literal(atom, numbers).static
        return table is not None and table.arity == len(numbers) == len(variables) == 2

    def paths(self, atom: Atom, step: Atom, backwards: bool = False) -> MemoryPaths:
        return MemoryPaths(self._engine, atom, step, backwards)

    def continued(self, atom: Atom, facts: FactSet) -> tuple[int, int]:
        """How many of some facts an atom has, and how many of these end where another one begins."""
        first, second = Binary(self._engine, atom, False).pairs(own(facts))
        nodes = dense_nodes(first)
        return len(second), int((nodes.numbers(second) >= 0).sum())

    def spread(self, atoms: Sequence[Atom], facts: FactSet) -> tuple[int, int]:
        """How many facts of some atoms there are, and how many ways to continue one by another."""
        pairs = np.concatenate([Binary(self._engine, atom, False).pairs(own(facts)) for atom in atoms], axis=1)
        if not pairs.shape[1]:
            return 0, 0
        degrees = np.bincount(pairs[0], minlength=int(pairs[1].max()) + 1)
        return pairs.shape[1], int(degrees[pairs[1]].sum())

    def cliques(self, atom: Atom) -> MemoryCliques:
        return MemoryCliques(self._engine, atom)

    def unary(self, atom: Atom) -> bool:
        variables = list(atom.variables())
        table = self._engine.literal(atom, {term: 0 for term in variables}).static
        return table is not None and table.arity == len(variables) == 1

    def neighbours(self, atom: Atom, item: Atom) -> MemoryNeighbours:
        return MemoryNeighbours(self._engine, atom, item)

    def keyed_neighbours(self, atom: Atom, item: Atom, key: Variable) -> MemoryNeighbours:
        return MemoryNeighbours(self._engine, atom, item, key)

    def chains(self, heads: Sequence[Atom], letters: Sequence[Atom], moves: Sequence[Moves]) -> Chains:
        from everlog.engine.memory.chains import MemoryChains

        return MemoryChains(self._engine, heads, letters, moves)

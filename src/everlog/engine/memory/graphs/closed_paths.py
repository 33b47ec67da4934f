"""Relations that are closed along steps, as rows of bits: what each node leads to.

Nodes of a strongly connected component share a row, and a row goes from its first word that is not empty to its last one.
Columns are nodes in the order of components, so that a node of an acyclic graph leads to columns before its own: half of
all bits are never there. After a change nodes that lead to it get new rows, as far as these are others. They are put behind
those that older closures go on using; rows that nobody uses are left out when there is no room for more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import Closed, Closing, FactSet
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.closed_facts import Booleans, Closure, codes
from everlog.engine.memory.facts.sets import as_memory_facts
from everlog.engine.memory.facts.table import Ids, Positions
from everlog.engine.memory.graphs.node_numbers import Bits, Nodes, dense_nodes, grouped
from everlog.engine.memory.graphs.pair_tables import PairTable, in_pieces
from everlog.engine.memory.kernels import closure_kernels as kernels
from everlog.engine.memory.kernels.graph_kernels import strong_components, visit_sources
from everlog.interrupts import aside

_Rows = tuple[Positions, Positions, Positions, Positions]
"""Where each row begins, its first word, how many it has, and how many bits."""


class ClosingPaths(Closing):
    """`X ∪ X·T ∪ X·T·T ∪ …` of two tables, or of one."""

    def __init__(self, engine: MemoryEngine, atom: Atom, step: Atom, backwards: bool = False) -> None:
        self._first, self._steps = PairTable(engine, atom, backwards), PairTable(engine, step, backwards)
        self._turned = backwards

    def closed(self, X: FactSet, T: FactSet, always: bool = False, asked: bool = False) -> ClosedPaths | None:
        first, steps = self._pairs(X, T)
        least = tuning.ASKED_CLOSED_FACTS if asked else tuning.CLOSED_FACTS
        if not always and not _pays(first, steps, least):
            return None
        found = _Graph(first, steps).closed(self._turned)
        return found if always or len(found) >= least else None

    def changed(self, before: Closed, X: FactSet, T: FactSet, come: FactSet, gone: FactSet) -> ClosedPaths:
        assert isinstance(before, ClosedPaths), "a closure of the same relation"
        graph = _Graph(*self._pairs(X, T), before)
        return graph.changed(before, self._pairs(come, come), self._pairs(gone, gone))

    def _pairs(self, X: FactSet, T: FactSet) -> tuple[Ids, Ids]:
        """Facts as edges: those that paths begin with, and those that lead on."""
        return self._first.pairs(as_memory_facts(X)), self._steps.pairs(as_memory_facts(T))


def _pays(first: Ids, steps: Ids, least: int) -> bool:
    """Whether rows of bits take much less room than facts, by what some sources lead to."""
    nodes = dense_nodes(*first, *steps)
    n = len(nodes.ids)
    most = n * (n // 128 + 1) * 8
    if most > tuning.CLOSED_BYTES or not first.shape[1]:
        return False
    edges = *grouped(nodes.number[steps], n), *grouped(nodes.number[first], n)
    sources = np.flatnonzero(np.diff(edges[2]))
    some = sources[:: max(1, len(sources) // tuning.SAMPLED_SOURCES)]
    room = np.full(n, -1, np.int32), np.empty(n, np.int32), np.empty((2, n), np.int32)
    reached = sum(visit_sources(*edges, one, one + 1, nodes.ids, *room)[1] for one in some.tolist())
    pairs = reached * len(sources) / len(some)
    return bool(pairs >= least and most <= pairs * tuning.CLOSED_PAIR_BYTES)


class _Graph:
    """Edges between nodes that have columns, and from sources, which have none, where paths begin in another way.

    Columns are those of a closure before, if there is one, and new ones.
    """

    def __init__(self, first: Ids, steps: Ids, before: ClosedPaths | None = None) -> None:
        found = dense_nodes(*first, *steps)
        if before is None:
            component, _ = aside(steps.shape[1], strong_components, *grouped(found.number[steps], len(found.ids)))
            ids = found.ids[np.argsort(component, kind="stable")]
        else:
            ids = np.concatenate([before.ids, found.ids[before.numbers(found.ids) < 0]])
        number = np.full(int(ids.max(initial=-1)) + 1, -1, np.int32)
        number[ids] = np.arange(len(ids), dtype=np.int32)
        self.nodes = Nodes(ids, number)
        self._first, self._steps = first, steps

    def closed(self, turned: bool) -> ClosedPaths:
        """The closure, from nothing."""
        return self._all(not _same(self._first, self._steps), turned)

    def _all(self, apart: bool, turned: bool) -> ClosedPaths:
        nodes = len(self.nodes.ids) * (1 + apart)
        row, rows = np.full(nodes, -1, np.int32), _room_for_rows(nodes)
        words: Bits = np.empty(nodes * (len(self.nodes.ids) // 128 + 1) * 5 // 4 + 64, np.uint64)
        made = _Made(row, rows, _Words(words))
        return self._with_rows(made, np.ones(nodes, np.bool_), apart, turned)

    def changed(self, before: ClosedPaths, come: tuple[Ids, Ids], gone: tuple[Ids, Ids]) -> ClosedPaths:
        """The closure after some edges came and others went."""
        columns = len(self.nodes.ids)
        apart = before.apart
        if not apart and not _same(self._first, self._steps):
            return self.closed(before.turned)
        row = np.full(columns * (1 + apart), -1, np.int32)
        row[: len(before.ids)] = before.row[: len(before.ids)]
        if apart:
            row[columns : columns + len(before.ids)] = before.row[len(before.ids) :]
        seeds = np.zeros(len(row), np.bool_)
        for changed in (come, gone):
            seeds[self._joined(changed, apart)[0]] = True
        edges = self._edges(apart)
        concerned = aside(edges.shape[1], kernels.leading_to, *grouped((edges[1], edges[0]), len(row)), seeds)
        if concerned * tuning.CLOSED_AGAIN_SHARE > len(row):
            return self._all(apart, before.turned)
        more = max(64, before.known // 8)
        rows = tuple(np.concatenate([part[: before.known], np.empty(more, np.int64)]) for part in before.rows)
        words = before.words.after(before.used)
        made = _Made(row, (rows[0], rows[1], rows[2], rows[3]), words, before.known, before.used)
        return self._with_rows(made, seeds, apart, before.turned)

    def _edges(self, apart: bool) -> Ids:
        """All edges between nodes, those from sources with the numbers behind the columns."""
        return self._joined((self._first, self._steps), apart) if apart else self.nodes.number[self._steps]

    def _joined(self, edges: tuple[Ids, Ids], apart: bool) -> Ids:
        number = self.nodes.number
        first, steps = number[edges[0]], number[edges[1]]
        if apart:
            first[0] += len(self.nodes.ids)
        return np.concatenate([first, steps], axis=1)

    def _with_rows(self, made: _Made, seeds: Booleans, apart: bool, turned: bool) -> ClosedPaths:
        """The closure with rows that are right, where edges from seeds came and went."""
        edges = self._edges(apart)
        # Targets that lead furthest come first, so that most others are there already when it is their turn.
        edges = edges[:, np.argsort(-edges[1], kind="stable")]
        nodes, columns = len(made.row), len(self.nodes.ids)
        graph = grouped(edges, nodes)
        component, found = aside(edges.shape[1], strong_components, *graph)
        parts = component, *grouped((component, np.arange(nodes, dtype=np.int32)), found)
        width = columns // 64 + 1
        aside(edges.shape[1] * width, made.close, graph, parts, seeds, width)
        return ClosedPaths(self.nodes, made, apart, turned)


def _same(first: Ids, steps: Ids) -> bool:
    """Whether two lists of edges have the same ones."""
    if first.shape != steps.shape:
        return False
    return np.array_equal(first, steps) or np.array_equal(np.sort(codes(first)), np.sort(codes(steps)))


def _room_for_rows(number: int) -> _Rows:
    place, first, length, count = np.empty((4, number), np.int64)
    return place, first, length, count


class _Words:
    """Words that closures share, each up to its own end; one may put more behind the last."""

    def __init__(self, words: Bits) -> None:
        self.words = words
        self.used: int | None = 0
        """The end of the last one; None as long as somebody writes behind it, who may have been given up meanwhile."""

    def after(self, used: int) -> _Words:
        """Where a closure that has used so many words puts more: here, unless another one has done so."""
        if used == self.used:
            self.used = None
            return self
        copied = _Words(np.empty(len(self.words), np.uint64))
        copied.words[:used] = self.words[:used]
        return copied


class _Made:
    """Rows in the making."""

    def __init__(self, row: Ids, rows: _Rows, words: _Words, known: int = 0, used: int = 0) -> None:
        self.row, self.rows, self.words = row, rows, words
        self.known, self.used = known, used

    def close(
        self, graph: tuple[Positions, Ids], parts: tuple[Ids, Positions, Ids], seeds: Booleans, width: int
    ) -> None:
        """Makes rows right for nodes that lead to seeds."""
        buffer, at, end = np.zeros(width, np.uint64), 0, len(parts[1]) - 1
        changed = np.zeros(len(seeds), np.bool_)
        while True:
            state = self.row, self.rows, self.known, self.words.words, self.used
            at, self.known, self.used = kernels.close_rows(graph, parts, at, seeds, changed, *state, buffer)
            if at == end:
                break
            self._make_room(width)
        self.words.used = self.used

    def _make_room(self, width: int) -> None:
        """Leaves out rows that no node has, and makes room for half as many again."""
        mine = np.unique(self.row[self.row >= 0])
        live = int(self.rows[2][mine].sum())
        rows, words = _room_for_rows(2 * len(mine) + 64), _Words(np.empty(live * 3 // 2 + width, np.uint64))
        self.known, self.used = kernels.copy_rows(self.row, self.rows, self.words.words, rows, words.words)
        self.rows, self.words = rows, words


class ClosedPaths(Closure):
    """Pairs of a node where paths begin and one that they lead to; `turned`, these change places."""

    def __init__(self, nodes: Nodes, made: _Made, apart: bool, turned: bool) -> None:
        self._nodes, self.apart, self.turned = nodes, apart, turned
        self.row, self.rows, self.known, self.words, self.used = made.row, made.rows, made.known, made.words, made.used
        self._first = len(nodes.ids) if apart else 0
        """The number of the first source."""
        mine = self.row[self._first : self._first + len(nodes.ids)]
        self._size = int(self.rows[3][mine[mine >= 0]].sum())

    @property
    def ids(self) -> Ids:
        """The ids of columns."""
        return self._nodes.ids

    def numbers(self, ids: Ids) -> Ids:
        return self._nodes.numbers(ids)

    def __len__(self) -> int:
        return self._size

    def nbytes(self) -> int:
        return self.used * 8 + sum(array.nbytes for array in (*self._nodes, self.row, *self.rows))

    def _table(self) -> tuple[Ids, _Rows, Bits]:
        return self.row, self.rows, self.words.words

    def _ends(self, pairs: Ids) -> Ids:
        """Pairs as facts have them, or facts as pairs."""
        return pairs[::-1] if self.turned else pairs

    def _listed(self, listed: Callable[[int, Ids], tuple[int, int]], sources: int) -> Iterator[Ids]:
        return (self._ends(pairs) for pairs in in_pieces(listed, 0, sources, len(self.ids)))

    def holds(self, pairs: Ids) -> Booleans:
        first, second = (self._nodes.numbers(np.ascontiguousarray(ends)) for ends in self._ends(pairs))
        sources = np.where(first >= 0, first + np.int32(self._first), np.int32(-1))
        out = np.empty(pairs.shape[1], np.bool_)
        aside(len(out), kernels.in_rows, sources, second, *self._table(), out)
        return out

    def _sources(self) -> tuple[Ids, Ids]:
        """The nodes that lead anywhere, with their ids."""
        numbers = np.flatnonzero(self.row[self._first : self._first + len(self.ids)] >= 0).astype(np.int32)
        return numbers + np.int32(self._first), self.ids[numbers]

    def pairs(self) -> Iterator[Ids]:
        return self._from(*self._sources())

    def _from(self, sources: Ids, names: Ids) -> Iterator[Ids]:
        table, ids = self._table(), self.ids
        return self._listed(lambda lo, out: kernels.list_rows(sources, names, lo, *table, ids, out), len(sources))

    def ending(self, place: int, ids: Ids) -> Iterator[Ids]:
        asked = ids[self._nodes.numbers(ids) >= 0]
        numbers = self._nodes.numbers(asked)
        if place == int(self.turned):
            return self._from(numbers + np.int32(self._first), asked)
        (sources, names), table, known = self._sources(), self._table(), self.ids
        found = kernels.list_leading_to
        return self._listed(lambda lo, out: found(sources, names, lo, numbers, *table, known, out), len(sources))

    def spread(self, place: int) -> int:
        return len(self.ids)

    def beyond(self, other: Closure) -> Iterator[Ids]:
        asked = self._beyond(other)
        return self._listed(lambda lo, out: kernels.list_beyond(*asked[0], lo, *asked[1], True, out), len(asked[0][0]))

    def size_beyond(self, other: Closure) -> int:
        asked, out = self._beyond(other), np.empty((2, 0), np.int32)
        number: int = aside(self.used, kernels.list_beyond, *asked[0], 0, *asked[1], False, out)[1]
        return number

    def _beyond(self, other: Closure) -> tuple[tuple[Ids, Ids], tuple[npt.NDArray[np.int32] | object, ...]]:
        """Sources, their ids, and what is compared."""
        assert isinstance(other, ClosedPaths), "a closure of the same relation"
        sources, names = self._sources() if other is not self else (self.row[:0], self.ids[:0])
        moved, n = other.numbers(names), min(len(self.ids), len(other.ids))
        moved = np.where(moved >= 0, moved + np.int32(other._first), np.int32(-1))
        alike = np.array_equal(self.ids[:n], other.ids[:n])
        columns = self.ids[:0] if alike else other.numbers(self.ids)
        shared = self.words is other.words
        return (sources, names), (*self._table(), self.ids, (moved, columns, shared, *other._table()))

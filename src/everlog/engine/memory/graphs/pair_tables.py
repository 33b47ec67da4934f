"""The tables of binary atoms: their facts as pairs, and pairs as their facts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from everlog.datalog.syntax import Atom
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.rows import Rows
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts
from everlog.engine.memory.facts.table import Ids, Table
from everlog.engine.memory.facts.table_entry import Entry
from everlog.engine.memory.graphs.node_numbers import Bits, Nodes
from everlog.engine.memory.kernels import graph_kernels as kernels
from everlog.engine.memory.kernels.table_kernels import unselected
from everlog.interrupts import look


class PairTable:
    """The table of a binary atom, and its pairs; `turned`, their ends change places."""

    def __init__(self, engine: MemoryEngine, atom: Atom, turned: bool) -> None:
        numbers = {term: place for place, term in enumerate(dict.fromkeys(atom.variables()))}
        table = engine.literal(atom, numbers).static
        assert table is not None and table.arity == len(numbers) == 2, "an atom of a binary table"
        self.table: Table = table
        self._turned = turned
        self.first = 1 if turned else 0
        """The column of the pairs' first ends."""

    def pairs(self, facts: MemoryFacts) -> Ids:
        rows = facts.rows(self.table)
        return self.of(self.table.cols[:, rows.lo : rows.hi] if rows.is_span else self.table.tuples(rows.array()))

    def of(self, tuples: Ids) -> Ids:
        """Tuples as pairs, or pairs as tuples."""
        return np.ascontiguousarray(tuples[::-1] if self._turned else tuples)


def entered_bits(
    engine: MemoryEngine, binary: PairTable, nodes: Nodes, bits: Bits, excluding: MemoryFacts, between: bool
) -> ComputedFacts:
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
        for lo in range(0, table.n, tuning.PAIRS_AT_A_TIME):
            look()
            hi = min(table.n, lo + tuning.PAIRS_AT_A_TIME)
            there = np.flatnonzero(cleared(binary.of(table.cols[:, lo:hi]))).astype(np.int32) + np.int32(lo)
            known.append(there[~excluding.contains(table, there)])
    first = table.n
    table.append_sorted(binary.of(_pairs(engine, nodes, bits)), leading=binary.first)
    return _united(engine, table, np.concatenate(known), row_sets.span(table, first, table.n))


def _pairs(engine: MemoryEngine, nodes: Nodes, bits: Bits) -> Ids:
    """The pairs of ids of rows of bits."""
    n, workers = len(bits), engine.workers
    parts = workers * max(1, bits.size * 64 // (tuning.BITS_PER_PAIR * tuning.PAIRS_AT_A_TIME))
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


def _dead(table: Table, excluding: MemoryFacts) -> Ids:
    """The rows of a table that are not in a set."""
    view = excluding.view(table)
    if view.is_span and view.bounds[0] == 0 and view.bounds[1] >= table.n:
        return np.empty(0, np.int32)
    test = view.test(table)
    out = np.empty(tuning.PAIRS_AT_A_TIME, np.int32)
    found = unselected(0, table.n, *test, out)
    if found > len(out):
        out = np.empty(found, np.int32)
        unselected(0, table.n, *test, out)
    return out[:found]


def listed_facts(engine: MemoryEngine, table: Table, rows: Ids) -> ComputedFacts:
    return ComputedFacts(engine.within, {table: row_sets.listed(table, rows)} if len(rows) else {})


def _united(engine: MemoryEngine, table: Table, rows: Ids, more: Rows) -> ComputedFacts:
    together = row_sets.union(more, row_sets.listed(table, rows)) if len(rows) else more
    return ComputedFacts(engine.within, {table: together} if len(together) else {})


def entered_pairs(
    engine: MemoryEngine, binary: PairTable, pieces: Iterator[Ids], excluding: MemoryFacts
) -> ComputedFacts:
    """The facts of pairs that come in pieces, each once, but for those in a set."""
    table = binary.table
    entry = Entry(table, 1, excluding.view(table))
    for pairs in pieces:
        look()
        tuples = binary.of(pairs)
        entry.put(0, tuples, tuples.shape[1], np.arange(2), np.empty(0, np.int32))
        entry.enter(engine.parallel)
    rows = entry.rows()
    return ComputedFacts(engine.within, {table: rows} if len(rows) else {})

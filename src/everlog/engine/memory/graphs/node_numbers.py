"""Ids as dense numbers, for graphs whose nodes have rows in arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everlog.engine.memory import tuning
from everlog.engine.memory.facts.table import Ids, Positions
from everlog.engine.memory.kernels import graph_kernels as kernels
from everlog.interrupts import aside, look

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

    def beyond(self, bits: Bits, old: Nodes, old_bits: Bits) -> Bits:
        """Rows of bits without the pairs of an old graph; they are new ones."""
        if not np.array_equal(self.ids, old.ids):
            found = bits.copy()
            aside(64 * old_bits.size, kernels.clear_graph, old.ids, old_bits, self.number, found)
            return found
        found = np.empty_like(bits)
        rows = max(1, tuning.WORDS_AT_A_TIME // max(1, bits.shape[1]))
        # A few at a time, which the cache holds, and without room for all once more.
        for lo in range(0, len(bits), rows):
            look()
            piece = np.invert(old_bits[lo : lo + rows], out=found[lo : lo + rows])
            piece &= bits[lo : lo + rows]
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


def grouped(edges: tuple[Ids, Ids] | Ids, nodes: int) -> tuple[Positions, Ids]:
    """Edges, as sources and targets, grouped by their source."""
    sources, targets = edges
    found: tuple[Positions, Ids] = aside(len(sources), kernels.adjacency, sources, targets, nodes)
    return found

"""Ids as dense numbers, for graphs whose nodes have rows in arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everlog.engine.memory.facts.table import Ids, Positions
from everlog.engine.memory.kernels import graph_kernels as kernels
from everlog.interrupts import aside

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

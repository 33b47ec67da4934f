"""Whether the pairs that a graph connects are found by visiting its nodes, or by a row of bits for each of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from everlog.engine.memory import tuning
from everlog.engine.memory.kernels import graph_kernels as kernels

_Grouped = tuple[NDArray[np.int64], NDArray[np.int32]]


def visits_pay(steps: _Grouped, heads: _Grouped) -> bool:
    """Whether to visit all sources takes less than to close the graph, by what some of them reach.

    Edges are grouped by where they start; paths begin with `heads` and go on with `steps`.
    """
    n, edges = len(steps[0]) - 1, len(steps[1])
    sources = np.flatnonzero(np.diff(heads[0]))
    some = sources[:: max(1, len(sources) // tuning.SAMPLED_SOURCES)]
    if not len(some):
        return False
    room = np.full(n, -1, np.int32), np.empty(n, np.int32)
    out, numbers, reached = np.empty((2, n), np.int32), np.arange(n, dtype=np.int32), 0
    for source in some.tolist():
        _, size = kernels.visit_sources(*steps, *heads, source, source + 1, numbers, *room, out)
        reached += size
    visits = tuning.VISIT_COST * reached * len(sources) / len(some) * (1 + edges / n)
    return bool(visits < (edges + 3 * n) * ((n + 63) // 64))

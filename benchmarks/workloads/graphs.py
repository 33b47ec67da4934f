"""Reachability in a random acyclic graph, with a linear rule and with a non-linear one.

Edges go from a smaller to a larger number, each pair equally likely. The default `dag` has about 22 million facts and
102 million rule instances. In `dag-nonlinear` the closed relation is itself the explicit one.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks.workload import Instance, Workload
from benchmarks.workloads.pairs import Column, binary, distinct

LINEAR = """
reach(?x, ?y) :- edge(?x, ?y) .
reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
"""

NONLINEAR = """
R(?x, ?z) :- R(?x, ?y), R(?y, ?z) .
"""


def _edges(nodes: int, edges: int, seed: int) -> pa.Table:
    codes = distinct(np.random.default_rng(seed), nodes * (nodes - 1) // 2, edges)
    return binary(*_pair(codes))


def _pair(codes: Column) -> tuple[Column, Column]:
    """The pair i < j that has the number j(j-1)/2 + i."""
    later = ((1 + np.sqrt(1 + 8 * codes.astype(np.float64))) / 2).astype(np.int64)
    later -= later * (later - 1) // 2 > codes  # the root may be rounded across the border, in either direction
    later += later * (later + 1) // 2 <= codes
    return codes - later * (later - 1) // 2, later


def _linear(nodes: int, edges: int, seed: int) -> Instance:
    return Instance(LINEAR, {"edge": _edges(nodes, edges, seed)})


def _nonlinear(nodes: int, edges: int, seed: int) -> Instance:
    return Instance(NONLINEAR, {"R": _edges(nodes, edges, seed)})


DAG = Workload(
    "dag", "linear reachability in a random acyclic graph", {"nodes": 10_000, "edges": 100_000, "seed": 1}, _linear
)
DAG_SPARSE = Workload(
    "dag-sparse", "the same where few paths lead from one node to another", {**DAG.defaults, "edges": 11_000}, _linear
)
DAG_NONLINEAR = Workload(
    "dag-nonlinear",
    "transitive closure of an explicit relation, by the non-linear rule",
    {"nodes": 2_000, "edges": 20_000, "seed": 1},
    _nonlinear,
)

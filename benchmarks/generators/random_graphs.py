"""Graphs as the papers about Datalog engines draw them: uniformly, and with hubs.

`uniform` is G(n, p) with the number of edges that is expected; `rmat` halves the matrix of edges again and again and takes
one of its quarters with the chances 0.45, 0.25, 0.15 and 0.15, so that some nodes have very many edges. Edges are distinct,
and none leads from a node to itself.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from benchmarks.workload import BenchmarkMistake
from benchmarks.workloads.pairs import Column, distinct

_QUARTERS: Final = (0.45, 0.25, 0.15, 0.15)


def uniform(random: np.random.Generator, nodes: int, edges: int) -> tuple[Column, Column]:
    """Edges between two different ones of `nodes`, each equally likely."""
    codes = distinct(random, nodes * (nodes - 1), edges)
    first, second = codes // (nodes - 1), codes % (nodes - 1)
    return first, second + (second >= first)


def rmat(random: np.random.Generator, nodes: int, edges: int) -> tuple[Column, Column]:
    """Edges between `nodes`, of which those with small numbers have most; the first that are drawn are taken."""
    if edges > nodes * (nodes - 1) // 2:
        raise BenchmarkMistake(
            f"{edges} edges are asked for; between {nodes} nodes half of the pairs are drawn at most"
        )
    levels = max(1, (nodes - 1).bit_length())
    found = np.empty(0, np.int64)
    while len(found) < edges:
        quarters = random.choice(4, (2 * edges, levels), p=_QUARTERS)
        powers = 1 << np.arange(levels)
        first, second = (quarters >> 1) @ powers, (quarters & 1) @ powers
        proper = (first != second) & (first < nodes) & (second < nodes)
        drawn = np.concatenate([found, first[proper] * nodes + second[proper]])
        _, places = np.unique(drawn, return_index=True)
        found = drawn[np.sort(places)]
    return found[:edges] // nodes, found[:edges] % nodes

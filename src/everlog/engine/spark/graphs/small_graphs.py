"""Graphs on the driver, by the loops of the memory engine: a job takes longer than all they need."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from everlog.engine.memory import tuning as memory_tuning
from everlog.engine.memory.graphs.pair_tables import in_pieces
from everlog.engine.memory.graphs.visits import visits_pay
from everlog.engine.memory.kernels import graph_kernels as kernels
from everlog.interrupts import aside

Pairs: TypeAlias = NDArray[np.int64]
"""Edges, a row for each."""

_Grouped: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32]]


def closure(first: Pairs, steps: Pairs, most: int) -> Pairs | None:
    """The pairs that steps lead on to from some pairs, these included; None if there are more than so many."""
    if not len(first):
        return first
    nodes, numbers = np.unique(np.concatenate([first, steps]), return_inverse=True)
    ends = numbers.reshape(-1, 2).astype(np.int32).T
    heads = _grouped(ends[:, : len(first)], len(nodes))
    following = _grouped(ends[:, len(first) :], len(nodes))
    words = (len(nodes) + 63) // 64
    if len(nodes) * words * 8 <= memory_tuning.GRAPH_BYTES and not visits_pay(following, heads):
        found = _by_bits(heads, following, len(nodes), words, most)
    else:
        found = _by_visits(heads, following, len(nodes), most)
    return None if found is None else nodes[found.T]


def _grouped(ends: NDArray[np.int32], nodes: int) -> _Grouped:
    """Edges by where they start."""
    sources, targets = np.ascontiguousarray(ends[0]), np.ascontiguousarray(ends[1])
    found: _Grouped = aside(len(sources), kernels.adjacency, sources, targets, nodes)
    return found


def _by_bits(heads: _Grouped, following: _Grouped, nodes: int, words: int, most: int) -> NDArray[np.int32] | None:
    """All pairs of a graph of few nodes: for every node a row with a bit for each that it reaches."""
    component, components = aside(len(following[1]), kernels.strong_components, *following)
    reached = aside(len(following[1]) * words, kernels.reflexive_closure, *following, component, components)
    bits = np.zeros((nodes, words), np.uint64)
    aside(len(heads[1]) * words, kernels.compose, *heads, component, reached, 0, nodes, bits)
    size = kernels.count_bits(bits, 0, nodes)
    if size > most:
        return None
    found = np.empty((2, size), np.int32)
    aside(size, kernels.enumerate_bits, bits, 0, nodes, np.arange(nodes, dtype=np.int32), found, 0)
    return found


def _by_visits(heads: _Grouped, following: _Grouped, nodes: int, most: int) -> NDArray[np.int32] | None:
    """The same, source by source."""
    stamps, queue, numbers = np.full(nodes, -1, np.int32), np.empty(nodes, np.int32), np.arange(nodes, dtype=np.int32)
    graph, room = (*following, *heads), (numbers, stamps, queue)
    parts, size = [np.empty((2, 0), np.int32)], 0
    for found in in_pieces(lambda at, out: kernels.visit_sources(*graph, at, nodes, *room, out), 0, nodes, nodes):
        parts.append(found.copy())
        size += found.shape[1]
        if size > most:
            return None
    return np.concatenate(parts, axis=1)


def components(edges: Pairs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The nodes, and for each the least one that it is connected with."""
    nodes, numbers = np.unique(edges, return_inverse=True)
    ends = np.ascontiguousarray(numbers.reshape(-1, 2).T.astype(np.int32))
    component = aside(len(edges), kernels.connected_components, ends[0], ends[1], len(nodes))
    return nodes, nodes[component]

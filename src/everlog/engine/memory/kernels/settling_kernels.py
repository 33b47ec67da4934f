"""Kernels that settle values in their order: each node gets the least one that leads to it, and passes it on.

Nodes are numbers from 0, and steps are grouped by where they start. Values and weights are both int64 or both float64;
weights are not negative, and nothing is NaN.
"""

from __future__ import annotations

import numpy as np

from everlog.engine.memory.kernels.decorators import inlined, kernel


@kernel
def grouped_steps(sources, targets, weights, nodes):
    """Steps grouped by their sources: where those of each node start, their targets, and their weights, if any."""
    starts = np.zeros(nodes + 1, np.int64)
    for source in sources:
        starts[source + 1] += 1
    for node in range(nodes):
        starts[node + 1] += starts[node]
    at = starts[:-1].copy()
    to = np.empty(len(targets), np.int32)
    by = np.empty_like(weights)
    for i in range(len(sources)):
        place = at[sources[i]]
        at[sources[i]] += 1
        to[place] = targets[i]
        if len(weights):
            by[place] = weights[i]
    return starts, to, by


@inlined
def _push(keys, nodes, size, key, node):
    """Puts a node into a heap that has room for it."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if keys[above] <= key:
            break
        keys[at], nodes[at] = keys[above], nodes[above]
        at = above
    keys[at], nodes[at] = key, node


@inlined
def _drop_first(keys, nodes, size):
    """Takes the first node out of a heap, which then has `size` nodes."""
    key, node, at = keys[size], nodes[size], 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        keys[at], nodes[at] = keys[below], nodes[below]
        at = below
    keys[at], nodes[at] = key, node


@kernel
def settle(starts, targets, weights, given, values):
    """Dijkstra's algorithm from given nodes and values: whether each node has a value, and which one."""
    count = len(starts) - 1
    best = np.zeros(count, values.dtype)
    state = np.zeros(count, np.int8)  # 1: it has a value, 2: that is the least
    room = max(1024, len(given))
    keys, nodes = np.empty(room, values.dtype), np.empty(room, np.int32)
    size = 0
    for i in range(len(given)):
        node = given[i]
        if state[node] == 0 or values[i] < best[node]:
            state[node], best[node] = 1, values[i]
            _push(keys, nodes, size, values[i], node)
            size += 1
    while size > 0:
        key, node = keys[0], nodes[0]
        size -= 1
        _drop_first(keys, nodes, size)
        if state[node] == 2 or key != best[node]:
            continue
        state[node] = 2
        lo, hi = starts[node], starts[node + 1]
        if size + hi - lo > room:
            more = 2 * (size + hi - lo)
            wider, further = np.empty(more, values.dtype), np.empty(more, np.int32)
            wider[:size], further[:size] = keys[:size], nodes[:size]
            keys, nodes, room = wider, further, more
        for step in range(lo, hi):
            target = targets[step]
            if state[target] == 2:
                continue
            value = key + weights[step]
            # An integer that 64 bits do not hold is no value.
            if value >= key and (state[target] == 0 or value < best[target]):
                state[target], best[target] = 1, value
                _push(keys, nodes, size, value, target)
                size += 1
    return state > 0, best


@kernel
def spread(starts, targets, given):
    """For each node the place of the first given node that leads to it, or -1."""
    count = len(starts) - 1
    owner = np.full(count, -1, np.int32)
    waiting = np.empty(count, np.int32)
    for i in range(len(given)):
        if owner[given[i]] >= 0:
            continue
        owner[given[i]], waiting[0], size = i, given[i], 1
        while size > 0:
            size -= 1
            node = waiting[size]
            for step in range(starts[node], starts[node + 1]):
                target = targets[step]
                if owner[target] < 0:
                    owner[target] = i
                    waiting[size] = target
                    size += 1
    return owner

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


@inlined
def _too_large(key, weight, most):
    """Whether a sum is more than the most there can be, asked without making it: what is too large may be anything."""
    return key > 0 and weight > most - key


@kernel
def settle(starts, targets, weights, given, values, most):
    """Dijkstra's algorithm from given nodes and values: whether each node has a value, and which one.

    A sum of integers that is more than the `most` that 64 bits hold is no value.
    """
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
            if state[target] == 2 or _too_large(key, weights[step], most):
                continue
            value = key + weights[step]
            if state[target] == 0 or value < best[target]:
                state[target], best[target] = 1, value
                _push(keys, nodes, size, value, target)
                size += 1
    return state > 0, best


@kernel
def settle_near(starts, targets, weights, given, values, width, most):
    """The same for integers, where each weight is less than `width`, a multiple of 64, and given values are in order.

    What waits is never further away than that, so that it is in one of so many buckets, each with the nodes of one value.
    That takes less time than a heap, which moves things about. A node without a value has the `most` that there can be.
    """
    count = len(starts) - 1
    best, reached = np.full(count, most, np.int64), np.zeros(count, np.bool_)
    heads, filled = np.full(width, -1, np.int32), np.zeros(width >> 6, np.int32)
    nodes, after = np.empty(1024, np.int32), np.empty(1024, np.int32)
    used, waiting, begun, key = 0, 0, 0, values[0]
    while waiting > 0 or begun < len(given):
        if waiting == 0:
            key = values[begun]
        while begun < len(given) and values[begun] == key:
            node = given[begun]
            begun += 1
            if key < best[node] or not reached[node]:
                reached[node], best[node] = True, key
                if used == len(nodes):
                    nodes, after = _wider(nodes, 1), _wider(after, 1)
                _wait(nodes, after, heads, filled, used, key % width, node)
                used, waiting = used + 1, waiting + 1
        bucket = key % width
        while heads[bucket] >= 0:
            entry = heads[bucket]
            heads[bucket] = after[entry]
            filled[bucket >> 6] -= 1
            waiting -= 1
            node = nodes[entry]
            if best[node] != key:
                continue
            lo, hi = starts[node], starts[node + 1]
            if used + hi - lo > len(nodes):
                nodes, after = _wider(nodes, hi - lo), _wider(after, hi - lo)
            for step in range(lo, hi):
                if _too_large(key, weights[step], most):
                    continue
                target, value = targets[step], key + weights[step]
                if value < best[target] or (value == most and not reached[target]):
                    reached[target], best[target] = True, value
                    _wait(nodes, after, heads, filled, used, value % width, target)
                    used, waiting = used + 1, waiting + 1
        if waiting > 0:
            ahead = 1
            while heads[(key + ahead) % width] < 0:
                block = (key + ahead) % width
                ahead += 64 - (block & 63) if filled[block >> 6] == 0 else 1
            key = key + ahead if begun == len(given) else min(key + ahead, values[begun])
    return reached, best


@inlined
def _wait(nodes, after, heads, filled, entry, bucket, node):
    """Puts a node into a bucket."""
    nodes[entry], after[entry], heads[bucket] = node, heads[bucket], entry
    filled[bucket >> 6] += 1


@inlined
def _wider(column, more):
    """A column with room for at least so many more."""
    found = np.empty(2 * len(column) + more, column.dtype)
    found[: len(column)] = column
    return found


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

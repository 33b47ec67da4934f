"""Kernels that settle values in their order: each node gets the least one that leads to it, and passes it on.

Nodes are numbers from 0. The steps from a node are those from where its list `begins` to where it `ends`; there are no
`weights` where steps pass values on as they are. Weights are not negative, nothing is NaN, and values are int64 or float64.

A node's *parent* is the node that it has its value from: `GIVEN` for a value that was given, and `NONE` if it has no value.
Danger: `resettling_kernels.py` compiles parts of this file in, and Numba's disk cache does not notice a change of these.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from everlog.engine.memory.kernels.decorators import inlined, kernel
from everlog.engine.memory.kernels.prefetching import prefetch

GIVEN: Final = -1
NONE: Final = -2

_AHEAD: Final = 8
"""So many nodes ahead what is needed of them is asked for."""
_CHUNK: Final = 32
"""So many nodes wait together."""
FAR: Final = 2**31 - 1
"""More than any value in 31 bits."""
_LEAST: Final = -(2**63)
"""The least integer, and the bits of -0.0."""


# ---------------------------------------------------------------------------------------- steps by node


@kernel
def span_of_numbers(ids, kinds, payload, numbers):
    """The least and the greatest number of some ids, and whether all of them are of the kind of the first, and plain.

    `payload` has the bits of `numbers`. Neither NaN nor -0.0 is plain, nor the least integer, whose sign cannot be changed.
    """
    kind, least = kinds[ids[0]], numbers[ids[0]]
    plain, greatest = True, least
    for id in ids:
        number = numbers[id]
        plain &= kinds[id] == kind and payload[id] != _LEAST and number == number
        least, greatest = min(least, number), max(greatest, number)
    return plain, least, greatest


@kernel
def count_steps(sources, counts):
    """Counts the steps from each node."""
    for source in sources:
        counts[source] += 1


@kernel
def place_steps(sources, targets, added, numbers, at, to, by):
    """Puts steps where the lists of their sources go on; if there are weights, the numbers of the ids that are added."""
    places = np.empty(_CHUNK, np.int64)
    for start in range(0, len(sources), _CHUNK):
        size = min(_CHUNK, len(sources) - start)
        for i in range(size):
            source = sources[start + i]
            places[i] = at[source]
            at[source] = places[i] + 1
            prefetch(to, places[i])
            prefetch(by, places[i])
        for i in range(size):
            to[places[i]] = targets[start + i]
            if len(by):
                by[places[i]] = numbers[added[start + i]] if len(added) else 0


# ---------------------------------------------------------------------------------------- a heap


@inlined
def push(keys, nodes, size, key, node):
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
def drop_first(keys, nodes, size):
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
def too_large(key, weight, most):
    """Whether a sum is more than the most there can be, asked without making it: what is too large may be anything."""
    return key > 0 and weight > most - key


@kernel
def wider(column, more):
    """A column with room for at least so many more."""
    found = np.empty(2 * len(column) + more, column.dtype)
    found[: len(column)] = column
    return found


@kernel
def settle(begins, ends, targets, weights, given, starting, most):
    """Dijkstra's algorithm from given nodes and values: the value and the parent of each node.

    A sum of integers that is more than the `most` that 64 bits hold is no value.
    """
    count = len(begins)
    values, parents = np.zeros(count, starting.dtype), np.full(count, NONE, np.int32)
    room = max(1024, len(given))
    keys, nodes = np.empty(room, starting.dtype), np.empty(room, np.int32)
    size = 0
    for i in range(len(given)):
        node = given[i]
        if parents[node] == NONE or starting[i] < values[node]:
            parents[node], values[node] = GIVEN, starting[i]
            push(keys, nodes, size, starting[i], node)
            size += 1
    while size > 0:
        key, node = keys[0], nodes[0]
        size -= 1
        drop_first(keys, nodes, size)
        if key != values[node]:
            continue
        lo, hi = begins[node], ends[node]
        if size + hi - lo > len(keys):
            keys, nodes = wider(keys, hi - lo), wider(nodes, hi - lo)
        for step in range(lo, hi):
            if too_large(key, weights[step], most):
                continue
            target, value = targets[step], key + weights[step]
            if parents[target] == NONE or value < values[target]:
                parents[target], values[target] = node, value
                push(keys, nodes, size, value, target)
                size += 1
    return values, parents


# ---------------------------------------------------------------------------------------- buckets


@inlined
def _wait(chunks, after, heads, filled, full, top, bucket, node):
    """Puts a node into a bucket, a list of chunks of which the first may have room; there is room for one more chunk."""
    chunk = heads[bucket]
    if chunk < 0 or filled[bucket] == _CHUNK:
        fresh = top[0]
        if fresh >= 0:
            top[0] = after[fresh]
        else:
            fresh = top[1]
            top[1] += 1
        after[fresh], heads[bucket], filled[bucket] = chunk, fresh, 0
        full[bucket >> 6] += 1
        chunk = fresh
    chunks[chunk * _CHUNK + filled[bucket]] = node
    filled[bucket] += 1


@kernel
def settle_near(begins, ends, targets, weights, given, starting, width):
    """The same for integers: each weight is less than `width`, a power of 2 from 64 on; given values are in order, from 0.

    What waits is never further away than the width, so that it is in one of so many buckets, each with the nodes of one
    value. That takes less time than a heap, which moves things about; and the nodes of a bucket are known before they are
    looked at, so that what they need can be asked for. A node's value and parent are one number, since both are wanted
    at once. Gives whether all values were less than 31 bits hold; if not, the others are of no use.
    """
    count = len(begins)
    both = np.full(count, np.int64(FAR) << 32, np.int64)
    heads, filled, full = np.full(width, -1, np.int32), np.zeros(width, np.int32), np.zeros(width >> 6, np.int32)
    chunks, after = np.empty(1024 * _CHUNK, np.int32), np.empty(1024, np.int32)
    top = np.array([-1, 0], np.int32)  # a chunk that is free again, and how many there are
    some, los, his = np.empty(_CHUNK, np.int64), np.empty(_CHUNK, np.int64), np.empty(_CHUNK, np.int64)
    waiting, begun, key = 0, 0, starting[0]
    values, parents = np.empty(0, np.int64), np.empty(0, np.int32)
    while waiting > 0 or begun < len(given):
        if waiting == 0:
            key = starting[begun]
        if key + width >= FAR:
            return False, values, parents
        while begun < len(given) and starting[begun] == key:
            node = given[begun]
            begun += 1
            if key < both[node] >> 32:
                both[node] = (key << 32) | 1
                if top[1] == len(after):
                    chunks, after = wider(chunks, 0), wider(after, 0)
                _wait(chunks, after, heads, filled, full, top, key & (width - 1), node)
                waiting += 1
        bucket = key & (width - 1)
        while heads[bucket] >= 0:
            chunk, size = heads[bucket], filled[bucket]
            heads[bucket], filled[bucket] = after[chunk], _CHUNK
            full[bucket >> 6] -= 1
            waiting -= size
            for i in range(chunk * _CHUNK, chunk * _CHUNK + size):
                prefetch(both, np.int64(chunks[i]))
                prefetch(begins, np.int64(chunks[i]))
                prefetch(ends, np.int64(chunks[i]))
            left, edges = 0, 0
            for i in range(chunk * _CHUNK, chunk * _CHUNK + size):
                node = chunks[i]
                if both[node] >> 32 == key:
                    some[left], los[left], his[left] = node, begins[node], ends[node]
                    prefetch(targets, los[left])
                    prefetch(targets, his[left] - 1)
                    prefetch(weights, los[left])
                    edges += his[left] - los[left]
                    left += 1
            after[chunk], top[0] = top[0], chunk
            more = min(edges, edges // _CHUNK + width)
            if top[1] + more > len(after):
                chunks, after = wider(chunks, more * _CHUNK), wider(after, more)
            for j in range(left):
                if j + 1 < left:
                    for step in range(los[j + 1], his[j + 1]):
                        prefetch(both, np.int64(targets[step]))
                for step in range(los[j], his[j]):
                    target, value = targets[step], key + weights[step]
                    if value < both[target] >> 32:
                        both[target] = (value << 32) | (some[j] + 2)
                        _wait(chunks, after, heads, filled, full, top, value & (width - 1), target)
                        waiting += 1
        if waiting > 0:
            ahead = 1
            while heads[(key + ahead) & (width - 1)] < 0:
                block = (key + ahead) & (width - 1)
                ahead += 64 - (block & 63) if full[block >> 6] == 0 else 1
            key = key + ahead if begun == len(given) else min(key + ahead, starting[begun])
    values, parents = np.empty(count, np.int64), np.empty(count, np.int32)
    for node in range(count):
        values[node], parents[node] = both[node] >> 32, (both[node] & 0xFFFFFFFF) - 2
    return True, values, parents


# ---------------------------------------------------------------------------------------- values as they are


@kernel
def spread(begins, ends, targets, given):
    """For each node the place of the first given node that leads to it, or -1, and its parent."""
    count = len(begins)
    owners, parents = np.full(count, -1, np.int32), np.full(count, NONE, np.int32)
    queue = np.empty(count, np.int32)
    first = last = 0
    for i in range(len(given)):
        if owners[given[i]] >= 0:
            continue
        owners[given[i]], parents[given[i]] = i, GIVEN
        queue[last] = given[i]
        last += 1
        while first < last:
            if first + 2 * _AHEAD < last:
                prefetch(begins, np.int64(queue[first + 2 * _AHEAD]))
                prefetch(ends, np.int64(queue[first + 2 * _AHEAD]))
            if first + _AHEAD < last:
                begin = np.int64(begins[queue[first + _AHEAD]])
                prefetch(targets, begin)
                prefetch(targets, begin + 16)
            if first + 1 < last:
                for step in range(begins[queue[first + 1]], ends[queue[first + 1]]):
                    prefetch(owners, np.int64(targets[step]))
            node = queue[first]
            first += 1
            for step in range(begins[node], ends[node]):
                target = targets[step]
                if owners[target] < 0:
                    owners[target], parents[target] = i, node
                    queue[last] = target
                    last += 1
    return owners, parents

"""Kernels for graphs: components, and reachability by rows of bits.

Nodes are numbered densely from 0. Danger: `compare` is compiled in; this file has to change whenever that function does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from everlog.engine.memory.kernels.decorators import inlined, kernel
from everlog.engine.memory.kernels.dictionary_kernels import compare

# A de Bruijn sequence: its first six bits differ for every shift, so that they tell which bit it was multiplied by.
_SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
_PLACES = np.empty(64, np.int64)
_PLACES[(_SEQUENCE << np.arange(64, dtype=np.uint64)) >> np.uint64(58)] = np.arange(64)


@inlined
def _has(row, node):
    """Whether a row of bits has a node."""
    return (row[node >> 6] >> np.uint64(node & 63)) & np.uint64(1)


@inlined
def insert(row, node):
    """Puts a node into a row of bits."""
    row[node >> 6] |= np.uint64(1) << np.uint64(node & 63)


@inlined
def _remove(row, node):
    """Takes a node out of a row of bits."""
    row[node >> 6] &= ~(np.uint64(1) << np.uint64(node & 63))


@kernel
def adjacency(sources, targets, nodes):
    """Edges grouped by their source: where the targets of each node start, and the targets."""
    starts = np.zeros(nodes + 1, np.int64)
    for source in sources:
        starts[source + 1] += 1
    for node in range(nodes):
        starts[node + 1] += starts[node]
    at = starts[:-1].copy()
    grouped = np.empty(len(targets), np.int32)
    for i in range(len(sources)):
        grouped[at[sources[i]]] = targets[i]
        at[sources[i]] += 1
    return starts, grouped


@kernel
def strong_components(starts, targets):
    """The strongly connected component of every node (Tarjan's algorithm, without recursion), and their number.

    Edges between components lead from higher numbers to lower ones.
    """
    nodes = len(starts) - 1
    component = np.full(nodes, -1, np.int32)
    low = np.zeros(nodes, np.int32)
    index = np.full(nodes, -1, np.int32)
    stack = np.empty(nodes, np.int32)
    path = np.empty(nodes, np.int32)
    at = starts[:-1].copy()
    size = seen = found = 0
    for root in range(nodes):
        if index[root] >= 0:
            continue
        path[0] = root
        depth = 1
        index[root] = low[root] = seen
        seen += 1
        stack[size] = root
        size += 1
        while depth:
            node = path[depth - 1]
            if at[node] < starts[node + 1]:
                target = targets[at[node]]
                at[node] += 1
                if index[target] < 0:
                    index[target] = low[target] = seen
                    seen += 1
                    stack[size] = target
                    size += 1
                    path[depth] = target
                    depth += 1
                elif component[target] < 0 and index[target] < low[node]:
                    low[node] = index[target]
            else:
                depth -= 1
                if depth and low[node] < low[path[depth - 1]]:
                    low[path[depth - 1]] = low[node]
                if low[node] == index[node]:
                    while True:
                        size -= 1
                        member = stack[size]
                        component[member] = found
                        if member == node:
                            break
                    found += 1
    return component, found


@kernel
def reflexive_closure(starts, targets, component, components):
    """For every component a row of bits: the nodes that its nodes reach, in no step or more."""
    nodes = len(component)
    words = (nodes + 63) // 64
    bits = np.zeros((components, words), np.uint64)
    members, grouped = adjacency(component, np.arange(nodes).astype(np.int32), components)
    for number in range(components):
        row = bits[number]
        for i in range(members[number], members[number + 1]):
            insert(row, grouped[i])
        for i in range(members[number], members[number + 1]):
            node = grouped[i]
            for j in range(starts[node], starts[node + 1]):
                target = targets[j]
                other = component[target]
                # What is reached already brings nothing new.
                if other != number and not _has(row, target):
                    for word in range(words):
                        row[word] |= bits[other, word]
    return bits


@kernel
def compose(starts, targets, component, bits, lo, hi, out):
    """For the nodes `lo..hi` the union of the rows of their targets' components."""
    words = bits.shape[1]
    for node in range(lo, hi):
        row = out[node]
        for j in range(starts[node], starts[node + 1]):
            target = targets[j]
            if not _has(row, target):
                other = bits[component[target]]
                for word in range(words):
                    row[word] |= other[word]


@inlined
def _node(number, id):
    """The node of an id, or -1."""
    return number[id] if id < len(number) else np.int32(-1)


@kernel
def reached(first, second, number, bits, out):
    """Whether each pair of ids is in the rows of bits; `number` gives the node of an id, or -1."""
    for i in range(len(first)):
        source, target = _node(number, first[i]), _node(number, second[i])
        out[i] = source >= 0 and target >= 0 and _has(bits[source], target) != 0


@kernel
def mark_unreached(first, second, lo, hi, number, bits, held, bit, mask, out):
    """Gives a bit to those of the rows `lo..hi` with the bits `held` that are no pair of the rows of bits.

    They are also listed, as far as there is room; how many there are.
    """
    found = 0
    for row in range(lo, hi):
        source, target = _node(number, first[row]), _node(number, second[row])
        there = source >= 0 and target >= 0 and _has(bits[source], target) != 0
        if not there and mask[row] & held == held:
            mask[row] |= bit
            if found < len(out):
                out[found] = row
            found += 1
    return found


@kernel
def mark_unreached_sorted(starts, ids, base, lo, hi, second, number, bits, old, held, bit, mask, out):
    """What `mark_unreached` does, for the rows `lo..hi` of a part sorted by sources, of which a range of `ids` is taken.

    Rows of bits that are as in `old`, if there is any, are passed over: all pairs were there.
    """
    found = 0
    words, last = bits.shape[1], len(out) - 1
    for id in range(ids[0], ids[1]):
        begin, end = max(lo, base + starts[id]), min(hi, base + starts[id + 1])
        if begin >= end:
            continue
        source = _node(number, id)
        if source < 0:
            for i in range(begin, end):
                if mask[i] & held == held:
                    mask[i] |= bit
                    out[min(found, last)] = i
                    found += 1
            continue
        if len(old):
            word = 0
            while word < words and bits[source, word] == old[source, word]:
                word += 1
            if word == words:
                continue
        for i in range(begin, end):
            target = _node(number, second[i])
            there = _has(bits[source], target) if target >= 0 else np.uint64(0)
            # Nobody can predict which are there: the bit is written or not without a jump.
            seen = mask[i]
            new = (there ^ np.uint64(1)) & np.uint64(seen & held == held)
            mask[i] = seen | (bit * np.uint16(new))
            out[min(found, last)] = i
            found += int(new)
    return found


@kernel
def clear(first, second, number, bits, out):
    """Takes pairs of ids out of the rows of bits; says of each whether it was there."""
    reached(first, second, number, bits, out)
    for i in range(len(first)):
        if out[i]:
            _remove(bits[number[first[i]]], number[second[i]])


@kernel
def clear_edges(starts, targets, bits):
    """Takes edges out of the rows of bits."""
    for node in range(len(starts) - 1):
        for j in range(starts[node], starts[node + 1]):
            _remove(bits[node], targets[j])


@kernel
def clear_graph(ids, old, number, bits):
    """Takes the pairs of other rows of bits, whose nodes are some ids, out of the rows of bits."""
    moved = np.empty(len(ids), np.int32)
    for node in range(len(ids)):
        moved[node] = _node(number, ids[node])
    for node in range(len(ids)):
        if moved[node] < 0:
            continue
        row = bits[moved[node]]
        for word in range(old.shape[1]):
            left = old[node, word]
            base = word << 6
            while left:
                if left & np.uint64(1) and moved[base] >= 0:
                    _remove(row, moved[base])
                left >>= np.uint64(1)
                base += 1


def count_bits(bits: NDArray[np.uint64], lo: int, hi: int) -> int:
    """How many bits the rows `lo..hi` have."""
    return int(np.bitwise_count(bits[lo:hi]).sum())


@kernel
def enumerate_bits(bits, lo, hi, nodes, out, at):
    """Writes the pairs of ids of the rows `lo..hi` to two columns, from a place on."""
    for row in range(lo, hi):
        source = nodes[row]
        for word in range(bits.shape[1]):
            left = bits[row, word]
            base = word << 6
            while left:
                lowest = left & (~left + np.uint64(1))
                out[0, at] = source
                out[1, at] = nodes[base + _PLACES[(lowest * _SEQUENCE) >> np.uint64(58)]]
                at += 1
                left ^= lowest
    return at


@inlined
def visit(starts, targets, heads, first, source, stamp, stamps, queue):
    """The nodes that a source reaches through its own targets (`heads`, `first`) and edges; how many are in `queue`."""
    size = 0
    for j in range(heads[source], heads[source + 1]):
        target = first[j]
        if stamps[target] != stamp:
            stamps[target] = stamp
            queue[size] = target
            size += 1
    at = 0
    while at < size:
        node = queue[at]
        at += 1
        for j in range(starts[node], starts[node + 1]):
            target = targets[j]
            if stamps[target] != stamp:
                stamps[target] = stamp
                queue[size] = target
                size += 1
    return size


@kernel
def visit_sources(starts, targets, heads, first, lo, hi, nodes, stamps, queue, out):
    """Writes the pairs of ids that the sources from `lo` on reach, as long as there is room; returns the next source."""
    at = 0
    for source in range(lo, hi):
        if heads[source] == heads[source + 1]:
            continue
        size = visit(starts, targets, heads, first, source, source, stamps, queue)
        if at + size > out.shape[1]:
            for j in range(size):  # it is visited again
                stamps[queue[j]] = -1
            return source, at
        for j in range(size):
            out[0, at] = nodes[source]
            out[1, at] = nodes[queue[j]]
            at += 1
    return hi, at


@kernel
def visit_pairs(starts, targets, heads, first, second, order, sources, stamps, queue, out):
    """Whether each pair of nodes is reached; pairs are taken in an order that keeps those of a source together."""
    last = -1
    for i in order:
        source = sources[i]
        if source < 0 or second[i] < 0:
            out[i] = False
            continue
        if source != last:
            visit(starts, targets, heads, first, source, source, stamps, queue)
            last = source
        out[i] = stamps[second[i]] == source


@inlined
def _root(node, parent):
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@kernel
def connected_components(sources, targets, nodes):
    """The connected component of every node: the smallest node in it (union by the smaller root, paths halved)."""
    parent = np.arange(nodes).astype(np.int32)
    for i in range(len(sources)):
        a, b = _root(sources[i], parent), _root(targets[i], parent)
        parent[max(a, b)] = min(a, b)
    for node in range(nodes):
        parent[node] = _root(node, parent)
    return parent


@kernel
def mark_apart(first, second, lo, hi, component, held, bit, mask, out):
    """Gives a bit to those of the rows `lo..hi` with the bits `held` whose ends are in no common component.

    Ids have components, or -1, up to the last that has one. Rows are also listed, as far as there is room but for one; how
    many there are.
    """
    found, last, known = 0, len(out) - 1, len(component)
    for row in range(lo, hi):
        a, b = first[row], second[row]
        one = component[a] if a < known else np.int32(-1)
        other = component[b] if b < known else np.int32(-1)
        # Nobody can predict which are together: the bit is written or not without a jump.
        seen = mask[row]
        new = ((one != other) | (one < 0)) & (seen & held == held)
        mask[row] = seen | (bit * np.uint16(new))
        out[min(found, last)] = row
        found += int(new)
    return found


@kernel
def joined_pairs(starts, members, lo, old, nodes, out):
    """Writes the pairs of each component's members that were in different components before, or in none.

    Goes on from a place (component, first member) as long as there is room for another member's pairs; returns the next
    place and how many pairs were written.
    """
    at = 0
    component, i = lo
    while component < len(starts) - 1:
        begin, end = starts[component], starts[component + 1]
        mixed = False
        for j in range(begin, end):
            mixed = mixed or old[members[j]] < 0 or old[members[j]] != old[members[begin]]
        if mixed:
            if i < begin:
                i = begin
            while i < end:
                if at + end - begin > out.shape[1]:
                    return (component, i), at
                a = members[i]
                for j in range(begin, end):
                    b = members[j]
                    if old[a] < 0 or old[a] != old[b]:
                        out[0, at] = nodes[a]
                        out[1, at] = nodes[b]
                        at += 1
                i += 1
        component += 1
    return (component, i), at


@kernel
def joined_bits(starts, members, old, bits):
    """Sets the bits of the pairs that `joined_pairs` writes."""
    for component in range(len(starts) - 1):
        begin, end = starts[component], starts[component + 1]
        for i in range(begin, end):
            a = members[i]
            row = bits[a]
            for j in range(begin, end):
                b = members[j]
                if old[a] < 0 or old[a] != old[b]:
                    insert(row, b)


@kernel
def sort_values(ids, order):
    """Sorts the ids of values that are comparable with each other, by value: merges runs of doubling length."""
    n = len(ids)
    source = ids.copy()
    target = np.empty_like(source)
    width = 1
    while width < n:
        for lo in range(0, n, 2 * width):
            middle, hi = min(lo + width, n), min(lo + 2 * width, n)
            i, j = lo, middle
            for k in range(lo, hi):
                if i < middle and (j >= hi or compare(order, source[i], source[j]) <= 0):
                    target[k] = source[i]
                    i += 1
                else:
                    target[k] = source[j]
                    j += 1
        source, target = target, source
        width *= 2
    return source


@kernel
def ranks(ids, order, first, out):
    """Numbers sorted ids from `first` on, equal values alike; returns the next number."""
    for i in range(len(ids)):
        if i and compare(order, ids[i - 1], ids[i]) != 0:
            first += 1
        out[i] = first
    return first + 1


@kernel
def neighbour_pairs(ids, rank, out):
    """Pairs of sorted ids whose ranks differ by one, written as far as there is room; returns how many there are."""
    n, at = len(ids), 0
    lo = 0
    while lo < n:
        middle = lo
        while middle < n and rank[middle] == rank[lo]:
            middle += 1
        hi = middle
        while hi < n and rank[hi] == rank[lo] + 1:
            hi += 1
        for i in range(lo, middle):
            for j in range(middle, hi):
                if at < out.shape[1]:
                    out[0, at] = ids[i]
                    out[1, at] = ids[j]
                at += 1
        lo = middle
    return at

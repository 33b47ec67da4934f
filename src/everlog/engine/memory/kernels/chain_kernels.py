"""Kernels for paths that an automaton accepts: the product of a graph with its states.

A product node is a state and a node of the graph, `state · nodes + node`.
"""

from __future__ import annotations

import numpy as np

from everlog.engine.memory.kernels.decorators import kernel
from everlog.engine.memory.kernels.graph_kernels import adjacency, insert, visit


@kernel
def product(letters, sources, targets, letter_starts, delta, nodes):
    """The edges of the product: letter `l` has the edges from `letter_starts[l]` on; it moves `q` to `delta[q, l]`."""
    states = delta.shape[0]
    total = 0
    for state in range(states):
        for letter in letters:
            if delta[state, letter] >= 0:
                total += letter_starts[letter + 1] - letter_starts[letter]
    first, second = np.empty(total, np.int32), np.empty(total, np.int32)
    at = 0
    for state in range(states):
        for letter in letters:
            after = delta[state, letter]
            if after >= 0:
                for i in range(letter_starts[letter], letter_starts[letter + 1]):
                    first[at] = state * nodes + sources[i]
                    second[at] = after * nodes + targets[i]
                    at += 1
    return first, second


@kernel
def accepted_closure(starts, targets, component, components, finals, nodes):
    """For every component of the product a row of bits: the nodes that are reached in a final state."""
    words = (nodes + 63) // 64
    bits = np.zeros((components, words), np.uint64)
    begin, members = adjacency(component, np.arange(len(component)).astype(np.int32), components)
    last = np.full(components, -1, np.int32)
    for number in range(components):
        row = bits[number]
        for i in range(begin[number], begin[number + 1]):
            at = members[i]
            if finals[at // nodes]:
                insert(row, at % nodes)
        for i in range(begin[number], begin[number + 1]):
            at = members[i]
            for j in range(starts[at], starts[at + 1]):
                other = component[targets[j]]
                if other != number and last[other] != number:
                    last[other] = number
                    for word in range(words):
                        row[word] |= bits[other, word]
    return bits


@kernel
def accepted_rows(bits, component, start, lo, hi, out):
    """The rows of bits of the nodes `lo..hi` in one state."""
    for node in range(lo, hi):
        number = component[start + node]
        for word in range(bits.shape[1]):
            out[node, word] = bits[number, word]


@kernel
def leading_to(starts, targets, seeds, out):
    """Marks the product nodes that edges lead to from some; edges are turned round to have what leads to them."""
    queue = np.empty(len(starts) - 1, np.int32)
    visit(starts, targets, np.array([0, len(seeds)]), seeds, 0, True, out, queue)


@kernel
def visit_accepted(starts, targets, finals, nodes, start, sources, lo, ids, stamps, seen, queue, out):
    """Writes the pairs of ids of the sources from `lo` on, as long as there is room; returns the next one.

    `stamps` has the source that was at a product node last, `seen` the one for which a node was written last.
    """
    at = 0
    for number in range(lo, len(sources)):
        source = sources[number]
        if at + nodes > out.shape[1]:
            return number, at
        size = visit(starts, targets, starts, targets, start + source, source, stamps, queue)
        for place in queue[:size]:
            node = place % nodes
            if finals[place // nodes] and seen[node] != source:
                seen[node] = source
                out[0, at] = ids[source]
                out[1, at] = ids[node]
                at += 1
    return len(sources), at


@kernel
def accepted_pairs(starts, targets, finals, nodes, start, sources, second, order, stamps, seen, queue, out):
    """Whether each pair of nodes is accepted; pairs are taken in an order that keeps those of a source together."""
    last = -1
    for i in order:
        source = sources[i]
        if source < 0 or second[i] < 0:
            out[i] = False
            continue
        if source != last:
            last = source
            size = visit(starts, targets, starts, targets, start + source, source, stamps, queue)
            for place in queue[:size]:
                if finals[place // nodes]:
                    seen[place % nodes] = source
        out[i] = seen[second[i]] == source

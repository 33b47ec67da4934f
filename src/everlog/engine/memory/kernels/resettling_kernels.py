"""Kernels for values that were settled, when steps come and go: which nodes lose theirs, and what they get instead.

Parents make a forest: who has a value has it by a way that leads from a given node to it, from parent to child. So a node
whose way is cut is below the cut, and all others keep what they have.
"""

from __future__ import annotations

import numpy as np

from everlog.engine.memory.kernels.decorators import kernel
from everlog.engine.memory.kernels.prefetching import prefetch
from everlog.engine.memory.kernels.settling_kernels import GIVEN, NONE, drop_first, push, too_large, wider


@kernel
def remove_steps(begins, ends, targets, weights, sources, others, less):
    """Takes steps, in the order of their sources and targets, out of their lists, each once; tells how many there were."""
    taken = np.zeros(len(sources), np.bool_)
    first = found = 0
    while first < len(sources):
        last, node = first, sources[first]
        while last < len(sources) and sources[last] == node:
            last += 1
        step, left = begins[node], last - first
        while left > 0 and step < ends[node]:
            place, high = first, last
            while place < high:
                middle = (place + high) >> 1
                if others[middle] < targets[step]:
                    place = middle + 1
                else:
                    high = middle
            while (
                place < last
                and others[place] == targets[step]
                and (taken[place] or (len(weights) > 0 and less[place] != weights[step]))
            ):
                place += 1
            if place < last and others[place] == targets[step]:
                taken[place] = True
                left -= 1
                found += 1
                ends[node] -= 1
                targets[step] = targets[ends[node]]
                if len(weights):
                    weights[step] = weights[ends[node]]
            else:
                step += 1
        first = last
    return found


@kernel
def enter_steps(begins, ends, limits, targets, weights, used, sources, others, more, done):
    """Adds steps to their lists, from the one that is next; a list that is full moves to the end and gets twice the room.

    Gives how many have been added, all told, and how much of the room is used.
    """
    while done < len(sources):
        node = sources[done]
        if ends[node] == limits[node]:
            size = ends[node] - begins[node]
            room = 2 * size + 2
            if used + room > len(targets):
                break
            for i in range(size):
                targets[used + i] = targets[begins[node] + i]
                if len(weights):
                    weights[used + i] = weights[begins[node] + i]
            begins[node], ends[node], limits[node] = used, used + size, used + room
            used += room
        targets[ends[node]] = others[done]
        if len(weights):
            weights[ends[node]] = more[done]
        ends[node] += 1
        done += 1
    return done, used


@kernel
def reverse_steps(begins, ends, targets, weights):
    """The same steps listed by their targets: where lists begin and end, the sources, and the weights."""
    count = len(begins)
    starts, at = np.zeros(count, np.int32), np.zeros(count, np.int32)
    size = 0
    for node in range(count):
        size += ends[node] - begins[node]
        for step in range(begins[node], ends[node]):
            at[targets[step]] += 1
    for node in range(1, count):
        starts[node] = starts[node - 1] + at[node - 1]
    at[:] = starts
    sources, by = np.empty(size + 1, np.int32), np.empty(size + 1 if len(weights) else 0, weights.dtype)
    for node in range(count):
        for step in range(begins[node], ends[node]):
            place = at[targets[step]]
            at[targets[step]] = place + 1
            sources[place] = node
            if len(weights):
                by[place] = weights[step]
    return starts, at, sources, by


@kernel
def cut_nodes(parents, values, sources, targets, less):
    """The targets of steps that have their values by these very steps."""
    found = np.zeros(len(sources), np.bool_)
    for i in range(len(sources)):
        source, target = sources[i], targets[i]
        if parents[target] == source:
            found[i] = len(less) == 0 or values[source] + less[i] == values[target]
    return targets[found]


@kernel
def below_cuts(begins, ends, targets, parents, cut, most):
    """Some nodes, each once, and those that have their values from them; more than `most` are not listed to the end."""
    seen = np.zeros(len(begins), np.bool_)
    found = np.empty(1024 + len(cut), np.int32)
    size = 0
    for node in cut:
        if not seen[node]:
            seen[node] = True
            found[size] = node
            size += 1
    first = 0
    while first < size and size <= most:
        node = found[first]
        first += 1
        lo, hi = begins[node], ends[node]
        if size + hi - lo > len(found):
            found = wider(found, hi - lo)
        for step in range(lo, hi):
            target = targets[step]
            if parents[target] == node and not seen[target]:
                seen[target] = True
                found[size] = target
                size += 1
    return found[:size]


@kernel
def steps_into(begins, ends, targets, parents, wanted, places, sources):
    """The places of all steps, and their sources, that lead from nodes with values to some others; all are looked at.

    Gives how many there are; the columns have what they have room for.
    """
    count = len(begins)
    sought = np.zeros((count >> 6) + 1, np.uint64)  # a bit for each node: what is asked for at random stays near
    for node in wanted:
        sought[node >> 6] |= np.uint64(1) << np.uint64(node & 63)
    size = 0
    for node in range(count):
        if node + 16 < count:
            prefetch(targets, np.int64(begins[node + 16]))
        if parents[node] == NONE:
            continue
        for step in range(begins[node], ends[node]):
            target = np.uint64(targets[step])
            if (sought[target >> np.uint64(6)] >> (target & np.uint64(63))) & np.uint64(1):
                if size < len(places):
                    places[size], sources[size] = step, node
                size += 1
    return size


@kernel
def steps_back(begins, ends, sources, parents, wanted):
    """The places of all steps that lead from nodes with values to some others, and these, by lists of steps backwards."""
    places, nodes = np.empty(1024, np.int32), np.empty(1024, np.int32)
    size = 0
    for node in wanted:
        lo, hi = begins[node], ends[node]
        if size + hi - lo > len(places):
            places, nodes = wider(places, hi - lo), wider(nodes, hi - lo)
        for step in range(lo, hi):
            places[size], nodes[size] = step, node
            size += parents[sources[step]] != NONE
    return places[:size], nodes[:size]


@kernel
def resettle(begins, ends, targets, weights, values, parents, most, given, starting, steps_from, steps_to, added):
    """Follows up given values, and steps from nodes with values, where they are better than what nodes have.

    Gives the nodes that changed, and the values and parents that they had.
    """
    changed = np.empty(1024, np.int32)
    old_values, old_parents = np.empty(1024, values.dtype), np.empty(1024, np.int32)
    known = np.zeros(len(begins), np.bool_)
    keys, nodes = np.empty(1024, values.dtype), np.empty(1024, np.int32)
    size, count, at, step = 0, 0, 0, 0
    source, inside = np.int32(0), False
    while True:
        # The next value for a node: a given one, that of a step that is new, or that of one that goes on.
        if at < len(given):
            source, target, value = np.int32(GIVEN), given[at], starting[at]
            at += 1
        elif at < len(given) + len(steps_from):
            i = at - len(given)
            at += 1
            source, target = steps_from[i], steps_to[i]
            if parents[source] == NONE or (len(added) and too_large(values[source], added[i], most)):
                continue
            value = values[source] + added[i] if len(added) else values[source]
        else:
            if inside and step == ends[source]:
                inside = False
            if not inside:
                if size == 0:
                    break
                key, source = keys[0], nodes[0]
                size -= 1
                drop_first(keys, nodes, size)
                inside = key == values[source]
                step = begins[source]
                continue
            target = targets[step]
            step += 1
            if len(weights) and too_large(values[source], weights[step - 1], most):
                continue
            value = values[source] + weights[step - 1] if len(weights) else values[source]
        if parents[target] != NONE and value >= values[target]:
            continue
        if not known[target]:
            known[target] = True
            if count == len(changed):
                changed, old_values, old_parents = wider(changed, 0), wider(old_values, 0), wider(old_parents, 0)
            changed[count], old_values[count], old_parents[count] = target, values[target], parents[target]
            count += 1
        parents[target], values[target] = source, value
        if size == len(keys):
            keys, nodes = wider(keys, 0), wider(nodes, 0)
        push(keys, nodes, size, value, target)
        size += 1
    return changed[:count], old_values[:count], old_parents[:count]

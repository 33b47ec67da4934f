"""Kernels for closures that are kept as rows of bits.

A row has the columns that somebody leads to, from its first word that is not empty to its last one; it is never changed.
Rows have numbers: `place` says where a row's words begin, `first` which word of the columns that is, `length` how many
words there are, and `count` how many bits. Nodes share rows; `row` has the row of a node, or -1 if it leads nowhere.
"""

from __future__ import annotations

import numpy as np

from everlog.engine.memory.kernels.decorators import inlined, kernel

# A de Bruijn sequence: its first six bits differ for every shift, so that they tell which bit it was multiplied by.
_SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
_PLACES = np.empty(64, np.int64)
_PLACES[(_SEQUENCE << np.arange(64, dtype=np.uint64)) >> np.uint64(58)] = np.arange(64)


@inlined
def _bits(word):
    """How many bits a word has."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inlined
def _lowest(word):
    """The lowest bit of a word, and its number."""
    lowest = word & (~word + np.uint64(1))
    return lowest, _PLACES[(lowest * _SEQUENCE) >> np.uint64(58)]


@inlined
def _in_row(number, column, place, first, length, words):
    """Whether a row, which may be -1, has a column."""
    if number < 0:
        return False
    at = (column >> 6) - first[number]
    if at < 0 or at >= length[number]:
        return False
    return (words[place[number] + at] >> np.uint64(column & 63)) & np.uint64(1) != 0


@kernel
def leading_to(starts, sources, seeds):
    """How many nodes edges, which are grouped by their targets, lead from to some nodes, with these."""
    seen = seeds.copy()
    stack = np.empty(len(seeds), np.int32)
    size = number = 0
    for node in range(len(seeds)):
        if seeds[node]:
            stack[size] = node
            size += 1
    while size:
        size -= 1
        number += 1
        node = stack[size]
        for j in range(starts[node], starts[node + 1]):
            source = sources[j]
            if not seen[source]:
                seen[source] = True
                stack[size] = source
                size += 1
    return number


@inlined
def _is_concerned(members, starts, targets, seeds, changed):
    """Whether the row of a component can be another one: it has a seed, or leads to a node whose row has changed."""
    for node in members:
        if seeds[node]:
            return True
        for j in range(starts[node], starts[node + 1]):
            if changed[targets[j]]:
                return True
    return False


@inlined
def _is_row(number, lo, hi, place, first, length, words, buffer):
    """Whether a row, which may be -1, has the bits of a buffer, whose words that are not empty are between two."""
    if number < 0:
        return lo >= hi
    if first[number] != lo or length[number] != hi - lo:
        return False
    k = 0
    while k < hi - lo and words[place[number] + k] == buffer[lo + k]:
        k += 1
    return k == hi - lo


@kernel
def close_rows(edges, components, begin, seeds, changed, row, rows, known, words, used, buffer):
    """Makes the rows of components right, from one on, where edges of seeds have changed; notes whose rows are others.

    Edges lead to lower components, or stay inside. Gives the component to go on with, how many rows there are and how many
    words, where there is no room for another.
    """
    starts, targets = edges
    component, members, grouped = components
    place, first, length, count = rows
    for number in range(begin, len(members) - 1):
        mine = grouped[members[number] : members[number + 1]]
        if not _is_concerned(mine, starts, targets, seeds, changed):
            continue
        lo, hi = len(buffer), 0
        cyclic = False
        for node in mine:
            for j in range(starts[node], starts[node + 1]):
                target = targets[j]
                if component[target] == number:
                    cyclic = True
                    continue
                word, bit = target >> 6, np.uint64(1) << np.uint64(target & 63)
                if buffer[word] & bit:
                    continue  # and all that it leads to is there
                buffer[word] |= bit
                lo, hi = min(lo, word), max(hi, word + 1)
                other = row[target]
                if other >= 0:
                    base, at = first[other], place[other]
                    for k in range(length[other]):
                        buffer[base + k] |= words[at + k]
                    lo, hi = min(lo, base), max(hi, base + length[other])
        if cyclic:
            for node in mine:
                word = node >> 6
                buffer[word] |= np.uint64(1) << np.uint64(node & 63)
                lo, hi = min(lo, word), max(hi, word + 1)
        old = row[mine[0]]
        alike = _is_row(old, lo, hi, place, first, length, words, buffer)
        for node in mine:
            alike = alike and row[node] == old
        if alike:
            buffer[lo:hi] = 0
            continue
        made = np.int32(-1)
        if lo < hi:
            if known == len(place) or used + hi - lo > len(words):
                buffer[lo:hi] = 0
                return number, known, used
            made = np.int32(known)
            known += 1
            place[made], first[made], length[made] = used, lo, hi - lo
            total = 0
            for k in range(lo, hi):
                words[used] = buffer[k]
                total += _bits(buffer[k])
                buffer[k] = 0
                used += 1
            count[made] = total
        for node in mine:
            row[node] = made
            changed[node] = True
    return len(members) - 1, known, used


@kernel
def copy_rows(row, rows, words, others, into):
    """Copies the rows of nodes, which are numbered anew, to other rows and words; gives how many of each there are."""
    place, first, length, count = rows
    known, used = 0, 0
    new = np.full(len(place), -1, np.int32)
    for node in range(len(row)):
        old = row[node]
        if old < 0:
            continue
        if new[old] < 0:
            new[old] = known
            others[0][known], others[1][known] = used, first[old]
            others[2][known], others[3][known] = length[old], count[old]
            for k in range(length[old]):
                into[used + k] = words[place[old] + k]
            used += length[old]
            known += 1
        row[node] = new[old]
    return known, used


@kernel
def in_rows(sources, targets, row, rows, words, out):
    """Whether each pair of nodes, of which some may be -1, is in the rows."""
    place, first, length, _ = rows
    for i in range(len(sources)):
        source, target = sources[i], targets[i]
        out[i] = source >= 0 and target >= 0 and _in_row(row[source], target, place, first, length, words)


@kernel
def list_rows(sources, names, lo, row, rows, words, ids, out):
    """Writes the pairs of some sources' names, from a place on, with ids, while there is room; gives the next place."""
    place, first, length, count = rows
    at = 0
    for i in range(lo, len(sources)):
        name, number = names[i], row[sources[i]]
        if number < 0:
            continue
        if at + count[number] > out.shape[1]:
            return i, at
        for k in range(length[number]):
            left = words[place[number] + k]
            base = (first[number] + k) << 6
            while left:
                lowest, bit = _lowest(left)
                out[0, at] = name
                out[1, at] = ids[base + bit]
                at += 1
                left ^= lowest
    return len(sources), at


@kernel
def list_leading_to(sources, names, lo, targets, row, rows, words, ids, out):
    """What `list_rows` writes of pairs whose other end is one of some targets."""
    place, first, length, _ = rows
    at = 0
    for i in range(lo, len(sources)):
        name, number = names[i], row[sources[i]]
        if at + len(targets) > out.shape[1]:
            return i, at
        for target in targets:
            if _in_row(number, target, place, first, length, words):
                out[0, at] = name
                out[1, at] = ids[target]
                at += 1
    return len(sources), at


@kernel
def list_beyond(sources, names, lo, row, rows, words, ids, others, writes, out):
    """Writes what `list_rows` does but for the pairs that other rows have, or just counts them.

    Of those, `moved` has the nodes of the sources, and `columns` the columns; there are none if they are the same. Rows
    with the same number are `shared` or not.
    """
    moved, columns, shared, other_row, other_rows, other_words = others
    other_place, other_first, other_length, _ = other_rows
    place, first, length, count = rows
    at = 0
    for i in range(lo, len(sources)):
        name, number = names[i], row[sources[i]]
        other = other_row[moved[i]] if moved[i] >= 0 else np.int32(-1)
        if number < 0 or (shared and number == other):
            continue
        if writes and at + count[number] > out.shape[1]:
            return i, at
        for k in range(length[number]):
            left = words[place[number] + k]
            base = (first[number] + k) << 6
            if len(columns) == 0:
                if other >= 0:
                    there = first[number] + k - other_first[other]
                    if 0 <= there < other_length[other]:
                        left &= ~other_words[other_place[other] + there]
                if not writes:
                    at += _bits(left)
                    continue
            while left:
                lowest, bit = _lowest(left)
                left ^= lowest
                if len(columns):
                    column = columns[base + bit]
                    if column >= 0 and _in_row(other, column, other_place, other_first, other_length, other_words):
                        continue
                if writes:
                    out[0, at] = name
                    out[1, at] = ids[base + bit]
                at += 1
    return len(sources), at

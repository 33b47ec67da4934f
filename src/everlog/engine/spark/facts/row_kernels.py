"""The loops that driver sets are made of: hash tables over rows of ids. They are compiled, and kept on disk.

Rows are int64 arrays of shape (rows, columns). `places` are the columns that count; keys are rows of as many columns as
there are places. Whole rows are in a table whose slots have the number of a row, as many bits as a mask says, and above it
a part of the row's hash, so that rows which are not the key are hardly ever looked at. For rows by some of their columns
there is an `order` in which those with the same key stand together, the last of them as its complement; where these
begin, `heads` tells by the hash of the key, or `starts` by an id of the key.

Loops look at a few keys at a time, and say which places of the arrays they will want: they would wait for memory else.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from everlog.engine.memory.kernels.decorators import inlined, kernel
from everlog.engine.memory.kernels.prefetching import prefetch

CLASSES: Final = 63
"""Ids are classed by their remainder, so that a set of classes is a positive bigint."""

_AT_A_TIME: Final = 64
"""So many keys are looked for side by side."""

WORD: Final = 64
"""So many bits are in one number."""

_SHORT: Final = 24
"""Up to so many rows are sorted by putting one after the other into its place."""


@inlined
def _hash(rows, row, places):
    hashed = np.uint64(0x9E3779B97F4A7C15)
    for place in places:
        hashed ^= np.uint64(rows[row, place])
        hashed *= np.uint64(0xBF58476D1CE4E5B9)
        hashed ^= hashed >> np.uint64(29)
    return hashed


@inlined
def _slot(hashed, heads):
    return np.int64(hashed & np.uint64(len(heads) - 1))


@inlined
def _agree(rows, row, places, keys, key, columns):
    same = True
    for number in range(len(places)):
        same &= rows[row, places[number]] == keys[key, columns[number]]
    return same


# Whole rows


@inlined
def _whole_hash(rows, row):
    hashed = np.uint64(0x9E3779B97F4A7C15)
    for column in range(rows.shape[1]):
        hashed ^= np.uint64(rows[row, column])
        hashed *= np.uint64(0xBF58476D1CE4E5B9)
        hashed ^= hashed >> np.uint64(29)
    return hashed


@inlined
def _same(rows, row, keys, key):
    same = True
    for column in range(rows.shape[1]):
        same &= rows[row, column] == keys[key, column]
    return same


@inlined
def _tag(hashed, mask):
    """What a slot says about the hash beside the number of the row, for which it has the bits of the mask."""
    return np.int64(np.int32(hashed >> np.uint64(32))) & ~mask


@kernel
def entered(rows, slots, mask):
    """Enters all rows, each of which is there once, into a hash table whose slots are -1 at first."""
    hashes = np.empty(_AT_A_TIME, np.uint64)
    for start in range(0, len(rows), _AT_A_TIME):
        stop = min(start + _AT_A_TIME, len(rows))
        for row in range(start, stop):
            hashes[row - start] = _whole_hash(rows, row)
            prefetch(slots, _slot(hashes[row - start], slots))
        for row in range(start, stop):
            slot = _slot(hashes[row - start], slots)
            while slots[slot] != -1:
                slot = (slot + 1) & (len(slots) - 1)
            slots[slot] = row | _tag(hashes[row - start], mask)


@kernel
def one_match(rows, slots, mask, keys, out):
    """For each key the row that it is, or -1."""
    hashes, begins = np.empty(_AT_A_TIME, np.uint64), np.empty(_AT_A_TIME, np.int64)
    for start in range(0, len(keys), _AT_A_TIME):
        stop = min(start + _AT_A_TIME, len(keys))
        for key in range(start, stop):
            hashes[key - start] = _whole_hash(keys, key)
            prefetch(slots, _slot(hashes[key - start], slots))
        for key in range(start, stop):
            slot, tag = _slot(hashes[key - start], slots), _tag(hashes[key - start], mask)
            while slots[slot] != -1 and slots[slot] & ~mask != tag:
                slot = (slot + 1) & (len(slots) - 1)
            begins[key - start] = slot
            if slots[slot] != -1:
                prefetch(rows, (slots[slot] & mask) * rows.shape[1])
        for key in range(start, stop):
            slot, tag = begins[key - start], _tag(hashes[key - start], mask)
            out[key] = -1
            while slots[slot] != -1:
                row = slots[slot] & mask
                if slots[slot] & ~mask == tag and _same(rows, row, keys, key):
                    out[key] = row
                    break
                slot = (slot + 1) & (len(slots) - 1)


@kernel
def distinct(rows, slots, mask, first, group):
    """Writes the first row of each kind, and for each row the number of its kind; gives the number of kinds."""
    hashes = np.empty(_AT_A_TIME, np.uint64)
    kinds = 0
    for start in range(0, len(rows), _AT_A_TIME):
        stop = min(start + _AT_A_TIME, len(rows))
        for row in range(start, stop):
            hashes[row - start] = _whole_hash(rows, row)
            prefetch(slots, _slot(hashes[row - start], slots))
        for row in range(start, stop):
            slot = _slot(hashes[row - start], slots)
            if slots[slot] != -1 and slots[slot] & ~mask == _tag(hashes[row - start], mask):
                prefetch(rows, (slots[slot] & mask) * rows.shape[1])
        for row in range(start, stop):
            slot, tag = _slot(hashes[row - start], slots), _tag(hashes[row - start], mask)
            while slots[slot] != -1 and not (slots[slot] & ~mask == tag and _same(rows, slots[slot] & mask, rows, row)):
                slot = (slot + 1) & (len(slots) - 1)
            if slots[slot] == -1:
                first[kinds], group[row] = row, kinds
                slots[slot] = row | tag
                kinds += 1
            else:
                group[row] = group[slots[slot] & mask]
    return kinds


@kernel
def renumbered(slots, mask, group):
    """Lets a table of the first rows of all kinds lead to the numbers of these kinds instead."""
    for slot in range(len(slots)):
        if slots[slot] != -1:
            slots[slot] = group[slots[slot] & mask] | (slots[slot] & ~mask)


@kernel
def taken(rows, numbers, column, out):
    """Writes a column of the rows with some numbers."""
    for start in range(0, len(numbers), _AT_A_TIME):
        stop = min(start + _AT_A_TIME, len(numbers))
        for place in range(start, stop):
            prefetch(rows, numbers[place] * rows.shape[1] + column)
        for place in range(start, stop):
            out[place] = rows[numbers[place], column]


# Rows by some of their columns


@kernel
def grouped(rows, places, groups):
    """Writes for each row the number of its key; gives slots, each with the first row of a key, and the number of keys."""
    heads = np.full(16, -1, np.int32)
    hashes = np.empty(_AT_A_TIME, np.uint64)
    keys = 0
    for start in range(0, len(rows), _AT_A_TIME):
        stop = min(start + _AT_A_TIME, len(rows))
        while 2 * (keys + _AT_A_TIME) > len(heads):
            # As many keys are expected among the other rows as there were so far.
            expected, size = keys * (len(rows) // max(start, 1)), 2 * len(heads)
            while size < 2 * expected:
                size *= 2
            larger = np.full(size, -1, np.int32)
            for first in heads:
                if first >= 0:
                    slot = _slot(_hash(rows, first, places), larger)
                    while larger[slot] >= 0:
                        slot = (slot + 1) & (len(larger) - 1)
                    larger[slot] = first
            heads = larger
        for row in range(start, stop):
            hashes[row - start] = _hash(rows, row, places)
            prefetch(heads, _slot(hashes[row - start], heads))
        for row in range(start, stop):
            known = heads[_slot(hashes[row - start], heads)]
            if known >= 0:
                prefetch(rows, known * rows.shape[1])
                prefetch(groups, known)
        for row in range(start, stop):
            slot = _slot(hashes[row - start], heads)
            while heads[slot] >= 0 and not _agree(rows, heads[slot], places, rows, row, places):
                slot = (slot + 1) & (len(heads) - 1)
            if heads[slot] < 0:
                heads[slot] = row
                groups[row] = keys
                keys += 1
            else:
                groups[row] = groups[heads[slot]]
    return heads, keys


@kernel
def ordered(groups, keys, heads, order):
    """Writes rows in the order of their keys, and where each key begins into its slot."""
    starts = np.zeros(keys + 1, np.int32)
    for group in groups:
        starts[group + 1] += 1
    for key in range(keys):
        starts[key + 1] += starts[key]
    for slot in range(len(heads)):
        if heads[slot] >= 0:
            heads[slot] = starts[groups[heads[slot]]]
    for row in range(len(groups)):
        order[starts[groups[row]]] = row
        starts[groups[row]] += 1  # in the end it is where the next one begins
    for key in range(keys):
        order[starts[key] - 1] = ~order[starts[key] - 1]


@kernel
def find(rows, places, heads, order, keys, columns, out):
    """For each key where its rows begin in the order, or -1; `columns` are all those of the keys."""
    slots = np.empty(_AT_A_TIME, np.int64)
    for start in range(0, len(keys), _AT_A_TIME):
        stop = min(start + _AT_A_TIME, len(keys))
        for key in range(start, stop):
            slots[key - start] = _slot(_hash(keys, key, columns), heads)
            prefetch(heads, slots[key - start])
        for key in range(start, stop):
            if heads[slots[key - start]] >= 0:
                prefetch(order, heads[slots[key - start]])
        for key in range(start, stop):
            if heads[slots[key - start]] >= 0:
                row = order[heads[slots[key - start]]]
                prefetch(rows, max(row, ~row) * rows.shape[1])
        for key in range(start, stop):
            slot = slots[key - start]
            out[key] = -1
            while heads[slot] >= 0:
                row = order[heads[slot]]
                if _agree(rows, max(row, ~row), places, keys, key, columns):
                    out[key] = heads[slot]
                    break
                slot = (slot + 1) & (len(heads) - 1)


@kernel
def count_matches(order, found, most):
    """How many rows there are in all that begin at some places of the order; it stops beyond `most`."""
    number = 0
    for start in found:
        if start >= 0:
            end = start
            while order[end] >= 0:
                end += 1
            number += end - start + 1
            if number > most:
                break
    return number


@kernel
def all_matches(order, found, first, left, right):
    """Writes the number of each place, from `first` on, and these rows, pair by pair."""
    number = 0
    for key in range(len(found)):
        at = found[key]
        if at >= 0:
            while order[at] >= 0:
                left[number], right[number] = first + key, order[at]
                number += 1
                at += 1
            left[number], right[number] = first + key, ~order[at]
            number += 1


# Rows by columns with few values, and by a column of dense ids


@kernel
def told_apart(rows, places, slots, firsts, kinds):
    """Writes the kind of each row and the first row of each kind; gives how many, -1 if they are too many."""
    number = 0
    for row in range(len(rows)):
        slot = _slot(_hash(rows, row, places), slots)
        while slots[slot] >= 0 and not _agree(rows, firsts[slots[slot]], places, rows, row, places):
            slot = (slot + 1) & (len(slots) - 1)
        if slots[slot] < 0:
            if number == len(firsts):
                return -1
            slots[slot], firsts[number] = number, row
            number += 1
        kinds[row] = slots[slot]
    return number


@kernel
def put_by_kind(kinds, first, places, order):
    """Writes the rows of a share, numbered from `first` on, into the places of their kinds."""
    for row in range(len(kinds)):
        kind = kinds[row]
        order[places[kind]] = first + row
        places[kind] += 1


@kernel
def led(rows, lead, first, leads):
    """Writes the id of the lead that each row has, from `first` on; gives the least and the greatest one."""
    least = most = rows[0, lead] - first
    for row in range(len(rows)):
        id = rows[row, lead] - first
        least, most = min(least, id), max(most, id)
        leads[row] = id
    return least, most


@kernel
def renamed(kinds, names):
    """Writes for each kind the name that it has."""
    for row in range(len(kinds)):
        kinds[row] = names[kinds[row]]


@kernel
def counted(leads, least, counts):
    """Counts the rows of each id of the lead."""
    for id in leads:
        counts[id - least] += 1


@kernel
def begun(counts, starts):
    """Writes where the rows of each id start in an order, and over how many rows of it each share of the rows has, where
    those of the share start; gives the greatest number of rows of an id."""
    most = at = 0
    for id in range(counts.shape[1]):
        starts[id] = at
        for share in range(len(counts)):
            number, counts[share, id] = counts[share, id], at
            at += number
        most = max(most, at - starts[id])
    starts[counts.shape[1]] = at
    return most


@kernel
def arranged(leads, first, least, kinds, places, order, sorted_kinds):
    """Writes the rows of a share, numbered from `first` on, and their kinds into the places of the ids of the lead."""
    for row in range(len(leads)):
        id = leads[row] - least
        order[places[id]], sorted_kinds[places[id]] = first + row, kinds[row]
        places[id] += 1


@kernel
def sorted_by_kind(starts, number, most, order, sorted_kinds):
    """Sorts the rows of each id, at most so many, by their kinds, and has the last of each kind stand as its complement."""
    some_rows, some_kinds = np.empty(most, np.int32), np.empty(most, np.uint8)
    ends = np.empty(number + 1, np.int64)
    for id in range(len(starts) - 1):
        begin, end = starts[id], starts[id + 1]
        is_sorted = True
        for place in range(begin + 1, end):
            is_sorted &= sorted_kinds[place - 1] <= sorted_kinds[place]
        if not is_sorted and end - begin <= _SHORT:
            for place in range(begin + 1, end):
                row, kind, at = order[place], sorted_kinds[place], place
                while at > begin and sorted_kinds[at - 1] > kind:
                    order[at], sorted_kinds[at] = order[at - 1], sorted_kinds[at - 1]
                    at -= 1
                order[at], sorted_kinds[at] = row, kind
        elif not is_sorted:
            ends[:] = 0
            for place in range(begin, end):
                some_rows[place - begin], some_kinds[place - begin] = order[place], sorted_kinds[place]
                ends[sorted_kinds[place] + 1] += 1
            ends[0] = begin
            for kind in range(number):
                ends[kind + 1] += ends[kind]
            for place in range(end - begin):
                kind = some_kinds[place]
                order[ends[kind]], sorted_kinds[ends[kind]] = some_rows[place], kind
                ends[kind] += 1
        for place in range(begin, end):
            if place + 1 == end or sorted_kinds[place + 1] != sorted_kinds[place]:
                order[place] = ~order[place]


@kernel
def find_dense(rows, rest, slots, firsts, least, starts, sorted_kinds, keys, columns, lead, out):
    """For each key where its rows begin in the order, or -1."""
    wanted = np.empty(_AT_A_TIME, np.int64)
    kind, asked = -1, -1
    for start in range(0, len(keys), _AT_A_TIME):
        stop = min(start + _AT_A_TIME, len(keys))
        for key in range(start, stop):
            if asked < 0 or not _agree(keys, asked, columns, keys, key, columns):
                slot = _slot(_hash(keys, key, columns), slots)
                while slots[slot] >= 0 and not _agree(rows, firsts[slots[slot]], rest, keys, key, columns):
                    slot = (slot + 1) & (len(slots) - 1)
                kind, asked = slots[slot], key
            id = keys[key, lead] - least
            wanted[key - start] = kind if 0 <= id < len(starts) - 1 else -1
            if wanted[key - start] >= 0:
                prefetch(starts, id)
        for key in range(start, stop):
            if wanted[key - start] >= 0:
                prefetch(sorted_kinds, starts[keys[key, lead] - least])
        for key in range(start, stop):
            out[key] = -1
            if wanted[key - start] >= 0:
                id = keys[key, lead] - least
                below, above = starts[id], starts[id + 1]
                while below < above:
                    middle = (below + above) // 2
                    if sorted_kinds[middle] < wanted[key - start]:
                        below = middle + 1
                    else:
                        above = middle
                if below < starts[id + 1] and sorted_kinds[below] == wanted[key - start]:
                    out[key] = below


# Ids


@kernel
def classes(rows):
    """For each column a bit for each remainder that its ids have; when all are there, it looks no further."""
    found = np.zeros(rows.shape[1], np.int64)
    for column in range(rows.shape[1]):
        row, last, every = 0, np.int64(-1), (np.int64(1) << CLASSES) - 1
        while row < len(rows) and found[column] != every:
            if rows[row, column] != last or not row:
                last = rows[row, column]
                found[column] |= np.int64(1) << (last % CLASSES)
            row += 1
    return found


@kernel
def unseen(ids, rules, groups, bits, out):
    """Writes the places of ids that were not noted before, for the group of their rule, and notes them; gives how many."""
    number = 0
    for place in range(len(ids)):
        group, word = groups[rules[place]], ids[place] // WORD
        bit = np.uint64(1) << np.uint64(ids[place] % WORD)
        if bits[group, word] & bit == np.uint64(0):
            bits[group, word] |= bit
            out[number] = place
            number += 1
    return number


# Sorted rows


@inlined
def _order(rows, row, keys, key):
    """Below 0 if a row comes before a key, 0 if it begins with it, above 0 if it comes after it."""
    order = 0
    for place in range(keys.shape[1]):
        if order == 0:
            if rows[row, place] < keys[key, place]:
                order = -1
            elif rows[row, place] > keys[key, place]:
                order = 1
    return order


@kernel
def ranges(rows, keys, starts, stops):
    """For each key, which comes after those before it, where the rows that begin with it start and stop."""
    least = 0
    for key in range(len(keys)):
        below, above = least, len(rows)
        while below < above:
            middle = (below + above) // 2
            if _order(rows, middle, keys, key) < 0:
                below = middle + 1
            else:
                above = middle
        least = below
        # Few rows have a key, as a rule: steps become larger.
        starts[key], step, above = below, 1, below
        while above < len(rows) and _order(rows, above, keys, key) == 0:
            below, above, step = above, min(above + step, len(rows)), 2 * step
        while below < above:
            middle = (below + above) // 2
            if _order(rows, middle, keys, key) == 0:
                below = middle + 1
            else:
                above = middle
        stops[key] = below

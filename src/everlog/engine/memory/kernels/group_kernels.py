"""Kernels that number the groups of rows, count them, and add up integers, each for a piece of the rows.

The *place* of a row is that of its group in arrays with a place for each, or more places than there are groups: ids where
these lie close together, otherwise numbers that an open-addressing table gives out. Places begin with some least one.
"""

from __future__ import annotations

import numpy as np

from everlog.engine.memory.kernels.decorators import kernel
from everlog.engine.memory.term_kinds import INT


@kernel
def span(column):
    """The least and the greatest of some ids, one at least."""
    least, greatest = column[0], column[0]
    for id in column:
        least, greatest = min(least, id), max(greatest, id)
    return least, greatest


@kernel
def combine(places, least, column, first, size, out):
    """Places that tell rows apart by two columns, of which the second has `size` different values at the most."""
    for row in range(len(places)):
        out[row] = (places[row] - least) * size + (column[row] - first)


@kernel
def number(places, column, out, some):
    """Numbers the distinct pairs of two columns, or the distinct ids of the first if the second is empty.

    `out` gets the number of each row, and `some` a row for each number; gives how many there are.
    """
    mask = np.int64(1023)
    keys, numbers = np.empty(mask + 1, np.int64), np.full(mask + 1, -1, np.int32)
    count = 0
    for row in range(len(places)):
        key = np.int64(places[row])
        if len(column):
            key = (key << 32) | np.int64(column[row])
        at = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
        while numbers[at] >= 0 and keys[at] != key:
            at = (at + 1) & mask
        if numbers[at] < 0:
            keys[at], numbers[at], some[count] = key, count, row
            count += 1
            if 2 * count > mask:
                out[row] = count - 1
                mask = 4 * (mask + 1) - 1
                older, before = keys, numbers
                keys, numbers = np.empty(mask + 1, np.int64), np.full(mask + 1, -1, np.int32)
                for slot in range(len(before)):
                    if before[slot] >= 0:
                        key = older[slot]
                        at = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
                        while numbers[at] >= 0:
                            at = (at + 1) & mask
                        keys[at], numbers[at] = key, before[slot]
                continue
        out[row] = numbers[at]
    return count


@kernel
def renumber(out, numbers):
    """Replaces numbers by others."""
    for row in range(len(out)):
        out[row] = numbers[out[row]]


@kernel
def count(places, least, begin, counts, some):
    """Counts the rows of each place; `some` gets a row of it, where rows are numbered from `begin` on."""
    for row in range(len(places)):
        place = places[row] - least
        counts[place] += 1
        some[place] = begin + row


@kernel
def add(places, least, ids, kinds, payload, totals):
    """Adds integers to the totals of their rows' places, without a thought of what 64 bits hold.

    Gives whether all are integers, and the least and the greatest of them and 0.
    """
    integers, smallest, largest = True, np.int64(0), np.int64(0)
    for row in range(len(places)):
        id = ids[row]
        number = payload[id]
        integers &= kinds[id] == INT
        smallest, largest = min(smallest, number), max(largest, number)
        totals[places[row] - least] += number
    return integers, smallest, largest

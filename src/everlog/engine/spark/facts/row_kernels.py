"""The loops that driver sets are made of: hash tables over rows of ids. They are compiled, and kept on disk.

Rows are int64 arrays of shape (rows, columns). `places` are the columns that count, `heads` and `nexts` a hash table whose
slots lead from row to row; keys are rows of as many columns as there are places.
"""

from __future__ import annotations

import numpy as np

from everlog.engine.memory.kernels.decorators import inlined, kernel


@inlined
def _slot(rows, row, places, heads):
    hashed = np.uint64(0x9E3779B97F4A7C15)
    for place in places:
        hashed ^= np.uint64(rows[row, place])
        hashed *= np.uint64(0xBF58476D1CE4E5B9)
        hashed ^= hashed >> np.uint64(29)
    return np.int64(hashed & np.uint64(len(heads) - 1))


@inlined
def _agree(rows, row, places, keys, key):
    same = True
    for column in range(len(places)):
        same &= rows[row, places[column]] == keys[key, column]
    return same


@kernel
def chain(rows, places, heads, nexts):
    """Puts all rows into a hash table, in which `heads` are -1 at first."""
    for row in range(len(rows)):
        slot = _slot(rows, row, places, heads)
        nexts[row] = heads[slot]
        heads[slot] = row


@kernel
def one_match(rows, places, heads, nexts, keys, columns, out):
    """For each key a row that has it, or -1; `columns` are all those of the keys."""
    for key in range(len(keys)):
        row = heads[_slot(keys, key, columns, heads)]
        while row >= 0 and not _agree(rows, row, places, keys, key):
            row = nexts[row]
        out[key] = row


@kernel
def count_matches(rows, places, heads, nexts, keys, columns, most):
    """How many pairs of a key and a row that has it there are; it stops beyond `most`."""
    found = 0
    for key in range(len(keys)):
        row = heads[_slot(keys, key, columns, heads)]
        while row >= 0:
            found += _agree(rows, row, places, keys, key)
            row = nexts[row]
        if found > most:
            break
    return found


@kernel
def all_matches(rows, places, heads, nexts, keys, columns, left, right):
    """Writes these pairs."""
    found = 0
    for key in range(len(keys)):
        row = heads[_slot(keys, key, columns, heads)]
        while row >= 0:
            if _agree(rows, row, places, keys, key):
                left[found], right[found] = key, row
                found += 1
            row = nexts[row]


@kernel
def distinct(rows, columns, heads, nexts, first, group):
    """Writes the first row of each kind, and for each row the number of its kind; gives the number of kinds."""
    kinds = 0
    for row in range(len(rows)):
        slot = _slot(rows, row, columns, heads)
        kind = heads[slot]
        while kind >= 0 and not _agree(rows, first[kind], columns, rows, row):
            kind = nexts[kind]
        if kind < 0:
            kind = kinds
            first[kind] = row
            nexts[kind] = heads[slot]
            heads[slot] = kind
            kinds += 1
        group[row] = kind
    return kinds


@kernel
def classes(rows, most):
    """For each column a bit for each remainder, of so many, that its ids have; when all are there, it looks no further."""
    found = np.zeros(rows.shape[1], np.int64)
    for column in range(rows.shape[1]):
        row, every = 0, (np.int64(1) << most) - 1
        while row < len(rows) and found[column] != every:
            found[column] |= np.int64(1) << (rows[row, column] % most)
            row += 1
    return found

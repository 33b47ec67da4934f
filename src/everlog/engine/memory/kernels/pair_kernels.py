"""Equal numbers of two columns, by a table of one of them: arrays are contiguous, of 64-bit integers."""

from __future__ import annotations

import numpy as np

from everlog.engine.memory.kernels.decorators import inlined, kernel


@inlined
def _slot(value, limit):
    """Where the chain of a value begins; the high bits of a product depend on all of the value's."""
    mixed = np.uint64(value) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed ^ (mixed >> np.uint64(32))) & np.uint64(limit)


@kernel
def chained(among, first, after):
    """Enters a column into chains: `first` has the first place of each, or -1, and `after` the place behind a place."""
    limit = first.size - 1
    for place in range(among.size - 1, -1, -1):
        slot = _slot(among[place], limit)
        after[place] = first[slot]
        first[slot] = place


@kernel
def count_pairs(keys, among, first, after):
    """How many places of the chained column are equal to one of the keys, all keys together."""
    limit = first.size - 1
    number = 0
    for i in range(keys.size):
        place = first[_slot(keys[i], limit)]
        while place >= 0:
            if among[place] == keys[i]:
                number += 1
            place = after[place]
    return number


@kernel
def list_pairs(keys, among, first, after, mine, others):
    """The places of these pairs, key by key, those of the chained column in order."""
    limit = first.size - 1
    number = 0
    for i in range(keys.size):
        place = first[_slot(keys[i], limit)]
        while place >= 0:
            if among[place] == keys[i]:
                mine[number] = i
                others[number] = place
                number += 1
            place = after[place]


@kernel
def are_among(keys, among, first, after, found):
    """Which keys are equal to some place of the chained column."""
    limit = first.size - 1
    for i in range(keys.size):
        place = first[_slot(keys[i], limit)]
        while place >= 0 and among[place] != keys[i]:
            place = after[place]
        found[i] = place >= 0

"""The compiled inner loops of the memory engine. All of them release the GIL and are cached on disk.

Conventions. A *table* is `cols`, an int32 array of shape (arity, capacity). A *block* of bindings is an int32 array of
shape (slots, capacity); a *source* `s` names slot `s` of a block when it is not negative and the constant `consts[~s]`
otherwise. A *view* on a table is `bounds` (first row, row behind the last, whether the mask counts, whether the
annotation counts, least and greatest annotation) with the mask's terms `care`/`want`: a row passes when
`mask & care == want` for one of them.

Danger: Numba's cache does not see a changed callee in another file, so the loops that call each other stay together
here; only `compare`, which the dictionary owns, and `prefetch` come from outside.
"""

from __future__ import annotations

import numpy as np

from everlog.engine.memory.kernels.decorators import inlined, kernel
from everlog.engine.memory.kernels.dictionary_kernels import compare
from everlog.engine.memory.kernels.prefetching import prefetch
from everlog.engine.memory.term_kinds import BLANK, INT, STRING

ROW_ID = -1
"""As a fresh column of a scan: the row's own number instead of a column's value."""

LATER = -2
"""As a fresh column: left out here, the caller fills that slot."""

_AHEAD = 32
"""Probes that are started before the first of them is looked at."""

VACANT = 0
"""In a slot's key: nothing is here. Stored keys are positive, so that a new table is fresh memory from the system."""

_AT_A_TIME = 1 << 22
"""Rows that a join looks at before its caller has a look at the world."""

_NO_KEY = -1
"""In the slots of an index's run, whose keys may be 0: nothing is here."""


@inlined
def _mix(key):
    x = np.uint64(key)
    x ^= x >> np.uint64(32)
    x *= np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(32)
    return x


@inlined
def _fold(hashed, part):
    return _mix(np.uint64(hashed) ^ (np.uint64(part) + np.uint64(0x9E3779B97F4A7C15)))


@inlined
def _tuple_key(cols, i):
    """The key of tuple `i`: exact up to two columns, a hash beyond."""
    arity = cols.shape[0]
    if arity == 2:
        return (np.int64(cols[0, i]) << 32) | np.int64(cols[1, i])
    if arity == 1:
        return np.int64(cols[0, i])
    hashed = np.uint64(arity)
    for c in range(arity):
        hashed = _fold(hashed, cols[c, i])
    return np.int64(hashed >> np.uint64(2))


@inlined
def _source_key(block, i, sources, consts):
    """The key of the tuple that the sources give for binding `i`; the same as `_tuple_key` of that tuple."""
    arity = sources.shape[0]
    if arity == 2:
        a = block[sources[0], i] if sources[0] >= 0 else consts[~sources[0]]
        b = block[sources[1], i] if sources[1] >= 0 else consts[~sources[1]]
        return (np.int64(a) << 32) | np.int64(b)
    if arity == 1:
        return np.int64(block[sources[0], i] if sources[0] >= 0 else consts[~sources[0]])
    hashed = np.uint64(arity)
    for c in range(arity):
        hashed = _fold(hashed, block[sources[c], i] if sources[c] >= 0 else consts[~sources[c]])
    return np.int64(hashed >> np.uint64(2))


@inlined
def _passes(row, bounds, care, want, mask, ann):
    if row < bounds[0] or row >= bounds[1]:
        return False
    if bounds[2] != 0:
        seen = mask[row]
        found = False
        for t in range(care.shape[0]):
            if (seen & care[t]) == want[t]:
                found = True
                break
        if not found:
            return False
    return bounds[3] == 0 or (bounds[4] <= ann[row] <= bounds[5])


@inlined
def _keep(block, i, k):
    """Moves binding `i` to place `k` of its block."""
    if k != i:
        for s in range(block.shape[0]):
            block[s, k] = block[s, i]


# ---------------------------------------------------------------------------------------- presence
#
# Which tuples of up to two columns a table has: an open-addressing table of groups of 64 tuples that differ in the last
# six bits of the last column. Slot `h` has the group's key at `2 h` and the bits of its tuples at `2 h + 1`. A dense
# relation needs a fraction of a byte per tuple, and its slots stay in the cache. The table is in `shards` equal parts, so
# that threads can share it; bits of the hash that the slot does not depend on tell the part.


@inlined
def _spot(key):
    """A hash that keeps eight neighbouring groups together: work on them tends to come together, too."""
    return (_mix(key >> 3) << np.uint64(3)) | np.uint64(key & 7)


@inlined
def _shard_base(hashed, shards, part):
    return ((hashed >> np.uint64(40)) & np.uint64(shards - 1)) * np.uint64(part)


@inlined
def _cell(arity, first, second):
    """The group and the bit of a tuple."""
    if arity == 2:
        return ((np.int64(first) << 25) | np.int64(second >> 6)) + 1, np.int64(1) << np.int64(second & 63)
    if arity == 1:
        return np.int64(first >> 6) + 1, np.int64(1) << np.int64(first & 63)
    return np.int64(1), np.int64(1)


@kernel
def admit(tuples, start, n, shard, shards, groups, room, fresh, new):
    """Enters tuples `start..n`, which all fall into one shard; positions of those that are new go behind `new` in `fresh`.

    Stops when as many groups were made as there is room for. Returns where it stopped, how many are new with those before,
    how many groups were made, and a number without meaning.
    """
    part = groups.shape[0] // (2 * shards)
    limit = np.uint64(part - 1)
    arity = tuples.shape[0]
    one, two = np.uint64(1), np.uint64(2)
    base = np.uint64(shard * part)
    ahead = np.empty(_AHEAD, np.uint64)
    keys = np.empty(_AHEAD, np.int64)
    bits_of = np.empty(_AHEAD, np.int64)
    made = 0
    touched = np.int64(0)
    while start < n and made < room:
        size = min(_AHEAD, n - start, room - made)
        for j in range(size):
            a = tuples[0, start + j] if arity > 0 else np.int32(0)
            b = tuples[1, start + j] if arity > 1 else np.int32(0)
            key, bit = _cell(arity, a, b)
            keys[j] = key
            bits_of[j] = bit
            ahead[j] = _spot(key) & limit
        # A probe waits for memory. Reading them all first, without a branch on what is read, lets them wait together.
        for j in range(size):
            touched ^= groups[two * (base + ahead[j])]
        for j in range(size):
            key, bit, h = keys[j], bits_of[j], ahead[j]
            while True:
                at = two * (base + h)
                there = groups[at]
                if there == key:
                    bits = groups[at + one]
                    if bits & bit == 0:
                        groups[at + one] = bits | bit
                        fresh[new] = start + j
                        new += 1
                    break
                if there == VACANT:
                    groups[at] = key
                    groups[at + one] = bit
                    made += 1
                    fresh[new] = start + j
                    new += 1
                    break
                h = (h + one) & limit
        start += size
    return start, new, made, touched


@kernel
def enter_few(tuples, counts, groups, used, room, cols, rows):
    """Enters tuples, by shard, into the groups, and those that are new into the rows behind `rows`.

    Returns how many rows there are then, or -1, and nothing is entered, if there may be too little room for the groups.
    """
    shards, arity = tuples.shape[0], tuples.shape[1]
    for shard in range(shards):
        if used[shard] + counts[shard] > room:
            return -1
    part = groups.shape[0] // (2 * shards)
    limit = np.uint64(part - 1)
    one, two = np.uint64(1), np.uint64(2)
    for shard in range(shards):
        base = np.uint64(shard * part)
        for i in range(counts[shard]):
            a = tuples[shard, 0, i] if arity > 0 else np.int32(0)
            b = tuples[shard, 1, i] if arity > 1 else np.int32(0)
            key, bit = _cell(arity, a, b)
            h = _spot(key) & limit
            is_new = False
            while True:
                at = two * (base + h)
                there = groups[at]
                if there == key:
                    bits = groups[at + one]
                    is_new = bits & bit == 0
                    groups[at + one] = bits | bit
                    break
                if there == VACANT:
                    groups[at] = key
                    groups[at + one] = bit
                    used[shard] += 1
                    is_new = True
                    break
                h = (h + one) & limit
            if is_new:
                for c in range(arity):
                    cols[c, rows] = tuples[shard, c, i]
                rows += 1
    return rows


@kernel
def route(block, n, sources, consts, shards, out, counts):
    """Writes the tuples that the sources give for the bindings `0..n` into `out`, each behind those of its shard."""
    arity = sources.shape[0]
    for i in range(n):
        a, b = np.int32(0), np.int32(0)
        if arity > 0:
            a = block[sources[0], i] if sources[0] >= 0 else consts[~sources[0]]
        if arity > 1:
            b = block[sources[1], i] if sources[1] >= 0 else consts[~sources[1]]
        key, _ = _cell(arity, a, b)
        shard = _shard_base(_spot(key), shards, 1)
        at = counts[shard]
        if arity > 0:
            out[shard, 0, at] = a
        if arity > 1:
            out[shard, 1, at] = b
        counts[shard] = at + 1


@inlined
def _is_present(key, bit, h, base, groups, limit):
    """Whether a tuple is there, by its group, its bit, and the place of its group in a shard that begins at `base`."""
    one, two = np.uint64(1), np.uint64(2)
    while True:
        at = two * (base + h)
        there = groups[at]
        if there == key:
            return groups[at + one] & bit != 0
        if there == VACANT:
            return False
        h = (h + one) & limit


@kernel
def probe_presence(block, n, sources, consts, groups, shards, negative):
    """Keeps, in place, the bindings whose fact is there (or, `negative`, is not). Returns how many stay."""
    arity = sources.shape[0]
    part = groups.shape[0] // (2 * shards)
    limit = np.uint64(part - 1)
    keys, bits = np.empty(_AHEAD, np.int64), np.empty(_AHEAD, np.int64)
    places, bases = np.empty(_AHEAD, np.uint64), np.empty(_AHEAD, np.uint64)
    k = 0
    for start in range(0, n, _AHEAD):
        size = min(_AHEAD, n - start)
        for j in range(size):
            i = start + j
            a, b = np.int32(0), np.int32(0)
            if arity > 0:
                a = block[sources[0], i] if sources[0] >= 0 else consts[~sources[0]]
            if arity > 1:
                b = block[sources[1], i] if sources[1] >= 0 else consts[~sources[1]]
            keys[j], bits[j] = _cell(arity, a, b)
            hashed = _spot(keys[j])
            places[j], bases[j] = hashed & limit, _shard_base(hashed, shards, part)
            prefetch(groups, np.uint64(2) * (bases[j] + places[j]))
        for j in range(size):
            if _is_present(keys[j], bits[j], places[j], bases[j], groups, limit) != negative:
                _keep(block, start + j, k)
                k += 1
    return k


@kernel
def rehash(shard, shards, old, slots):
    """Moves one shard of an open-addressing table (of groups, or of rows) into a larger array."""
    part, bigger = old.shape[0] // (2 * shards), slots.shape[0] // (2 * shards)
    base, limit = np.uint64(shard * bigger), np.uint64(bigger - 1)
    one, two = np.uint64(1), np.uint64(2)
    for i in range(shard * part, (shard + 1) * part):
        key = old[2 * i]
        if key != VACANT:
            h = _spot(key) & limit
            while slots[two * (base + h)] != VACANT:
                h = (h + one) & limit
            slots[two * (base + h)] = key
            slots[two * (base + h) + one] = old[2 * i + 1]


@kernel
def place(tuples, fresh, n, base, cols):
    """Writes the tuples at some positions into the rows `base..base+n`."""
    for c in range(cols.shape[0]):
        for j in range(n):
            cols[c, base + j] = tuples[c, fresh[j]]


# ---------------------------------------------------------------------------------------- the row of a tuple
#
# An open-addressing table like the one above, in one part: slot `h` has a tuple's key at `2 h` and its row at `2 h + 1`.


@inlined
def _find(key, h, tuples, i, sources, consts, direct, slots, cols):
    """The row of a tuple or -1. The tuple is column `i` of `tuples` (`direct`) or what the sources take from it.

    `h` is the place where its key would be.
    """
    limit = np.uint64(slots.shape[0] // 2 - 1)
    one, two = np.uint64(1), np.uint64(2)
    while True:
        there = slots[two * h]
        if there == VACANT:
            return np.int64(-1)
        if there == key:
            row = slots[two * h + one]
            arity = cols.shape[0]
            if arity <= 2:
                return row
            same = True
            for c in range(arity):
                s = np.int64(c) if direct else sources[c]
                if cols[c, row] != (tuples[s, i] if s >= 0 else consts[~s]):
                    same = False
                    break
            if same:
                return row
        h = (h + one) & limit


@kernel
def enter_rows(cols, lo, hi, slots):
    """Enters the rows `lo..hi`, whose tuples are not there yet."""
    limit = np.uint64(slots.shape[0] // 2 - 1)
    one, two = np.uint64(1), np.uint64(2)
    for row in range(lo, hi):
        key = _tuple_key(cols, row) + 1
        h = _spot(key) & limit
        while slots[two * h] != VACANT:
            h = (h + one) & limit
        slots[two * h] = key
        slots[two * h + one] = row


@kernel
def enter_sought(cols, lo, hi, tuples, n, slots):
    """Enters those of the rows `lo..hi` whose tuples are among the tuples `0..n`, of one or two columns."""
    one, two = np.uint64(1), np.uint64(2)
    bits = 1024
    while bits < 32 * n:
        bits *= 2
    # Most rows are turned away by their first column, or by a few bits of their key.
    first = np.zeros(1 << 16, np.bool_)
    sieve = np.zeros(bits // 64, np.uint64)
    last = np.uint64(bits - 1)
    for i in range(n):
        first[tuples[0, i] & 0xFFFF] = True
        h = _mix(_tuple_key(tuples, i)) & last
        sieve[h >> np.uint64(6)] |= one << (h & np.uint64(63))
    sought = np.zeros(slots.shape[0] // 2, np.int64)
    limit = np.uint64(slots.shape[0] // 2 - 1)
    for i in range(n):
        key = _tuple_key(tuples, i) + 1
        h = _spot(key) & limit
        while sought[h] != VACANT and sought[h] != key:
            h = (h + one) & limit
        sought[h] = key
    for row in range(lo, hi):
        if not first[cols[0, row] & 0xFFFF]:
            continue
        key = _tuple_key(cols, row)
        h = _mix(key) & last
        if sieve[h >> np.uint64(6)] >> (h & np.uint64(63)) & one == 0:
            continue
        key += 1
        h = _spot(key) & limit
        while sought[h] != VACANT and sought[h] != key:
            h = (h + one) & limit
        if sought[h] == key:
            h = _spot(key) & limit
            while slots[two * h] != VACANT:
                h = (h + one) & limit
            slots[two * h] = key
            slots[two * h + one] = row


@kernel
def enter_sorted(cols, lo, leading, starts, tuples, n, slots):
    """Enters those of the rows from `lo` on, sorted by one column and then the other (`table.Sorted`), that are sought."""
    limit = np.uint64(slots.shape[0] // 2 - 1)
    one, two = np.uint64(1), np.uint64(2)
    values = cols[1 - leading]
    for i in range(n):
        first, value = tuples[leading, i], tuples[1 - leading, i]
        if first + 1 >= len(starts):
            continue
        left, right = lo + starts[first], lo + starts[first + 1]
        end = right
        while left < right:
            middle = (left + right) // 2
            if values[middle] < value:
                left = middle + 1
            else:
                right = middle
        if left == end or values[left] != value:
            continue
        key = _tuple_key(tuples, i) + 1
        h = _spot(key) & limit
        while slots[two * h] != VACANT and slots[two * h] != key:
            h = (h + one) & limit
        slots[two * h] = key
        slots[two * h + one] = left


@inlined
def _seek_rows(tuples, start, size, slots, cols, n_rows, keys, places):
    """Has what tells the rows of some tuples brought near; `keys` and `places` say where a tuple is looked for.

    Who looks at a slot or a row waits for memory, and for a few at once no longer. Rows from `n_rows` on are not in `cols`.
    """
    limit = np.uint64(slots.shape[0] // 2 - 1)
    two = np.uint64(2)
    for j in range(size):
        keys[j] = _tuple_key(tuples, start + j) + 1
        places[j] = _spot(keys[j]) & limit
        prefetch(slots, two * places[j])
    if cols.shape[0] > 2:
        for j in range(size):
            row = slots[two * places[j] + np.uint64(1)]
            if row < n_rows:
                for c in range(cols.shape[0]):
                    prefetch(cols, c * cols.shape[1] + row)


@inlined
def _find_or_enter(key, h, tuples, i, slots, cols, n_rows, new, fresh):
    """The row of a tuple; the next one, `n_rows + new`, if it was not there and is now. `fresh` has the new ones so far.

    `key` is the tuple's, and `h` the place where it would be.
    """
    limit = np.uint64(slots.shape[0] // 2 - 1)
    one, two = np.uint64(1), np.uint64(2)
    while True:
        at = two * h
        there = slots[at]
        if there == VACANT:
            slots[at] = key
            slots[at + one] = n_rows + new
            fresh[new] = i
            return n_rows + new
        if there == key:
            row = slots[at + one]
            same = True
            if cols.shape[0] > 2:
                for c in range(cols.shape[0]):
                    value = cols[c, row] if row < n_rows else tuples[c, fresh[row - n_rows]]
                    if value != tuples[c, i]:
                        same = False
                        break
            if same:
                return row
        h = (h + one) & limit


@kernel
def absorb(tuples, n, slots, cols, n_rows, known, bounds, care, want, mask, ann, seen, fresh, hits):
    """Finds or enters tuples `0..n`; the new ones get the rows from `n_rows` on, and their positions go to `fresh`.

    A tuple that is there, in a row below `known`, and not in the view, goes to `hits` once; its bit `seen` is set.
    Returns how many went to each.
    """
    keys, places = np.empty(_AHEAD, np.int64), np.empty(_AHEAD, np.uint64)
    new = 0
    old = 0
    for start in range(0, n, _AHEAD):
        size = min(_AHEAD, n - start)
        _seek_rows(tuples, start, size, slots, cols, n_rows, keys, places)
        for j in range(size):
            row = _find_or_enter(keys[j], places[j], tuples, start + j, slots, cols, n_rows, new, fresh)
            if row == n_rows + new:
                new += 1
            elif row < known and not _passes(row, bounds, care, want, mask, ann) and (mask[row] & seen) == 0:
                mask[row] |= seen
                hits[old] = row
                old += 1
    return new, old


@kernel
def tally(tuples, n, slots, cols, n_rows, counts, fresh, touched):
    """Finds or enters tuples `0..n`, as `absorb` does, and counts them by row; rows counted first go to `touched`.

    Returns how many tuples are new and how many rows were touched.
    """
    keys, places = np.empty(_AHEAD, np.int64), np.empty(_AHEAD, np.uint64)
    new = 0
    first = 0
    for start in range(0, n, _AHEAD):
        size = min(_AHEAD, n - start)
        _seek_rows(tuples, start, size, slots, cols, n_rows, keys, places)
        for j in range(size):
            row = _find_or_enter(keys[j], places[j], tuples, start + j, slots, cols, n_rows, new, fresh)
            if row == n_rows + new:
                new += 1
            if counts[row] == 0:
                touched[first] = row
                first += 1
            counts[row] += 1
    return new, first


@kernel
def find_rows(tuples, n, slots, cols, out):
    """The row of every tuple, -1 where there is none."""
    nothing = np.zeros(0, np.int64)
    no_consts = np.zeros(0, np.int32)
    keys, places = np.empty(_AHEAD, np.int64), np.empty(_AHEAD, np.uint64)
    for start in range(0, n, _AHEAD):
        size = min(_AHEAD, n - start)
        _seek_rows(tuples, start, size, slots, cols, cols.shape[1], keys, places)
        for j in range(size):
            i = start + j
            out[i] = _find(keys[j], places[j], tuples, i, nothing, no_consts, True, slots, cols)


# ---------------------------------------------------------------------------------------- secondary indexes


@inlined
def _row_key(cols, key_cols, row):
    """The key that a row has in some columns; the same as `_source_key` of its values there."""
    width = key_cols.shape[0]
    if width == 2:
        return (np.int64(cols[key_cols[0], row]) << 32) | np.int64(cols[key_cols[1], row])
    if width == 1:
        return np.int64(cols[key_cols[0], row])
    hashed = np.uint64(width)
    for c in range(width):
        hashed = _fold(hashed, cols[key_cols[c], row])
    return np.int64(hashed >> np.uint64(2))


@inlined
def _number_rows(cols, key_cols, lo, row, hi, keys, groups, leaders, counts, used, ids, ahead, places):
    """Gives each of the rows `row..hi` the number of its group, and counts them; `used` groups have a number so far.

    Stops where more than half of the places are taken; returns the row, and how many groups have numbers then. There is
    room for those of a few rows beyond.
    """
    width = key_cols.shape[0]
    limit = np.uint64(keys.shape[0] - 1)
    while row < hi:
        if 2 * used > keys.shape[0]:
            break
        size = min(_AHEAD, hi - row)
        for j in range(size):
            ahead[j] = _row_key(cols, key_cols, row + j)
            places[j] = _mix(ahead[j]) & limit
            prefetch(keys, places[j])
            prefetch(groups, places[j])
        for j in range(size):
            key, h = ahead[j], places[j]
            g = np.int64(-1)
            while g < 0:
                there = keys[h]
                if there == _NO_KEY:
                    g = used
                    keys[h] = key
                    groups[h] = used
                    leaders[used] = row + j
                    counts[used] = 0
                    used += 1
                elif there == key:
                    g = np.int64(groups[h])
                    for c in range(width if width > 2 else 0):
                        if cols[key_cols[c], leaders[g]] != cols[key_cols[c], row + j]:
                            g = np.int64(-1)
                            break
                h = (h + np.uint64(1)) & limit
            ids[row + j - lo] = g
            counts[g] += 1
        row += size
    return row, used


@inlined
def _move_groups(cols, key_cols, leaders, used, keys, groups):
    """Enters groups, by the rows that they began with, into a larger table."""
    limit = np.uint64(keys.shape[0] - 1)
    for g in range(used):
        key = _row_key(cols, key_cols, leaders[g])
        h = _mix(key) & limit
        while keys[h] != _NO_KEY:
            h = (h + np.uint64(1)) & limit
        keys[h] = key
        groups[h] = g


@inlined
def _number_near(values, base, lo, hi, groups, counts, ids):
    """Numbers groups as `_number_rows` does, where a group stands at its value; how many there are."""
    used = 0
    for row in range(lo, hi):
        at = np.int64(values[row]) - base
        g = groups[at]
        if g < 0:
            g = used
            groups[at] = g
            counts[g] = 0
            used += 1
        ids[row - lo] = g
        counts[g] += 1
    return used


@inlined
def _list_groups(cols, covered, lo, ids, cursor, rows, payload):
    """Writes the rows from `lo` on into the places of their groups, and what they have in column `covered`, if any."""
    for at in range(len(ids)):
        g = ids[at]
        place_ = cursor[g]
        cursor[g] = place_ + 1
        rows[place_] = lo + at
        if covered >= 0:
            payload[place_] = cols[covered, lo + at]


@kernel
def build_run(cols, key_cols, lo, hi, covered, expected):
    """Groups the rows `lo..hi` by some columns; the rows of a group stand in order.

    Returns (base, keys, groups, starts, rows, payload). Without `keys`, group numbers stand at `key - base` in `groups`;
    otherwise at the key's slot of an open-addressing table, which has room for the groups that are `expected` (0: nobody
    knows) and grows for more. `payload` repeats column `covered` in the order of `rows`.
    """
    n = hi - lo
    width = key_cols.shape[0]
    ids = np.empty(n, np.int32)
    base = np.int64(0)
    dense = False
    if width == 1 and n > 0:
        values = cols[key_cols[0]]
        least = most = np.int64(values[lo])
        for row in range(lo + 1, hi):
            least = min(least, np.int64(values[row]))
            most = max(most, np.int64(values[row]))
        if most - least < 4 * n + 64:
            dense = True
            base = least
    keys = np.empty(0, np.int64)
    if dense:
        groups = np.full(most - base + 1, -1, np.int32)
        counts = np.empty(min(len(groups), n), np.int32)
        used = _number_near(values, base, lo, hi, groups, counts, ids)
    elif width == 0:
        groups = np.zeros(1, np.int32)
        counts = np.full(1, n, np.int32)
        used = 1
        ids[:] = 0
    else:
        capacity = 16
        while capacity < 2 * min(n, max(expected, 2 * _AHEAD)):
            capacity *= 2
        keys = np.full(capacity, _NO_KEY, np.int64)
        groups = np.empty(capacity, np.int32)
        leaders = np.empty(capacity // 2 + _AHEAD, np.int32)
        counts = np.empty(capacity // 2 + _AHEAD, np.int32)
        ahead = np.empty(_AHEAD, np.int64)
        places = np.empty(_AHEAD, np.uint64)
        row, used = lo, 0
        while True:
            row, used = _number_rows(
                cols, key_cols, lo, row, hi, keys, groups, leaders, counts, used, ids, ahead, places
            )
            if row == hi:
                break
            capacity *= 4
            keys = np.full(capacity, _NO_KEY, np.int64)
            groups = np.empty(capacity, np.int32)
            more = np.empty(capacity // 2 + _AHEAD, np.int32)
            more[:used] = leaders[:used]
            leaders = more
            more = np.empty(capacity // 2 + _AHEAD, np.int32)
            more[:used] = counts[:used]
            counts = more
            _move_groups(cols, key_cols, leaders, used, keys, groups)
    starts = np.empty(used + 1, np.int64)
    starts[0] = 0
    for g in range(used):
        starts[g + 1] = starts[g] + counts[g]
    rows = np.empty(n, np.int32)
    payload = np.empty(n if covered >= 0 else 0, np.int32)
    _list_groups(cols, covered, lo, ids, starts[:used].copy(), rows, payload)
    return base, keys, groups, starts, rows, payload


@inlined
def _home(key, base, keys):
    """The place of a key in a run, where `_group` begins to look."""
    if keys.shape[0] == 0:
        return np.uint64(key - base)
    return _mix(key) & np.uint64(keys.shape[0] - 1)


@inlined
def _seek(key, base, keys, groups):
    """The place of a key in a run, brought near for `_group`."""
    h = _home(key, base, keys)
    if keys.shape[0] == 0:
        prefetch(groups, min(h, np.uint64(groups.shape[0])))
    else:
        prefetch(keys, h)
        prefetch(groups, h)
    return h


@inlined
def _group(key, h, block, i, sources, consts, keys, groups, starts, rows, cols, key_cols):
    """The group of a key in a run, or -1; `h` is its place (`_home`)."""
    if keys.shape[0] == 0:
        if h >= np.uint64(groups.shape[0]):
            return np.int64(-1)
        return np.int64(groups[h])
    limit = np.uint64(keys.shape[0] - 1)
    while True:
        there = keys[h]
        if there == _NO_KEY:
            return np.int64(-1)
        if there == key:
            g = np.int64(groups[h])
            if sources.shape[0] <= 2:
                return g
            row = rows[starts[g]]
            same = True
            for c in range(sources.shape[0]):
                value = block[sources[c], i] if sources[c] >= 0 else consts[~sources[c]]
                if cols[key_cols[c], row] != value:
                    same = False
                    break
            if same:
                return g
        h = (h + np.uint64(1)) & limit


@kernel
def rows_with(values, base, keys, groups, starts, rows, cols, key_cols, out):
    """The rows of a run, on one column, that have one of some values. Returns how many; `out` has what it has room for."""
    sources = np.empty(1, np.int64)
    n = 0
    for i in range(values.shape[0]):
        key = np.int64(values[i])
        h = _home(key, base, keys)
        g = _group(key, h, cols, 0, sources, values, keys, groups, starts, rows, cols, key_cols)
        if g >= 0:
            for at in range(starts[g], starts[g + 1]):
                if n < out.shape[0]:
                    out[n] = rows[at]
                n += 1
    return n


# ---------------------------------------------------------------------------------------- joins


@kernel
def add_sizes(block, n, sources, consts, base, keys, groups, starts, rows, cols, key_cols, sizes):
    """Adds to `sizes` how many rows of a run have the key of each binding."""
    for i in range(n):
        key = _source_key(block, i, sources, consts)
        h = _home(key, base, keys)
        g = _group(key, h, block, i, sources, consts, keys, groups, starts, rows, cols, key_cols)
        if g >= 0:
            sizes[i] += starts[g + 1] - starts[g]


@kernel
def scan(listed, use_list, lo, hi, cols, fixed, consts, twins, bounds, care, want, mask, ann, fresh, out):
    """Matches an atom against the rows `lo..hi`, or against those places of `listed`, and puts the bindings into `out`.

    Column `fixed[j]` must hold `consts[j]`, and the columns of each pair in `twins` the same value. `out` gets the
    columns `fresh` (or the row's number). Returns how many rows matched.
    """
    k = 0
    for place_ in range(lo, hi):
        row = np.int64(listed[place_]) if use_list else np.int64(place_)
        if not _passes(row, bounds, care, want, mask, ann):
            continue
        good = True
        for j in range(fixed.shape[0]):
            if cols[fixed[j], row] != consts[j]:
                good = False
                break
        if good:
            for j in range(twins.shape[0]):
                if cols[twins[j, 0], row] != cols[twins[j, 1], row]:
                    good = False
                    break
        if good:
            for s in range(fresh.shape[0]):
                if fresh[s] >= 0:
                    out[s, k] = cols[fresh[s], row]
                elif fresh[s] == ROW_ID:
                    out[s, k] = np.int32(row)
            k += 1
    return k


@kernel
def _expand_plainly(block, i, at, n, source, base, groups, starts, payload, carry, fresh, out):
    """What `expand` does, for one key column whose groups stand at its values, when every row passes: most joins.

    Groups of one row are the most frequent; a loop over them would take longer to begin than to end.
    """
    k = 0
    room = out.shape[1]
    kept = carry.shape[0]
    keys = block[source]
    while i < n:
        place_ = np.int64(keys[i]) - base
        if 0 <= place_ < groups.shape[0]:
            g = groups[place_]
            if g >= 0:
                p = starts[g] if at < 0 else at
                end = starts[g + 1]
                if end - p == 1 and k < room:
                    for s in range(kept):
                        out[s, k] = block[carry[s], i]
                    if fresh == 1:
                        out[kept, k] = payload[p]
                    k += 1
                else:
                    stop = end if end - p <= room - k else p + room - k
                    if kept == 1 and fresh == 1:
                        value = block[carry[0], i]
                        for t in range(stop - p):
                            out[0, k + t] = value
                            out[1, k + t] = payload[p + t]
                    else:
                        for s in range(kept):
                            value = block[carry[s], i]
                            for t in range(stop - p):
                                out[s, k + t] = value
                        if fresh == 1:
                            for t in range(stop - p):
                                out[kept, k + t] = payload[p + t]
                    k += stop - p
                    if stop < end:
                        return i, stop, k
        at = np.int64(-1)
        i += 1
        if k == room:
            break
    return i, np.int64(-1), k


@kernel
def expand(
    block,
    i,
    at,
    n,
    sources,
    consts,
    base,
    keys,
    groups,
    starts,
    rows,
    payload,
    cols,
    key_cols,
    twins,
    covered,
    plain,
    bounds,
    care,
    want,
    mask,
    ann,
    carry,
    fresh,
    out,
):
    """Joins a block with one run of an index, from binding `i` and place `at` (-1: the first) of its group on.

    `out` gets the slots `carry` and the columns `fresh`. When `covered`, the only fresh column is the payload; when
    `plain`, every row of the run passes and at most the payload is fresh. Stops when `out` is full, or when many rows
    were looked at; returns (binding, place, rows in `out`), with binding `n` at the end.
    """
    if plain and keys.shape[0] == 0 and sources.shape[0] == 1 and sources[0] >= 0:
        return _expand_plainly(block, i, at, n, sources[0], base, groups, starts, payload, carry, fresh.shape[0], out)
    k = 0
    room = out.shape[1]
    kept = carry.shape[0]
    left = np.int64(_AT_A_TIME)
    ahead, found = np.empty(_AHEAD, np.int64), np.empty(_AHEAD, np.int64)
    places = np.empty(_AHEAD, np.uint64)
    while i < n:
        # A look into the run waits for memory: a few at a time, they wait together.
        size = min(_AHEAD, n - i)
        for j in range(size):
            ahead[j] = _source_key(block, i + j, sources, consts)
            places[j] = _seek(ahead[j], base, keys, groups)
        for j in range(size):
            g = _group(ahead[j], places[j], block, i + j, sources, consts, keys, groups, starts, rows, cols, key_cols)
            found[j] = g
            if g >= 0:
                prefetch(starts, g)
        for j in range(size):
            g = found[j]
            if g >= 0:
                p = starts[g] if at < 0 else at
                end = starts[g + 1]
                if plain:
                    stop = end if end - p <= room - k else p + room - k
                    if kept == 1 and fresh.shape[0] == 1:
                        value = block[carry[0], i]
                        for t in range(stop - p):
                            out[0, k + t] = value
                            out[1, k + t] = payload[p + t]
                    else:
                        for s in range(kept):
                            value = block[carry[s], i]
                            for t in range(stop - p):
                                out[s, k + t] = value
                        for s in range(kept, kept + fresh.shape[0]):
                            for t in range(stop - p):
                                out[s, k + t] = payload[p + t]
                    k += stop - p
                    p = stop
                else:
                    first = p
                    last = end if end - p <= left else p + left
                    while p < last and k < room:
                        row = np.int64(rows[p])
                        p += 1
                        if not _passes(row, bounds, care, want, mask, ann):
                            continue
                        good = True
                        for c in range(twins.shape[0]):
                            if cols[twins[c, 0], row] != cols[twins[c, 1], row]:
                                good = False
                                break
                        if good:
                            for s in range(kept):
                                out[s, k] = block[carry[s], i]
                            if covered:
                                out[kept, k] = payload[p - 1]
                            else:
                                for s in range(fresh.shape[0]):
                                    if fresh[s] >= 0:
                                        out[kept + s, k] = cols[fresh[s], row]
                            k += 1
                    left -= p - first
                if p < end:
                    return i, p, k
            at = np.int64(-1)
            i += 1
            if k == room or left <= 0:
                return i, np.int64(-1), k
    return i, np.int64(-1), k


@kernel
def probe(block, n, sources, consts, slots, cols, bounds, care, want, mask, ann, negative):
    """Keeps, in place, the bindings whose fact is in the view (or, `negative`, is not). Returns how many stay."""
    limit = np.uint64(slots.shape[0] // 2 - 1)
    keys, places = np.empty(_AHEAD, np.int64), np.empty(_AHEAD, np.uint64)
    k = 0
    for start in range(0, n, _AHEAD):
        size = min(_AHEAD, n - start)
        for j in range(size):
            keys[j] = _source_key(block, start + j, sources, consts) + 1
            places[j] = _spot(keys[j]) & limit
            prefetch(slots, np.uint64(2) * places[j])
        for j in range(size):
            row = _find(keys[j], places[j], block, start + j, sources, consts, False, slots, cols)
            there = row >= 0 and _passes(row, bounds, care, want, mask, ann)
            if there != negative:
                _keep(block, start + j, k)
                k += 1
    return k


@kernel
def keep_equal(block, n, slot, value):
    """Keeps, in place, the bindings with a given value in a slot."""
    k = 0
    for i in range(n):
        if block[slot, i] == value:
            _keep(block, i, k)
            k += 1
    return k


@kernel
def keep_compared(block, n, operator, left, right, consts, order):
    """Keeps, in place, the bindings for which a comparison holds.

    0 `=`, 1 `!=`, 2 `<`, 3 `<=`, 4 `>`, 5 `>=`, 6 `~`, 7 `is not`.
    """
    k = 0
    less = 1 <= operator <= 3
    same = operator == 0 or operator == 3 or operator == 5
    more = operator == 1 or operator == 4 or operator == 5
    for i in range(n):
        a = block[left, i] if left >= 0 else consts[~left]
        b = block[right, i] if right >= 0 else consts[~right]
        if operator < 6 and order.kinds[a] == INT and order.kinds[b] == INT:
            # Nothing branches here, since nobody could guess which of two numbers is less.
            x, y = order.payload[a], order.payload[b]
            for s in range(block.shape[0]):
                block[s, k] = block[s, i]
            k += (less & (x < y)) | (same & (x == y)) | (more & (x > y))
            continue
        if operator < 2:
            good = (a == b or compare(order, a, b) == 0) == (operator == 0)
        elif operator == 6:
            good = STRING <= order.kinds[a] <= BLANK and STRING <= order.kinds[b] <= BLANK
        elif operator == 7:
            good = a != b
        else:
            c = compare(order, a, b)
            good = c == (-1 if operator < 4 else 1) or (c == 0 and operator % 2 == 1)
        if good:
            _keep(block, i, k)
            k += 1
    return k


@kernel
def drop_marked(block, n, slot, mask, bit):
    """Keeps, in place, the bindings whose row in a slot does not carry a bit."""
    k = 0
    for i in range(n):
        if (mask[block[slot, i]] & bit) == 0:
            _keep(block, i, k)
            k += 1
    return k


@kernel
def collect(block, n, slot, mask, bit, out):
    """The rows in a slot that do not carry a bit yet, each once; they carry it afterwards."""
    k = 0
    for i in range(n):
        row = block[slot, i]
        if (mask[row] & bit) == 0:
            mask[row] |= bit
            out[k] = row
            k += 1
    return k


@kernel
def project(block, lo, n, sources, consts, out, at):
    """Writes the tuples that the sources give for the bindings `lo..lo+n` behind `at` in `out`."""
    for c in range(sources.shape[0]):
        s = sources[c]
        if s >= 0:
            for i in range(n):
                out[c, at + i] = block[s, lo + i]
        else:
            for i in range(n):
                out[c, at + i] = consts[~s]


@kernel
def rows_sought(cols, column, hi, bits, out):
    """The rows below `hi` whose value in a column has its bit, in words of which the last, without any, is for all others.

    Returns how many; `out` has what it has room for. (That it never grows makes the loop five times as fast.)
    """
    values, last, size = cols[column], np.uint64(len(bits) - 1), 0
    for row in range(hi):
        value = np.uint64(values[row])
        if (bits[min(value >> np.uint64(6), last)] >> (value & np.uint64(63))) & np.uint64(1):
            if size < len(out):
                out[size] = row
            size += 1
    return size


@kernel
def bits_of(values):
    """A bit for each value, in words of which the last has none."""
    most = np.int64(0)
    for value in values:
        most = max(most, np.int64(value))
    bits = np.zeros((most >> 6) + 2, np.uint64)
    for value in values:
        bits[value >> 6] |= np.uint64(1) << np.uint64(value & 63)
    return bits


@kernel
def rises(cols, column, lo, hi):
    """Whether each of some rows has more in a column than the one before it."""
    row = lo + 1
    while row < hi and cols[column, row] > cols[column, row - 1]:
        row += 1
    return row >= hi


@kernel
def mark(rows, bit, mask):
    """Gives rows a bit."""
    for row in rows:
        mask[row] |= bit


@kernel
def unmark(rows, bit, mask):
    """Takes a bit from rows."""
    for row in rows:
        mask[row] &= ~bit


@kernel
def take_marked(lo, hi, bit, other, mask):
    """Takes a bit from those of the rows `lo..hi`, which have it, that have another one; how many."""
    found = 0
    for row in range(lo, hi):
        seen = mask[row]
        hit = seen & other != 0
        mask[row] = seen & ~bit if hit else seen
        found += hit
    return found


@kernel
def marked(rows, bit, mask, out):
    """Whether each of some rows has a bit."""
    for i in range(len(rows)):
        out[i] = mask[rows[i]] & bit != 0


@kernel
def marked_tuples(lo, hi, bit, mask, cols, out):
    """Copies the tuples of those of the rows `lo..hi` that have a bit; there is room for just these."""
    k = 0
    for row in range(lo, hi):
        if mask[row] & bit != 0:
            for c in range(cols.shape[0]):
                out[c, k] = cols[c, row]
            k += 1


@kernel
def unselected(lo, hi, bounds, care, want, mask, ann, out):
    """The rows among `lo..hi` that are not in a view, as far as there is room; how many there are."""
    # A view may have many terms, and there are fewer masks than rows.
    holds = np.zeros(1 << 16, np.bool_)
    for seen in range(1 << 16):
        for t in range(care.shape[0]):
            if (seen & care[t]) == want[t]:
                holds[seen] = True
                break
    masked, valued = bounds[2] != 0, bounds[3] != 0
    first, last, least, greatest = bounds[0], bounds[1], bounds[4], bounds[5]
    k = 0
    for row in range(lo, hi):
        inside = first <= row < last and (not masked or holds[mask[row]])
        if not inside or (valued and not least <= ann[row] <= greatest):
            if k < len(out):
                out[k] = row
            k += 1
    return k


@kernel
def select(listed, use_list, lo, hi, bounds, care, want, mask, ann, out):
    """The rows among `lo..hi` (or those places of `listed`) that are in a view."""
    k = 0
    for place_ in range(lo, hi):
        row = np.int64(listed[place_]) if use_list else np.int64(place_)
        if _passes(row, bounds, care, want, mask, ann):
            out[k] = row
            k += 1
    return k

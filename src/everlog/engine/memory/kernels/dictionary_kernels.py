"""The dictionary's kernels: encode probes, rebuild the index, read N-Triples, copy text out, compare two values.

The state (see `dictionary.py`) is `kinds` uint8, `payload` int64, `lengths` int32, one cell per id; `text` uint8;
`slots` uint64, a power of two of them, linear probing; `used` int64, the number of ids and of bytes of text. A slot is
0 when it is free, else `hash << 32 | id + 1`. The low bits of the same 32 bits of hash choose the slot, so that the
index is rebuilt without looking at a value, and a probe reads a value only when all 32 bits agree.

Several threads may look numbers up while one adds: a value is there before its slot is, which is written last, and who sees
the slot reads the rest by way of it.

Danger: state arrays are writable, inputs read-only, all contiguous; anything else compiles another specialisation.
Danger: in Numba `uint64 + int64` is a float, hence the many explicit `np.uint64`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.values import XSD
from everlog.engine.memory.kernels.decorators import inlined, kernel
from everlog.engine.memory.kernels.prefetching import prefetch
from everlog.engine.memory.kernels.publishing import publish
from everlog.engine.memory.term_kinds import (
    BLANK,
    BOOL,
    DATETIME,
    FIRST_TEXT,
    FLOAT,
    INT,
    IRI,
    LITERAL,
    STRING,
    UNREAD,
)

if TYPE_CHECKING:
    from everlog.engine.memory.dictionary import Order

Bytes: TypeAlias = NDArray[np.uint8]
Ints: TypeAlias = NDArray[np.int32]
Longs: TypeAlias = NDArray[np.int64]
Slots: TypeAlias = NDArray[np.uint64]

NOT_COMPARABLE: Final = 2

_BLOCK = 128
_FREE = np.uint64(0)
_LOW = np.uint64(0xFFFFFFFF)
_ID_BITS = np.uint64(32)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FINAL_1 = np.uint64(0xBF58476D1CE4E5B9)
_FINAL_2 = np.uint64(0x94D049BB133111EB)

_QUOTE, _LESS, _GREATER, _COLON, _SLASH, _HASH, _QUESTION, _UNDERSCORE, _HYPHEN, _AT, _CARET, _ZERO = map(
    ord, '"<>:/#?_-@^0'
)


def _class_table(characters: str) -> NDArray[np.bool_]:
    table = np.zeros(256, dtype=np.bool_)
    table[[ord(c) for c in characters]] = True
    return table


_LOWER = "abcdefghijklmnopqrstuvwxyz"
_ALPHA = _LOWER + _LOWER.upper()
_DIGIT = "0123456789"
_IS_LOWER = _class_table(_LOWER)
_IS_DIGIT = _class_table(_DIGIT)
_IS_ALPHA = _class_table(_ALPHA)
_IS_LABEL = _class_table(_ALPHA + _DIGIT + "_")
_IS_SCHEME = _class_table(_ALPHA + _DIGIT + "+-.")
# Valid anywhere after an IRI's scheme; for `:`, `@` and `#` it matters where they stand; the rest is left to Python.
_IS_PLAIN_IRI = _class_table(_ALPHA + _DIGIT + "-._~/?!$&'()*+,;=")
# Bytes that a literal's normal form never escapes, but for the last two code points that start with 0xEF.
_IS_PLAIN_TEXT = _class_table("".join(map(chr, range(0x20, 0x100)))) & ~_class_table('"\\\x7f')

_INTEGER, _DOUBLE, _BOOLEAN, _STRING = (
    np.frombuffer(f"{XSD}{name}".encode(), dtype=np.uint8) for name in ("integer", "double", "boolean", "string")
)


@kernel
def _mix(h: np.uint64) -> np.uint64:
    """The finaliser of splitmix64: every bit of the result depends on every bit of `h`."""
    h = (h ^ (h >> np.uint64(30))) * _FINAL_1
    h = (h ^ (h >> np.uint64(27))) * _FINAL_2
    return h ^ (h >> np.uint64(31))


@kernel
def _hash_number(kind: int, key: int) -> np.uint64:
    return _mix(np.uint64(key) + np.uint64(kind) * _MULTIPLIER)


@kernel
def _word(data: Bytes, at: np.uint64) -> np.uint64:
    """Eight bytes as a number. Unsigned places spare the test for a negative index, and the eight loads become one."""
    word = np.uint64(0)
    for k in range(8):
        word |= np.uint64(data[at + np.uint64(k)]) << np.uint64(8 * k)
    return word


@kernel
def _hash_text(kind: int, data: Bytes, start: int, length: int) -> np.uint64:
    h = np.uint64(kind) * _MULTIPLIER + np.uint64(length)
    at = np.uint64(start)
    for _ in range(length >> 3):
        h = (h ^ _word(data, at)) * _FINAL_1
        h ^= h >> np.uint64(32)
        at += np.uint64(8)
    word = np.uint64(0)
    for _ in range(length & 7):
        word = word << np.uint64(8) | np.uint64(data[at])
        at += np.uint64(1)
    return _mix(h ^ word)


@kernel
def _same_bytes(a: Bytes, a_start: int, b: Bytes, b_start: int, length: int) -> bool:
    i, j = np.uint64(a_start), np.uint64(b_start)
    for _ in range(length >> 3):
        if _word(a, i) != _word(b, j):
            return False
        i += np.uint64(8)
        j += np.uint64(8)
    for _ in range(length & 7):
        if a[i] != b[j]:
            return False
        i += np.uint64(1)
        j += np.uint64(1)
    return True


@inlined
def _copy(source: Bytes, start: int, target: Bytes, at: int, length: int) -> None:
    # Of a sum of integers the compiler does not know that it is no place counted from the end, and copies byte by byte.
    given, taken = source[start : start + length], target[at : at + length]
    for i in range(length):
        taken[i] = given[i]


@kernel
def encode(
    probe_kinds: Bytes,
    probe_keys: Longs,
    probe_lengths: Ints,
    data: Bytes,
    start: int,
    add: bool,
    checked: bool,
    ids: Ints,
    kinds: Bytes,
    payload: Longs,
    lengths: Ints,
    text: Bytes,
    slots: Slots,
    used: Longs,
) -> int:
    """Write the ids of the probes from row `start` on into `ids`; return the row that finds no room, or their number.

    A probe's key is its payload or, for text, where it starts in `data`. With `add`, an unknown value gets the next id;
    without, -1. The state is consistent whenever the kernel returns: the caller makes room and calls again. If probes are
    not `checked`, it ends, too, at one that is taken for an IRI, is unknown, and may be none; it returns `~row` then.
    """
    mask = np.uint64(slots.size - 1)
    hashes = np.empty(_BLOCK, dtype=np.uint64)
    hints = np.empty(_BLOCK, dtype=np.int64)
    for row in range(start, probe_kinds.size):
        at = (row - start) % _BLOCK
        if at == 0:
            # A probe waits for memory, and a mispredicted branch lets all that follow wait with it. So each block first
            # reads, without a branch on what it reads, the cells that its probes will most likely need.
            block = min(_BLOCK, probe_kinds.size - row)
            for i in range(block):
                kind, key = probe_kinds[row + i], probe_keys[row + i]
                is_text = kind >= FIRST_TEXT
                h = _hash_text(kind, data, key, probe_lengths[row + i]) if is_text else _hash_number(kind, key)
                hashes[i] = h & _LOW
            for i in range(block):
                hints[i] = np.int64(slots[hashes[i] & mask] & _LOW)
            for i in range(block):
                hints[i] = payload[max(hints[i] - 1, 0)] + kinds[max(hints[i] - 1, 0)]
        kind, key, length = probe_kinds[row], probe_keys[row], probe_lengths[row]
        is_text = kind >= FIRST_TEXT
        h = hashes[at]
        slot = h & mask
        found = np.int64(-1)
        entry = slots[slot]
        while entry != _FREE:
            if entry >> _ID_BITS == h:
                candidate = np.int64(entry & _LOW) - 1
                if kinds[candidate] == kind:
                    if is_text:
                        if lengths[candidate] == length and _same_bytes(text, payload[candidate], data, key, length):
                            found = candidate
                            break
                    elif payload[candidate] == key:
                        found = candidate
                        break
            slot = (slot + np.uint64(1)) & mask
            entry = slots[slot]
        if found < 0 and not checked and kind == IRI and not _is_plain_iri(data, key, key + length):
            return ~row
        if found < 0 and add:
            found = used[0]
            if found == kinds.size:
                return row
            if is_text:
                begin = used[1]
                if begin + length > text.size:
                    return row
                _copy(data, key, text, begin, length)
                used[1] = begin + length
                payload[found] = begin
            else:
                payload[found] = key
            kinds[found] = kind
            lengths[found] = length
            publish()
            slots[slot] = h << _ID_BITS | np.uint64(found + 1)
            used[0] = found + 1
        ids[row] = found
    return probe_kinds.size


@kernel
def find_numbers(kind: int, keys: Longs, ids: Ints, kinds: Bytes, payload: Longs, slots: Slots) -> int:
    """Write the ids of values of one kind, without text, into `ids`, -1 for those that have none; tell how many."""
    mask = np.uint64(slots.size - 1)
    hashes = np.empty(_BLOCK, dtype=np.uint64)
    missing = 0
    for start in range(0, keys.size, _BLOCK):
        block = min(_BLOCK, keys.size - start)
        for i in range(block):
            hashes[i] = _hash_number(kind, keys[start + i]) & _LOW
            prefetch(slots, np.int64(hashes[i] & mask))
        for i in range(block):
            prefetch(payload, np.int64(slots[hashes[i] & mask] & _LOW))
        for i in range(block):
            h = hashes[i]
            slot = h & mask
            found = np.int64(-1)
            entry = slots[slot]
            while entry != _FREE:
                if entry >> _ID_BITS == h:
                    candidate = np.int64(entry & _LOW) - 1
                    if payload[candidate] == keys[start + i] and kinds[candidate] == kind:
                        found = candidate
                        break
                slot = (slot + np.uint64(1)) & mask
                entry = slots[slot]
            ids[start + i] = found
            if found < 0:
                missing += 1
    return missing


@kernel
def numbers_alike(ids: Ints, kinds: Bytes, payload: Longs, out: Longs) -> bool:
    """Write the payloads of some ids, one at least, into `out`, unless their kinds differ, which is what this tells."""
    kind = kinds[ids[0]]
    alike = True
    for row in range(ids.size):
        alike &= kinds[ids[row]] == kind
        out[row] = payload[ids[row]]
    return alike


@kernel
def rebuild(old: Slots, new: Slots) -> None:
    """Move every entry of the slots `old` into the free slots `new`."""
    mask = np.uint64(new.size - 1)
    for i in range(old.size):
        entry = old[i]
        if entry != _FREE:
            slot = (entry >> _ID_BITS) & mask
            while new[slot] != _FREE:
                slot = (slot + np.uint64(1)) & mask
            new[slot] = entry


@kernel
def copy_text(ids: Ints, payload: Longs, lengths: Ints, text: Bytes, out: Bytes) -> None:
    """Write the texts of `ids` one after another into `out`."""
    at = 0
    for row in range(ids.size):
        length = lengths[ids[row]]
        _copy(text, payload[ids[row]], out, at, length)
        at += length


@kernel
def _is_plain_iri(data: Bytes, start: int, stop: int) -> bool:
    """Whether these bytes are surely a valid absolute IRI; others may be too: with ports, with `%`, non-ASCII."""
    at = start
    if at == stop or not _IS_ALPHA[data[at]]:
        return False
    while at < stop and _IS_SCHEME[data[at]]:
        at += 1
    if at == stop or data[at] != _COLON:
        return False
    at += 1
    in_authority = at + 1 < stop and data[at] == _SLASH and data[at + 1] == _SLASH
    if in_authority:
        at += 2
    in_fragment = False
    while at < stop:
        c = data[at]
        if c == _HASH:
            if in_fragment:
                return False
            in_fragment = True
            in_authority = False
        elif c in (_COLON, _AT):
            if in_authority:
                return False
        elif not _IS_PLAIN_IRI[c]:
            return False
        elif c in (_SLASH, _QUESTION):
            in_authority = False
        at += 1
    return True


@kernel
def _closing_quote(data: Bytes, start: int, stop: int) -> int:
    """Where a literal that opens before `start` closes, or -1 if that comes after an escape or a byte to be escaped."""
    for at in range(start, stop):
        c = data[at]
        if not _IS_PLAIN_TEXT[c]:
            return at if c == _QUOTE else -1
        if c == 0xEF and at + 2 < stop and data[at + 1] == 0xBF and data[at + 2] >= 0xBE:  # U+FFFE, U+FFFF
            return -1
    return -1


@kernel
def _is_plain_language(data: Bytes, start: int, stop: int) -> bool:
    """Whether this is a language tag in its normal form, such as `en` or `en-gb`; rarer forms are left to Python."""
    at = start
    while at < stop and _IS_LOWER[data[at]]:
        at += 1
    region = stop - at == 3 and data[at] == _HYPHEN and _IS_LOWER[data[at + 1]] and _IS_LOWER[data[at + 2]]
    return 2 <= at - start <= 3 and (at == stop or region)


@kernel
def _is_name(data: Bytes, start: int, stop: int, name: Bytes) -> bool:
    return stop - start == name.size and _same_bytes(data, start, name, 0, name.size)


@kernel
def _typed_kind(data: Bytes, start: int, stop: int) -> int:
    """The kind of a literal whose datatype is this IRI: INT, LITERAL, or UNREAD where it depends on the text."""
    if not _is_plain_iri(data, start, stop):
        return UNREAD
    if _is_name(data, start, stop, _INTEGER):
        return INT
    if _is_name(data, start, stop, _DOUBLE) or _is_name(data, start, stop, _BOOLEAN):
        return UNREAD
    return UNREAD if _is_name(data, start, stop, _STRING) else LITERAL


@kernel
def _read_integer(data: Bytes, start: int, stop: int) -> tuple[bool, int]:
    """Whether this is an integer in its normal form that surely fits into 64 bits, and that integer."""
    negative = start < stop and data[start] == _HYPHEN
    if negative:
        start += 1
    if not 0 < stop - start <= 18 or (data[start] == _ZERO and (negative or stop - start > 1)):
        return False, 0
    number = 0
    for at in range(start, stop):
        if not _IS_DIGIT[data[at]]:
            return False, 0
        number = number * 10 + int(data[at]) - _ZERO
    return True, -number if negative else number


@kernel
def scan_ntriples(
    begins: Longs, sizes: Ints, data: Bytes, checked: bool, kinds: Bytes, keys: Longs, lengths: Ints
) -> int:
    """Turn N-Triples terms that need no decoding into probes, mark the others `UNREAD`; return how many those are.

    Unless they are to be `checked`, all in brackets are taken for IRIs: most are known, as a rule, and then they are some.
    """
    unread = 0
    for row in range(begins.size):
        start, size = int(begins[row]), int(sizes[row])
        stop = start + size
        kind, key, length = UNREAD, start, size
        first, last = (data[start], data[stop - 1]) if size >= 3 else (np.uint8(0), np.uint8(0))
        if first == _LESS and last == _GREATER:
            if not checked or _is_plain_iri(data, start + 1, stop - 1):
                kind, key, length = IRI, start + 1, size - 2
        elif first == _UNDERSCORE and data[start + 1] == _COLON:
            if _IS_LABEL[data[start + 2]]:
                kind, key, length = BLANK, start + 2, size - 2
                for at in range(start + 3, stop):
                    if not (_IS_LABEL[data[at]] or data[at] == _HYPHEN):
                        kind = UNREAD
        elif first == _QUOTE:
            close = _closing_quote(data, start + 1, stop)
            if close == stop - 1:
                kind, key, length = STRING, start + 1, size - 2
            elif close > 0 and data[close + 1] == _AT:
                if _is_plain_language(data, close + 2, stop):
                    kind = LITERAL
            elif close > 0 and stop - close > 5 and last == _GREATER:
                if data[close + 1] == _CARET and data[close + 2] == _CARET and data[close + 3] == _LESS:
                    kind = _typed_kind(data, close + 4, stop - 1)
                if kind == INT:
                    fits, number = _read_integer(data, start + 1, close)
                    if fits:
                        key, length = number, 0
                    else:
                        kind = UNREAD
        if kind == UNREAD:
            unread += 1
        kinds[row] = kind
        keys[row] = key
        lengths[row] = length
    return unread


@kernel
def _sign(left: Any, right: Any) -> int:
    """-1, 0 or 1 as the left number is less than, equal to or greater than the right one."""
    return int(left > right) - int(left < right)


@kernel
def _compare_int_float(number: int, other: float) -> int:
    """Exact where a conversion to float would round: the float is cut to an integer instead."""
    if np.isnan(other):
        return NOT_COMPARABLE
    if other >= 9223372036854775808.0:
        return -1
    if other < -9223372036854775808.0:
        return 1
    whole = np.int64(other)
    return _sign(number, whole) if number != whole else _sign(np.float64(whole), other)


@kernel
def compare(order: Order, a: int, b: int) -> np.int8:
    """-1, 0 or 1 as the value of id `a` is less than, equal to or greater than that of `b`; else `NOT_COMPARABLE`.

    Numbers compare by value, exactly; strings by code point, which is the order of their UTF-8 bytes; booleans, instants,
    dates and times by their payloads; NaN and all other kinds with nothing, themselves included. `order` is
    `Dictionary.order()`.
    """
    kinds, payload, lengths, text = order
    a_kind, b_kind = kinds[a], kinds[b]
    if a_kind == STRING and b_kind == STRING:
        i, j = payload[a], payload[b]
        a_length, b_length = lengths[a], lengths[b]
        for k in range(min(a_length, b_length)):
            if text[i + k] != text[j + k]:
                return np.int8(_sign(text[i + k], text[j + k]))
        return np.int8(_sign(a_length, b_length))
    if a_kind == INT and b_kind == INT:
        return np.int8(_sign(payload[a], payload[b]))
    if a_kind == b_kind and (a_kind == BOOL or a_kind >= DATETIME):
        return np.int8(_sign(payload[a], payload[b]))
    if a_kind > FLOAT or b_kind > FLOAT:
        return np.int8(NOT_COMPARABLE)
    if a_kind == INT:
        return np.int8(_compare_int_float(payload[a], np.int64(payload[b]).view(np.float64)))
    if b_kind == INT:
        reverse = _compare_int_float(payload[b], np.int64(payload[a]).view(np.float64))
        return np.int8(reverse if reverse == NOT_COMPARABLE else -reverse)
    left, right = np.int64(payload[a]).view(np.float64), np.int64(payload[b]).view(np.float64)
    return np.int8(NOT_COMPARABLE if np.isnan(left) or np.isnan(right) else _sign(left, right))

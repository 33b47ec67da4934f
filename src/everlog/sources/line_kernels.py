r"""Kernels that parse a block of lines and give its terms, or fields, numbers, in one pass over the bytes.

A *plain* line of N-Triples or N-Quads has its terms apart by one space, ends in ` .`, and its terms are canonical as they
stand: the grammar below accepts a part of what pyoxigraph accepts, and only terms whose canonical text is the piece itself.
Each distinct piece is looked at once. All other lines are *odd*: their places are given, and somebody else reads them. So a
kernel never decides that a line is wrong.

Lines end with LF, CR or both. Terms are numbered from 0 in the order in which they come first.

    IRI      <scheme:…>; after // a host without user, port, brackets or escapes; no percent signs, nothing outside ASCII
    label    _: and letters and digits
    word     a letter, and then letters, digits, spaces and some signs
    literal  "…" without escapes and control characters, perhaps with @ and two or three small letters, or with ^^ and an
             IRI that is neither xsd:string nor one of rdf:

Bytes are looked at eight at a time, so that `data` is longer than what it holds (`SPARE`).

Danger: `data` is a contiguous, writable array of uint8; anything else compiles another specialisation. Loops over lines
make no arrays and stop where there is too little room, so that nothing in them counts who has the arrays (`_part`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
Longs: TypeAlias = NDArray[np.int64]
Ints: TypeAlias = NDArray[np.int32]
Slots: TypeAlias = NDArray[np.uint64]

SPARE: Final = 8
"""Bytes behind the last one that may be read, whatever they are."""

ODD: Final = 0
IRI: Final = 1
LABEL: Final = 2
LITERAL: Final = 3
INTEGER: Final = 4
WORD: Final = 5
EMPTY: Final = 6
"""Kinds of pieces. In fields there are integers, canonical and of up to 18 digits, words, and empty ones, too."""

_SPACE, _QUOTE, _LESS, _GREATER, _COLON, _SLASH, _HASH, _QUESTION, _UNDERSCORE, _AT, _CARET, _BACKSLASH, _DOT = map(
    ord, ' "<>:/#?_@^\\.'
)
_LF, _CR = 10, 13

_LETTER, _SCHEME, _HOST, _SAFE, _LOWER, _ALNUM, _WORDY = 1, 2, 4, 8, 16, 32, 64
_MINUS: Final = ord("-")

_LINES, _ROWS, _PIECES, _ODD_LINES = range(4)
"""What is counted: lines, those of them that are rows, distinct pieces, and odd lines."""


def _class_table() -> NDArray[np.uint8]:
    table = np.zeros(256, dtype=np.uint8)
    lower = "abcdefghijklmnopqrstuvwxyz"
    letters, digits = lower + lower.upper(), "0123456789"
    for mark, characters in (
        (_LETTER, letters),
        (_SCHEME, letters + digits + "+.-"),
        (_HOST, letters + digits + ".-"),
        (_SAFE, letters + digits + "._~!$&'()*+,;=:@-"),
        (_LOWER, lower),
        (_ALNUM, letters + digits),
        (_WORDY, letters + digits + ":/#_.@ -"),
    ):
        table[[ord(character) for character in characters]] |= mark
    return table


_CLASSES = _class_table()
_RDF, _STRING = (
    np.frombuffer(text, dtype=np.uint8)
    for text in (b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#", b"<http://www.w3.org/2001/XMLSchema#string>")
)
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_ONES = np.uint64(0x0101010101010101)
_TOPS = np.uint64(0x8080808080808080)
_ID = np.uint64(0xFFFFFFFF)
_HIGH = np.uint64(32)


_Loop = TypeVar("_Loop", bound=Callable[..., object])


def _part(function: _Loop) -> _Loop:
    """A part of a kernel that makes no arrays, and is spared Numba's counting of who has those that it is given."""
    part: _Loop = njit(cache=True, nogil=True, _nrt=False)(function)  # type: ignore[call-overload]
    return part


def _inlined(function: _Loop) -> _Loop:
    """A short part, which becomes part of the code that calls it."""
    part: _Loop = njit(cache=True, nogil=True, forceinline=True, _nrt=False)(function)  # type: ignore[call-overload]
    return part


if TYPE_CHECKING:

    def _word(data: Bytes, at: int) -> np.uint64: ...

else:

    @intrinsic
    def _word(typing, data, at):
        """The eight bytes from a place on as a number, the first one lowest."""

        def generate(context, builder, signature, arguments):
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            place = cgutils.pointer_add(builder, array.data, arguments[1], ir.IntType(64).as_pointer())
            loaded = builder.load(place)
            loaded.align = 1
            return loaded

        return types.uint64(data, types.int64), generate


@_inlined
def _holds(word: np.uint64, byte: np.uint64) -> np.uint64:
    """Has its first bit set, counted from the lowest, in the byte of a word that is the first to equal one."""
    different = word ^ (_ONES * byte)
    return (different - _ONES) & ~different & _TOPS


@_inlined
def _find(data: Bytes, at: int, end: int, byte: int) -> int:
    """The first place of a byte, or `end`."""
    while at < end:
        if _holds(_word(data, at), np.uint64(byte)):
            while at < end and data[at] != byte:
                at += 1
            return at
        at += 8
    return end


@_inlined
def _line_end(data: Bytes, at: int, end: int) -> int:
    """The first place of a line feed or carriage return, or `end`."""
    while at < end:
        word = _word(data, at)
        if _holds(word, np.uint64(_LF)) | _holds(word, np.uint64(_CR)):
            while at < end and data[at] != _LF and data[at] != _CR:
                at += 1
            return at
        at += 8
    return end


@_part
def _begins(data: Bytes, at: int, end: int, text: Bytes) -> bool:
    if end - at < text.size:
        return False
    place = 0
    while place < text.size and data[at + place] == text[place]:
        place += 1
    return place == text.size


@_part
def _is_iri(data: Bytes, at: int, end: int) -> bool:
    """Whether the bytes from `at` to `end` are a plain IRI in its brackets."""
    if end - at < 4 or data[at] != _LESS or data[end - 1] != _GREATER:
        return False
    last = end - 1
    at += 1
    if not _CLASSES[data[at]] & _LETTER:
        return False
    while at < last and _CLASSES[data[at]] & _SCHEME:
        at += 1
    if at == last or data[at] != _COLON:
        return False
    at += 1
    if at + 1 < last and data[at] == _SLASH and data[at + 1] == _SLASH:
        at += 2
        while at < last and _CLASSES[data[at]] & _HOST:
            at += 1
        if at < last and data[at] != _SLASH and data[at] != _QUESTION and data[at] != _HASH:
            return False
    while at < last and (_CLASSES[data[at]] & _SAFE or data[at] == _SLASH):
        at += 1
    if at < last and data[at] == _QUESTION:
        at += 1
        while at < last and (_CLASSES[data[at]] & _SAFE or data[at] == _SLASH or data[at] == _QUESTION):
            at += 1
    if at < last and data[at] == _HASH:
        at += 1
        while at < last and (_CLASSES[data[at]] & _SAFE or data[at] == _SLASH or data[at] == _QUESTION):
            at += 1
    return at == last


@_part
def _after_character(data: Bytes, at: int, end: int) -> int:
    """The place behind a character of UTF-8 that begins with a byte above 127; -1 if it is none that a literal may hold."""
    first = data[at]
    if first < 0xC2 or first > 0xF4:
        return -1
    more = 1 if first < 0xE0 else 2 if first < 0xF0 else 3
    if at + more >= end:
        return -1
    code = np.int64(first) & (0x3F >> more)
    for place in range(at + 1, at + 1 + more):
        byte = np.int64(data[place])
        if byte & 0xC0 != 0x80:
            return -1
        code = (code << 6) | (byte & 0x3F)
    least = 0x80 if more == 1 else 0x800 if more == 2 else 0x10000
    if code < least or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF or code == 0xFFFE or code == 0xFFFF:
        return -1
    return at + 1 + more


@_part
def _is_literal(data: Bytes, at: int, end: int) -> bool:
    at += 1
    while at < end and data[at] != _QUOTE:
        byte = data[at]
        if byte < 0x20 or byte == 0x7F or byte == _BACKSLASH:
            return False
        if byte < 0x80:
            at += 1
        else:
            at = _after_character(data, at, end)
            if at < 0:
                return False
    if at >= end:
        return False
    at += 1
    if at == end:
        return True
    if data[at] == _AT:
        if end - at - 1 < 2 or end - at - 1 > 3:
            return False
        at += 1
        while at < end and _CLASSES[data[at]] & _LOWER:
            at += 1
        return at == end
    if end - at < 3 or data[at] != _CARET or data[at + 1] != _CARET:
        return False
    at += 2
    if _begins(data, at, end, _RDF) or (end - at == _STRING.size and _begins(data, at, end, _STRING)):
        return False
    return _is_iri(data, at, end)


@_part
def _kind(data: Bytes, at: int, end: int) -> int:
    """What a piece is, or that it is odd."""
    if end - at < 2:
        return ODD
    if data[at] == _LESS:
        return IRI if _is_iri(data, at, end) else ODD
    if data[at] == _QUOTE:
        return LITERAL if _is_literal(data, at, end) else ODD
    if data[at] != _UNDERSCORE or data[at + 1] != _COLON or end - at < 3:
        return ODD
    for place in range(at + 2, end):
        if not _CLASSES[data[place]] & _ALNUM:
            return ODD
    return LABEL


@njit(cache=True, nogil=True)
def _rebuilt(slots: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Twice the slots, with what was in them."""
    wide = np.zeros(slots.size * 2, dtype=np.uint64)
    mask = np.uint64(wide.size - 1)
    for slot in slots:
        if slot:
            at = (slot >> _HIGH) & mask
            while wide[at]:
                at = (at + np.uint64(1)) & mask
            wide[at] = slot
    return wide


@_inlined
def _same(data: Bytes, one: int, other: int, length: int) -> bool:
    place = 0
    while place + 8 <= length:
        if _word(data, one + place) != _word(data, other + place):
            return False
        place += 8
    rest = length - place
    return rest == 0 or (_word(data, one + place) ^ _word(data, other + place)) << np.uint64(64 - 8 * rest) == 0


@_inlined
def _hashed(data: Bytes, at: int, end: int) -> np.uint64:
    """32 bits of hash."""
    h = np.uint64(end - at)
    while at + 8 <= end:
        h = (h ^ _word(data, at)) * _PRIME
        h ^= h >> _HIGH
        at += 8
    if at < end:
        h = (h ^ (_word(data, at) << np.uint64(64 - 8 * (end - at)))) * _PRIME
        h ^= h >> _HIGH
    return ((h * _PRIME) >> _HIGH) & _ID


@_inlined
def _known(
    data: Bytes, at: int, until: int, hashed: np.uint64, slots: Slots, starts: Longs, lengths: Ints
) -> tuple[int, np.uint64]:
    """The number of a piece that was seen before, or -1; and its slot, or one for it."""
    mask = np.uint64(slots.size - 1)
    slot = hashed & mask
    while slots[slot]:
        if slots[slot] >> _HIGH == hashed:
            other = int(slots[slot] & _ID) - 1
            if lengths[other] == until - at and _same(data, starts[other], at, until - at):
                return other, slot
        slot = (slot + np.uint64(1)) & mask
    return -1, slot


@njit(cache=True, nogil=True)
def _with_room(
    slots: Slots, starts: Longs, lengths: Ints, kinds: NDArray[np.uint8], odd: Longs, counted: Longs, more: int
) -> tuple[Slots, Longs, Ints, NDArray[np.uint8], Longs]:
    """Room for so many more pieces, and for another odd line."""
    pieces = counted[_PIECES] + more
    if pieces > starts.size:
        room = max(2 * starts.size, pieces)
        wide_starts, wide_lengths = np.empty(room, np.int64), np.empty(room, np.int32)
        wide_kinds = np.empty(room, np.uint8)
        wide_starts[: starts.size], wide_lengths[: starts.size] = starts, lengths
        wide_kinds[: starts.size] = kinds
        starts, lengths, kinds = wide_starts, wide_lengths, wide_kinds
    while pieces * 2 > slots.size:
        slots = _rebuilt(slots)
    if counted[_ODD_LINES] == odd.shape[1]:
        odd = np.concatenate((odd, np.empty_like(odd)), axis=1)
    return slots, starts, lengths, kinds, odd


@_inlined
def _next_line(data: Bytes, end: int, size: int) -> int:
    """Where the line begins that follows the one which ends at a place."""
    return end + 2 if end + 1 < size and data[end] == _CR and data[end + 1] == _LF else end + 1


@_part
def _rdf_lines(
    data: Bytes,
    begin: int,
    size: int,
    quads: bool,
    rows: Ints,
    slots: Slots,
    starts: Longs,
    lengths: Ints,
    kinds: NDArray[np.uint8],
    odd: Longs,
    counted: Longs,
    pieces: Longs,
) -> int:
    """Reads lines as `parse_rdf` does, from a place on, until there is too little room; where it stopped.

    `counted` has the numbers so far; `pieces` is room for the places and numbers of one line's terms.
    """
    lines, count, terms, odds = counted
    most = min(starts.size, slots.size // 2) - 4
    while begin < size and terms <= most and odds < odd.shape[1]:
        end = _line_end(data, begin, size)
        first = _find(data, begin, end, _SPACE)
        second = _find(data, first + 1, end, _SPACE)
        plain = end - second > 3 and data[end - 1] == _DOT and data[end - 2] == _SPACE
        if plain:
            stop = end - 2
            pieces[0, 0], pieces[0, 1] = begin, first
            pieces[1, 0], pieces[1, 1] = first + 1, second
            pieces[2, 0], pieces[2, 1] = second + 1, stop
            width = 3
            if quads:
                last = stop - 1
                while last > second and data[last] != _SPACE:
                    last -= 1
                if last > second and (data[last + 1] == _LESS or data[last + 1] == _UNDERSCORE):
                    pieces[2, 1] = last
                    pieces[3, 0], pieces[3, 1] = last + 1, stop
                    width = 4
            pieces[3, 2] = -1
            for place in range(width):
                at, until = pieces[place, 0], pieces[place, 1]
                hashed = _hashed(data, at, until)
                id, slot = _known(data, at, until, hashed, slots, starts, lengths)
                if id < 0:
                    id = terms
                    starts[id], lengths[id], kinds[id] = at, until - at, _kind(data, at, until)
                    slots[slot] = (hashed << _HIGH) | np.uint64(id + 1)
                    terms += 1
                pieces[place, 2] = id
                kind = kinds[id]
                if kind == ODD or (place != 2 and kind == LITERAL) or (place == 1 and kind != IRI):
                    plain = False
                    break
        if plain:
            for place in range(4):
                rows[place, count] = pieces[place, 2]
            count += 1
        elif end > begin:
            odd[0, odds], odd[1, odds], odd[2, odds] = lines, begin, end
            odds += 1
        lines += 1
        begin = _next_line(data, end, size)
    counted[_LINES], counted[_ROWS], counted[_PIECES], counted[_ODD_LINES] = lines, count, terms, odds
    return begin


@njit(cache=True, nogil=True)
def parse_rdf(data: Bytes, size: int, quads: bool, lines: int) -> tuple[Ints, Longs, Ints, NDArray[np.uint8], Longs]:
    """At most so many `lines` of N-Triples or N-Quads, in the first bytes: the numbers of their terms, and the terms.

    Rows are subjects, predicates, objects and graphs, -1 where there is none. Of each term there is a place, a length and a
    kind. Odd lines come as number, begin and end, in three rows.
    """
    rows = np.empty((4, lines), dtype=np.int32)
    odd = np.empty((3, 16), dtype=np.int64)
    starts, lengths = np.empty(1024, dtype=np.int64), np.empty(1024, dtype=np.int32)
    kinds = np.empty(1024, dtype=np.uint8)
    slots = np.zeros(4096, dtype=np.uint64)
    counted = np.zeros(4, dtype=np.int64)
    pieces = np.empty((4, 3), dtype=np.int64)
    begin = 0
    while begin < size:
        slots, starts, lengths, kinds, odd = _with_room(slots, starts, lengths, kinds, odd, counted, 4)
        begin = _rdf_lines(data, begin, size, quads, rows, slots, starts, lengths, kinds, odd, counted, pieces)
    count, terms, odds = counted[_ROWS], counted[_PIECES], counted[_ODD_LINES]
    # Pieces that no row mentions may be anything, and are left out.
    mentioned = np.zeros(terms, dtype=np.bool_)
    for place in range(4):
        for row in range(count):
            if rows[place, row] >= 0:
                mentioned[rows[place, row]] = True
    meant = np.full(terms, -1, dtype=np.int32)
    kept = 0
    for id in range(terms):
        if mentioned[id]:
            starts[kept], lengths[kept], kinds[kept] = starts[id], lengths[id], kinds[id]
            meant[id] = kept
            kept += 1
    if kept < terms:
        for place in range(4):
            for row in range(count):
                if rows[place, row] >= 0:
                    rows[place, row] = meant[rows[place, row]]
    return rows[:, :count].copy(), starts[:kept], lengths[:kept], kinds[:kept], odd[:, :odds].copy()


@_part
def _field_kind(data: Bytes, at: int, until: int) -> int:
    """What a field is, with the quotes around it if it has some."""
    if at == until:
        return EMPTY
    first = data[at]
    if _CLASSES[first] & _LETTER:
        while at < until and _CLASSES[data[at]] & _WORDY:
            at += 1
        return WORD if at == until else ODD
    if first == _MINUS or 48 <= first <= 57:
        if until - at == 1:
            return INTEGER if first != _MINUS else ODD
        if first == _MINUS:
            at += 1
        if data[at] == 48 or until - at > 18:
            return ODD
        while at < until and 48 <= data[at] <= 57:
            at += 1
        return INTEGER if at == until else ODD
    return _kind(data, at, until)


@_inlined
def _field_end(data: Bytes, at: int, end: int, delimiter: int, quotes: bool) -> int:
    """Where a field ends that begins at a place, before `end`; -1 if its quotes are odd."""
    if not quotes or at == end or data[at] != _QUOTE:
        return _find(data, at, end, delimiter)
    close = _find(data, at + 1, end, _QUOTE)
    while close + 1 < end and data[close + 1] == _QUOTE:
        close = _find(data, close + 2, end, _QUOTE)
    if close >= end:
        return -1
    if close + 1 == end or data[close + 1] == delimiter:
        return close + 1
    return -1


@_part
def _field_lines(
    data: Bytes,
    begin: int,
    size: int,
    delimiter: int,
    quotes: bool,
    header: Bytes,
    rows: Ints,
    numbers: Ints,
    slots: Slots,
    starts: Longs,
    lengths: Ints,
    kinds: NDArray[np.uint8],
    odd: Longs,
    counted: Longs,
) -> int:
    """Reads lines as `cut_fields` does, from a place on, until there is too little room; where it stopped.

    `counted` has the numbers so far.
    """
    lines, count, fields, odds = counted
    width = rows.shape[0]
    most = min(starts.size, slots.size // 2) - width
    while begin < size and fields <= most and odds < odd.shape[1]:
        end = _line_end(data, begin, size)
        if header.size == 0 or end - begin != header.size or not _begins(data, begin, end, header):
            at, place = begin, 0
            while place < width:
                until = _field_end(data, at, end, delimiter, quotes)
                if until < 0 or (until == end) != (place == width - 1):
                    break
                hashed = _hashed(data, at, until)
                id, slot = _known(data, at, until, hashed, slots, starts, lengths)
                if id < 0:
                    id = fields
                    starts[id], lengths[id], kinds[id] = at, until - at, _field_kind(data, at, until)
                    slots[slot] = (hashed << _HIGH) | np.uint64(id + 1)
                    fields += 1
                rows[place, count] = id
                at = until + 1
                place += 1
            if place == width:
                numbers[count] = lines
                count += 1
            else:
                odd[0, odds], odd[1, odds], odd[2, odds] = lines, begin, end
                odds += 1
        lines += 1
        begin = _next_line(data, end, size)
    counted[_LINES], counted[_ROWS], counted[_PIECES], counted[_ODD_LINES] = lines, count, fields, odds
    return begin


@njit(cache=True, nogil=True)
def cut_fields(
    data: Bytes, size: int, delimiter: int, quotes: bool, width: int, header: Bytes, lines: int
) -> tuple[Ints, Ints, Longs, Ints, NDArray[np.uint8], Longs]:
    """At most so many `lines` of CSV or TSV, in the first bytes: the numbers of their fields, their own, and the fields.

    Rows are fields, as many as the `width`. Lines like the header are left out. Fields and odd lines come as with
    `parse_rdf`, fields with the quotes around them; those of a kind that is odd may be anything, and are to be looked at.
    """
    rows = np.empty((width, lines), dtype=np.int32)
    numbers = np.empty(lines, dtype=np.int32)
    odd = np.empty((3, 16), dtype=np.int64)
    starts, lengths = np.empty(1024, dtype=np.int64), np.empty(1024, dtype=np.int32)
    kinds = np.empty(1024, dtype=np.uint8)
    slots = np.zeros(4096, dtype=np.uint64)
    counted = np.zeros(4, dtype=np.int64)
    begin = 0
    while begin < size:
        slots, starts, lengths, kinds, odd = _with_room(slots, starts, lengths, kinds, odd, counted, width)
        begin = _field_lines(
            data, begin, size, delimiter, quotes, header, rows, numbers, slots, starts, lengths, kinds, odd, counted
        )
    count, fields, odds = counted[_ROWS], counted[_PIECES], counted[_ODD_LINES]
    found = rows[:, :count].copy()
    return found, numbers[:count], starts[:fields], lengths[:fields], kinds[:fields], odd[:, :odds].copy()


@njit(cache=True, nogil=True)
def copied(data: Bytes, starts: Longs, lengths: Ints, text: Bytes) -> None:
    """Copies pieces of `data`, one after the other, into `text`."""
    to = 0
    for piece in range(starts.size):
        at = starts[piece]
        for place in range(lengths[piece]):
            text[to] = data[at + place]
            to += 1

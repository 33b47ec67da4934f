"""The dictionary: every value has one dense 32-bit id, given in order of first appearance and never changed.

Columns of Arrow or Python values go in, ids come out, and back. Per id there is a kind, a payload and a length (see
`term_kinds.py`); text lies in one buffer; an open-addressing index finds the id of a value (see `dictionary_kernels.py`).
Every array doubles when it is full, so adding costs amortised constant time; nothing is ever overwritten, so that the
arrays which `order` handed out stay right for the ids of their time.

A call that raises may leave values behind whose ids nobody uses; they do no harm, and the dictionary is whole. One
thread may add at a time. Numba is imported when the first value is looked up, not with this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from threading import Lock
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyoxigraph import BlankNode, NamedNode

from everlog.datalog.comparing import LEXICAL, comparable_literal
from everlog.datalog.ntriples import read_term
from everlog.datalog.values import XSD, Value, canonical_double, identity, normalise
from everlog.engine.literal_columns import is_literal_type, kind_of_text, literal_texts, literal_values
from everlog.engine.memory import tuning
from everlog.engine.memory.term_kinds import (
    BLANK,
    BOOL,
    DATE,
    DATETIME,
    FIRST_TEXT,
    FLOAT,
    INT,
    IRI,
    LITERAL,
    STRING,
    TIME,
    UNREAD,
)
from everlog.errors import EverlogError, UnsupportedValue
from everlog.interrupts import lasting, look
from everlog.wording import counted

Ids: TypeAlias = NDArray[np.int32]

NTRIPLES_METADATA = {b"everlog": b"ntriples"}
"""Marks the Arrow field of a text column whose texts are N-Triples terms."""

MAX_VALUES = 2**31
_MAX_TEXT = 2**31 - 1
_NAN = int(np.array(np.nan).view(np.int64))
_LARGE = pa.large_string()
_ARROW_TYPES: dict[type, pa.DataType] = {int: pa.int64(), float: pa.float64(), bool: pa.bool_(), str: _LARGE}

# What stands before and behind the text of a value in N-Triples, by kind.
_NTRIPLES = {
    INT: ('"', f'"^^<{XSD}integer>'),
    FLOAT: ('"', f'"^^<{XSD}double>'),
    BOOL: ('"', f'"^^<{XSD}boolean>'),
    STRING: ('"', '"'),
    IRI: ("<", ">"),
    BLANK: ("_:", ""),
    LITERAL: ("", ""),
}

# Escapes of a string in N-Triples, the backslash first. The rare ones are tried one by one only after a look for any.
_COMMON_ESCAPES = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
_RARE_ESCAPES = {"\b": r"\b", "\f": r"\f"} | {
    chr(code): f"\\u{code:04X}" for code in (*range(0x20), 0x7F, 0xFFFE, 0xFFFF) if chr(code) not in "\n\r\t\b\f"
}
_ANY_ESCAPE = r'[\x00-\x1f\x7f\x{FFFE}\x{FFFF}"\\]'
_ANY_RARE_ESCAPE = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x{FFFE}\x{FFFF}]"

_COMPARABLE = rf'^"[^"]*"\^\^<{re.escape(XSD)}(?:{"|".join(LEXICAL)})>$'
"""Literals that may be compared by what they stand for; there are no quotes and escapes in these."""

_COMPARED_KINDS = {"boolean": BOOL, "dateTime": DATETIME, "date": DATE, "time": TIME}

_REMEMBERED = 10_000
"""So many single values that were looked up are remembered."""

_ORDERING = lasting(Lock())
"""Held while a thread reads literals for all that compare."""


_LookUp: TypeAlias = Callable[[pa.Array, bool], Ids]
"""Gives the ids of values in an array, which are added, or -1 for those that are unknown."""


class Order(NamedTuple):
    """What `dictionary_kernels.compare` reads; arrays may be longer than the dictionary.

    Literals that are numbers, booleans, instants, dates or times have the kinds and payloads that they are compared by.
    """

    kinds: NDArray[np.uint8]
    payload: NDArray[np.int64]
    lengths: NDArray[np.int32]
    text: NDArray[np.uint8]


class _Probes(NamedTuple):
    """Values to look up, one per row; a text's key is where it starts in `data`."""

    kinds: NDArray[np.uint8]
    keys: NDArray[np.int64]
    lengths: NDArray[np.int32]
    data: NDArray[np.uint8]


class KnownLists:
    """The dictionary of Arrow's that was encoded last, with its ids: chunks and columns of a table often share one."""

    def __init__(self) -> None:
        self._last: tuple[_LookUp, pa.Array, Ids] | None = None

    def ids(self, look_up: _LookUp, distinct: pa.Array) -> Ids | None:
        """The ids of a dictionary, if it is the last one and was read in the same way."""
        if self._last is None or self._last[0] != look_up or not self._last[1].equals(distinct):
            return None
        return self._last[2]

    def learn(self, look_up: _LookUp, distinct: pa.Array, ids: Ids) -> None:
        if not pa.types.is_floating(distinct.type):  # of which Arrow calls 0.0 and -0.0 equal
            self._last = look_up, distinct, ids


class Dictionary:
    """Values and their ids.

    >>> d = Dictionary()
    >>> d.encode_value("a"), d.encode_value(1), d.encode_value(1.0), d.encode_value("a"), d.find_value(True)
    (0, 1, 2, 0, -1)
    >>> d.value(2)
    1.0
    """

    def __init__(self, max_values: int = MAX_VALUES) -> None:
        self._max_values = max_values
        self._slots: NDArray[np.uint64] = np.zeros(1024, dtype=np.uint64)
        capacity = self._capacity(self._slots.size)
        self._kinds: NDArray[np.uint8] = np.empty(capacity, dtype=np.uint8)
        self._payload: NDArray[np.int64] = np.empty(capacity, dtype=np.int64)
        self._lengths: NDArray[np.int32] = np.empty(capacity, dtype=np.int32)
        self._text: NDArray[np.uint8] = np.empty(1 << 14, dtype=np.uint8)
        self._used: NDArray[np.int64] = np.zeros(2, dtype=np.int64)
        self._lately: dict[tuple[str, object], int] = {}
        """The ids of single values that were looked up."""
        self._ordered = 0
        """How many ids have been looked at for literals that are compared by what they stand for."""
        self._compared: tuple[NDArray[np.uint8], NDArray[np.int64]] | None = None
        """The kinds and payloads that ids are compared by, if there are such literals."""

    def __len__(self) -> int:
        return int(self._used[0])

    @property
    def characters(self) -> int:
        """The bytes of text."""
        return int(self._used[1])

    def order(self) -> Order:
        """The arrays that `dictionary_kernels.compare` takes, for the ids known now.

        Nothing is copied unless there are literals that are compared by what they stand for; each of these is read once.
        """
        if self._ordered < len(self):
            with _ORDERING:
                self._read_literals(self._ordered, len(self))
        arrays = self.arrays()
        return arrays if self._compared is None else Order(*self._compared, *arrays[2:])

    def arrays(self) -> Order:
        """The kinds, payloads and texts of all ids; arrays may be longer than the dictionary."""
        return Order(self._kinds, self._payload, self._lengths, self._text)

    def _read_literals(self, start: int, stop: int) -> None:
        """Makes `_compared` tell what new ids are compared by."""
        ids = (start + np.flatnonzero(self._kinds[start:stop] == LITERAL)).astype(np.int32)
        texts = self._texts(ids)
        typed = pc.match_substring_regex(texts, _COMPARABLE).to_numpy(zero_copy_only=False)
        pairs = zip(ids[typed], _python_strings(texts.filter(pa.array(typed))), strict=True)
        found = [(id, *one) for id, text in pairs if (one := _compared_as(text)) is not None]
        if found or self._compared is not None:
            kinds, payload = self._compared or (self._kinds[:0], self._payload[:0])
            if kinds.size < self._kinds.size:
                known = start if kinds.size else 0
                kinds, payload = (_grown(a, known, self._kinds.size) for a in (kinds, payload))
                start = known
            kinds[start:stop], payload[start:stop] = self._kinds[start:stop], self._payload[start:stop]
            for id, kind, key in found:
                kinds[id], payload[id] = kind, key
            self._compared = kinds, payload
        self._ordered = stop

    # One value

    def encode_value(self, value: object) -> int:
        """The id of a value, which is added if it is new."""
        return int(self._look_up(_probes([normalise(value)]), add=True)[0])

    def find_value(self, value: object) -> int:
        """The id of a value, or -1. Those that were asked for lately are remembered: ids never change."""
        key = identity(normalise(value))
        found = self._lately.get(key, -1)
        if found < 0:
            found = int(self._look_up(_probes([normalise(value)]), add=False)[0])
            if found >= 0:
                if len(self._lately) >= _REMEMBERED:
                    self._lately.clear()
                self._lately[key] = found
        return found

    def value(self, id: int) -> Value:
        """The value of an id."""
        if not 0 <= id < len(self):
            raise IndexError(f"no value has the id {id}")
        kind, payload = int(self._kinds[id]), self._payload[id]
        if kind < FIRST_TEXT:
            number: Value = _numbers(kind, payload).item()
            return number
        return _from_text(kind, self._text[payload : payload + self._lengths[id]].tobytes().decode())

    def kinds(self, ids: Ids) -> NDArray[np.uint8]:
        """The kinds of the values of some ids (`term_kinds.py`)."""
        found: NDArray[np.uint8] = self._kinds[ids]
        return found

    def numbers_alike(self, ids: Ids) -> NDArray[Any] | None:
        """Values that are all integers, all doubles or all booleans, as an array of their type; None if they are not."""
        if not ids.size or self._kinds[ids[0]] >= FIRST_TEXT:
            return None
        found = np.empty(ids.size, np.int64)
        if not _kernels().numbers_alike(_frozen(ids, np.int32), self._kinds, self._payload, found):
            return None
        numbers: NDArray[Any] = _numbers(int(self._kinds[ids[0]]), found)
        return numbers

    def numbers(self, ids: Ids) -> NDArray[Any]:
        """Values that are known to be all integers, all doubles or all booleans, as an array of their type."""
        found: NDArray[Any] = _numbers(int(self._kinds[ids[0]]), self._payload[ids])
        return found

    # Columns in

    def encode_field(self, field: pa.Field, column: pa.Array | pa.ChunkedArray, lists: KnownLists | None = None) -> Ids:
        """The ids of an Arrow column, read as its field's metadata say: as N-Triples terms or as plain values."""
        metadata = field.metadata or {}
        is_ntriples = all(metadata.get(key) == value for key, value in NTRIPLES_METADATA.items())
        look_up = self._ntriples_looked_up if is_ntriples else self._column_looked_up
        return self._encode_chunks(column, look_up, lists=lists)

    def encode_column(self, column: pa.Array | pa.ChunkedArray) -> Ids:
        """The ids of an Arrow column of integers, floats, booleans, strings, dates, timestamps or decimals.

        It may be dictionary-encoded. All values of a dictionary-encoded chunk's dictionary may get ids, used or not.
        """
        return self._encode_chunks(column, self._column_looked_up)

    def encode_ntriples(self, column: pa.Array | pa.ChunkedArray) -> Ids:
        """The ids of an Arrow column of N-Triples terms: `"5"^^<…#integer>` is the int 5, `<a:b>` an IRI."""
        return self._encode_chunks(column, self._ntriples_looked_up)

    def find_ntriples(self, column: pa.Array | pa.ChunkedArray) -> Ids:
        """The ids of an Arrow column of N-Triples terms, -1 for those that are unknown; nothing is added."""
        return self._encode_chunks(column, self._ntriples_looked_up, add=False)

    def encode_values(self, values: Sequence[object]) -> Ids:
        """The ids of a column of Python values."""
        most = tuning.PREPARED_VALUES
        if len(values) > most:
            pieces = (values[lo : lo + most] for lo in range(0, len(values), most))
            return np.concatenate([self.encode_values(piece) for piece in pieces])
        types = set(map(type, values)) if len(values) > tuning.FEW_VALUES else set[type]()
        if len(types) == 1 and (arrow_type := _ARROW_TYPES.get(*types)) is not None:
            with suppress(OverflowError, UnicodeEncodeError, pa.ArrowInvalid):  # said below of the value in question
                return self._look_up(_column_probes(pa.array(values, arrow_type)))
        distinct: dict[object, int] = {}
        fresh: list[Value] = []
        places = np.empty(len(values), dtype=np.int64)
        for row, item in enumerate(values):
            # Cheaper than `identity`, and as good for all but floats: NaN is not itself, 0.0 is -0.0.
            key = identity(item) if isinstance(item, float) else (type(item), item)
            try:
                place = distinct.get(key)
            except TypeError:  # not hashable, hence no value
                place = None
            if place is None:
                fresh.append(normalise(item))
                place = distinct[key] = len(distinct)
            places[row] = place
        ids: Ids = self._look_up(_probes(fresh))[places]
        return ids

    def find_column(self, column: pa.Array) -> Ids:
        """The ids of an Arrow column of plain values, -1 for those that are unknown; nothing is added."""
        return self._encode_chunks(column, self._column_looked_up, add=False)

    def find_numbers(self, numbers: NDArray[Any]) -> tuple[Ids, bool]:
        """The ids of integers, doubles or booleans, -1 for those that are unknown, and whether there are such.

        Another thread may add values meanwhile, of which some are found and some are not.
        """
        kind = {"i": INT, "f": FLOAT, "b": BOOL}[numbers.dtype.kind]
        keys = _float_bits(numbers) if kind == FLOAT else numbers
        ids: Ids = np.empty(numbers.size, np.int32)
        # The slots first, see `_grow`.
        slots, (kinds, payload, *_) = self._slots, self.arrays()
        return ids, _kernels().find_numbers(kind, _frozen(keys, np.int64), ids, kinds, payload, slots) > 0

    def find_values(self, values: Sequence[Value]) -> Ids:
        """The ids of some Python values, -1 for those that are unknown; nothing is added."""
        return self._look_up(_probes(values), add=False)

    # Columns out

    def values(self, ids: Ids) -> list[Value]:
        """The values of a column of ids, as Python values."""
        kinds = self._kinds[ids]
        if ids.size and (kinds == kinds[0]).all():
            return self._values_of_kind(int(kinds[0]), ids)
        found = np.empty(ids.size, dtype=object)
        for kind in _present(kinds):
            rows = np.flatnonzero(kinds == kind)
            found[rows] = self._values_of_kind(kind, ids[rows])
        values: list[Value] = found.tolist()
        return values

    def decode_field(self, name: str, ids: Ids) -> tuple[pa.Field, pa.Array]:
        """A column of ids as Arrow with its field, whose metadata mark N-Triples text: `encode_field` reads it back.

        The column is int64, float64, bool or string if all values are of that kind, or a date, timestamp or decimal if all
        are literals of that kind (`literal_columns.py`), else N-Triples text. Strings beyond 2 GiB come as large_string. A
        column without rows comes as strings.
        """
        kinds = self._kinds[ids]
        kind = int(kinds[0]) if ids.size else STRING
        metadata = None
        one_kind = bool((kinds == kind).all())
        literals = self._literal_values(ids) if kind == LITERAL and one_kind else None
        if literals is not None:
            array = literals
        elif kind > STRING or not one_kind:
            array, metadata = self.ntriples_column(ids), NTRIPLES_METADATA
        else:
            array = self._texts(ids) if kind == STRING else pa.array(_numbers(kind, self._payload[ids]))
        if array.type == _LARGE and array.nbytes < 2**31:
            array = array.cast(pa.string())
        return pa.field(name, array.type, nullable=False, metadata=metadata), array

    def _literal_values(self, ids: Ids) -> pa.Array | None:
        """Dates, timestamps or decimals, if the literals are all of one of these kinds."""
        texts = self._texts(ids)
        kind = kind_of_text(texts[0].as_py())
        return None if kind is None else literal_values(texts, kind)

    def _values_of_kind(self, kind: int, ids: Ids) -> list[Value]:
        if kind == STRING:
            return _python_strings(self._texts(ids))
        if kind < FIRST_TEXT:
            numbers: list[Value] = _numbers(kind, self._payload[ids]).tolist()
            return numbers
        # An RDF term costs a parse: once per distinct id.
        distinct, places = _distinct(ids)
        terms = [_from_text(kind, text) for text in _python_strings(self._texts(distinct))]
        return [terms[place] for place in places.tolist()]

    def text_column(self, ids: Ids, kind: int) -> pa.Array | None:
        """The texts of values that are all strings, all IRIs or all blank nodes, without quotes and the like, or None."""
        return self._texts(ids) if bool((self._kinds[ids] == kind).all()) else None

    def text_list(self, ids: NDArray[np.int64], kind: int) -> list[str] | None:
        """The same for a few ids, as Python's strings; NumPy looks up 64-bit places ten times as fast as others."""
        if self._kinds[ids].tolist() != [kind] * len(ids):
            return None
        text = self._text.data
        places = zip(self._payload[ids].tolist(), self._lengths[ids].tolist(), strict=True)
        return [text[start : start + length].tobytes().decode() for start, length in places]

    def ntriples_column(self, ids: Ids) -> pa.Array:
        """A column of ids as N-Triples terms, whatever their kinds, as large_string."""
        kinds = self._kinds[ids]
        places = [np.flatnonzero(kinds == kind) for kind in _present(kinds)]
        parts = [self._ntriples_of_kind(int(kinds[rows[0]]), ids[rows]) for rows in places]
        if len(parts) == 1:
            return parts[0]
        position = np.empty(ids.size, dtype=np.int64)
        position[np.concatenate([position[:0], *places])] = np.arange(ids.size)
        return pa.concat_arrays([pa.array([], _LARGE), *parts]).take(pa.array(position))

    def _ntriples_of_kind(self, kind: int, ids: Ids) -> pa.Array:
        before, after = _NTRIPLES[kind]
        if kind == FLOAT:
            encoded = pa.array(self._payload[ids]).dictionary_encode()
            numbers = _numbers(FLOAT, encoded.dictionary.to_numpy()).tolist()
            texts = pa.array([canonical_double(number) for number in numbers], type=_LARGE).take(encoded.indices)
        elif kind < FIRST_TEXT:
            texts = pa.array(_numbers(kind, self._payload[ids])).cast(_LARGE)
        else:
            texts = self._texts(ids)
        if kind == LITERAL:
            return texts
        return _join(before, _escape(texts) if kind == STRING else texts, after)

    def _texts(self, ids: Ids) -> pa.Array:
        """The stored texts of ids of textual kinds, as large_string."""
        offsets = np.zeros(ids.size + 1, dtype=np.int64)
        np.cumsum(self._lengths[ids], out=offsets[1:])
        data = np.empty(offsets[-1], dtype=np.uint8)
        _kernels().copy_text(_frozen(ids, np.int32), self._payload, self._lengths, self._text, data)
        return pa.LargeStringArray.from_buffers(ids.size, pa.py_buffer(offsets), pa.py_buffer(data))

    # Looking up and growing

    def _encode_chunks(
        self,
        column: pa.Array | pa.ChunkedArray,
        look_up: _LookUp,
        add: bool = True,
        lists: KnownLists | None = None,
    ) -> Ids:
        if column.null_count:
            raise _nulls(column.null_count)
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        lists = KnownLists() if lists is None else lists
        ids: Ids = np.empty(len(column), dtype=np.int32)
        at = 0
        for chunk in _pieces(chunks):
            ids[at : at + len(chunk)] = self._encode_chunk(chunk, look_up, add, lists)
            at += len(chunk)
        return ids

    def _encode_chunk(self, chunk: pa.Array, look_up: _LookUp, add: bool, lists: KnownLists) -> Ids:
        if isinstance(chunk, pa.DictionaryArray):
            distinct = chunk.dictionary
            known = lists.ids(look_up, distinct)
            if known is None:
                if len(distinct) > len(chunk) or distinct.null_count:
                    return self._encode_chunk(chunk.dictionary_decode(), look_up, add, lists)
                known = self._encode_chunk(distinct, look_up, add, lists)
                lists.learn(look_up, distinct, known)
            ids: Ids = known[chunk.indices.to_numpy()]
            return ids
        if chunk.null_count:
            raise _nulls(chunk.null_count)
        return look_up(chunk, add) if len(chunk) else np.empty(0, dtype=np.int32)

    def _column_looked_up(self, chunk: pa.Array, add: bool) -> Ids:
        return self._look_up(_column_probes(chunk), add)

    def _ntriples_looked_up(self, chunk: pa.Array, add: bool) -> Ids:
        """IRIs are looked at when they are not known; from one on that may be none, all that are unknown are read first."""
        if pa.types.is_string_view(chunk.type):  # of which Arrow cannot take some
            chunk = chunk.cast(_LARGE)
        n = len(chunk)
        ids: Ids = np.empty(n, dtype=np.int32)
        probes = _ntriples_probes(chunk, checked=False)
        row = self._look_up_from(0, probes, add, ids, checked=False)
        if row < n:
            self._look_up_from(row, probes, False, ids)
            unknown = row + np.flatnonzero(ids[row:] < 0)
            ids[unknown] = self._look_up(_ntriples_probes(chunk.take(pa.array(unknown)), checked=True), add)
        return ids

    def _look_up(self, probes: _Probes, add: bool = True) -> Ids:
        ids: Ids = np.empty(probes.kinds.size, dtype=np.int32)
        self._look_up_from(0, probes, add, ids)
        return ids

    def _look_up_from(self, row: int, probes: _Probes, add: bool, ids: Ids, checked: bool = True) -> int:
        """Looks probes up from a row on; gives the first one that has to be checked, if any has, or how many there are."""
        kinds, keys, lengths, data = probes
        encode, end = _kernels().encode, row
        while row < kinds.size:
            if row == end:
                look()
                end = min(end + tuning.LOOKED_UP_VALUES, kinds.size)
            piece = kinds[:end], keys[:end], lengths[:end]
            row = encode(*piece, data, row, add, checked, ids, *self.arrays(), self._slots, self._used)
            if row < 0:
                return int(~row)
            if row < end:
                self._make_room(int(lengths[row]) if kinds[row] >= FIRST_TEXT else 0)
        return row

    def _capacity(self, slots: int) -> int:
        """How many ids this many slots serve; beyond five eighths, probing walks too far."""
        return min(slots // 8 * 5, self._max_values)

    def _make_room(self, length: int) -> None:
        """Room for one more value with a text of this length, or double the room there is."""
        count, end = self._used.tolist()
        if count == self._kinds.size:
            if count == self._max_values:
                raise EverlogError(
                    f"the data has more than {count} distinct values, as many as the memory engine has ids for; "
                    'use engine="spark"'
                )
            self._grow(self._slots.size * 2)
        if end + length > self._text.size:
            self._text = _grown(self._text, end, max(self._text.size * 2, end + length))

    def reserve(self, values: int, characters: int) -> None:
        """Makes room for so many values and bytes of text, all told, before they come: they are never moved then."""
        slots = self._slots.size
        while self._capacity(slots) < min(values, self._max_values):
            slots *= 2
        if slots > self._slots.size:
            self._grow(slots)
        if characters > self._text.size:
            self._text = _grown(self._text, self.characters, characters)

    def _grow(self, size: int) -> None:
        """More slots, and arrays for the values that these serve."""
        slots, capacity, count = np.zeros(size, dtype=np.uint64), self._capacity(size), len(self)
        kinds, payload, lengths = (_grown(a, count, capacity) for a in (self._kinds, self._payload, self._lengths))
        _kernels().rebuild(self._slots, slots)
        # The slots last: a thread that has them finds arrays which are long enough.
        self._kinds, self._payload, self._lengths, self._slots = kinds, payload, lengths, slots


def _pieces(chunks: Iterable[pa.Array]) -> Iterator[pa.Array]:
    """Chunks of a column, large ones cut into pieces; those with a dictionary share it, and stay whole."""
    most = tuning.PREPARED_VALUES
    for chunk in chunks:
        if isinstance(chunk, pa.DictionaryArray) or len(chunk) <= most:
            yield chunk
        else:
            yield from (chunk.slice(lo, most) for lo in range(0, len(chunk), most))


def _kernels() -> ModuleType:
    from everlog.engine.memory.kernels import dictionary_kernels

    return dictionary_kernels


def _grown(array: NDArray[Any], used: int, size: int) -> NDArray[Any]:
    grown = np.empty(size, dtype=array.dtype)
    grown[:used] = array[:used]
    return grown


def _frozen(array: NDArray[Any], dtype: type[np.generic]) -> NDArray[Any]:
    """The one form in which kernels take their input: contiguous, aligned and read-only, as Arrow's buffers are."""
    frozen = np.require(array, dtype, ("C_CONTIGUOUS", "ALIGNED")).view()
    frozen.flags.writeable = False
    return frozen


def _present(kinds: NDArray[np.uint8]) -> list[int]:
    found: list[int] = np.flatnonzero(np.bincount(kinds)).tolist()
    return found


# Python values as probes


def _probes(values: Iterable[Value]) -> _Probes:
    kinds, keys, lengths, data = [], [], [], bytearray()
    for value in values:
        kind, payload = _kind_and_payload(value)
        kinds.append(kind)
        if isinstance(payload, bytes):
            keys.append(len(data))
            lengths.append(len(payload))
            data += payload
        else:
            keys.append(payload)
            lengths.append(0)
    return _frozen_probes(kinds, keys, lengths, np.frombuffer(data, dtype=np.uint8))


def _kind_and_payload(value: Value) -> tuple[int, int | bytes]:
    if isinstance(value, bool):
        return BOOL, int(value)
    if isinstance(value, int):
        return INT, int(value)
    if isinstance(value, float):
        return FLOAT, int(_float_bits(np.array([value]))[0])
    if isinstance(value, str):
        return STRING, _utf8(value)
    # pyoxigraph's lenient parser makes terms that its constructors refuse: what could not be given back is not taken.
    try:
        if isinstance(value, NamedNode):
            return IRI, _utf8(NamedNode(value.value).value)
        if isinstance(value, BlankNode):
            return BLANK, _utf8(BlankNode(value.value).value)
    except ValueError as mistake:
        raise UnsupportedValue(f"{value} is not a valid RDF term: {mistake}") from mistake
    text = str(value)
    read_term(text)
    return LITERAL, _utf8(text)


def _utf8(text: str) -> bytes:
    try:
        encoded = text.encode()
    except UnicodeEncodeError as mistake:
        raise UnsupportedValue(f"the string {text[:200]!r} holds a lone surrogate, which is no character") from mistake
    if len(encoded) > _MAX_TEXT:
        raise _too_long(len(encoded))
    return encoded


def _from_text(kind: int, text: str) -> Value:
    if kind == STRING:
        return text
    if kind == IRI:
        return NamedNode(text)
    return BlankNode(text) if kind == BLANK else read_term(text)


def _compared_as(text: str) -> tuple[int, int] | None:
    """The kind and the payload that a typed literal is compared by, or None if it has no order."""
    lexical, _, datatype = text[1:-1].partition(f'"^^<{XSD}')
    one = comparable_literal(datatype, lexical)
    if one is None:
        return None
    if isinstance(one.value, float):
        return FLOAT, int(_float_bits(np.array([one.value]))[0])
    return _COMPARED_KINDS.get(one.kind, INT), int(one.value)


# Arrow columns as probes


def _column_probes(chunk: pa.Array) -> _Probes:
    kind = _kind_of_type(chunk.type)
    if kind is None:
        raise UnsupportedValue(
            f"a column of type {chunk.type} does not fit into facts, which hold numbers, booleans, strings, dates and "
            "timestamps; cast it to one of these, for instance to string, or split it into such columns"
        )
    if kind == LITERAL:
        chunk = literal_texts(chunk)
    lengths, data = np.zeros(len(chunk), dtype=np.int32), np.empty(0, dtype=np.uint8)
    if kind >= FIRST_TEXT:
        keys, lengths, data = _spans(chunk)
    elif kind == FLOAT:
        # Not by Arrow's cast, which refuses float16 in older versions.
        keys = _float_bits(chunk.to_numpy(zero_copy_only=False).astype(np.float64, copy=False))
    elif chunk.type == pa.uint64() and (largest := pc.max(chunk).as_py()) >= 2**63:
        raise UnsupportedValue(
            f"the integer {largest} does not fit into 64 bits with a sign; cast the column to string"
        )
    else:
        keys = chunk.cast(pa.int64()).to_numpy()
    return _frozen_probes(np.full(len(chunk), kind, dtype=np.uint8), keys, lengths, data)


def _ntriples_probes(chunk: pa.Array, checked: bool) -> _Probes:
    if _kind_of_type(chunk.type) != STRING:
        raise UnsupportedValue(f"a column of type {chunk.type} cannot hold N-Triples terms, which are text")
    begins, sizes, data = _spans(chunk)
    kinds, keys, lengths = (np.empty(len(chunk), dtype=dtype) for dtype in (np.uint8, np.int64, np.int32))
    if _kernels().scan_ntriples(begins, sizes, data, checked, kinds, keys, lengths):
        rows = np.flatnonzero(kinds == UNREAD)
        encoded = chunk.take(pa.array(rows)).cast(_LARGE).dictionary_encode()
        read = _probes(read_term(text) for text in _python_strings(encoded.dictionary))
        places = encoded.indices.to_numpy()
        kinds[rows], lengths[rows] = read.kinds[places], read.lengths[places]
        # What Python has read goes behind the column's own text.
        keys[rows] = (read.keys + np.where(read.kinds >= FIRST_TEXT, data.size, 0))[places]
        data = np.concatenate((data, read.data))
    return _frozen_probes(kinds, keys, lengths, data)


def _frozen_probes(kinds: Any, keys: Any, lengths: Any, data: NDArray[Any]) -> _Probes:
    return _Probes(
        _frozen(kinds, np.uint8), _frozen(keys, np.int64), _frozen(lengths, np.int32), _frozen(data, np.uint8)
    )


def _spans(chunk: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]:
    """Where each text starts, its length, and the bytes; no text is copied."""
    if pa.types.is_string_view(chunk.type):
        chunk = chunk.cast(_LARGE)
    _, offsets, data = chunk.buffers()
    width = np.int64 if pa.types.is_large_string(chunk.type) else np.int32
    bounds = np.frombuffer(offsets, dtype=width)[chunk.offset : chunk.offset + len(chunk) + 1]
    lengths = np.diff(bounds)
    if width is np.int64 and (longest := int(lengths.max(initial=0))) > _MAX_TEXT:
        raise _too_long(longest)
    text = np.frombuffer(data, dtype=np.uint8) if data is not None and data.size else np.empty(0, dtype=np.uint8)
    first = bounds[0]  # a slice of a long column has the text of all of it
    return (
        _frozen(bounds[:-1] - first, np.int64),
        _frozen(lengths, np.int32),
        _frozen(text[first : bounds[-1]], np.uint8),
    )


def _numbers(kind: int, payload: Any) -> Any:
    """Payloads as what they stand for, for the kinds without text."""
    return payload if kind == INT else payload.view(np.float64) if kind == FLOAT else payload.astype(np.bool_)


def _float_bits(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """The bits of floats, the same for every NaN."""
    bits = np.ascontiguousarray(numbers).view(np.int64)
    is_nan = np.isnan(numbers)
    return np.where(is_nan, np.int64(_NAN), bits) if is_nan.any() else bits


def _kind_of_type(type: pa.DataType) -> int | None:
    if pa.types.is_integer(type):
        return INT
    if pa.types.is_floating(type):
        return FLOAT
    if pa.types.is_boolean(type):
        return BOOL
    if type in (pa.string(), _LARGE, pa.string_view()):
        return STRING
    return LITERAL if is_literal_type(type) else None


def _nulls(count: int) -> UnsupportedValue:
    return UnsupportedValue(
        f"the column holds {counted(count, 'null')}, and a fact holds none; drop those rows or fill them"
    )


def _too_long(length: int) -> UnsupportedValue:
    return UnsupportedValue(f"a text of {length} bytes is too long; the memory engine takes up to {_MAX_TEXT} bytes")


# Text out of Arrow


def _distinct(ids: Ids) -> tuple[Ids, NDArray[Any]]:
    """Each id once, and places among these."""
    if ids.size <= tuning.FEW_VALUES:
        return np.unique(ids, return_inverse=True)
    encoded = pa.array(ids).dictionary_encode()
    return encoded.dictionary.to_numpy(), encoded.indices.to_numpy()


def _python_strings(texts: pa.Array) -> list[Any]:
    if len(texts) <= tuning.FEW_VALUES:
        few: list[Any] = texts.to_pylist()
        return few
    # Several times faster than to_pylist.
    strings: list[Any] = texts.to_numpy(zero_copy_only=False).tolist()
    return strings


def _join(before: str, texts: pa.Array, after: str) -> pa.Array:
    start, end, separator = (pa.scalar(piece, type=_LARGE) for piece in (before, after, ""))
    return pc.binary_join_element_wise(start, texts, end, separator)


def _escape(texts: pa.Array) -> pa.Array:
    """Strings with the escapes of N-Triples. Strings that need none, nearly all, are looked at once."""
    needy = pc.match_substring_regex(texts, _ANY_ESCAPE)
    if not pc.any(needy).as_py():
        return texts
    escaped = texts.filter(needy)
    escapes = _COMMON_ESCAPES
    if pc.any(pc.match_substring_regex(escaped, _ANY_RARE_ESCAPE)).as_py():
        escapes = _COMMON_ESCAPES | _RARE_ESCAPES
    for character, escape in escapes.items():
        escaped = pc.replace_substring(escaped, character, escape)
    return pc.replace_with_mask(texts, needy, escaped)

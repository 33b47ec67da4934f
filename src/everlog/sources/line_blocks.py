"""Files of lines, in blocks of whole lines that tasks read by themselves.

A *split* is a range of bytes of a file, or a whole file if it is packed. It has the lines that begin in it: from behind the
first line feed at or after the byte before its begin, to behind the one at or after its last byte. Lines end with a line
feed, a carriage return or both, and splits never lie between the two. A byte order mark at the begin of a file is no part
of it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Final, cast

import pyarrow as pa

SPLIT: Final = 1 << 24
_BOM: Final = b"\xef\xbb\xbf"
PACKED: Final = (".gz", ".bz2")

UNREADABLE: Final = (OSError, EOFError, zlib.error)
"""What reading a file may raise."""


class Lines:
    """Whole lines, as they stand in a file."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def pieces(self) -> list[bytes]:
        """The lines without their ends."""
        return self.data.splitlines()

    @cached_property
    def _decoded(self) -> tuple[pa.Array, list[tuple[int, str]]]:
        try:
            return pa.array(self.pieces, pa.binary()).cast(pa.string()), []
        except pa.ArrowInvalid:
            return pa.array(_or_nothing(self.pieces), pa.string()), not_utf8(range(len(self.pieces)), self.pieces)

    @property
    def texts(self) -> pa.Array:
        """The lines without their ends, null where they are no UTF-8."""
        return self._decoded[0]

    @property
    def not_utf8(self) -> list[tuple[int, str]]:
        """Which lines these are, with the reason."""
        return self._decoded[1]


def _or_nothing(pieces: Sequence[bytes]) -> Iterator[str | None]:
    for piece in pieces:
        try:
            yield piece.decode()
        except UnicodeDecodeError:
            yield None


def not_utf8(rows: Sequence[int], pieces: Sequence[bytes]) -> list[tuple[int, str]]:
    """Those of some lines that are no UTF-8, with the reason."""
    found = []
    for row, piece in zip(rows, pieces, strict=True):
        try:
            piece.decode()
        except UnicodeDecodeError as mistake:
            found.append((row, f"byte {mistake.start + 1} of the line (0x{piece[mistake.start]:02x}) is not UTF-8"))
    return found


@dataclass(frozen=True)
class Split:
    """A range of bytes of a file; all of it if it has no end."""

    file: str
    begin: int = 0
    end: int | None = None

    def blocks(self) -> Iterator[bytes]:
        """The lines that begin in the range, in one block; those of a packed file in many."""
        with opened(self.file) as stream:
            at = 0
            if self.begin:
                stream.seek(self.begin - 1)
                at = self.begin - 1 + len(stream.readline())
            while self.end is None or at < self.end:
                data = stream.read(SPLIT if self.end is None else self.end - at)
                if not data:
                    return
                if data[-1:] != b"\n":
                    data += stream.readline()
                yield data if at else data.removeprefix(_BOM)
                at += len(data)

    def lines_before(self) -> int:
        """How many lines of the file there are before the range."""
        earlier = (Split(self.file, at, min(at + SPLIT, self.begin)) for at in range(0, self.begin, SPLIT))
        return sum(line_count(data) for split in earlier for data in split.blocks())


def line_count(data: bytes) -> int:
    """How many lines there are, one that does not end included."""
    ended = data.count(b"\n")
    if b"\r" in data:
        ended += data.count(b"\r") - data.count(b"\r\n")
    return ended + (data[-1:] not in (b"", b"\n", b"\r"))


def splits_of(files: Sequence[str], size: int) -> list[Split]:
    """The splits of files, in order."""
    found = []
    for file in files:
        if file.lower().endswith(PACKED):
            found.append(Split(file))
        else:
            length = os.path.getsize(file)
            found += [Split(file, begin, min(begin + size, length)) for begin in range(0, length, size)]
    return found


def opened(file: str, content: bytes | None = None) -> IO[bytes]:
    """A file, or its bytes, unpacked as its name says. The caller closes it."""
    packed = file if content is None else io.BytesIO(content)
    name = file.lower()
    if name.endswith(".gz"):
        return cast(IO[bytes], gzip.open(packed, "rb"))
    if name.endswith(".bz2"):
        return bz2.open(packed, "rb")
    return open(packed, "rb") if isinstance(packed, str) else packed

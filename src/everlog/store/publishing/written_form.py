"""What a format has to say about how facts are decoded, sorted and written; the formats are beside this file."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Columns: TypeAlias = Sequence[NDArray[np.int64]]
"""Facts: columns of places among distinct terms."""

PIECE: Final = 50_000
"""How many facts a task has as text at a time."""


class WrittenForm(ABC):
    """A format."""

    @abstractmethod
    def texts(self, terms: pa.Array) -> pa.Table:
        """What is needed of N-Triples terms to sort and to write facts."""

    @abstractmethod
    def keys(self, texts: pa.Table, arity: int) -> list[pa.Array]:
        """For each column of facts what its terms are sorted by; an object that several columns have is sorted once."""

    def fit(self, columns: Columns, texts: pa.Table) -> NDArray[np.bool_] | None:
        """Which facts can be written; None if all can."""
        return None

    @abstractmethod
    def write(self, columns: Columns, texts: pa.Table, file: Path) -> None:
        """Writes a part: facts that are sorted."""

    @abstractmethod
    def join(self, parts: Sequence[Path], path: Path, columns: Sequence[str]) -> None:
        """Makes a file of parts, which may be none; if the format has names for columns, these."""

    @abstractmethod
    def write_nullary(self, path: Path) -> None:
        """Makes a file with the fact of a predicate without arguments."""


class TextForm(WrittenForm):
    """A format whose parts are text."""

    nullary = b""

    @abstractmethod
    def pieces(self, columns: Columns, texts: pa.Table) -> Iterator[pa.Array]:
        """What is written for facts, some at a time."""

    def header(self) -> str:
        """What a file begins with."""
        return ""

    def write(self, columns: Columns, texts: pa.Table, file: Path) -> None:
        with file.open("wb") as out:
            for piece in self.pieces(columns, texts):
                out.write(_content(piece))

    def join(self, parts: Sequence[Path], path: Path, columns: Sequence[str]) -> None:
        with path.open("wb") as whole:
            whole.write(self.header().encode())
            for part in parts:
                with part.open("rb") as source:
                    shutil.copyfileobj(source, whole, 1 << 20)

    def write_nullary(self, path: Path) -> None:
        path.write_bytes(self.nullary)


def line_pieces(columns: Columns, texts: pa.Array, delimiter: str, end: str) -> Iterator[pa.Array]:
    """Lines with the texts of facts."""
    inner, last = together(texts, delimiter), together(texts, end)
    yield from gathered(columns, [*[inner] * (len(columns) - 1), last])


def gathered(columns: Columns, texts: Sequence[pa.Array]) -> Iterator[pa.Array]:
    """For each fact the texts of its places, each column's among texts of its own, put together; some facts at a time."""
    for first in range(0, len(columns[0]), PIECE):
        places = (pa.array(column[first : first + PIECE]) for column in columns)
        yield together(*(one.take(some) for one, some in zip(texts, places, strict=True)))


def together(*columns: pa.Array | str) -> pa.Array:
    """Texts put together, row by row."""
    large = pa.large_string()
    parts = (pa.scalar(one, large) if isinstance(one, str) else one for one in columns)
    return pc.binary_join_element_wise(*parts, pa.scalar("", large))


def _content(texts: pa.Array) -> pa.Buffer:
    """The bytes of texts, one after the other."""
    _, offsets, data = texts.buffers()
    places = np.frombuffer(offsets, np.int64)
    return data.slice(int(places[0]), int(places[-1] - places[0])) if len(texts) else b""

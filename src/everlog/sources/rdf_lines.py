"""N-Triples and N-Quads in Spark tasks: columns subject, predicate, object, graph.

A kernel (`line_kernels.py`) parses plain lines, which are most, and numbers their terms. What is left is pyoxigraph's, and
so are few lines, since a kernel takes longer to load than they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from everlog.rdf.blanks import renamed
from everlog.rdf.lines import parse_lines
from everlog.sources.blocks import Block
from everlog.sources.line_blocks import Lines, line_count, not_utf8
from everlog.sources.parsed_rows import Parsed

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyoxigraph import RdfFormat

_FEW: Final = 1 << 17
"""Bytes up to which no kernel is loaded."""


@dataclass(frozen=True)
class RdfLines:
    """Parses N-Triples (`nt`) or N-Quads (`nq`)."""

    format: str
    few: int = _FEW

    def __call__(self, lines: Lines, mark: str) -> Parsed:
        if len(lines.data) <= self.few:
            return self._odd(range(len(lines.pieces)), lines.pieces, mark)
        from everlog.sources.line_kernels import LABEL, SPARE, copied, parse_rdf

        size = len(lines.data)
        data = np.empty(size + SPARE, np.uint8)
        data[:size] = np.frombuffer(lines.data, np.uint8)
        most = line_count(lines.data)
        numbers, starts, lengths, kinds, odd = parse_rdf(data, size, self.format == "nq", most)
        texts = _texts(copied, data, starts, lengths)
        if labels := np.flatnonzero(kinds == LABEL).tolist():
            texts = _relabelled(texts, labels, mark)
        if not odd.shape[1]:
            return _numbered(numbers, texts), []
        pieces = [lines.data[begin:end] for begin, end in odd[1:].T.tolist()]
        columns, mistakes = self._odd(odd[0].tolist(), pieces, mark)
        more = Block.of(columns)
        others = np.where(more.numbers < 0, -1, more.numbers + len(texts))
        return _numbered(np.concatenate([numbers, others], axis=1), pa.concat_arrays([texts, more.texts])), mistakes

    def _odd(self, rows: Sequence[int], pieces: Sequence[bytes], mark: str) -> Parsed:
        """Lines that are read one by one."""
        mistakes = not_utf8(rows, pieces)
        if mistakes:
            wrong = {row for row, _ in mistakes}
            kept = [(row, piece) for row, piece in zip(rows, pieces, strict=True) if row not in wrong]
            rows, pieces = [row for row, _ in kept], [piece for _, piece in kept]
        columns, more = parse_lines(rows, [piece.decode() for piece in pieces], _rdf_format(self.format), mark)
        return columns, mistakes + more


def _rdf_format(name: str) -> RdfFormat:
    from pyoxigraph import RdfFormat as Format

    return Format.N_TRIPLES if name == "nt" else Format.N_QUADS


def _texts(copied: object, data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int32]) -> pa.Array:
    """Pieces of the data as texts."""
    offsets = np.zeros(len(starts) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    text = np.empty(offsets[-1], np.uint8)
    copied(data, starts, lengths, text)  # type: ignore[operator]
    return pa.StringArray.from_buffers(len(starts), pa.py_buffer(offsets), pa.py_buffer(text))


def _relabelled(texts: pa.Array, labels: Sequence[int], mark: str) -> pa.Array:
    """The texts with other labels for the blank nodes among them, which are at some places."""
    mask = np.zeros(len(texts), np.bool_)
    mask[labels] = True
    names = ["_:" + renamed(label[2:], mark) for label in texts.filter(pa.array(mask)).to_pylist()]
    return pa.compute.replace_with_mask(texts, pa.array(mask), pa.array(names, pa.string()))


def _numbered(numbers: NDArray[np.int32], texts: pa.Array) -> list[pa.Array]:
    """Columns that share a dictionary; a number below 0 stands for nothing."""
    return [pa.DictionaryArray.from_arrays(pa.array(column, mask=column < 0), texts) for column in numbers]

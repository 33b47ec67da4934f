"""N-Triples and N-Quads in Spark tasks: columns subject, predicate, object, graph.

A kernel (`line_kernels.py`) parses plain lines, which are most, and numbers their terms. What is left is pyoxigraph's, and
so are few lines, since a kernel takes longer to load than they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from everlog.rdf.blanks import renamed
from everlog.rdf.lines import parse_lines
from everlog.sources.blocks import Block
from everlog.sources.line_blocks import Lines, line_count, not_utf8
from everlog.sources.numbered_pieces import FEW, joint_columns, texts_of_pieces, with_spare
from everlog.sources.parsed_rows import Parsed

if TYPE_CHECKING:
    from pyoxigraph import RdfFormat


@dataclass(frozen=True)
class RdfLines:
    """Parses N-Triples (`nt`) or N-Quads (`nq`)."""

    format: str
    few: int = FEW

    def __call__(self, lines: Lines, mark: str) -> Parsed:
        if len(lines.data) <= self.few:
            return self._odd(range(len(lines.pieces)), lines.pieces, mark)
        from everlog.sources.line_kernels import LABEL, parse_rdf

        data, size = with_spare(lines.data)
        numbers, starts, lengths, kinds, odd = parse_rdf(data, size, self.format == "nq", line_count(lines.data))
        texts = texts_of_pieces(data, starts, lengths)
        assert texts is not None, "the kernel has looked at every byte"
        if labels := np.flatnonzero(kinds == LABEL).tolist():
            texts = _relabelled(texts, labels, mark)
        pieces = [lines.data[begin:end] for begin, end in odd[1:].T.tolist()]
        columns, mistakes = self._odd(odd[0].tolist(), pieces, mark)
        return joint_columns(Block(numbers, texts), Block.of(columns)), mistakes

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


def _relabelled(texts: pa.Array, labels: Sequence[int], mark: str) -> pa.Array:
    """The texts with other labels for the blank nodes among them, which are at some places."""
    mask = np.zeros(len(texts), np.bool_)
    mask[labels] = True
    names = ["_:" + renamed(label[2:], mark) for label in texts.filter(pa.array(mask)).to_pylist()]
    return pa.compute.replace_with_mask(texts, pa.array(mask), pa.array(names, pa.string()))

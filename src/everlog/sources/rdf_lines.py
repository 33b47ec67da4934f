"""N-Triples and N-Quads in Spark tasks: columns subject, predicate, object, graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class RdfLines:
    """Parses N-Triples (`nt`) or N-Quads (`nq`)."""

    format: str

    @property
    def width(self) -> int:
        return 4

    def __call__(self, lines: pa.Array, mark: str) -> tuple[Sequence[pa.Array], list[tuple[int, str]]]:
        from pyoxigraph import RdfFormat

        from everlog.rdf.lines import parse_block

        format = RdfFormat.N_TRIPLES if self.format == "nt" else RdfFormat.N_QUADS
        # Rows must keep their places; to RDF an empty line is as good as none.
        block = parse_block(lines.fill_null("") if lines.null_count else lines, format, mark)
        return block.columns, block.mistakes

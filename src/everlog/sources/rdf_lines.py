"""N-Triples and N-Quads in Spark tasks: columns subject, predicate, object, graph."""

from __future__ import annotations

import pyarrow as pa

from everlog.sources.parsed_rows import Parsed


def parse_rdf_lines(format: str, lines: pa.Array, mark: str) -> Parsed:
    """Parses N-Triples (`nt`) or N-Quads (`nq`)."""
    from pyoxigraph import RdfFormat

    from everlog.rdf.lines import parse_block

    # Rows must keep their places; to RDF an empty line is as good as none.
    texts = lines.fill_null("") if lines.null_count else lines
    block = parse_block(texts, RdfFormat.N_TRIPLES if format == "nt" else RdfFormat.N_QUADS, mark)
    return block.columns, block.mistakes

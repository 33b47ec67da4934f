"""Triples in memory as one Arrow table whose columns share a dictionary of N-Triples texts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

NTRIPLES = {b"everlog": b"ntriples"}


def triple_table(triples: Iterable[tuple[str, str, str]]) -> pa.Table:
    """The triples in their order."""
    codes: dict[str, int] = {}
    coded = [codes.setdefault(term, len(codes)) for triple in triples for term in triple]
    columns = np.array(coded, dtype=np.int32).reshape(-1, 3)
    dictionary = pa.array(codes, pa.string())
    schema = pa.schema(
        pa.field(f"a{position}", pa.dictionary(pa.int32(), pa.string()), metadata=NTRIPLES) for position in range(3)
    )
    arrays = [
        pa.DictionaryArray.from_arrays(pa.array(np.ascontiguousarray(columns[:, position])), dictionary)
        for position in range(3)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)

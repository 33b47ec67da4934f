"""Terms and facts of a store as arrays of this process, by Arrow, and back.

The memory engine's ids are the store's ids, because the dictionary is read in their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.errors import EverlogError
from everlog.store.layers import facts_table
from everlog.store.manifest import Layer, Part
from everlog.store.parquet_files import check_rows, read_files, wrong

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from everlog.engine.memory.dictionary import Dictionary
    from everlog.engine.memory.facts.table import Ids

_MOST = 2**31
"""Ids of the memory engine are 32-bit integers."""


def load_dictionary(store: Path, parts: Sequence[Part]) -> Dictionary:
    """The terms of a store, each with its id of the store."""
    from everlog.engine.memory.dictionary import Dictionary

    size = sum(part.rows for part in parts)
    if size > _MOST:
        raise EverlogError(f"the store has {size} terms, and the memory engine has ids for {_MOST}")
    dictionary = Dictionary()
    for part in parts:
        learn_terms(dictionary, [store / file for file in part.files], len(dictionary) + part.rows)
    return dictionary


def learn_terms(dictionary: Dictionary, files: Sequence[Path], size: int) -> None:
    """Gives a dictionary the terms of some files, whose ids are the next ones; then it has `size`."""
    import numpy as np
    import pyarrow as pa

    table = read_files(files, ["id", "term"], pa.schema([("id", pa.int64()), ("term", pa.string())]))
    expected = np.arange(len(dictionary), size)
    if files:
        check_rows(files, table.num_rows, len(expected))
    dictionary.reserve(size, dictionary.characters + table.column("term").nbytes)
    ids = table.column("id").to_numpy()
    if not np.array_equal(ids, expected):
        table = table.take(pa.array(np.argsort(ids, kind="stable")))
        ids = table.column("id").to_numpy()
    whole = np.array_equal(ids, expected)
    if not whole or not np.array_equal(dictionary.encode_ntriples(table.column("term")), expected):
        raise wrong(files[0], f"has terms with other ids than {expected[0]} to {expected[-1]}, one for each")


def batches(store: Path, layers: tuple[Layer, ...], arities: Mapping[str, int]) -> Iterator[tuple[str, Ids]]:
    """The facts of a section, by predicate."""
    for predicate in dict.fromkeys(predicate for layer in layers for predicate in layer.added):
        yield predicate, ids_of(facts_table(store, layers, predicate, arities[predicate]), arities[predicate])


def ids_of(table: pa.Table, arity: int) -> Ids:
    """A table of ids as the memory engine takes facts: one per column of an array."""
    import numpy as np

    if arity == 0:
        return np.empty((0, min(table.num_rows, 1)), np.int32)
    ids = np.empty((arity, table.num_rows), np.int32)
    for place in range(arity):
        ids[place] = table.column(f"a{place}").to_numpy()
    return ids


def table_of(ids: Ids | NDArray[np.int64]) -> pa.Table:
    """The other way round."""
    import numpy as np
    import pyarrow as pa

    columns = ids if ids.shape[0] else np.zeros((1, ids.shape[1]), np.int64)
    return pa.table({f"a{place}": pa.array(column.astype(np.int64)) for place, column in enumerate(columns)})

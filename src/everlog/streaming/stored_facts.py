"""Facts of a version of a store, piece by piece and without Spark, for tasks that read them: ids first, terms then.

A section is `(first layer ∖ deleted) ∪ added`; a piece is a row group of a file of the first layer, or what later layers
add. What is asked for is looked for among ids, so that only the terms of rows that are wanted are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from everlog.store.layers import minus, net_change
from everlog.store.manifest import Manifest
from everlog.store.parquet_files import batches_in, footer, read_files, read_group

Which: TypeAlias = Literal["all", "explicit", "derived"]

_SECTIONS: Final = {"all": ("explicit", "derived"), "explicit": ("explicit",), "derived": ("derived",)}
_REMEMBERED: Final = 2_000_000
"""Parts of a dictionary with up to so many terms are kept by a task, for the next one."""
_ROWS: Final = 50_000


@dataclass(frozen=True)
class Piece:
    """Some of the facts of a section: a row group of a file or, without one, what later layers add."""

    section: str
    file: str | None = None
    group: int = 0


class StoredTerms:
    """The terms of a version, as N-Triples texts."""

    def __init__(self, store: Path, manifest: Manifest) -> None:
        self._store, self._parts = store, manifest.dictionary

    def texts(self, ids: NDArray[np.int64]) -> pa.Array:
        """The terms that ids stand for, in their order."""
        distinct, places = np.unique(ids, return_inverse=True)
        found: list[pa.Array] = []
        first = 0
        for part in self._parts:
            begin, end = np.searchsorted(distinct, (first, first + part.rows))
            if begin < end:
                found.append(self._some(part.files, part.rows, first, distinct[begin:end]))
            first += part.rows
        return (pa.concat_arrays(found) if found else pa.array([], pa.string())).take(pa.array(places))

    def _some(self, files: Sequence[str], rows: int, first: int, ids: NDArray[np.int64]) -> pa.Array:
        paths = tuple(str(self._store / file) for file in files)
        if rows <= _REMEMBERED:
            return _terms_in(paths).take(pa.array(ids - first)).combine_chunks()
        found = []
        for batch in batches_in(map(Path, paths), ["id", "term"]):
            mask = np.isin(batch.column(0).to_numpy(), ids)
            found.append(pa.Table.from_batches([batch]).filter(pa.array(mask)))
        return pa.concat_tables(found).sort_by("id").column("term").combine_chunks().cast(pa.string())

    def ids(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The ids of those of some terms that there are."""
        wanted, found = pa.array(texts, pa.string()), [np.empty(0, np.int64)]
        for part in self._parts:
            for batch in batches_in((self._store / file for file in part.files), ["id", "term"]):
                chosen = batch.filter(pc.is_in(batch.column(1).cast(pa.string()), wanted))
                found.append(chosen.column(0).to_numpy())
        return np.concatenate(found)


@lru_cache(maxsize=64)
def _terms_in(files: tuple[str, ...]) -> pa.ChunkedArray:
    """The terms of files, which never change, in the order of their ids."""
    table = read_files(map(Path, files), ["id", "term"], pa.schema([("id", pa.int64()), ("term", pa.string())]))
    ids = table.column("id").to_numpy()
    if np.any(ids[1:] < ids[:-1]):
        table = table.sort_by("id")
    return table.column("term")


def pieces_of(store: Path, manifest: Manifest, predicate: str, which: Which) -> list[Piece]:
    """The pieces of a predicate's facts."""
    found = []
    for section in _SECTIONS[which]:
        layers = manifest.layers(section)
        if layers and (part := layers[0].added.get(predicate)):
            found += [Piece(section, file, group) for file in part.files for group in range(_groups(store / file))]
        if any(predicate in layer.added for layer in layers[1:]):
            found.append(Piece(section))
    return found


def _groups(file: Path) -> int:
    return int(footer(file).num_row_groups)


def ids_of_piece(store: Path, manifest: Manifest, predicate: str, piece: Piece) -> pa.Table:
    """The facts of a piece as ids."""
    arity = manifest.arities[predicate]
    added, deleted = net_change(store, manifest.layers(piece.section)[1:], predicate, arity)
    if piece.file is None:
        return added
    schema = pa.schema([(f"a{place}", pa.int64()) for place in range(max(arity, 1))])
    return minus(read_group(store / piece.file, piece.group, schema), deleted)


def where(facts: pa.Table, wanted: Mapping[int, NDArray[np.int64]]) -> pa.Table:
    """The facts that have one of some ids in each of some places."""
    for place, ids in wanted.items():
        facts = facts.filter(pc.is_in(facts.column(f"a{place}"), pa.array(ids, pa.int64())))
    return facts


def texts_of_ids(facts: pa.Table, places: Sequence[int], terms: StoredTerms) -> Iterator[list[pa.Array]]:
    """Some columns of facts as terms, some facts at a time."""
    for first in range(0, facts.num_rows, _ROWS):
        some = facts.slice(first, _ROWS)
        yield [terms.texts(some.column(f"a{place}").to_numpy()) for place in places]

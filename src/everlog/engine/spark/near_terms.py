"""The terms of a dictionary's files in this process, while they are not too many: a look-up is then no job.

Files are read by Arrow when somebody asks, each once; what is new is in files that were not read yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from everlog.engine.memory.dictionary import Dictionary
from everlog.store.parquet_files import read_files

_KINDS: Final = {"id": ("id", pa.int64()), "term": ("term", pa.string()), "label": ("label", pa.string())}


class NearTerms:
    """Terms by their ids and ids by their terms; `by_label` as of `SparkTerms`."""

    def __init__(self, by_label: bool) -> None:
        self._by_label = by_label
        self._dictionary = Dictionary()
        self._read: set[Path] = set()
        self._here: NDArray[np.int32] = np.empty(0, np.int32)
        """By id of a term, its id in the dictionary of this process, or -1."""
        self._there: NDArray[np.int64] = np.empty(0, np.int64)
        """The other way round."""

    def read(self, files: Iterable[Path], unlabelled: Iterable[Path] = ()) -> None:
        """Learns the terms of some files; of the latter, labels of blank nodes do not count."""
        for paths, by_label in ((unlabelled, False), (files, self._by_label)):
            for path in paths:
                if path not in self._read:
                    names = ["id", "term", *(["label"] if by_label else [])]
                    self._learn(read_files([path], names, pa.schema([_KINDS[name] for name in names])))
                    self._read.add(path)

    def _learn(self, table: pa.Table) -> None:
        terms = table.column("term")
        if "label" in table.column_names:
            terms = pc.coalesce(table.column("label"), terms)
        here, ids = self._dictionary.encode_ntriples(terms), table.column("id").to_numpy()
        more, others = int(ids.max(initial=-1)) + 1 - len(self._here), len(self._dictionary) - len(self._there)
        self._here = np.append(self._here, np.full(max(0, more), -1, np.int32))
        self._there = np.append(self._there, np.full(max(0, others), -1, np.int64))
        self._here[ids] = here
        self._there[here] = ids

    def find(self, terms: pa.Array) -> NDArray[np.int64]:
        """The ids of some terms, -1 for those that have none."""
        return np.append(self._there, np.int64(-1))[self._dictionary.find_ntriples(terms)]

    def texts(self, ids: NDArray[np.int64]) -> pa.Array:
        """The terms that some ids stand for."""
        return self._dictionary.ntriples_column(self._here[ids])

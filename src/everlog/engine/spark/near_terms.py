"""The terms of a dictionary's files in this process, while they are not too many: a look-up is then no job.

Files are read by Arrow when somebody asks, each once; what is new is in files that were not read yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from everlog.engine.memory.dictionary import Dictionary
from everlog.engine.memory.term_kinds import BOOL, DATE, DATETIME, FLOAT, INT, TIME
from everlog.store.parquet_files import read_files

_KINDS: Final = {"id": ("id", pa.int64()), "term": ("term", pa.string()), "label": ("label", pa.string())}

_COMPARED: Final = (INT, FLOAT, BOOL, DATETIME, DATE, TIME)
"""Kinds of values of which several terms may stand for one."""


class NearTerms:
    """Terms by their ids and ids by their terms; `by_label` as of `SparkTerms`."""

    def __init__(self, by_label: bool) -> None:
        self._by_label = by_label
        self.dictionary = Dictionary()
        """The values of the terms."""
        self._read: set[Path] = set()
        self._here: NDArray[np.int32] = np.empty(0, np.int32)
        """By id of a term, its id in the dictionary of this process, or -1."""
        self._there: NDArray[np.int64] = np.empty(0, np.int64)
        """The other way round."""
        self._twins: tuple[int, Mapping[int, int]] | None = None
        """How many terms there were when somebody asked for those that equal others, and these."""

    def read(self, files: Iterable[Path], unlabelled: Iterable[Path] = ()) -> None:
        """Learns the terms of some files; of the latter, labels of blank nodes do not count."""
        for paths, by_label in ((unlabelled, False), (files, self._by_label)):
            for path in paths:
                if path not in self._read:
                    names = ["id", "term", *(["label"] if by_label else [])]
                    self._learn(read_files([path], names, pa.schema([_KINDS[name] for name in names])))
                    self._read.add(path)

    def told(self, table: pa.Table, file: Path) -> None:
        """Learns the terms of a file by the table that was written to it."""
        self._learn(table if self._by_label else table.drop_columns("label"))
        self._read.add(file)

    def _learn(self, table: pa.Table) -> None:
        terms = table.column("term")
        if "label" in table.column_names:
            terms = pc.coalesce(table.column("label"), terms)
        here, ids = self.dictionary.encode_ntriples(terms), table.column("id").to_numpy()
        more, others = int(ids.max(initial=-1)) + 1 - len(self._here), len(self.dictionary) - len(self._there)
        self._here = np.append(self._here, np.full(max(0, more), -1, np.int32))
        self._there = np.append(self._there, np.full(max(0, others), -1, np.int64))
        self._here[ids] = here
        self._there[here] = ids

    def twins(self) -> Mapping[int, int]:
        """The terms whose values are equal to those of others (`datalog/comparing.py`), with the least of these."""
        if self._twins is None or self._twins[0] != len(self.dictionary):
            kinds, payload, _, _ = self.dictionary.order()
            here = np.flatnonzero(np.isin(kinds[: len(self.dictionary)], _COMPARED))
            self._twins = len(self.dictionary), _equal(kinds[here], payload[here], self._there[here])
        return self._twins[1]

    def find(self, terms: pa.Array) -> NDArray[np.int64]:
        """The ids of some terms, -1 for those that have none."""
        return np.append(self._there, np.int64(-1))[self.dictionary.find_ntriples(terms)]

    def texts(self, ids: NDArray[np.int64]) -> pa.Array:
        """The terms that some ids stand for."""
        return self.dictionary.ntriples_column(self._here[ids])

    def here(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Some ids as those of the dictionary of this process."""
        return self._here[ids]


def _equal(kinds: NDArray[np.uint8], keys: NDArray[np.int64], ids: NDArray[np.int64]) -> Mapping[int, int]:
    """Ids with the least of those that have the same kind and key; doubles that are whole numbers are integers."""
    kinds, keys, doubles = kinds.copy(), keys.copy(), keys.view(np.float64)
    whole = (kinds == FLOAT) & (np.abs(doubles) < 2.0**63)
    whole[whole] = np.floor(doubles[whole]) == doubles[whole]
    kinds[whole], keys[whole] = INT, doubles[whole].astype(np.int64)
    known = ~((kinds == FLOAT) & np.isnan(doubles))
    kinds, keys, ids = kinds[known], keys[known], ids[known]
    order = np.lexsort((ids, keys, kinds))
    kinds, keys, ids = kinds[order], keys[order], ids[order]
    first = np.ones(len(ids), np.bool_)
    first[1:] = (kinds[1:] != kinds[:-1]) | (keys[1:] != keys[:-1])
    least = ids[np.maximum.accumulate(np.where(first, np.arange(len(ids)), 0))]
    return dict(zip(ids[~first].tolist(), least[~first].tolist(), strict=True))

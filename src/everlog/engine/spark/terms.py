"""The dictionary of a knowledge base that reasons on Spark: the terms of a store, if there is one, and new terms beside it.

Facts that are DataFrames are encoded by joins (`dictionary.py`), and no term of theirs passes through this process. Facts
and constants that are in this process already are looked up by one small join, and their new terms are written from here.
Either way new terms are Parquet files with the columns of a store's dictionary, so that saving has nothing to convert.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import broadcast, coalesce, col

from everlog.datalog.ntriples import read_term, write_term
from everlog.datalog.values import Value
from everlog.engine.group_numbers import distinct_numbers
from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.spark import tuning
from everlog.engine.spark.facts.row_indexes import Rows
from everlog.engine.spark.near_terms import NearTerms
from everlog.interrupts import look
from everlog.sources.read_facts import Read
from everlog.spark.handover import to_arrow, to_spark
from everlog.store.parquet_files import files_in, reader, rows_in
from everlog.store.term_dictionary import BLANK, TERMS, Encoded, StoredDictionary


class SparkTerms:
    """Terms and their ids.

    `files` are a store's, with ids up to `size`; new ones go to places that `folder` gives. With `by_label` a blank node of
    a new file is found, and shown, by the label that it came with: one knowledge base is one scope for labels. Without,
    its name is the store's, `_:everlog<id>`, as befits sources that know nothing of each other.
    """

    def __init__(
        self, spark: SparkSession, files: Sequence[Path], size: int, folder: Callable[[], Path], by_label: bool = True
    ) -> None:
        self._spark = spark
        self._stored = tuple(map(str, files))
        self._folder = folder
        self._by_label = by_label
        self.size = size
        self.new: list[Path] = []
        """The files with terms that are in no store, oldest first."""
        self._unnamed: list[Path] = []
        """Files whose terms a store has by now, and whose labels are still needed."""
        self._frame: DataFrame | None = None
        self._near = NearTerms(by_label)

    def takes(self, more: int) -> bool:
        """Whether so many terms may come to those that there are, and all are in this process."""
        return self.size + more <= tuning.DRIVER_TERMS

    def near(self) -> NearTerms | None:
        """All terms in this process; None if they are too many."""
        if not self.takes(0):
            self._near = NearTerms(self._by_label)
            return None
        self._near.read([*self._unnamed, *self.new], map(Path, self._stored))
        return self._near

    def near_twins(self) -> Mapping[int, int] | None:
        """Terms whose values are equal to those of others, with the least of these; None if terms are too many."""
        near = self.near()
        return None if near is None else near.twins()

    @property
    def frame(self) -> DataFrame:
        """All terms: `id` and `term`."""
        if self._frame is None:
            self._frame = self._terms(self._by_label)
        return self._frame

    def _terms(self, by_label: bool) -> DataFrame:
        read = reader(self._spark).schema(TERMS)
        frames = [read.parquet(*self._stored).select("id", "term")] if self._stored else []
        if new := [*self._unnamed, *self.new]:
            term = coalesce(col("label"), col("term")) if by_label else col("term")
            frames.append(read.parquet(*map(str, new)).select("id", term.alias("term")))
        if not frames:
            return self._spark.createDataFrame([], "id bigint, term string")
        return frames[0] if len(frames) == 1 else frames[0].unionAll(frames[1])

    @property
    def dictionary(self) -> StoredDictionary:
        """All terms as a dictionary that facts are encoded and decoded by."""
        return StoredDictionary.of(self._spark, self.frame, self.size)

    def all_files(self) -> list[Path]:
        """The files that have all terms."""
        return [*map(Path, self._stored), *self._unnamed, *self.new]

    def saved(self, files: Sequence[Path]) -> None:
        """Notes that all terms are in a store now, in some files."""
        if self._by_label:
            self._unnamed += self.new
        else:
            self._stored = tuple(map(str, files))
        self.new = []
        self._frame = None

    def savepoint(self) -> Callable[[], None]:
        """A function that brings back what was known about files before they were saved."""
        before = self._stored, [*self.new], [*self._unnamed], self._frame

        def undo() -> None:
            self._stored, self.new, self._unnamed, self._frame = before
            self._near = NearTerms(self._by_label)

        return undo

    def encode(self, read: Read) -> Encoded:
        """What was read as ids; to be released when they have been read."""
        folder = self._folder()
        encoded = self.dictionary.encode(read, folder)
        self._learn(file for file in files_in(folder) if rows_in(file))
        assert self.size == encoded.size
        return encoded

    def encode_frame(self, texts: DataFrame) -> DataFrame:
        """Distinct terms in a column `text` with their ids; those that have none get the next ones."""
        folder = self._folder()
        found = self.dictionary.encode_texts(texts, folder)
        self._learn(file for file in files_in(folder) if rows_in(file))
        return found

    def encode_values(self, values: Sequence[Value]) -> list[int]:
        """The ids of some values."""
        texts = pa.array([write_term(value) for value in values], pa.large_string())
        return [int(id) for id in self.encode_texts(texts)]

    def encode_texts(self, texts: pa.Array) -> NDArray[np.int64]:
        """The ids of terms in this process; those that have none get the next ones."""
        distinct, places = _distinct(texts)
        return self._encoded(distinct)[places]

    def ids_of(self, dictionary: Dictionary, values: Ids, add: bool = True) -> NDArray[np.int64]:
        """The ids of some values of a dictionary, by their ids there; -1 for others, and for unknown ones unless added."""
        found = np.full(len(dictionary), -1, np.int64)
        for first in range(0, len(values), tuning.TERMS_AT_A_TIME):
            look()
            some = values[first : first + tuning.TERMS_AT_A_TIME]
            texts = dictionary.ntriples_column(some)
            found[some] = self._encoded(texts) if add else self._found(texts)
        return found

    def _encoded(self, distinct: pa.Array) -> NDArray[np.int64]:
        """The ids of distinct terms; those that have none get the next ones."""
        ids = self._found(distinct)
        missing = np.flatnonzero(ids < 0)
        if len(missing):
            ids[missing] = np.arange(self.size, self.size + len(missing))
            self._write(ids[missing], distinct if len(missing) == len(ids) else distinct.take(missing))
        return ids

    def find_texts(self, texts: pa.Array) -> NDArray[np.int64]:
        """The ids of terms in this process, -1 for those that have none."""
        distinct, places = _distinct(texts)
        return self._found(distinct)[places]

    def values_of(self, ids: Sequence[int]) -> dict[int, Value]:
        """The values that some ids, not too many, stand for."""
        found = self.texts_of(np.array(ids, np.int64))
        pairs = zip(found.column("id").to_pylist(), found.column("term").to_pylist(), strict=True)
        return {id: read_term(term) for id, term in pairs}

    def texts_of(self, ids: NDArray[np.int64]) -> pa.Table:
        """The terms that some ids, not too many, stand for: `id` and `term`."""
        given, near = pa.table({"id": pa.array(ids)}), self.near()
        if near is not None:
            return given.append_column("term", near.texts(ids))
        schema = pa.schema([("id", pa.int64()), ("term", pa.string())])
        found = self.frame.join(broadcast(to_spark(self._spark, given)), "id").select("id", "term")
        return to_arrow(found, schema, few=len(ids) <= tuning.FETCHED_IDS)

    def decoded(self, ids: Rows, dictionary: Dictionary | None = None) -> tuple[Dictionary, list[Ids]]:
        """The columns of facts on the driver as ids of a dictionary that has their values, else of some other one."""
        near = self.near()
        if dictionary is None and near is not None:
            return near.dictionary, list(near.here(ids.T))
        dictionary = Dictionary() if dictionary is None else dictionary
        found = self.texts_of(distinct_numbers(ids.ravel()))
        known, here = found.column("id").to_numpy(), dictionary.encode_ntriples(found.column("term"))
        order = np.argsort(known)
        return dictionary, list(here[order][np.searchsorted(known, ids.T, sorter=order)])

    def texts(self, facts: DataFrame, stored: bool = False) -> DataFrame:
        """Facts in id form as text; blank nodes with the names that a store gives them, if that is asked for."""
        terms = self._terms(by_label=False) if stored else self.frame
        return StoredDictionary.of(self._spark, terms, self.size).decode(facts)

    def _found(self, distinct: pa.Array) -> NDArray[np.int64]:
        """The ids of distinct terms, -1 for those that have none."""
        ids = np.full(len(distinct), -1, np.int64)
        near = self.near() if self.size and len(distinct) else None
        if near is not None:
            ids = near.find(distinct)
        elif self.size and len(distinct):
            asked = pa.table({"term": distinct, "place": pa.array(np.arange(len(distinct)), pa.int64())})
            given, few = to_spark(self._spark, asked), len(distinct) <= tuning.FETCHED_IDS
            found = self.frame.join(broadcast(given) if few else given, "term").select("place", "id")
            table = to_arrow(found, pa.schema([("place", pa.int64()), ("id", pa.int64())]), few)
            ids[table.column("place").to_numpy()] = table.column("id").to_numpy()
        return ids

    def _write(self, ids: NDArray[np.int64], texts: pa.Array) -> None:
        large = pa.large_string()
        blank = pc.starts_with(texts, "_:")
        terms, labels = texts, pa.nulls(len(texts), large)
        if pc.any(blank).as_py():
            names = pc.binary_join_element_wise(
                pa.scalar(BLANK, large), pa.array(ids).cast(large), pa.scalar("", large)
            )
            terms, labels = pc.if_else(blank, names, texts), pc.if_else(blank, texts, labels)
        table = pa.table({"id": pa.array(ids), "term": terms.cast(pa.string()), "label": labels.cast(pa.string())})
        folder = self._folder()
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "terms.parquet"
        pq.write_table(table, file, write_page_checksum=True, use_dictionary=False)
        self._learn([file])
        if self.takes(0):
            self._near.told(table, file)

    def _learn(self, files: Iterable[Path]) -> None:
        more = list(files)
        self.new += more
        self.size += sum(map(rows_in, more))
        self._frame = None


def _distinct(texts: pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
    """Distinct terms, and for each of some terms its place among them."""
    encoded = texts.cast(pa.large_string()).dictionary_encode()
    return encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)

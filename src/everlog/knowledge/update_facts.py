"""The facts of an update, from text to ids.

A few of them are fetched, in one Spark job, and looked up in the dictionary of the memory engine, which has all terms of
the store at hand. Of many, no term passes through this process: Spark joins them with the stored dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.engine.backend import Backend
from everlog.knowledge.base import check_arities
from everlog.spark.handover import to_arrow
from everlog.store.arrays import ids_of, learn_terms
from everlog.store.commit import Writing
from everlog.store.parquet_files import files_in
from everlog.store.term_dictionary import FEW, NUMBER, StoredDictionary, together

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from everlog.engine.memory.dictionary import Dictionary
    from everlog.engine.memory.facts.table import Ids
    from everlog.engine.memory.names import MemoryBatch
    from everlog.sources.read_facts import Read


@dataclass(frozen=True)
class Encoding:
    """Where facts become ids: the engine with the facts of a store, the store's dictionary, and its next version."""

    backend: Backend[Any, Any, Any]
    stored: StoredDictionary
    writer: Writing


def given_facts(
    engine: str, spark: SparkSession, read: Read | None, arities: dict[str, int], few: int
) -> InMemory | OnSpark:
    """Facts that Spark has read; `arities` learns about new predicates, and facts must agree with it."""
    facts: dict[str, DataFrame] = {} if read is None else dict(read.facts)
    check_arities(facts, arities)
    return InMemory(spark, facts, few) if engine == "memory" else OnSpark(facts)


class OnSpark:
    """Facts for the Spark engine."""

    def __init__(self, facts: Mapping[str, DataFrame]) -> None:
        self._facts = facts

    def to_add(self, at: Encoding) -> tuple[list[Any], Path | None]:
        return (at.backend.encoded({}, self._facts) if self._facts else []), None

    def to_delete(self, at: Encoding) -> list[Any]:
        from everlog.engine.spark.spark_backend import SparkBackend

        assert isinstance(at.backend, SparkBackend)
        return at.backend.encoded({}, self._facts, add=False) if self._facts else []


class InMemory:
    """Facts for the memory engine; up to a `few` of them are fetched right away."""

    def __init__(self, spark: SparkSession, facts: Mapping[str, DataFrame], few: int = FEW) -> None:
        self._facts = facts
        joint, self._arities = together(spark, self._facts)
        self._fetched: pa.Table | None = joint.limit(few + 1).toArrow() if self._facts else None
        if self._fetched is not None and self._fetched.num_rows > few:
            self._fetched = None

    def to_add(self, at: Encoding) -> tuple[list[MemoryBatch], Path | None]:
        """Facts to add as ids, and the folder where Spark has written their new terms, if it was Spark.

        The engine's dictionary has the stored terms, and the new ones afterwards.
        """
        if not self._facts:
            return [], None
        dictionary = _dictionary(at)
        if self._fetched is not None:
            return self._looked_up(self._fetched, dictionary, add=True), None
        folder = at.writer.folder("dictionary")
        encoded = at.stored.encode(self._facts, folder, few=False)
        table = self._ids(encoded.together, at.writer)
        encoded.release()
        learn_terms(dictionary, files_in(folder), encoded.size)
        return self._apart(table), folder

    def to_delete(self, at: Encoding) -> list[MemoryBatch]:
        """Facts to delete as ids; those with an unknown term cannot be there."""
        if not self._facts:
            return []
        if self._fetched is not None:
            return self._looked_up(self._fetched, _dictionary(at), add=False)
        found, _ = at.stored.find_together(self._facts, few=False)
        return self._apart(self._ids(found, at.writer))

    def _ids(self, joint: DataFrame, writer: Writing) -> pa.Table:
        import pyarrow as pa

        width = max(self._arities.values(), default=0)
        schema = pa.schema([(NUMBER, pa.int32()), *((f"a{place}", pa.int64()) for place in range(width))])
        return to_arrow(joint, schema, False, lambda: writer.folder("state"))

    def _looked_up(self, texts: pa.Table, dictionary: Dictionary, add: bool) -> list[MemoryBatch]:
        look_up = dictionary.encode_ntriples if add else dictionary.find_ntriples
        batches: list[MemoryBatch] = []
        for predicate, table in self._tables(texts):
            arity = self._arities[predicate]
            ids = _nothing(arity, table.num_rows)
            for place in range(arity):
                ids[place] = look_up(table.column(f"a{place}"))
            batches.append((predicate, ids[:, (ids >= 0).all(axis=0)] if arity else ids[:, :1]))
        return batches

    def _apart(self, ids: pa.Table) -> list[MemoryBatch]:
        return [(predicate, ids_of(table, self._arities[predicate])) for predicate, table in self._tables(ids)]

    def _tables(self, joint: pa.Table) -> list[tuple[str, pa.Table]]:
        """One table per predicate, by the numbers in a joint one."""
        import numpy as np
        import pyarrow as pa

        numbers = joint.column(NUMBER).to_numpy()
        return [
            (predicate, joint.take(pa.array(np.flatnonzero(numbers == number))))
            for number, predicate in enumerate(self._facts)
        ]


def _dictionary(at: Encoding) -> Dictionary:
    from everlog.engine.memory.memory_backend import MemoryBackend

    assert isinstance(at.backend, MemoryBackend)
    return at.backend.engine.dictionary


def _nothing(arity: int, count: int) -> Ids:
    import numpy as np

    return np.empty((arity, count), np.int32)

"""Sets of the oracles' facts in a Spark engine, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.datalog.ntriples import read_term, write_term
from everlog.datalog.values import Value, identity
from everlog.engine.algebra import FactSet
from everlog.engine.spark import tuning
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.annotations import SparkCounted
from everlog.engine.spark.facts.fact_schema import COUNT, RELATION
from everlog.engine.spark.facts.sets import ComputedFacts, as_spark_facts
from oracles.naive import Fact, fact, value_of

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession


class Ids:
    """A dictionary of values, all known from the start."""

    def __init__(self, values: Iterable[Value]) -> None:
        self.values: list[Value] = []
        self.ids: dict[tuple[str, object], int] = {}
        self.encode(list(values))

    def encode(self, values: Sequence[Value]) -> list[int]:
        for value in values:
            if identity(value) not in self.ids:
                self.ids[identity(value)] = len(self.values)
                self.values.append(value)
        return [self.ids[identity(value)] for value in values]


class Facts:
    """An engine with a dictionary of its own."""

    def __init__(self, spark: SparkSession, values: Iterable[Value], **options: object) -> None:
        self.ids = Ids(values)
        self.spark = spark
        texts = [(number, write_term(value)) for number, value in enumerate(self.ids.values)]
        terms = spark.createDataFrame(texts, "id bigint, term string")
        self.engine = SparkEngine(spark, lambda: terms, self._encoded, **options)  # type: ignore[arg-type]

    def _encoded(self, texts: pa.Array) -> NDArray[np.int64]:
        return np.array(self.ids.encode([read_term(text) for text in texts.to_pylist()]), np.int64)

    def stored(self, facts: Iterable[Fact]) -> ComputedFacts:
        groups: dict[str, list[list[int]]] = {}
        for predicate, keys in facts:
            groups.setdefault(predicate, []).append(self.ids.encode([value_of(key) for key in keys]))
        found = self.engine.listed(groups)
        return found if len(found) <= tuning.DRIVER_FACTS else self.engine.computed(found.table())

    def facts_in(self, facts: FactSet) -> frozenset[Fact]:
        table = as_spark_facts(facts).computed().table()
        found = [] if table is None else [self._fact(row) for row in self.rows(table)]
        assert len(found) == len(set(found)) == len(facts)
        return frozenset(found)

    def multiplicities(self, counted: SparkCounted) -> Counter[Fact]:
        table = counted.table()
        found: Counter[Fact] = Counter()
        for row in [] if table is None else self.rows(table):
            one = self._fact(row)
            assert one not in found and row[COUNT] > 0
            found[one] = row[COUNT]
        return found

    def rows(self, table: str) -> list[Row]:
        return self.engine.spark.sql(f"SELECT * FROM {table}").collect()

    def _fact(self, row: Row) -> Fact:
        names = {number: (predicate, arity) for predicate, (number, arity) in self.engine.relations().items()}
        predicate, arity = names[row[RELATION]]
        ids = [row[f"a{place}"] for place in range(arity)]
        return fact(predicate, *(self.ids.values[id] for id in ids))

"""The best facts of groups on Spark: facts go to where their group is, and workers choose, many groups at a time.

Few facts are looked at on the driver. Values are ordered by the code that orders them in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa

from everlog.datalog.syntax import Extreme, Rule
from everlog.engine.algebra import BestFacts, FactSet
from everlog.engine.best_rows import best_rows, kinds_of
from everlog.engine.memory.dictionary import Dictionary
from everlog.engine.memory.value_columns import column_of_ids
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.runs import Local
from everlog.engine.spark.facts.sets import ComputedFacts, as_spark_facts
from everlog.engine.spark.facts.sql_text import Table, fact_columns, select, union
from everlog.expressions.columns import Column, column_of

_TEXT: Final = "text"
_KIND: Final = "kind"


class SparkBestFacts(BestFacts):
    """The best facts that one rule chooses."""

    def __init__(self, engine: SparkEngine, rule: Rule) -> None:
        assert rule.extreme is not None, "a rule that chooses"
        self._engine, self._extreme, self._arity = engine, rule.extreme, len(rule.head.terms)
        (candidate,) = rule.positive
        self._head = engine.relation(rule.head.predicate, self._arity)
        self._relations = engine.relation(candidate.predicate, self._arity), self._head

    def best(self, candidates: FactSet, facts: FactSet) -> ComputedFacts:
        few = self._few(candidates, facts)
        if few is not None:
            rows = np.array(few, np.int64).reshape(len(few), self._arity).T
            chosen = best_rows(rows, self._values(few), self._extreme)
            return self._engine.local(frozenset((self._head, *few[row]) for row in chosen.tolist()))
        names = [f"a{place}" for place in range(self._arity)]
        groups = [f"l.{name}" for place, name in enumerate(names) if place != self._extreme.place]
        partitioned = ", ".join([str(self._engine.partitions if groups else 1), *groups])
        joined = select([f"l.{name}" for name in names] + [f"t.term AS {_TEXT}"], self._with_texts(candidates, facts))
        spread = select(["*"], f"{joined} l", hint=f"REPARTITION({partitioned})")
        work = partial(_chosen, names, self._extreme)
        found = self._engine.evaluated(spread, work, ", ".join(f"{name} bigint" for name in names))
        columns = fact_columns([self._head, *(f"l.{name}" for name in names)], self._engine.width)
        return self._engine.computed(select(columns, f"{found} l"))

    def kinds(self, candidates: FactSet, facts: FactSet) -> frozenset[str]:
        few = self._few(candidates, facts)
        if few is not None:
            return kinds_of(self._values(few))
        texts = select([f"DISTINCT t.term AS {_TEXT}"], self._with_texts(candidates, facts))
        found = self._engine.evaluated(texts, _kinds, f"{_KIND} string")
        return frozenset(row[0] for row in self._engine.spark.sql(f"SELECT DISTINCT {_KIND} FROM {found}").collect())

    def _few(self, *sets: FactSet) -> list[tuple[int, ...]] | None:
        """The rows of some facts, if they are few."""
        known: list[Local | None] = [as_spark_facts(facts).local() for facts in sets]
        if None in known:
            return None
        every = (fact for facts in known if facts is not None for fact in facts)
        return sorted({fact[1 : self._arity + 1] for fact in every if fact[0] in self._relations})

    def _values(self, rows: Sequence[tuple[int, ...]]) -> Column:
        ids = [row[self._extreme.place] for row in rows]
        known = self._engine.driver.values(set(ids))
        return column_of([known[id] for id in ids])

    def _with_texts(self, *sets: FactSet) -> str:
        """The facts of some sets, as `l`, each with the text of its value, as `t`."""
        tables: list[Table] = [table for facts in sets if (table := as_spark_facts(facts).table()) is not None]
        return f"{union(tables)} l JOIN {self._engine.texts()} t ON t.id = l.a{self._extreme.place}"


def _chosen(names: Sequence[str], extreme: Extreme, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The best rows of the groups of a partition, in a worker."""
    pieces = list(batches)
    if not sum(piece.num_rows for piece in pieces):
        return
    table = pa.Table.from_batches(pieces)
    rows = np.stack([table.column(name).to_numpy() for name in names])
    chosen = rows[:, best_rows(rows, _read(table.column(_TEXT)), extreme)]
    yield pa.RecordBatch.from_arrays([pa.array(column) for column in chosen], names=list(names))


def _kinds(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The kinds of numbers among some texts, in a worker."""
    for batch in batches:
        yield pa.RecordBatch.from_arrays([pa.array(sorted(kinds_of(_read(batch.column(_TEXT)))))], names=[_KIND])


def _read(texts: pa.Array | pa.ChunkedArray) -> Column:
    dictionary = Dictionary()
    return column_of_ids(dictionary, dictionary.encode_ntriples(texts))

"""The best facts of groups on Spark: facts go to where their group is, and workers choose, many groups at a time.

Few facts are looked at on the driver. Values are ordered by the code that orders them in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.datalog.syntax import Atom, Constant, Extreme, Rule, Variable
from everlog.engine.algebra import BestFacts, FactSet, Forest, Steps
from everlog.engine.best_rows import best_rows, kinds_of
from everlog.engine.both_ways import both_ways
from everlog.engine.memory.dictionary import Dictionary
from everlog.engine.memory.value_columns import column_of_ids
from everlog.engine.spark import tuning
from everlog.engine.spark.driver_minima import DriverForest, Moves, Wide
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.fact_schema import RELATION
from everlog.engine.spark.facts.runs import class_of
from everlog.engine.spark.facts.sets import ComputedFacts, SparkFacts, as_spark_facts
from everlog.engine.spark.facts.sql_text import Table, fact_columns, select, union
from everlog.expressions.columns import Column

_TEXT: Final = "text"
_KIND: Final = "kind"


class SparkBestFacts(BestFacts):
    """The best facts that one rule chooses."""

    def __init__(self, engine: SparkEngine, rule: Rule) -> None:
        assert rule.extreme is not None, "a rule that chooses"
        self._engine, self._extreme, self._arity = engine, rule.extreme, len(rule.head.terms)
        self._terms = rule.head.terms
        (candidate,) = rule.positive
        self._predicate = rule.head.predicate
        self._head = engine.relation(self._predicate, self._arity)
        self._relations = engine.relation(candidate.predicate, self._arity), self._head

    def best(self, candidates: FactSet, facts: FactSet) -> ComputedFacts:
        few = self._few(candidates, facts)
        if few is not None:
            chosen = few[:, best_rows(few, self._values(few), self._extreme)]
            return self._engine.columns({self._predicate: chosen})
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
            return kinds_of(self._values(few), self._extreme)
        texts = select([f"DISTINCT t.term AS {_TEXT}"], self._with_texts(candidates, facts))
        found = self._engine.evaluated(texts, partial(_kinds, self._extreme), f"{_KIND} string")
        return frozenset(row[0] for row in self._engine.spark.sql(f"SELECT DISTINCT {_KIND} FROM {found}").collect())

    def settled(
        self, candidates: FactSet, facts: FactSet, steps: Sequence[Steps]
    ) -> tuple[ComputedFacts, SparkForest] | None:
        sizes = {_shape(step): as_spark_facts(step.facts).at_most() for step in steps}
        given = sum(as_spark_facts(one).at_most() for one in (candidates, facts))
        if given + sum(sizes.values()) > tuning.SETTLED_FACTS:
            return None
        forest = DriverForest(self._engine.driver.terms)
        groups, values = self.given(candidates, facts)
        found = forest.settle(self._extreme, groups, values, self.moves(steps), both_ways(steps))
        return None if found is None else (self.facts(*found), SparkForest(self, forest))

    def given(self, candidates: FactSet, facts: FactSet) -> Wide:
        """The groups, of one term, and the values of candidates and facts."""
        wanted, sets = [self._group, self._extreme.place], map(as_spark_facts, (candidates, facts))
        return np.concatenate(
            [self._columns(one, self._arity, wanted, at) for one in sets for at in self._relations], axis=1
        )

    def moves(self, steps: Sequence[Steps]) -> list[Moves]:
        """Where steps start and end, and what they add. Steps of the same facts, as back and forth, are fetched once."""
        places = [[step.atom.terms.index(one) for one in step[2:] if one is not None] for step in steps]
        columns: dict[tuple[object, ...], dict[int, Wide]] = {}
        for step in steps:
            if _shape(step) not in columns:
                like = (some for other, some in zip(steps, places, strict=True) if _shape(other) == _shape(step))
                wanted = sorted(set[int]().union(*like))
                size = len(step.atom.terms)
                relation = self._engine.relation(step.atom.predicate, size)
                found = self._columns(as_spark_facts(step.facts), size, wanted, relation)
                columns[_shape(step)] = dict(zip(wanted, found, strict=True))
        moves = []
        for step, (start, end, *added) in zip(steps, places, strict=True):
            mine = columns[_shape(step)]
            moves.append(Moves(mine[start], mine[end], mine[added[0]] if added else None))
        return moves

    def facts(self, groups: Wide, values: Wide) -> ComputedFacts:
        """The facts of some groups with some values."""
        return self._engine.columns({self._predicate: self._rows(groups, values)})

    def touched(self, groups: Wide, atom: Atom) -> ComputedFacts:
        """Groups as facts of an atom, which has the terms of a fact without its value."""
        rows = np.delete(self._rows(groups, groups), self._extreme.place, axis=0)
        return self._engine.columns({atom.predicate: rows})

    @property
    def _group(self) -> int:
        """The place of the one term that groups have."""
        terms = enumerate(self._terms)
        (group,) = (at for at, term in terms if isinstance(term, Variable) and at != self._extreme.place)
        return group

    def _rows(self, groups: Wide, values: Wide) -> Wide:
        rows = np.empty((self._arity, len(groups)), np.int64)
        for at, term in enumerate(self._terms):
            rows[at] = self._engine.ids([term])[term] if isinstance(term, Constant) else 0
        rows[self._group], rows[self._extreme.place] = groups, values
        return rows

    def _columns(self, facts: SparkFacts, arity: int, places: Sequence[int], relation: int) -> NDArray[np.int64]:
        """Some arguments of the facts of a relation, which are fetched wherever they are, but not kept."""
        local = facts.local()
        if local is not None:
            return local.of(relation, arity)[:, places].T
        table = facts.table({RELATION: class_of(relation)})
        if table is None:
            return np.empty((len(places), 0), np.int64)
        names = [f"a{place}" for place in places]
        query = f"SELECT {', '.join(names)} FROM {table} WHERE {RELATION} = {relation}"
        found = self._engine.fetched(query, names, facts.at_most())
        return np.stack([found.column(name).to_numpy() for name in names])

    def _few(self, *sets: FactSet) -> NDArray[np.int64] | None:
        """Some facts as columns, if they are few."""
        found = []
        for facts in sets:
            local = as_spark_facts(facts).local()
            if local is None:
                return None
            found += [local.of(relation, self._arity).T for relation in self._relations]
        return np.concatenate(found, axis=1)

    def _values(self, columns: NDArray[np.int64]) -> Column:
        return self._engine.driver.terms.column(columns[self._extreme.place])

    def _with_texts(self, *sets: FactSet) -> str:
        """The facts of some sets, as `l`, each with the text of its value, as `t`."""
        tables: list[Table] = [table for facts in sets if (table := as_spark_facts(facts).table()) is not None]
        return f"{union(tables)} l JOIN {self._engine.texts()} t ON t.id = l.a{self._extreme.place}"


def _shape(step: Steps) -> tuple[object, ...]:
    """What steps that are the same facts have in common."""
    return step.atom.predicate, *(term if isinstance(term, Constant) else None for term in step.atom.terms)


class SparkForest(Forest):
    """A forest on the driver, for the facts of one rule that chooses."""

    def __init__(self, best: SparkBestFacts, forest: DriverForest) -> None:
        self._best, self._forest = best, forest

    def lost(self, gone: Sequence[Steps], candidates: FactSet, facts: FactSet, groups: Atom) -> ComputedFacts | None:
        given, _ = self._best.given(candidates, facts)
        lost = self._forest.lost(self._best.moves(gone), given)
        return None if lost is None else self._best.touched(lost, groups)

    def resettled(
        self, candidates: FactSet, facts: FactSet, come: Sequence[Steps]
    ) -> tuple[ComputedFacts, ComputedFacts] | None:
        groups, values = self._best.given(candidates, facts)
        found = self._forest.resettled(groups, values, self._best.moves(come))
        if found is None:
            return None
        groups, old, new = found
        return self._best.facts(groups[old >= 0], old[old >= 0]), self._best.facts(groups[new >= 0], new[new >= 0])

    def nbytes(self) -> int:
        return self._forest.nbytes()


def _chosen(names: Sequence[str], extreme: Extreme, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The best rows of the groups of a partition, in a worker."""
    pieces = list(batches)
    if not sum(piece.num_rows for piece in pieces):
        return
    table = pa.Table.from_batches(pieces)
    rows = np.stack([table.column(name).to_numpy() for name in names])
    chosen = rows[:, best_rows(rows, _read(table.column(_TEXT)), extreme)]
    yield pa.RecordBatch.from_arrays([pa.array(column) for column in chosen], names=list(names))


def _kinds(extreme: Extreme, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The kinds of numbers among some texts, in a worker."""
    for batch in batches:
        found = kinds_of(_read(batch.column(_TEXT)), extreme)
        yield pa.RecordBatch.from_arrays([pa.array(sorted(found), pa.string())], names=[_KIND])


def _read(texts: pa.Array | pa.ChunkedArray) -> Column:
    dictionary = Dictionary()
    return column_of_ids(dictionary, dictionary.encode_ntriples(texts))

"""Groups of facts on Spark: members go to where their group is, and workers compute what groups have, many at a time.

The values come back as texts and get ids as those of computations do (`joins/computed_values.py`). Few members are
grouped on the driver. Members that came and went are looked at on the driver, too, if they are few; where they are many,
the groups that they belong to are looked at again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.datalog.syntax import Aggregation, Atom, Rule, Variable
from everlog.engine.algebra import FactSet, Groups
from everlog.engine.group_numbers import numbered
from everlog.engine.memory.dictionary import Dictionary
from everlog.engine.memory.value_columns import column_of_ids, ids_of_column
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.driver_facts import DriverFacts
from everlog.engine.spark.facts.driver_sets import Numbered
from everlog.engine.spark.facts.sets import ComputedFacts, SparkFacts, as_spark_facts
from everlog.engine.spark.facts.sql_text import fact_columns, select
from everlog.expressions.aggregation import Members, aggregated, continued
from everlog.expressions.columns import Column

_TEXT: Final = "text"
_Rows = NDArray[np.int64]
"""Facts as columns of ids."""


class SparkGroups(Groups):
    """The groups of one rule, whose head has the variables of a group and then its value."""

    def __init__(self, engine: SparkEngine, rule: Rule) -> None:
        (aggregate,) = rule.aggregates
        (member,), (self._one,) = aggregate.body, aggregate.aggregations
        assert isinstance(member, Atom), "a grouping rule has members"
        self._engine = engine
        self._members = engine.relation(member.predicate, len(member.terms))
        self._predicate = rule.head.predicate
        self._head = engine.relation(self._predicate, len(rule.head.terms))
        self._arity = len(member.terms)
        self._keys = [member.terms.index(variable) for variable in aggregate.groups]
        variables = [argument for argument in self._one.arguments if isinstance(argument, Variable)]
        self._arguments = [member.terms.index(variable) for variable in variables]

    def facts(self, members: FactSet) -> ComputedFacts:
        facts = as_spark_facts(members)
        few = facts.local()
        return self._on_spark(members) if few is None else self._on_driver(facts, few)

    def continued(self, old: FactSet, come: FactSet, gone: FactSet) -> ComputedFacts:
        known, *changes = (as_spark_facts(facts).local() for facts in (old, come, gone))
        if known is None or any(one is None for one in changes) or not len(known):
            return self._engine.empty()
        before = _rows(known, self._head, len(self._keys) + 1)
        rows = before.shape[1]
        moved = [_rows(facts, self._members, self._arity) for facts in changes if facts is not None]
        keys = np.concatenate([before[:-1], *(ids[self._keys] for ids in moved)], axis=1)
        groups, first = numbered(keys, keys.shape[1])
        place = np.full(len(first) or 1, -1, np.intp)
        place[groups[:rows]] = np.arange(rows)
        told: list[Members] = []
        for ids, mine in zip(moved, np.split(place[groups[rows:]], [moved[0].shape[1]]), strict=True):
            there = np.flatnonzero(mine >= 0)
            told.append(Members(mine[there], [self._values(ids[at, there]) for at in self._arguments]))
        return self._made(before[:-1], continued(self._one.function, self._values(before[-1]), *told))

    def _on_driver(self, members: SparkFacts, facts: DriverFacts) -> ComputedFacts:
        known, name = self._engine.driver.grouped.setdefault(members, {}), (self._members, *self._keys)
        if name not in known:  # another aggregate may ask for the same
            rows, columns = facts.columns_of(self._members, self._arity, self._keys)
            known[name] = Numbered(columns, *numbered(columns, rows))
        keys, groups, first = known[name]
        _, ids = facts.columns_of(self._members, self._arity, self._arguments)
        count = len(first) if keys else 1
        values = aggregated(self._one.function, groups, count, list(map(self._values, ids)), self._one.separator)
        shown = np.stack([key[first] for key in keys]) if keys else np.empty((0, 1), np.int64)
        return self._made(shown, values)

    def _values(self, ids: _Rows) -> Column:
        return self._engine.driver.terms.column(ids)

    def _made(self, keys: _Rows, values: Column) -> ComputedFacts:
        ids, kept = self._engine.driver.terms.ids(values)
        return self._engine.columns({self._predicate: np.concatenate([keys, ids[None]])[:, kept]})

    def _on_spark(self, members: FactSet) -> ComputedFacts:
        engine = self._engine
        table = as_spark_facts(members).table()
        assert table is not None, "there are members, and not few"
        keys = [f"a{place}" for place in self._keys]
        joined = select(
            [f"l.{name}" for name in (*keys, *(f"a{at} AS x{at}" for at in self._arguments))] or ["1 AS unit"],
            f"{table} l",
        )
        for at in self._arguments:
            texts, hint = engine.texts_in(table, f"a{at}")
            joined = select(
                [f"l.* EXCEPT (x{at})", f"t.term AS t{at}"], f"{joined} l JOIN {texts} t ON t.id = l.x{at}", hint=hint
            )
        grouped = f"REPARTITION({', '.join([str(engine.partitions), *keys])})" if keys else "REPARTITION(1)"
        columns = [f"{name} bigint" for name in keys] + [f"{_TEXT} string"]
        work = partial(_grouped, self._one, keys, [f"t{at}" for at in self._arguments])
        values = engine.run(engine.evaluated(select(["*"], joined, hint=grouped), work, ", ".join(columns)))
        ids, hint = engine.ids_of_texts(select([f"DISTINCT {_TEXT}"], values.view()))
        found = f"{values.view()} l JOIN {ids} x ON l.{_TEXT} = x.{_TEXT}"
        columns = fact_columns([self._head, *(f"l.{name}" for name in keys), "x.id"], engine.width)
        return engine.computed(select(columns, found, hint=hint))


def _rows(facts: DriverFacts, relation: int, arity: int) -> _Rows:
    return facts.of(relation, arity).T


def _grouped(
    one: Aggregation, keys: Sequence[str], texts: Sequence[str], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """What the groups of a partition have, in a worker, by the code that groups in memory."""
    pieces = list(batches)
    if not sum(piece.num_rows for piece in pieces):
        return
    table = pa.Table.from_batches(pieces)
    dictionary = Dictionary()
    columns = [table.column(name).to_numpy() for name in keys]
    groups, first = numbered(columns, table.num_rows)
    arguments = [column_of_ids(dictionary, dictionary.encode_ntriples(table.column(name))) for name in texts]
    values = aggregated(one.function, groups, len(first), arguments, one.separator)
    ids, kept = ids_of_column(dictionary, values)
    found = dictionary.ntriples_column(ids[kept]).cast(pa.string())
    named = [pa.array(column[first][kept]) for column in columns]
    yield pa.RecordBatch.from_arrays([*named, found], names=[*keys, _TEXT])

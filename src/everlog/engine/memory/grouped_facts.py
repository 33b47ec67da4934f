"""Groups of facts in memory: columns of members are grouped by ids, and `expressions/` computes what groups have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import Atom, Rule, Variable
from everlog.engine.algebra import FactSet, Groups
from everlog.engine.group_numbers import numbered
from everlog.engine.memory import tuning
from everlog.engine.memory.dictionary import Ids
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.grouped_rows import GroupedRows
from everlog.engine.memory.value_columns import column_of_ids, ids_of_column
from everlog.expressions.aggregation import Members, aggregated, continued
from everlog.expressions.columns import Column, Integers

_GROUPED: Final = "grouped rows"


class MemoryGroups(Groups):
    """The groups of one rule, whose head has the variables of a group and then its value."""

    def __init__(self, engine: MemoryEngine, rule: Rule) -> None:
        (aggregate,) = rule.aggregates
        (member,), (self._one,) = aggregate.body, aggregate.aggregations
        assert isinstance(member, Atom), "a grouping rule has members"
        self._engine, self._member, self._head = engine, member, rule.head
        self._keys = [member.terms.index(variable) for variable in aggregate.groups]
        variables = [argument for argument in self._one.arguments if isinstance(argument, Variable)]
        self._arguments = [member.terms.index(variable) for variable in variables]
        self._places = self._keys, self._arguments

    def facts(self, members: FactSet) -> ComputedFacts:
        known = as_memory_facts(members)
        keys, arguments = (self._engine.arguments(known, self._member.predicate, some) for some in self._places)
        if self._keys and len(keys[0]) >= tuning.MANY_MEMBERS:
            return self._made(*self._of_many(known, keys, arguments))
        rows = sum(known.size(table) for table in known.tables())
        groups, first = numbered(keys, rows)
        made = np.stack([column[first] for column in keys]) if keys else np.empty((0, 1), np.int32)
        return self._made(made, self._aggregated(groups, made.shape[1], arguments))

    def _of_many(self, members: MemoryFacts, keys: Sequence[Ids], arguments: Sequence[Ids]) -> tuple[Ids, Column]:
        """Groups of many members, and what they have. Counts and sums of integers are found without a look at values."""
        known, name = self._engine.remembered.setdefault(members, {}), (_GROUPED, self._member, *self._keys)
        if name not in known:  # another aggregate may ask for the same
            known[name] = GroupedRows(keys, self._engine.workers, self._engine.parallel)
        rows = known[name]
        assert isinstance(rows, GroupedRows)
        if self._one.function == "COUNT":
            return rows.keys(), Integers(rows.counts())
        if self._one.function == "SUM":
            totals = rows.sums(self._engine.dictionary, arguments[0])
            if totals is not None:
                return rows.keys(), Integers(totals)
        return rows.keys(), self._aggregated(rows.numbers(), len(rows), arguments)

    def _aggregated(self, groups: NDArray[np.intp], count: int, arguments: Sequence[Ids]) -> Column:
        values = [column_of_ids(self._engine.dictionary, ids) for ids in arguments]
        return aggregated(self._one.function, groups, count, values, self._one.separator)

    def continued(self, old: FactSet, come: FactSet, gone: FactSet) -> ComputedFacts:
        known = self._engine.columns(as_memory_facts(old), self._head.predicate, len(self._head.terms))
        rows = known.shape[1]
        if not rows:
            return self._engine.empty()
        changes = [self._columns(facts) for facts in (come, gone)]
        keys = np.concatenate([known[:-1], *(ids[self._keys] for ids in changes)], axis=1)
        groups, first = numbered(keys, keys.shape[1])
        place = np.full(len(first) or 1, -1, np.intp)
        place[groups[:rows]] = np.arange(rows)
        told: list[Members] = []
        for ids, mine in zip(changes, np.split(place[groups[rows:]], [changes[0].shape[1]]), strict=True):
            there = np.flatnonzero(mine >= 0)
            told.append(Members(mine[there], self._values(ids[:, there])))
        before = column_of_ids(self._engine.dictionary, known[-1])
        return self._made(known[:-1], continued(self._one.function, before, *told))

    def _columns(self, members: FactSet) -> Ids:
        return self._engine.columns(as_memory_facts(members), self._member.predicate, len(self._member.terms))

    def _values(self, ids: Ids) -> Sequence[Column]:
        return [column_of_ids(self._engine.dictionary, ids[place]) for place in self._arguments]

    def _made(self, keys: Ids, values: Column) -> ComputedFacts:
        """The facts about groups that have values."""
        ids, kept = ids_of_column(self._engine.dictionary, values)
        return self._engine.insert(self._head.predicate, np.concatenate([keys, ids[None]])[:, kept])

"""Regions of facts in memory: which tables, or which of their rows, are in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from everlog.datalog.syntax import Atom, Variable
from everlog.engine.algebra import Region
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.rows import Rows
from everlog.engine.memory.facts.table import Ids, Table
from everlog.interrupts import aside

if TYPE_CHECKING:
    from everlog.engine.memory.engine import MemoryEngine
    from everlog.engine.memory.joins.join_plan import Literal


class RegionFilter:
    """A region's atoms by the tables that their instances are in."""

    def __init__(self, engine: MemoryEngine, region: Region) -> None:
        self._rest = region.rest
        self._inside = _by_table(engine, region.patterns)
        self._elsewhere = _by_table(engine, region.elsewhere)
        self._decided: dict[Table, bool | None] = {}

    def within(self, rows: Rows) -> Rows:
        table = rows.table
        decided = self.decided(table)
        if decided is not None:
            return rows if decided else row_sets.span(table, 0, 0)
        array = rows.array()
        n, inside = len(array), self._of(self._inside, table)
        chosen = aside(n, _instances, table, array, inside)
        if self._rest:
            chosen |= ~aside(n, _instances, table, array, self._of(self._elsewhere, table))
        return row_sets.listed(table, array[chosen])

    def decided(self, table: Table) -> bool | None:
        """Whether the region has all facts of a table or none of them (None: some)."""
        if table not in self._decided:
            self._decided[table] = self._decide(table, self._of(self._inside, table), self._of(self._elsewhere, table))
        return self._decided[table]

    @staticmethod
    def _of(literals: Mapping[Table | str, list[Literal]], table: Table) -> list[Literal]:
        return [*literals.get(table, ()), *literals.get(table.predicate, ())]

    def _decide(self, table: Table, inside: Sequence[Literal], outside: Sequence[Literal]) -> bool | None:
        mine = [_coverage(table, literal) for literal in inside]
        if True in mine:
            return True
        if not self._rest:
            return False if all(one is False for one in mine) else None
        others = [_coverage(table, literal) for literal in outside]
        if all(other is False for other in others):
            return True
        return False if True in others and all(one is False for one in mine) else None


def _coverage(table: Table, literal: Literal) -> bool | None:
    """Whether all facts of a table are instances of an atom, or none (None: some)."""
    fixed = dict(table.fixed)
    seen: dict[int, int] = {}
    whole = True
    for position, term in enumerate(literal.terms):
        value = fixed.get(position)
        if term < 0:
            if value is not None and value != ~term:
                return False
            whole = whole and value is not None
        elif term in seen:
            twin = fixed.get(seen[term])
            if value is not None and twin is not None and value != twin:
                return False
            whole = whole and value is not None and twin is not None
        else:
            seen[term] = position
    return True if whole else None


def _instances(table: Table, rows: Ids, literals: Sequence[Literal]) -> npt.NDArray[np.bool_]:
    """Which of some rows of a table are instances of one of some atoms."""
    inside = np.zeros(len(rows), bool)
    if not literals:
        return inside
    facts = table.full_facts(table.tuples(rows), len(literals[0].terms))
    for literal in literals:
        matches = np.ones(len(rows), bool)
        seen: dict[int, int] = {}
        for position, term in enumerate(literal.terms):
            if term < 0:
                matches &= facts[position] == ~term
            elif term in seen:
                matches &= facts[position] == facts[seen[term]]
            else:
                seen[term] = position
        inside |= matches
    return inside


def _by_table(engine: MemoryEngine, patterns: Sequence[Atom]) -> dict[Table | str, list[Literal]]:
    """Atoms by their table where that is known, else by their predicate."""
    groups: dict[Table | str, list[Literal]] = {}
    for pattern in patterns:
        numbers: dict[Variable, int] = {}
        for variable in pattern.variables():
            numbers.setdefault(variable, len(numbers))
        literal = engine.literal(pattern, numbers)
        table = literal.static
        groups.setdefault(pattern.predicate if table is None else table, []).append(literal)
    return groups

"""Regions of facts in memory: which tables, or which of their rows, are in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import Region
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.rows import Rows
from everlog.engine.memory.facts.table import Ids, Table
from everlog.engine.memory.joins.join_plan import Access, Literal, access_to
from everlog.interrupts import aside

if TYPE_CHECKING:
    from everlog.engine.memory.engine import MemoryEngine

_Literals = Mapping[Table | str, Sequence[Literal]]
"""Atoms by their table where that is known, else by their predicate."""


class RegionFilter:
    """A region's atoms by the tables that their instances are in."""

    def __init__(self, engine: MemoryEngine, region: Region) -> None:
        self._rest = region.rest
        self._inside = _by_table(engine, region.patterns)
        self._elsewhere = _by_table(engine, region.elsewhere)
        self._decided: dict[Table, bool | None] = {}

    def within(self, rows: Rows) -> Rows:
        """Those of some rows of a table whose facts are in the region, if it has some of them."""
        table, array = rows.table, rows.array()
        chosen = aside(len(array), _instances, table, array, _accesses(self._inside, table))
        if self._rest:
            chosen |= ~aside(len(array), _instances, table, array, _accesses(self._elsewhere, table))
        return row_sets.listed(table, array[chosen])

    def decided(self, table: Table) -> bool | None:
        """Whether the region has all facts of a table or none of them (None: some)."""
        if table not in self._decided:
            self._decided[table] = self._decide(table)
        return self._decided[table]

    def _decide(self, table: Table) -> bool | None:
        inside, elsewhere = _coverage(self._inside, table), _coverage(self._elsewhere, table)
        if inside or not self._rest:
            return inside
        if elsewhere is False:
            return True
        return False if elsewhere and inside is False else None


def _by_table(engine: MemoryEngine, patterns: Sequence[Atom]) -> _Literals:
    groups: dict[Table | str, list[Literal]] = {}
    for pattern in patterns:
        literal = engine.region_literal(pattern)
        groups.setdefault(literal.static or pattern.predicate, []).append(literal)
    return groups


def _accesses(literals: _Literals, table: Table) -> list[Access]:
    """How to match the atoms that a table can hold instances of."""
    mine = (*literals.get(table, ()), *literals.get(table.predicate, ()))
    return [access for literal in mine if (access := access_to(literal, table)) is not None]


def _coverage(literals: _Literals, table: Table) -> bool | None:
    """Whether all facts of a table are instances of one atom, or none is an instance of any (None: some are)."""
    accesses = _accesses(literals, table)
    if any(not access.columns and not len(access.twins) for access in accesses):
        return True
    return None if accesses else False


def _instances(table: Table, rows: Ids, accesses: Sequence[Access]) -> npt.NDArray[np.bool_]:
    """Which of some rows of a table are instances of one of some atoms."""
    inside, tuples = np.zeros(len(rows), bool), table.tuples(rows)
    for access in accesses:
        matches = np.ones(len(rows), bool)
        for column, value in zip(access.columns, access.consts, strict=True):
            matches &= tuples[column] == value
        for column, twin in access.twins:
            matches &= tuples[column] == tuples[twin]
        inside |= matches
    return inside

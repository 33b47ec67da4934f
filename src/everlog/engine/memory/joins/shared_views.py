"""What is known of sets while several calls are prepared and nothing is entered into tables: sizes, and views.

Rules share the sets that their literals are matched in; each is a formula over others, and worked out once for a table.
"""

from __future__ import annotations

from threading import Lock
from typing import Final

from everlog.engine.memory import tuning
from everlog.engine.memory.facts.sets import MemoryFacts, TableView
from everlog.engine.memory.facts.table import Table
from everlog.interrupts import lasting

COMPILING: Final = lasting(Lock())
"""Held where threads compile views, or enter rows where these are found."""


class Sight:
    """A set of facts in one table."""

    __slots__ = ("_facts", "_table", "_view", "at_most", "is_closed", "magnitude")

    def __init__(self, facts: MemoryFacts, table: Table) -> None:
        self._facts, self._table = facts, table
        self.at_most = facts.at_most(table)
        self.magnitude = magnitude(self.at_most, table.n)
        self.is_closed = facts.may_close and facts.is_closed(table)
        """Whether facts of the set may have no rows there."""
        self._view: TableView | None = None

    @property
    def view(self) -> TableView:
        found = self._view
        if found is None:
            with COMPILING:
                found = self._view = self._facts.view(self._table)
        return found


class Sights(dict[Table, Sight]):
    """A set of facts by table, as far as somebody has asked: to ask again calls nothing."""

    def __init__(self, facts: MemoryFacts) -> None:
        super().__init__()
        self._facts = facts

    def __missing__(self, table: Table) -> Sight:
        found = self[table] = Sight(self._facts, table)
        return found


class SharedViews(dict[MemoryFacts, Sights]):
    """The sets that calls which are prepared together have to do with."""

    def __missing__(self, facts: MemoryFacts) -> Sights:
        found = self[facts] = Sights(facts)
        return found


def magnitude(facts: int, rows: int) -> int:
    """What sizes have in common for which the same plan is used: so many facts of a set, in tables with so many rows."""
    bits, of_rows, least = facts.bit_length(), rows.bit_length(), tuning.SMALL_SIZE_BITS
    return (bits if bits > least else least) // 3 << 8 | (of_rows if of_rows > least else least) // 3

"""Sets of facts with relations that are closed: their facts are no rows of tables, and a `Closure` tells all of them.

Whoever asks such a set for the rows of a closed relation gets them: they are entered then, and stay. So everything works
with such sets; what is to do with many facts asks for sizes, for tuples, or whether tuples are there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import Closed, FactSet
from everlog.engine.memory.facts.rows import NO_ROWS, Rows
from everlog.engine.memory.facts.sets import ComputedFacts, Formula, MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids, Table
from everlog.engine.memory.facts.table_entry import Entry
from everlog.interrupts import look

if TYPE_CHECKING:
    from everlog.engine.memory.engine import MemoryEngine

Booleans = npt.NDArray[np.bool_]


class Closure(Closed):
    """The pairs of a closed relation, by ids: the tuples of its table. Pieces of pairs are there until the next one is."""

    @abstractmethod
    def holds(self, pairs: Ids) -> Booleans:
        """Which pairs, one per column, there are."""

    @abstractmethod
    def pairs(self) -> Iterator[Ids]:
        """All pairs, in pieces."""

    @abstractmethod
    def ending(self, place: int, ids: Ids) -> Iterator[Ids]:
        """The pairs that have one of some distinct ids at a place, in pieces."""

    @abstractmethod
    def spread(self, place: int) -> int:
        """At most how many ids there are at a place."""

    @abstractmethod
    def beyond(self, other: Closure) -> Iterator[Ids]:
        """The pairs that another one has not, in pieces."""

    @abstractmethod
    def size_beyond(self, other: Closure) -> int:
        """How many those are."""


class Pairs(Protocol):
    """The facts of a table that are no rows."""

    def __len__(self) -> int: ...

    def holds(self, pairs: Ids) -> Booleans: ...

    def pairs(self) -> Iterator[Ids]: ...


class _Enumerable(MemoryFacts):
    """Facts of which those of some tables, the `closed` ones, are no rows, until somebody asks for these."""

    may_close = True

    def __init__(self, engine: MemoryEngine, listed: ComputedFacts, closed: Mapping[Table, Pairs]) -> None:
        super().__init__(engine.within)
        self._engine, self._listed, self._closed = engine, listed, closed
        self._entered: dict[Table, Rows] = {}

    def is_closed(self, table: Table) -> bool:
        return table in self._closed

    def size(self, table: Table) -> int:
        return len(self._closed[table]) if self.is_closed(table) else self._listed.size(table)

    def holds(self, table: Table, tuples: Ids) -> Booleans:
        return self._closed[table].holds(tuples) if self.is_closed(table) else super().holds(table, tuples)

    def rows(self, table: Table) -> Rows:
        if not self.is_closed(table):
            return self._listed.rows(table)
        if table not in self._entered:
            entry = Entry(table, 1)
            for tuples in self._closed[table].pairs():
                look()
                entry.put(0, np.ascontiguousarray(tuples), tuples.shape[1], np.arange(table.arity), NO_ROWS)
                entry.enter(self._engine.parallel)
            self._entered[table] = entry.rows()
        return self._entered[table]

    def tuples(self, table: Table) -> Ids:
        return joined(self._closed[table].pairs(), table.arity) if self.is_closed(table) else super().tuples(table)

    def pieces(self, table: Table) -> Iterator[Ids]:
        return self._closed[table].pairs() if self.is_closed(table) else super().pieces(table)

    def formula(self, table: Table, bits: bool = False) -> Formula:
        return ComputedFacts(self._within, {table: self.rows(table)}).formula(table, bits)

    def at_most(self, table: Table) -> int:
        return self.size(table)

    def contains(self, table: Table, rows: Ids) -> Booleans:
        return self.holds(table, table.tuples(rows)) if self.is_closed(table) else self.rows(table).contains(rows)


class ClosedFacts(_Enumerable):
    """Facts, of which those of closed relations are what `base` has and all that follows from that."""

    def __init__(self, engine: MemoryEngine, base: MemoryFacts, closures: Mapping[Atom, Closure]) -> None:
        closed = {engine.static(atom): closure for atom, closure in closures.items() if len(closure)}
        super().__init__(engine, base.computed(), closed)
        self._closures, self._closures_by_table = closures, closed

    def ending(self, table: Table, place: int, ids: Ids) -> Iterator[Ids]:
        if not self.is_closed(table):
            return super().ending(table, place, ids)
        return self._closures_by_table[table].ending(place, ids)

    def spread(self, table: Table, place: int) -> int:
        return self._closures_by_table[table].spread(place) if self.is_closed(table) else 0

    @property
    def base(self) -> ComputedFacts:
        return self._listed

    @property
    def closures(self) -> Mapping[Atom, Closure]:
        return self._closures

    def tables(self) -> set[Table]:
        return self._listed.tables() | self._closed.keys()

    def __bool__(self) -> bool:
        return bool(self._closed) or bool(self._listed)

    def __ior__(self, other: FactSet) -> MemoryFacts:
        more = as_memory_facts(other)
        mine = [table for table in more.tables() if table in self._closed]
        if more.closures or not all(self.holds(table, more.tuples(table)).all() for table in mine):
            return super().__ior__(other)
        found = ClosedFacts(self._engine, self._listed.united(more), self._closures)
        found._entered = self._entered
        return found


@dataclass(frozen=True)
class _Difference:
    """The pairs that a closure has and another has not, without some of them, and with others."""

    closure: Closure
    other: Closure
    beyond: int
    without: Ids
    more: Ids

    def __len__(self) -> int:
        return self.beyond - int(self.without.shape[1]) + int(self.more.shape[1])

    def pairs(self) -> Iterator[Ids]:
        left_out = codes(self.without)
        for pairs in self.closure.beyond(self.other):
            yield pairs[:, ~np.isin(codes(pairs), left_out)] if len(left_out) else pairs
        if self.more.shape[1]:
            yield self.more

    def holds(self, pairs: Ids) -> Booleans:
        new = self.closure.holds(pairs) & ~self.other.holds(pairs) & ~np.isin(codes(pairs), codes(self.without))
        found: Booleans = new | np.isin(codes(pairs), codes(self.more))
        return found


class ChangedFacts(_Enumerable):
    """Some facts, and pairs by which closures of relations differ."""

    def tables(self) -> set[Table]:
        listed = (table for table in self._listed.tables() if table not in self._closed)
        return {*listed, *(table for table, pairs in self._closed.items() if len(pairs))}

    def __bool__(self) -> bool:
        return any(self.size(table) for table in self.tables())


Changed = tuple[ChangedFacts, ChangedFacts, ChangedFacts, ChangedFacts]
"""What came to `I` and went, and what came to `I ∖ E` and went."""


def changed_facts(
    engine: MemoryEngine,
    then: ClosedFacts,
    now: ClosedFacts,
    explicit: tuple[FactSet, FactSet],
    sets: Sequence[FactSet],
) -> Changed:
    """What an update did, where it went from one set to another with the same relations closed.

    `explicit` are the facts that were made explicit, and those that are so no longer; the `sets` are what the update did
    to what is listed.
    """
    plus, minus = map(as_memory_facts, explicit)
    changes: tuple[dict[Table, _Difference], ...] = ({}, {}, {}, {})
    for atom, after in now.closures.items():
        table, before = engine.static(atom), then.closures[atom]
        come, gone = plus.tuples(table), minus.tuples(table)
        known, stays = before.holds(come), after.holds(gone)
        nothing = come[:, :0]
        more, fewer = (after, before, after.size_beyond(before)), (before, after, before.size_beyond(after))
        changes[0][table] = _Difference(*more, nothing, nothing)
        changes[1][table] = _Difference(*fewer, nothing, nothing)
        changes[2][table] = _Difference(*more, come[:, ~known], gone[:, stays])
        changes[3][table] = _Difference(*fewer, gone[:, ~stays], come[:, known])
    made = [
        ChangedFacts(engine, as_memory_facts(facts).computed(), some) for facts, some in zip(sets, changes, strict=True)
    ]
    return made[0], made[1], made[2], made[3]


def codes(pairs: Ids) -> npt.NDArray[np.int64]:
    """Pairs as numbers."""
    found: npt.NDArray[np.int64] = (pairs[0].astype(np.int64) << 32) | pairs[1]
    return found


def joined(pieces: Iterable[Ids], arity: int) -> Ids:
    """Tuples that come in pieces, together."""
    return np.concatenate(list(chain([np.empty((arity, 0), np.int32)], (piece.copy() for piece in pieces))), axis=1)

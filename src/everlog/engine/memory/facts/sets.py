"""Sets of facts over all tables: computed ones and views.

A view is compiled for one table at a time: to bounds on the row number where every set involved is a span (as in a
materialisation, where `I`, `Δ` and `I - Δ` are), and to terms over the mask's bits otherwise.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from everlog.engine.algebra import FactSet, Region
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.rows import NO_ANNOTATION, NO_TERMS, Pin, Rows
from everlog.engine.memory.facts.table import Ids, Table
from everlog.interrupts import look

if TYPE_CHECKING:
    from everlog.engine.memory.facts.annotations import RowAnnotation

Masks = npt.NDArray[np.uint16]


class Inside(Protocol):
    """What tells the facts of a region (`region_filters.py`)."""

    def decided(self, table: Table) -> bool | None:
        """Whether the region has all facts of a table or none of them (None: some)."""

    def within(self, rows: Rows) -> Rows:
        """Those of some rows whose facts are in the region."""


Within = Callable[[Region], Inside]
"""What an engine knows of a region."""


_Test = tuple[npt.NDArray[np.int64], Masks, Masks, npt.NDArray[np.int32]]
"""Bounds, terms and annotation, as the kernels take them."""


class TableView:
    """A view on one table. It keeps its sets alive, and their marks where they are.

    Without a test, all rows from `lo` to `hi` are in it; most such views are never tested row by row.
    """

    __slots__ = ("_test", "alive", "hi", "is_span", "lo")

    def __init__(self, lo: int, hi: int, alive: tuple[Pin | Rows, ...] = (), test: _Test | None = None) -> None:
        self.lo, self.hi, self.alive = lo, hi, alive
        self.is_span = test is None
        self._test = test

    def test(self, table: Table) -> tuple[npt.NDArray[np.int64], Masks, Masks, Masks, npt.NDArray[np.int32]]:
        """The arguments by which kernels test rows of the table: bounds, terms, mask and annotation."""
        found = self._test
        if found is None:
            bounds = np.array([self.lo, self.hi, 0, 0, 0, 0], np.int64)
            found = self._test = bounds, NO_TERMS, NO_TERMS, NO_ANNOTATION
        bounds, care, want, annotation = found
        return bounds, care, want, table.mask, annotation

    def has_all(self, rows: int) -> bool:
        """Whether all rows up to a number are in the view, without a test."""
        return self.is_span and self.lo == 0 and self.hi >= rows


class Formula(NamedTuple):
    """Rows `lo..hi` for which one of the (care, want) terms holds; `None` for terms: no mask is tested.

    A formula is tight when no row outside `lo..hi` fulfils a term, so that the bounds can be forgotten.
    """

    lo: int
    hi: int
    terms: tuple[tuple[int, int], ...] | None
    alive: tuple[Pin | Rows, ...] = ()
    tight: bool = False
    annotation: tuple[RowAnnotation, int, int] | None = None


class MemoryFacts(FactSet):
    """A set of facts, computed or not: what views and computed sets have in common."""

    may_close = False
    """Whether facts of some table may have no rows; who asks about many tables asks for this first."""

    def __init__(self, within: Within) -> None:
        self._within = within

    @abstractmethod
    def tables(self) -> set[Table]:
        """The tables in which the set may have rows."""

    @abstractmethod
    def rows(self, table: Table) -> Rows:
        """The rows of the set in one table, computed."""

    @abstractmethod
    def formula(self, table: Table, bits: bool = False) -> Formula:
        """The set as a test; with `bits`, spans are tested by a bit of the mask like other sets."""

    @abstractmethod
    def at_most(self, table: Table) -> int:
        """At most how many rows of a table are in the set; not 0 unless there is none."""

    def contains(self, table: Table, rows: Ids) -> npt.NDArray[np.bool_]:
        """Which of some rows of a table are in the set; a view is not computed for that."""
        return self.rows(table).contains(rows)

    # What can be asked without rows: facts of relations that are closed (`closed_facts.py`) may have none.

    def is_closed(self, table: Table) -> bool:
        """Whether facts of a table that are in the set may have no rows."""
        return False

    def size(self, table: Table) -> int:
        """How many facts of a table are in the set."""
        return len(self.rows(table))

    def tuples(self, table: Table) -> Ids:
        """The facts of a table that are in the set, one per column."""
        return self.rows(table).tuples()

    def pieces(self, table: Table) -> Iterator[Ids]:
        """The same in pieces, each of which is there until the next is."""
        yield self.tuples(table)

    def holds(self, table: Table, tuples: Ids) -> npt.NDArray[np.bool_]:
        """Which of some facts of a table, one per column, are in the set."""
        there, found = np.zeros(tuples.shape[1], np.bool_), table.find(tuples)
        stored = np.flatnonzero(found >= 0)
        there[stored] = self.contains(table, found[stored])
        return there

    def ending(self, table: Table, place: int, ids: Ids) -> Iterator[Ids]:
        """The facts of a table in the set that have one of some distinct ids at a place, in such pieces."""
        tuples = self.tuples(table)
        yield tuples[:, np.isin(tuples[place], ids)]

    def spread(self, table: Table, place: int) -> int:
        """At most how many ids facts without rows have at a place."""
        return 0

    def arrays(self) -> Iterator[tuple[Table, Ids]]:
        """The rows of the set, table by table."""
        return ((table, self.rows(table).array()) for table in self.tables())

    def computed(self) -> ComputedFacts:
        return ComputedFacts(self._within, {table: rows for table in self.tables() if len(rows := self.rows(table))})

    def within(self, region: Region) -> ComputedFacts:
        inside, found = self._within(region), dict[Table, Rows]()
        for table in self.tables():
            decided = inside.decided(table)
            if decided is not False:
                rows = self.rows(table) if decided else inside.within(self.rows(table))
                if len(rows):
                    found[table] = rows
        return ComputedFacts(self._within, found)

    def __or__(self, other: FactSet) -> MemoryFacts:
        other = as_memory_facts(other)
        return self if is_nothing(other) else View(self._within, "|", self, other)

    def __sub__(self, other: FactSet) -> View:
        return View(self._within, "-", self, as_memory_facts(other))

    def __and__(self, other: FactSet) -> View:
        return View(self._within, "&", self, as_memory_facts(other))

    # In place, a new value is computed; a view is left alone, since others may hold it.

    def __ior__(self, other: FactSet) -> MemoryFacts:
        return self.computed().united(as_memory_facts(other))

    def __isub__(self, other: FactSet) -> ComputedFacts:
        return self.computed().reduced(as_memory_facts(other))

    def __iand__(self, other: FactSet) -> ComputedFacts:
        return self.computed().restricted(as_memory_facts(other))

    def __bool__(self) -> bool:
        return any(len(self.rows(table)) for table in self.tables())

    def __len__(self) -> int:
        return sum(self.size(table) for table in self.tables())

    def view(self, table: Table) -> TableView:
        """The set as the kernels test for it."""
        lo, hi, terms, alive, _, annotation = self.formula(table)
        if terms is None and annotation is None:
            return TableView(lo, hi, alive)
        bounds = np.array([lo, hi, terms is not None, 0, 0, 0], np.int64)
        care, want = (NO_TERMS, NO_TERMS) if terms is None else np.array(terms, np.uint16).reshape(-1, 2).T.copy()
        values = NO_ANNOTATION
        if annotation is not None:
            values = annotation[0].values(table)
            bounds[3:] = 1, annotation[1], annotation[2]
        return TableView(lo, hi, alive, (bounds, care, want, values))


def as_memory_facts(facts: FactSet) -> MemoryFacts:
    """A set that an algorithm hands over; it must be of this engine."""
    if type(facts) is ComputedFacts:  # the usual case; to ask an abstract class takes longer
        return facts
    assert isinstance(facts, MemoryFacts), "a set of facts of another engine"
    return facts


class ComputedFacts(MemoryFacts):
    """A computed set: rows of tables."""

    def __init__(self, within: Within, parts: Mapping[Table, Rows]) -> None:
        super().__init__(within)
        self._parts = parts

    def tables(self) -> set[Table]:
        return set(self._parts)

    def rows(self, table: Table) -> Rows:
        found = self._parts.get(table)
        return row_sets.span(table, 0, 0) if found is None else found

    def at_most(self, table: Table) -> int:
        found = self._parts.get(table)
        return 0 if found is None else found.size

    def __len__(self) -> int:
        return sum([rows.size for rows in self._parts.values()])

    def view(self, table: Table) -> TableView:
        found = self._parts.get(table)
        if found is None:
            return TableView(0, 0)
        return TableView(found.lo, found.hi) if found.is_span else super().view(table)

    def computed(self) -> ComputedFacts:
        return self

    def __bool__(self) -> bool:
        return any(self._parts.values())

    def formula(self, table: Table, bits: bool = False) -> Formula:
        found = self._parts.get(table)
        if found is None:
            return Formula(0, 0, None)
        rows = found
        if rows.size == 0 or (rows.is_span and not bits):
            return Formula(rows.lo, rows.hi, None)
        pin = rows.pinned()
        bit = pin.mark.bit
        return Formula(rows.lo, rows.hi, ((bit, bit),), (pin, rows), tight=True)

    def __ior__(self, other: FactSet) -> ComputedFacts:
        return self.united(as_memory_facts(other))

    def united(self, other: MemoryFacts) -> ComputedFacts:
        if is_nothing(other):
            return self
        if type(other) is ComputedFacts:
            if not self._parts:
                return other
            parts = dict(self._parts)
            for table, rows in other._parts.items():
                mine = parts.get(table)
                parts[table] = rows if mine is None else row_sets.union(mine, rows, consume=True)
            return ComputedFacts(self._within, parts)
        return self._changed(other, partial(row_sets.union, consume=True), other.tables())

    def reduced(self, other: MemoryFacts) -> ComputedFacts:
        if not isinstance(other, ComputedFacts):
            return self._sifted(other, outside=True)
        return self._changed(other, partial(row_sets.difference, consume=True), other.tables() & self.tables())

    def restricted(self, other: MemoryFacts) -> ComputedFacts:
        if not isinstance(other, ComputedFacts):
            return self._sifted(other)
        return self._changed(other, row_sets.intersection, self.tables())

    def _sifted(self, other: MemoryFacts, outside: bool = False) -> ComputedFacts:
        """What is in a view, or outside of it. The rows of this set are tested; the view is not computed."""
        found = {table: _among(rows, other, outside) for table, rows in self._parts.items()}
        return ComputedFacts(self._within, {table: rows for table, rows in found.items() if len(rows)})

    def _changed(self, other: MemoryFacts, change: Callable[[Rows, Rows], Rows], only: set[Table]) -> ComputedFacts:
        if not only:
            return self
        parts = dict(self._parts)
        for table in only:
            rows = change(self.rows(table), other.rows(table))
            if len(rows):
                parts[table] = rows
            else:
                parts.pop(table, None)
        return ComputedFacts(self._within, parts)


def is_nothing(facts: MemoryFacts) -> bool:
    """Whether a set is known to be empty, without any look at views."""
    return type(facts) is ComputedFacts and not facts._parts


class View(MemoryFacts):
    """`left | right`, `left - right` or `left & right`; computed at most once, when it must be."""

    def __init__(self, within: Within, operator: str, left: MemoryFacts, right: MemoryFacts) -> None:
        super().__init__(within)
        if operator == "&" and (isinstance(left, Between) or left.closures):
            left, right = right, left
        self._operator, self._left, self._right = operator, left, right
        self._rows: dict[Table, Rows] = {}
        self.may_close = left.may_close or right.may_close

    def tables(self) -> set[Table]:
        if self._operator == "|":
            return self._left.tables() | self._right.tables()
        if self._operator == "-" or isinstance(self._right, Between):
            return self._left.tables()
        return self._left.tables() & self._right.tables()

    def rows(self, table: Table) -> Rows:
        if table not in self._rows:
            self._rows[table] = self._compute(table)
        return self._rows[table]

    def contains(self, table: Table, rows: Ids) -> npt.NDArray[np.bool_]:
        if table in self._rows:
            return self._rows[table].contains(rows)
        left, right = self._left.contains(table, rows), self._right.contains(table, rows)
        if self._operator == "|":
            return left | right
        return left & (right if self._operator == "&" else ~right)

    def at_most(self, table: Table) -> int:
        if table in self._rows:
            return self._rows[table].size
        left, right = self._left.at_most(table), self._right.at_most(table)
        if self._operator == "|":
            return left + right
        if self._operator == "&":
            return min(left, right)
        if left and right and not (self.may_close and self.is_closed(table)):
            formula = self.formula(table)
            return min(left, max(0, formula.hi - formula.lo))
        return left

    def is_closed(self, table: Table) -> bool:
        left, right = self._left.is_closed(table), self._right.is_closed(table)
        return left if self._operator == "-" else left or right if self._operator == "|" else left and right

    def size(self, table: Table) -> int:
        if table in self._rows or self._operator != "-" or not self._left.is_closed(table):
            return super().size(table)
        return self._left.size(table) - int(self._left.holds(table, self._right.tuples(table)).sum())

    def tuples(self, table: Table) -> Ids:
        if table in self._rows or self._operator != "-" or not self._left.is_closed(table):
            return super().tuples(table)
        found = [np.empty((table.arity, 0), np.int32), *(tuples.copy() for tuples in self.pieces(table))]
        return np.concatenate(found, axis=1)

    def pieces(self, table: Table) -> Iterator[Ids]:
        if table in self._rows or self._operator != "-" or not self._left.is_closed(table):
            yield from super().pieces(table)
            return
        some = self._right.at_most(table)
        for tuples in self._left.pieces(table):
            look()
            yield tuples[:, ~self._right.holds(table, tuples)] if some else tuples

    def holds(self, table: Table, tuples: Ids) -> npt.NDArray[np.bool_]:
        if table in self._rows or not (self._left.is_closed(table) or self._right.is_closed(table)):
            return super().holds(table, tuples)
        left, right = self._left.holds(table, tuples), self._right.holds(table, tuples)
        if self._operator == "|":
            return left | right
        return left & (right if self._operator == "&" else ~right)

    def ending(self, table: Table, place: int, ids: Ids) -> Iterator[Ids]:
        if table in self._rows or not self.is_closed(table):
            yield from super().ending(table, place, ids)
            return
        left, right, operator = self._left, self._right, self._operator
        some = operator == "&" or right.at_most(table)
        for tuples in left.ending(table, place, ids):
            look()
            yield tuples if operator == "|" or not some else tuples[:, right.holds(table, tuples) == (operator == "&")]
        if operator == "|" and some:
            for tuples in right.ending(table, place, ids):
                look()
                yield tuples[:, ~left.holds(table, tuples)]

    def spread(self, table: Table, place: int) -> int:
        return max(self._left.spread(table, place), self._right.spread(table, place))

    def _compute(self, table: Table) -> Rows:
        if isinstance(self._right, Between) or (self._operator != "|" and self._right.is_closed(table)):
            return _among(self._left.rows(table), self._right, outside=self._operator == "-")
        return _COMPUTED[self._operator](self._left.rows(table), self._right.rows(table))

    def formula(self, table: Table, bits: bool = False) -> Formula:
        if table in self._rows:
            return ComputedFacts(self._within, self._rows).formula(table, bits)
        left, right = self._left.formula(table, bits), self._right.formula(table, bits)
        combined = _COMBINED[self._operator](left, right)
        if combined is None and bits:
            self.rows(table)
        return combined if combined is not None else self.formula(table, bits=True)


def _either(x: Formula, y: Formula) -> Formula | None:
    if x.lo >= x.hi:
        return y
    if y.lo >= y.hi:
        return x
    if x.annotation or y.annotation:
        return None
    lo, hi = min(x.lo, y.lo), max(x.hi, y.hi)
    if x.terms is None and y.terms is None:
        return Formula(lo, hi, None) if y.lo <= x.hi and x.lo <= y.hi else None
    if x.terms is None:
        return x if x.lo <= y.lo and y.hi <= x.hi else None
    if y.terms is None:
        return y if y.lo <= x.lo and x.hi <= y.hi else None
    return Formula(lo, hi, x.terms + y.terms, x.alive + y.alive, tight=True) if x.tight and y.tight else None


def _both(x: Formula, y: Formula) -> Formula | None:
    if x.annotation and y.annotation:
        return None
    lo, hi = max(x.lo, y.lo), min(x.hi, y.hi)
    annotation = x.annotation or y.annotation
    alive = x.alive + y.alive
    if x.terms is None or y.terms is None:
        return Formula(lo, hi, x.terms if y.terms is None else y.terms, alive, False, annotation)
    terms = tuple(
        (care | other_care, want | other_want)
        for care, want in x.terms
        for other_care, other_want in y.terms
        if want & other_care == other_want & care
    )
    return Formula(lo, hi, terms, alive, x.tight and y.tight, annotation)


def _without(x: Formula, y: Formula) -> Formula | None:
    if y.hi <= x.lo or x.hi <= y.lo or y.lo >= y.hi:
        return x
    if y.annotation:
        return None
    if y.terms is None:
        if y.lo <= x.lo:
            return x._replace(lo=min(y.hi, x.hi), tight=False)
        return x._replace(hi=y.lo, tight=False) if x.hi <= y.hi else None
    if not y.tight and not (y.lo <= x.lo and x.hi <= y.hi):
        return None
    terms = x.terms if x.terms is not None else ((0, 0),)
    left: Formula | None = Formula(x.lo, x.hi, terms, x.alive + y.alive, False, x.annotation)
    for care, want in y.terms:
        bits = [1 << bit for bit in range(16) if care >> bit & 1]
        opposite = tuple((bit, ~want & bit) for bit in bits)
        left = _both(left, Formula(x.lo, x.hi, opposite)) if left else None
    # What is left of a tight set still carries that set's bits.
    return left._replace(tight=x.tight) if left else None


_COMBINED: dict[str, Callable[[Formula, Formula], Formula | None]] = {"|": _either, "&": _both, "-": _without}
_COMPUTED: dict[str, Callable[[Rows, Rows], Rows]] = {
    "|": row_sets.union,
    "&": row_sets.intersection,
    "-": row_sets.difference,
}


class Between(MemoryFacts):
    """All facts whose annotation lies in a range; it has no rows of its own, only a test."""

    def __init__(self, within: Within, annotation: RowAnnotation, least: int, greatest: int) -> None:
        super().__init__(within)
        self._annotation, self._least, self._greatest = annotation, least, greatest

    def tables(self) -> set[Table]:
        raise TypeError("a range of annotations has no facts of its own: intersect it with a set")

    def rows(self, table: Table) -> Rows:
        return _among(row_sets.span(table, 0, table.n), self)

    def at_most(self, table: Table) -> int:
        return table.n

    def formula(self, table: Table, bits: bool = False) -> Formula:
        if not self._annotation.mentions(table):
            inside = self._least <= 0 <= self._greatest
            return Formula(0, table.n if inside else 0, None)
        return Formula(0, table.n, None, (), False, (self._annotation, self._least, self._greatest))

    def contains(self, table: Table, rows: Ids) -> npt.NDArray[np.bool_]:
        values = self._annotation.of(table, rows)
        inside: npt.NDArray[np.bool_] = (values >= self._least) & (values <= self._greatest)
        return inside


def _among(rows: Rows, facts: MemoryFacts, outside: bool = False) -> Rows:
    """Those of some rows that are in a set, or outside of it; the set is not computed."""
    array = rows.array()
    return row_sets.kept(rows, array, facts.contains(rows.table, array) != outside)

"""Sets of rows of one table, as values.

A set has one of three forms: a *span* of consecutive rows, which costs nothing; a *list* of rows, for what is small; and
*dense*, a bit in the table's mask and nothing else, for what is large and has holes. Any form gets a bit of the mask when
a join must test rows for membership; the bit is cleared and given back when the set is forgotten.

`union` and `difference` with `consume` make a new set out of an old one at the cost of the difference; the old value stays
right, since a list is shared up to its old length and a dense set remembers what was done to its bit. Using such an old
dense value again costs a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import RLock
from weakref import ref

import numpy as np
import numpy.typing as npt

from everlog.engine.memory import tuning
from everlog.engine.memory.facts.table import Ids, Table, grown
from everlog.engine.memory.kernels import table_kernels as kernels
from everlog.interrupts import aside, lasting

NO_ROWS: Ids = np.empty(0, np.int32)
NO_TERMS: npt.NDArray[np.uint16] = np.empty(0, np.uint16)
NO_ANNOTATION: npt.NDArray[np.int32] = np.empty(0, np.int32)


_LOCK = lasting(RLock())
"""Held while bits are given out, taken back and pinned."""


class Mark:
    """A bit of a table's mask, set in the rows of one set.

    A table has sixteen bits. When they are used up, a set that no view tests at the moment loses its bit, and becomes a
    list if the bit was all it had; a mark without an owner keeps its bit.

    Python may drop a mark anywhere, on any thread, and while others write to the mask. So that does no more than to note
    it; the rows lose the bit when it is needed again.
    """

    def __init__(self, table: Table, on: list[Ids] | None = None, owner: Rows | _Log | None = None) -> None:
        self.pin: Callable[[], Pin | None] = lambda: None
        with _LOCK:
            self.table = table
            self.bit = _free_bit(table)
        self.on = on
        """The rows that may carry the bit; None for any."""
        self.owner: Callable[[], Rows | _Log | None] = lambda: None
        if owner is not None:
            self.belongs_to(owner)
        for rows in on or ():
            self.set(rows)

    def belongs_to(self, owner: Rows | _Log) -> None:
        """Notes whose bit this is: the owner may be asked to do without it."""
        self.owner = ref(owner)
        marks = self.table.marks
        marks[:] = [known for known in marks if (mark := known()) is not None and mark is not self]
        marks.append(ref(self))

    def set(self, rows: Ids) -> None:
        kernels.mark(rows, np.uint16(self.bit), self.table.mask)

    def clear(self, rows: Ids) -> None:
        kernels.unmark(rows, np.uint16(self.bit), self.table.mask)

    def __del__(self) -> None:
        if getattr(self, "bit", 0):
            self.table.dropped_bits.append((self.bit, self.on))


@dataclass(eq=False, slots=True, weakref_slot=True)
class Pin:
    """Keeps a set's mark where it is, as long as somebody tests the bit."""

    mark: Mark


def _free_bit(table: Table) -> int:
    """A bit that no row has."""
    if not table.free_bits:
        table.clear_bits()
        if not table.free_bits:
            _take_back(table)
            table.clear_bits()
    return table.free_bits.pop()


def _take_back(table: Table) -> None:
    """Frees the bit of the set that misses it least: a list can be marked again, a dense set has to be listed."""
    marks = [mark for known in table.marks if (mark := known()) is not None and mark.pin() is None]
    owners = [owner for mark in marks if (owner := mark.owner()) is not None]
    if not owners:
        raise RuntimeError(f"more than 16 sets of facts of {table.predicate} are tested at once")
    min(owners, key=lambda one: (one.is_dense, one.size) if isinstance(one, Rows) else (False, one.n)).unmark()


class _Log:
    """A growing list of rows that several sets share, each up to its own length; marked, if at all, in full."""

    def __init__(self, rows: Ids) -> None:
        self.rows = rows
        self.n = len(rows)
        self.mark: Mark | None = None

    def unmark(self) -> None:
        self.mark = None

    def append(self, more: Ids) -> None:
        wanted = self.n + len(more)
        self.rows = grown(self.rows, wanted, max(2 * self.n, 16))
        self.rows[self.n : wanted] = more
        self.n = wanted
        if self.mark is not None:
            self.mark.set(more)
            self.mark.on = [self.rows[: self.n]]


@dataclass(eq=False, repr=False, slots=True, weakref_slot=True)
class Rows:
    """An immutable set of rows of one table. Make one with `span`, `listed` or the functions below."""

    table: Table
    lo: int
    hi: int
    size: int
    _log: _Log | None = None
    _mark: Mark | None = None
    _later: tuple[Rows, Ids, Ids] | None = None
    """For a dense set whose bit was passed on: its successor, and the rows that this added and removed."""

    def __len__(self) -> int:
        return self.size

    @property
    def is_span(self) -> bool:
        return self.size == self.hi - self.lo

    @property
    def is_dense(self) -> bool:
        return not self.is_span and self._log is None

    def array(self) -> Ids:
        """The rows, in no special order; not to be written to."""
        if self.is_span:
            return np.arange(self.lo, self.hi, dtype=np.int32)
        pin = self.pinned() if self._log is None else None
        if self._log is not None:  # perhaps just now, to have its bit for another set
            return self._log.rows[: self.size]
        assert pin is not None
        return _select(self.table, pin.mark, self.lo, self.hi)

    def tuples(self) -> Ids:
        """The tuples of the rows, one per column; of a span they are the table's own."""
        table = self.table
        if self.is_span:
            return table.cols[:, self.lo : self.hi]
        pin = self.pinned() if self._log is None else None
        if self._log is not None:  # perhaps just now, to have its bit for another set
            return table.tuples(self._log.rows[: self.size])
        assert pin is not None
        found = np.empty((table.arity, self.size), np.int32)
        test = np.uint16(pin.mark.bit), table.mask, table.cols
        aside(self.hi - self.lo, kernels.marked_tuples, self.lo, self.hi, *test, found)
        return found

    def mark(self) -> Mark:
        """The mark that is set in exactly these rows."""
        if self._log is not None:
            log = self._log
            if log.n != self.size:
                self._log = log = _Log(log.rows[: self.size].copy())
            if log.mark is None:
                log.mark = Mark(self.table, [log.rows[: log.n]], log)
            return log.mark
        if self._later is not None:
            self._recover()
            return self.mark()
        if self._mark is None:
            self._mark = Mark(self.table, owner=self)
            self.table.mask[self.lo : self.hi] |= np.uint16(self._mark.bit)
        return self._mark

    def pinned(self) -> Pin:
        """The mark, for as long as it is tested."""
        with _LOCK:
            mark = self.mark()
            pin = mark.pin()
            if pin is None:
                pin = Pin(mark)
                mark.pin = ref(pin)
            return pin

    def unmark(self) -> None:
        """Does without the bit; a set that is neither a span nor a list becomes one."""
        if self.is_dense and self._mark is not None:
            self._log = _Log(_select(self.table, self._mark, self.lo, self.hi))
        self._mark = None

    def _recover(self) -> None:
        """Makes this old version of a dense set independent of its successors."""
        assert self._later is not None
        after, added, removed = self._later
        inside = np.zeros(self.table.n, bool)
        inside[after.array()] = True
        inside[added] = False
        inside[removed] = True
        self._mark, self._later = Mark(self.table, owner=self), None
        self.table.mask[: len(inside)][inside] |= np.uint16(self._mark.bit)

    def contains(self, rows: Ids) -> npt.NDArray[np.bool_]:
        """Which of some rows are in the set."""
        if self.is_span:
            return (rows >= self.lo) & (rows < self.hi)
        log, table = self._log, self.table
        if log is not None and log.mark is None and table.bits_left() <= tuning.BITS_FOR_VIEWS:
            # Memory that is never touched costs nothing, so this may be as long as the table.
            inside = np.zeros(table.n, np.bool_)
            inside[log.rows[: self.size]] = True
            return inside[rows]
        pin = self.pinned()  # before the mask is read: this may be what sets the bit
        inside = np.empty(len(rows), np.bool_)
        aside(len(rows), kernels.marked, rows, np.uint16(pin.mark.bit), table.mask, inside)
        return inside


def span(table: Table, lo: int, hi: int) -> Rows:
    return Rows(table, lo, hi, hi - lo)


def listed(table: Table, rows: Ids) -> Rows:
    """The set of some distinct rows; the array must not be written to afterwards."""
    if len(rows) == 0:
        return span(table, 0, 0)
    lo, hi = int(rows.min()), int(rows.max()) + 1
    if hi - lo == len(rows):
        return span(table, lo, hi)
    return Rows(table, lo, hi, len(rows), _Log(rows))


def distinct(table: Table, rows: Ids) -> Ids:
    """Some rows, each once, in their order."""
    if len(rows) < few(table.n):
        return np.unique(rows)
    flags = np.zeros(table.n, np.bool_)
    flags[rows] = True
    return np.flatnonzero(flags).astype(np.int32)


def few(rows: int) -> int:
    """Up to how many of some rows are listed rather than only marked."""
    return rows // tuning.LISTED_SHARE + 1


def marked(mark: Mark, lo: int, hi: int, pieces: Sequence[tuple[int, Ids]]) -> Rows:
    """The set of the rows with a mark, all of which are among `lo..hi`.

    They come in pieces: how many there are, and a list that has all of them if it has room for one more.
    """
    size = sum(found for found, _ in pieces)
    if size > few(hi - lo) or any(found >= len(rows) for found, rows in pieces):
        dense = Rows(mark.table, lo, hi, size, None, mark)
        mark.belongs_to(dense)
        return dense
    rows = np.concatenate([NO_ROWS, *(rows[:found] for found, rows in pieces)])
    mark.on = [rows]
    result = listed(mark.table, rows)
    if (log := result._log) is not None:
        log.mark = mark
        mark.belongs_to(log)
    return result


def union(x: Rows, y: Rows, consume: bool = False) -> Rows:
    """The rows of two sets; with `consume`, a dense `x` hands its bit to the result."""
    if x.size < y.size and not (consume and x.is_dense):
        x, y, consume = y, x, False
    if y.size == 0:
        return x
    if x.is_span and y.is_span and y.lo <= x.hi and x.lo <= y.hi:
        if y.lo >= x.lo and y.hi <= x.hi:
            return x
        return span(x.table, min(x.lo, y.lo), max(x.hi, y.hi))
    more = y.array()
    more = more[~x.contains(more)]
    if len(more) == 0:
        return x
    lo, hi = min(x.lo, y.lo), max(x.hi, y.hi)
    size = x.size + len(more)
    if x.is_span and x.size <= tuning.LISTED_ROWS:
        x = Rows(x.table, x.lo, x.hi, x.size, _Log(x.array()))
    log = x._log
    if log is not None:
        if not consume or log.n != x.size:
            # The set goes on to be used, and a join may be testing its bit this very moment; or another one has grown.
            log = _Log(np.concatenate([log.rows[: x.size], more]))
        else:
            log.append(more)
        return Rows(x.table, lo, hi, size, log)
    mark = _dense_mark(x, consume)
    mark.set(more)
    return _successor(x, Rows(x.table, lo, hi, size, None, mark), mark, added=more)


def difference(x: Rows, y: Rows, consume: bool = False) -> Rows:
    """The rows of `x` that are not in `y`; with `consume`, a dense `x` hands its bit to the result."""
    if x.size == 0 or y.size == 0 or y.hi <= x.lo or x.hi <= y.lo:
        return x
    if x.is_span and y.is_span:
        if y.lo <= x.lo and x.hi <= y.hi:
            return span(x.table, 0, 0)
        if y.lo <= x.lo:
            return span(x.table, y.hi, x.hi)
        if x.hi <= y.hi:
            return span(x.table, x.lo, y.lo)
    if x._log is not None or x.size <= tuning.LISTED_ROWS:
        rows = x.array()
        return kept(x, rows, ~y.contains(rows))
    if (since := _between(y, x)) is not None:
        return listed(x.table, since[0])
    if (since := _between(x, y)) is not None:
        return listed(x.table, since[1])
    if x.is_span and x.size - y.size > tuning.LISTED_ROWS and y.is_dense:
        # Both by their bits, row by row, without a list of either.
        pin = y.pinned()
        mark = _dense_mark(x, consume)
        bits = np.uint16(mark.bit), np.uint16(pin.mark.bit)
        size = x.size - kernels.take_marked(max(x.lo, y.lo), min(x.hi, y.hi), *bits, x.table.mask)
        return _successor(x, Rows(x.table, x.lo, x.hi, size, None, mark), mark)
    gone = y.array()
    if not x.is_span or y.lo < x.lo or x.hi < y.hi:
        gone = gone[x.contains(gone)]
    if len(gone) == 0:
        return x
    if x.size - len(gone) <= tuning.LISTED_ROWS:
        rows = x.array()
        return listed(x.table, rows[~y.contains(rows)])
    mark = _dense_mark(x, consume)
    mark.clear(gone)
    return _successor(x, Rows(x.table, x.lo, x.hi, x.size - len(gone), None, mark), mark, removed=gone)


def intersection(x: Rows, y: Rows) -> Rows:
    if x.is_span and y.is_span:
        lo, hi = max(x.lo, y.lo), min(x.hi, y.hi)
        return span(x.table, lo, max(lo, hi))
    if y.size < x.size:
        x, y = y, x
    rows = x.array()
    return kept(x, rows, y.contains(rows))


def kept(x: Rows, rows: Ids, chosen: npt.NDArray[np.bool_]) -> Rows:
    """The chosen ones among the rows of a set."""
    return x if chosen.all() else listed(x.table, rows[chosen])


def _dense_mark(x: Rows, consume: bool) -> Mark:
    """A mark on the rows of `x` that the caller may change: its own, or a copy."""
    if consume and (not x.is_span or x._mark is not None):
        return x.mark()
    copy = Mark(x.table)
    part = x.table.mask[x.lo : x.hi]
    if x.is_span:
        part |= np.uint16(copy.bit)
    else:
        part[(part & np.uint16(x.mark().bit)) != 0] |= np.uint16(copy.bit)
    return copy


def _successor(x: Rows, new: Rows, mark: Mark, added: Ids = NO_ROWS, removed: Ids = NO_ROWS) -> Rows:
    """The set that has a mark on rows of `x` now, more or less some."""
    mark.belongs_to(new)
    if x._mark is mark:
        x._mark = None
        if not x.is_span:
            x._later = (new, added, removed)
    return new


def _between(old: Rows, new: Rows) -> tuple[Ids, Ids] | None:
    """The rows that came and those that went from a dense set to another, if the one was made of the other step by step.

    Of a row that came and went several times, the first step says whether the old set has it, and the last one the new.
    """
    steps: list[tuple[Ids, Ids]] = []
    while old is not new:
        if (later := old._later) is None:
            return None
        old, added, removed = later
        steps.append((added, removed))
    if len(steps) <= 1:
        return steps[0] if steps else (NO_ROWS, NO_ROWS)
    rows = np.concatenate([rows for step in steps for rows in step])
    came = np.concatenate(
        [np.full(len(rows), way) for step in steps for rows, way in zip(step, (True, False), strict=True)]
    )
    changed, first = np.unique(rows, return_index=True)
    last = len(rows) - 1 - np.unique(rows[::-1], return_index=True)[1]
    other = came[first] == came[last]
    return changed[other & came[last]], changed[other & ~came[last]]


def _select(table: Table, mark: Mark, lo: int, hi: int) -> Ids:
    """The rows `lo..hi` that have a mark."""
    out = np.empty(hi - lo, np.int32)
    term = np.array([mark.bit], np.uint16)
    test = np.array([lo, hi, 1, 0, 0, 0], np.int64), term, term, table.mask, NO_ANNOTATION
    n = aside(hi - lo, kernels.select, NO_ROWS, False, lo, hi, *test, out)
    return out[:n].copy()


def full_facts(table: Table, rows: Rows, arity: int) -> Ids:
    """The facts in some rows of a table, one per column of the array, with the positions that the table fixes."""
    tuples = rows.tuples()
    return aside(tuples.shape[1], table.full_facts, tuples, arity)

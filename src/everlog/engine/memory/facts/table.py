"""A table: the facts of one predicate (or of one part of it) as columns of ids, with its indexes.

Rows are only ever appended; a row that no set holds is dead. Which set a row is in is written in `mask`, a bit per set
(see `rows.py`), independently of the indexes. Tuples are found in two ways: up to two columns, `presence` tells cheaply
whether a tuple is there, which is all that a materialisation asks; which row it has, `row_slots` tells, made when it is
first asked for. Both are open-addressing tables; groups are in `shards` equal parts, so that as many threads can enter
tuples at once, and each part has room of its own: nothing promises that tuples spread evenly.
A secondary index is a short list of *runs*, each a grouping of a range of rows; new rows become a new run, and runs of
similar size are merged, so that a small update costs what is new and a lookup sees a few runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

import numpy as np
import numpy.typing as npt

from everlog.engine.memory import tuning
from everlog.engine.memory.kernels import table_kernels as kernels
from everlog.errors import EverlogError
from everlog.interrupts import aside, look

if TYPE_CHECKING:
    from everlog.engine.memory.facts.rows import Mark

Ids = npt.NDArray[np.int32]
Positions = npt.NDArray[np.int64]

_MASK_BITS = 16
"""The sets that can be marked in a table's mask at once."""

Parallel = Callable[[Sequence[Callable[[], None]]], None]
"""Runs some jobs, on several threads if there are several."""

MAX_ROWS = 2**31 - 1


def one_by_one(jobs: Sequence[Callable[[], None]]) -> None:
    """Runs jobs where there is too little to share, or threads are busy already."""
    for job in jobs:
        job()


def pieces(lo: int, hi: int, size: int) -> Iterator[tuple[int, int]]:
    """Cuts a range into pieces, before each of which somebody may give up."""
    for start in range(lo, hi, size):
        look()
        yield start, min(start + size, hi)


def grown(values: Ids, wanted: int, most: int) -> Ids:
    """Values with zeros behind them, up to `most` or what is wanted, unless there are enough."""
    if wanted <= len(values):
        return values
    larger = np.zeros(max(wanted, most), np.int32)
    larger[: len(values)] = values
    return larger


def _doubled(size: int, enough: Callable[[int], bool]) -> int:
    """A size, doubled until it is enough."""
    while not enough(size):
        size *= 2
    return size


class Run(NamedTuple):
    """What `kernels.build_run` returns, with the rows `lo..hi` that it covers."""

    lo: int
    hi: int
    base: int
    keys: Positions
    groups: Ids
    starts: Positions
    rows: Ids
    payload: Ids

    @property
    def size(self) -> int:
        return self.hi - self.lo

    @property
    def keys_used(self) -> int:
        """How many different keys there are."""
        return len(self.starts) - 1


class Index:
    """The rows of a table by the values of some of its columns."""

    def __init__(self, table: Table, columns: tuple[int, ...]) -> None:
        self.columns = np.array(columns, np.int64)
        rest = [column for column in range(table.arity) if column not in columns]
        self.covered = rest[0] if len(rest) == 1 else -1
        self._table = ref(table)  # a table's memory goes with the table, not when circles are looked for
        self._runs: tuple[Run, ...] = ()
        self._crowding = -1, 0.0
        self._lock = Lock()

    def runs(self, hi: int) -> tuple[Run, ...]:
        """Runs that cover the rows below `hi`; several threads may ask at once.

        The newest rows keep a run of their own until newer ones are asked for: they are the delta of a round, and a
        delta and what was there before it are then matched without looking at each other's rows.
        """
        with self._lock:
            lo = self.covered_rows()
            if lo < hi:
                older = list(self._runs)
                while len(older) > 1 and older[-2].size <= tuning.RUN_MERGE_RATIO * older[-1].size:
                    last = older.pop()
                    older[-1] = self._run(older[-1].lo, last.hi, older[-1].keys_used + last.keys_used)
                self._runs = (*older, self._run(lo, hi))
            return self._runs

    def rows_with(self, values: Ids, hi: int) -> Ids:
        """The rows below `hi` that have one of some distinct values in the one column."""
        table = self._table()
        assert table is not None and len(self.columns) == 1
        found: list[Ids] = []
        for run in self.runs(hi):
            out = np.empty(16 * len(values), np.int32)
            while (n := kernels.rows_with(values, *run[2:7], table.cols, self.columns, out)) > len(out):
                out = np.empty(n, np.int32)
            found.append(out[:n])
        return found[0] if len(found) == 1 else np.concatenate([np.empty(0, np.int32), *found])

    def _run(self, lo: int, hi: int, expected: int = 0) -> Run:
        """The run of some rows, which have so many different keys at most, if that is known."""
        table = self._table()
        assert table is not None, "an index belongs to its table"
        return Run(lo, hi, *aside(hi - lo, kernels.build_run, table.cols, self.columns, lo, hi, self.covered, expected))

    def covered_rows(self) -> int:
        return self._runs[-1].hi if self._runs else 0

    def distinct(self) -> int:
        """About how many different keys there are."""
        return max((run.keys_used for run in self._runs), default=0)

    def crowding(self) -> float:
        """How many rows share a row's key, on average over rows: more than over keys where some have many."""
        rows = sum(run.size for run in self._runs)
        if self._crowding[0] != rows:
            squares = sum(float((np.diff(run.starts).astype(np.float64) ** 2).sum()) for run in self._runs)
            self._crowding = rows, squares / max(rows, 1)
        return self._crowding[1]

    def nbytes(self) -> int:
        return sum(array.nbytes for run in self._runs for array in run[3:])


class Sorted(NamedTuple):
    """Rows `lo..hi` of two columns, sorted by one column (`leading`) and then the other."""

    lo: int
    hi: int
    leading: int
    starts: Positions
    """The first row, counted from `lo`, of each value in the leading column up to the largest, and the end."""

    def shared(self, workers: int) -> list[tuple[int, int]]:
        """Ranges of values in the leading column that have about as many rows each."""
        cuts = np.searchsorted(self.starts, np.linspace(0, self.hi - self.lo, workers + 1)).tolist()
        return list(pairwise([0, *cuts[1:-1], len(self.starts) - 1]))


class Table:
    """The stored columns stand at `positions` of the predicate's atoms; `fixed` gives the ids at the other positions."""

    def __init__(
        self, predicate: str, positions: Sequence[int], fixed: Sequence[tuple[int, int]] = (), shards: int = 1
    ) -> None:
        self.predicate = predicate
        self.positions = tuple(positions)
        self.fixed = tuple(fixed)
        self.arity = len(self.positions)
        self.n = 0
        self.shards = shards
        self.cols: Ids = np.empty((self.arity, 16), np.int32)
        self.mask: npt.NDArray[np.uint16] = np.zeros(16, np.uint16)
        self.groups: Positions = np.zeros(32 * shards, np.int64)
        self.groups_used: Positions = np.zeros(shards, np.int64)
        self.groups_entered = 0
        """The rows below this one are in the groups."""
        self._row_slots: Positions | None = None
        self._rows_entered = 0
        self._searched = 0
        """How many rows were looked at to find a few tuples among them."""
        self._sorted: list[Sorted] = []
        """Rows that came sorted, lower ones first: tuples are found among them without any index."""
        self.free_bits = [1 << bit for bit in range(_MASK_BITS)]
        self.dropped_bits: list[tuple[int, list[Ids] | None]] = []
        """Bits that no set has any more, with the rows that may carry them still; None for any."""
        self.marks: list[ref[Mark]] = []
        """The marks that sets of rows have (see `rows.py`)."""
        self._indexes: dict[tuple[int, ...], Index] = {}
        self._scanned = 0
        """How many rows were looked at for values in some column, where there is no index on it."""
        self._sought: dict[tuple[int, ...], int] = {}
        """How many rows were looked at for a few values of some columns, for lack of an index, and found."""
        self._estimates: dict[tuple[tuple[int, ...], int], int] = {}
        self._alike: dict[tuple[tuple[int, ...], int], float] = {}
        """The part of all pairs of rows that share the values of some columns, as a sample tells."""
        self._zeros: Ids = np.empty(0, np.int32)

    def __repr__(self) -> str:
        return f"Table({self.predicate}, {self.fixed}, {self.n} rows)"

    def take_zeros(self) -> Ids:
        """Zeros for some of the rows, in which somebody may count and then give back what is zero again."""
        zeros, self._zeros = self._zeros, np.empty(0, np.int32)
        return zeros

    def give_zeros(self, zeros: Ids) -> None:
        """Keeps zeros for the next one who counts: new memory is slow to touch, and is given by the megabyte."""
        self._zeros = zeros

    def index(self, columns: tuple[int, ...]) -> Index:
        """The index on some columns, made when it is first asked for."""
        return self._indexes.get(columns) or self._indexes.setdefault(columns, Index(self, columns))

    def sought_run(self, columns: tuple[int, ...], place: int, values: Ids, hi: int) -> Run:
        """A run with the rows below `hi` that have one of a few values in a column, that at a place among some."""
        bits, rows = kernels.bits_of(values), np.empty(64 * len(values), np.int32)
        while (n := aside(hi, kernels.rows_sought, self.cols, columns[place], hi, bits, rows)) > len(rows):
            rows = np.empty(n, np.int32)
        rows = rows[:n]
        self._sought[columns] = self._sought.get(columns, 0) + hi + tuning.FOUND_ROW_LOOKS * n
        covered = self.index(columns).covered
        run = kernels.build_run(np.take(self.cols, rows, axis=1), np.array(columns, np.int64), 0, len(rows), covered, 0)
        base, keys, groups, starts, order, payload = run
        return Run(0, hi, base, keys, groups, starts, rows[order], payload)

    def looks_for(self, columns: tuple[int, ...], values: int, hi: int) -> bool:
        """Whether rows with a few values are looked for among all, and not by an index.

        They are not if there is an index on the columns, or if they were looked for so often that one pays.
        """
        if hi < tuning.SOUGHT_ROWS or values * tuning.SOUGHT_SHARE > hi or 2 * self.indexed(columns) >= hi:
            return False
        return self._sought.get(columns, 0) < tuning.LOOKS_BEFORE_INDEX * hi

    def indexed(self, columns: tuple[int, ...]) -> int:
        """How many rows the index on some columns has already."""
        index = self._indexes.get(columns)
        return 0 if index is None else index.covered_rows()

    def rows_with(self, columns: Sequence[int], values: Ids, hi: int) -> Ids | None:
        """Rows below `hi`, among them all that have given values in some columns; None if all rows are to be looked at.

        An index tells them. One is made when rows were looked at so often that it would have paid.
        """
        if not columns or hi < tuning.SCANNED_ROWS:
            return None
        ready = [place for place, column in enumerate(columns) if 2 * self.indexed((column,)) >= hi]
        if not ready:
            self._scanned += hi
            if self._scanned < tuning.SCANS_BEFORE_INDEX * hi:
                return None
            self._scanned = 0
        places = ready or range(len(columns))
        place = places[0] if len(places) == 1 else max(places, key=lambda place: self.distinct((columns[place],)))
        return self.index((columns[place],)).rows_with(values[place : place + 1], hi)

    def distinct(self, columns: tuple[int, ...]) -> int:
        """About how many different values some columns have together: from an index, else from a sample of rows."""
        if not columns:
            return 1
        if len(columns) == self.arity:
            return self.n
        index = self._indexes.get(columns)
        if index is not None and (known := index.distinct()):
            return known
        if self.n == 0:
            return 0
        if len(columns) == 1 and self.n <= tuning.COUNTED_ROWS:
            return len(set(self.cols[columns[0], : self.n].tolist()))
        key = columns, self.n.bit_length()
        if key not in self._estimates:
            size, counts = self._sample(columns)
            once = int((counts == 1).sum())
            # Values seen once in the sample stand for many more unseen ones (Charikar et al.'s estimator).
            self._estimates[key] = int(min(self.n, (self.n / size) ** 0.5 * once + len(counts) - once))
        return self._estimates[key]

    def crowding(self, columns: tuple[int, ...]) -> float:
        """About how many rows share a row's values in some columns."""
        index = self._indexes.get(columns)
        if index is not None and index.covered_rows():
            return index.crowding()
        key = columns, self.n.bit_length()
        if key not in self._alike:
            size, counts = self._sample(columns, scattered=True)
            self._alike[key] = float((counts * (counts - 1)).sum()) / max(1, size * (size - 1))
        # Two rows have the same values with a probability that tells how many do on average.
        return max(1.0, self._alike[key] * self.n)

    def _sample(self, columns: tuple[int, ...], scattered: bool = False) -> tuple[int, Positions]:
        """The size of a sample of rows, and how often each of its values of some columns occurs.

        Rows are at equal distances, or `scattered`: of sorted rows the former have hardly a value twice.
        """
        size = min(self.n, tuning.DISTINCT_SAMPLE_ROWS)
        if scattered:
            rows = np.random.default_rng(self.n).choice(self.n, size, replace=False, shuffle=False)
        else:
            rows = np.linspace(0, max(self.n - 1, 0), size).astype(np.int64)
        return size, _occurrences([self.cols[column, rows] for column in columns])

    @property
    def has_groups(self) -> bool:
        """Whether `groups` is kept: for up to two columns. Wider tables have row slots only."""
        return self.arity <= 2

    def append(self, tuples: Ids) -> None:
        """Gives the next rows to tuples that are not there; they are entered where they can be found when that is asked."""
        more = tuples.shape[1]
        self.reserve_rows(more)
        rows = self.cols[:, self.n :]
        for lo, hi in pieces(0, more, tuning.COPIED_ROWS):
            rows[:, lo:hi] = tuples[:, lo:hi]
        self.n += more

    def tuples(self, rows: Ids) -> Ids:
        """The tuples in some rows, one per column of the array."""
        if len(rows) <= tuning.COPIED_ROWS:
            return self.cols[:, rows]
        found = np.empty((self.arity, len(rows)), np.int32)
        for lo, hi in pieces(0, len(rows), tuning.COPIED_ROWS):
            found[:, lo:hi] = self.cols[:, rows[lo:hi]]
        return found

    def full_facts(self, tuples: Ids, arity: int) -> Ids:
        """Tuples with the positions that the table fixes: facts of the predicate, one per column of an array of its own."""
        if not self.fixed and tuples.base is not self.cols:
            return tuples  # a copy already
        facts = np.empty((arity, tuples.shape[1]), np.int32)
        for position, column in zip(self.positions, tuples, strict=True):
            facts[position] = column
        for position, value in self.fixed:
            facts[position] = value
        return facts

    def arguments(self, tuples: Ids, places: Sequence[int]) -> list[Ids]:
        """Some arguments of the facts that tuples stand for, each an array."""
        fixed = dict(self.fixed)
        return [
            np.full(tuples.shape[1], fixed[place], np.int32) if place in fixed else tuples[self.positions.index(place)]
            for place in places
        ]

    def append_sorted(self, tuples: Ids, leading: int) -> None:
        """Gives the next rows to tuples of two columns that are not there, sorted by one column and then by the other."""
        lo = self.n
        self.append(tuples)
        if tuples.shape[1] >= tuning.SHARED_TUPLES:
            column = tuples[leading]
            starts = np.searchsorted(column, np.arange(int(column[-1]) + 2, dtype=np.int32))
            self._sorted.append(Sorted(lo, self.n, leading, starts.astype(np.int64)))

    def sorted_parts(self, leading: int) -> list[Sorted]:
        """The parts of the rows that are sorted by a column first, lower ones first."""
        return [part for part in self._sorted if part.leading == leading]

    def enter_groups(self, parallel: Parallel) -> None:
        """Enters all rows into the groups."""
        if self.groups_entered == self.n:
            return
        for lo, hi in pieces(self.groups_entered, self.n if self.has_groups else 0, tuning.COPIED_ROWS):
            n, tuples = hi - lo, np.ascontiguousarray(self.cols[:, lo:hi])
            routed = np.empty((self.shards, self.arity, n), np.int32)
            counts = np.zeros(self.shards, np.int64)
            kernels.route(tuples, n, np.arange(self.arity), np.empty(0, np.int32), self.shards, routed, counts)
            fresh = [np.empty(count, np.int32) for count in counts]
            self.admit(routed, counts, fresh, parallel if n >= tuning.SHARED_TUPLES else one_by_one)
            self.groups_entered = hi

    def admit(self, tuples: Ids, counts: Positions, fresh: Sequence[Ids], parallel: Parallel) -> list[int]:
        """Enters tuples, by shard, into the groups; the positions of new ones go to `fresh`. How many are new in each.

        How many groups they make shows when some are entered: room for one group each would often be far too much, and
        to move all older groups there takes longer than anything else.
        """
        done: Positions = np.zeros(self.shards, np.int64)
        made: Positions = np.zeros(self.shards, np.int64)
        new = [0] * self.shards

        def enter(shard: int) -> None:
            given = tuples[shard], done[shard], counts[shard]
            room = self._groups_per_shard(len(self.groups)) - int(self.groups_used[shard])
            place = shard, self.shards, self.groups, room
            done[shard], new[shard], groups, _ = kernels.admit(*given, *place, fresh[shard], new[shard])
            made[shard] += groups
            self.groups_used[shard] += groups

        more = np.minimum(counts, tuning.FIRST_TUPLES)
        try:
            while more.any():
                self._reserve_groups(more, parallel)
                parallel([partial(enter, shard) for shard in range(self.shards) if more[shard]])
                more = np.ceil((counts - done) * (made / np.maximum(done, 1))).astype(np.int64)
        except BaseException:
            self.forget_groups()
            raise
        return new

    def enter_few(self, tuples: Ids, counts: Positions, total: int) -> None:
        """Enters a few tuples, by shard, into the groups, and those that are new into the next rows."""
        self.reserve_rows(total)
        room = self._groups_per_shard(len(self.groups))
        if (n := kernels.enter_few(tuples, counts, self.groups, self.groups_used, room, self.cols, self.n)) < 0:
            self._reserve_groups(counts, one_by_one)
            room = self._groups_per_shard(len(self.groups))
            n = kernels.enter_few(tuples, counts, self.groups, self.groups_used, room, self.cols, self.n)
        self.n = self.groups_entered = n

    def forget_groups(self) -> None:
        """Has the groups made anew, when they are asked for, since there may be tuples in them that have no rows."""
        self.groups, self.groups_used = np.zeros(32 * self.shards, np.int64), np.zeros(self.shards, np.int64)
        self.groups_entered = 0

    def _groups_per_shard(self, size: int) -> int:
        """How many groups each shard has room for."""
        return int(tuning.HASH_LOAD * (size // (2 * self.shards)))

    def _reserve_groups(self, more: Positions, parallel: Parallel) -> None:
        """Makes room for so many new groups in each shard."""
        old, fullest = self.groups, int((self.groups_used + more).max())
        wanted = _doubled(len(old), lambda size: fullest <= self._groups_per_shard(size))
        if wanted > len(old):
            grown: Positions = np.zeros(wanted, np.int64)
            moved = partial(aside, len(old) // self.shards, kernels.rehash)
            jobs = [partial(moved, shard, self.shards, old, grown) for shard in range(self.shards)]
            (parallel if wanted >= tuning.SHARED_TUPLES else one_by_one)(jobs)
            self.groups = grown

    def row_slots(self, more: int) -> Positions:
        """The table from tuples to rows, with all rows in it and room for `more`."""
        slots = np.zeros(32, np.int64) if self._row_slots is None else self._row_slots
        wanted = _doubled(len(slots), lambda size: 2 * (self.n + more) <= tuning.HASH_LOAD * size)
        if wanted > len(slots):
            slots = aside(len(slots) + self.n, _grown_slots, slots, wanted, self.cols, self._rows_entered, self.n)
            self._rows_entered = self.n
        self._row_slots = slots
        for lo, hi in pieces(self._rows_entered, self.n, tuning.SLOTTED_ROWS):
            kernels.enter_rows(self.cols, lo, hi, slots)
            self._rows_entered = hi
        return slots

    def known_slots(self) -> Positions | None:
        """The table from tuples to rows, if it is there and has all rows."""
        return self._row_slots if self._rows_entered == self.n else None

    def seeks(self, n: int) -> bool:
        """Whether `n` tuples are looked for among the rows one by one, since not all rows are in the table of slots."""
        missing, rest = self.n - self._rows_entered, self._unordered()
        if not self.has_groups or self.arity == 0 or 2 * missing <= self.n:
            return False
        ordered = self.n - rest
        few = rest // tuning.SOUGHT_SHARE + ordered // tuning.SOUGHT_SHARE_SORTED
        return n <= few and self._searched + rest <= tuning.SEARCHES_PER_TABLE * self.n

    def _unordered(self) -> int:
        """How many rows are not sorted."""
        return self.n - sum(part.hi - part.lo for part in self._sorted)

    def slots_of(self, tuples: Ids, n: int) -> Positions:
        """A table from tuples to rows, with those of `n` tuples in it and room for them.

        To enter all rows of a large table takes some thirty times as long as to look at them once for a few tuples.
        """
        if not self.seeks(n):
            return self.row_slots(n)
        self._searched += self._unordered()
        # There is room for those that are found and for those that are new.
        slots: Positions = np.zeros(_doubled(32, lambda size: 4 * n <= tuning.HASH_LOAD * size), np.int64)
        at = 0
        for part in self._sorted:
            if at < part.lo:
                aside(part.lo - at, kernels.enter_sought, self.cols, at, part.lo, tuples, n, slots)
            aside(n, kernels.enter_sorted, self.cols, part.lo, part.leading, part.starts, tuples, n, slots)
            at = part.hi
        if at < self.n:
            aside(self.n - at, kernels.enter_sought, self.cols, at, self.n, tuples, n, slots)
        return slots

    def place(self, tuples: Ids, fresh: Ids, new: int) -> None:
        """Gives the next rows to those tuples that a kernel found to be new and entered into their `slots_of`."""
        try:
            self.reserve_rows(new)
        except BaseException:
            self._row_slots, self._rows_entered = None, 0  # there are tuples in it that have no rows
            raise
        kernels.place(tuples, fresh, new, self.n, self.cols)
        if self._rows_entered == self.n:
            self._rows_entered += new
        self.n += new

    def reserve_rows(self, more: int) -> None:
        """Makes the columns large enough for `more` rows."""
        wanted, capacity = self.n + more, self.cols.shape[1]
        if wanted > MAX_ROWS:
            raise EverlogError(
                f"{self.predicate} would have more than {MAX_ROWS} rows, more than one machine's engine holds"
            )
        if wanted <= capacity:
            return
        capacity = max(wanted, 2 * capacity)
        cols = np.empty((self.arity, capacity), np.int32)
        mask = np.zeros(capacity, np.uint16)
        for lo, hi in pieces(0, self.n, tuning.COPIED_ROWS):
            cols[:, lo:hi] = self.cols[:, lo:hi]
            mask[lo:hi] = self.mask[lo:hi]
        self.cols, self.mask = cols, mask

    def bits_left(self) -> int:
        """How many bits of the mask no set has."""
        return len(self.free_bits) + len(self.dropped_bits)

    def clear_bits(self) -> None:
        """Takes bits that no set has any more from the rows that carry them, so that they can be given out."""
        while self.dropped_bits:
            bit, on = self.dropped_bits.pop()
            if on is None:
                self.mask[: self.n] &= np.uint16(0xFFFF ^ bit)
            else:
                for rows in on:
                    kernels.unmark(rows, np.uint16(bit), self.mask)
            self.free_bits.append(bit)

    def clear(self) -> None:
        """Gives the memory of all rows back; no set may have any of them, and what still has a bit keeps everything."""
        if self.bits_left() == _MASK_BITS:
            vars(self).update(vars(Table(self.predicate, self.positions, self.fixed, self.shards)))

    def find(self, tuples: Ids) -> Ids:
        """The rows of some tuples, -1 where there is none."""
        n, tuples = tuples.shape[1], np.ascontiguousarray(tuples)
        out = np.empty(n, np.int32)
        aside(n, kernels.find_rows, tuples, n, self.slots_of(tuples, n), self.cols, out)
        return out

    def present(self, tuples: Ids) -> Ids:
        """The places of those tuples that some row has, of a table that tells so by groups."""
        if self.groups_entered < self.n:
            self.enter_groups(one_by_one)
        n, sources = tuples.shape[1], np.arange(self.arity)
        block = np.concatenate([tuples, np.arange(n, dtype=np.int32)[None]])
        kept: int = aside(
            n, kernels.probe_presence, block, n, sources, np.empty(0, np.int32), self.groups, self.shards, False
        )
        return block[self.arity, :kept]

    def nbytes(self) -> dict[str, int]:
        """Bytes in use, by part."""
        return {
            "columns": self.cols.nbytes,
            "masks": self.mask.nbytes,
            "zeros": self._zeros.nbytes,
            "presence": self.groups.nbytes if self.has_groups else 0,
            "row slots": 0 if self._row_slots is None else self._row_slots.nbytes,
            "indexes": sum(index.nbytes() for index in self._indexes.values()),
        }


def _occurrences(columns: Sequence[Ids]) -> Positions:
    """How often each tuple occurs among the rows of some columns, in no particular order."""
    first, *others = columns
    codes = first.astype(np.int64)
    for number, column in enumerate(others):
        if number:  # two columns are one number, and more are made two
            codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
        codes = (codes << 32) | column
    codes.sort()
    starts = np.flatnonzero(np.concatenate([np.ones(1, np.bool_), codes[1:] != codes[:-1]]))
    return np.diff(np.append(starts, len(codes)))


def _grown_slots(old: Positions, wanted: int, cols: Ids, lo: int, hi: int) -> Positions:
    """Slots with more room, and the rows `lo..hi` as well as those that are in the old ones."""
    slots: Positions = np.zeros(wanted, np.int64)
    kernels.rehash(0, 1, old, slots)
    kernels.enter_rows(cols, lo, hi, slots)
    return slots

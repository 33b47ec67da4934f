"""Joins, block by block.

A `JoinPlan` is a conjunction in the order of its evaluation: the driver, whose rows are read, then literals and
comparisons. Evaluation goes depth first: a block of bindings is extended by the first step into the blocks of the next,
each of which is taken to the end before the next one is made, so that there is one block per step and the bindings never
exist as a whole. Bindings keep only the variables that are still needed.

A plan is made once per rule and driver; the views that the literals are matched in come with each run. The number of
bindings at the end is the number of instances considered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Final, NamedTuple, Protocol

import numpy as np

from everlog.engine.memory import tuning
from everlog.engine.memory.dictionary import Dictionary
from everlog.engine.memory.facts.relation import Relation, grouped
from everlog.engine.memory.facts.rows import NO_ROWS, Mark
from everlog.engine.memory.facts.sets import MemoryFacts, TableView
from everlog.engine.memory.facts.table import Ids, Positions, Run, Table, one_by_one
from everlog.engine.memory.kernels import table_kernels as kernels
from everlog.interrupts import lasting, look

DRIVER_ROW: Final = -1
"""As a variable: the row of the driver's fact."""

OPERATORS: Final = {"=": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5, "~": 6}

_NO_TWINS: Final = np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class Literal:
    """An atom with numbered variables: a term is a variable's number, or `~id` of a constant."""

    relation: Relation
    terms: tuple[int, ...]
    negative: bool = False

    def variables(self) -> set[int]:
        return {term for term in self.terms if term >= 0}

    @cached_property
    def constants(self) -> Mapping[int, int]:
        """The ids of the constants by position."""
        return {position: ~term for position, term in enumerate(self.terms) if term < 0}

    @cached_property
    def static(self) -> Table | None:
        """The one table of the literal, if its constants tell it."""
        return self.relation.static(self.constants)

    def tables(self) -> Sequence[Table]:
        """The tables, so far, in which the literal can match."""
        return (self.static,) if self.static is not None else tuple(self.relation.candidates(self.constants))


@dataclass(frozen=True)
class Compared:
    """A comparison of two terms, as in `Literal`."""

    operator: str
    left: int
    right: int

    def variables(self) -> set[int]:
        return {term for term in (self.left, self.right) if term >= 0}


class Sink(Protocol):
    """What takes the bindings at the end. `full` asks the join to pause, so that the sink can be emptied."""

    def take(self, worker: int, block: Ids, n: int) -> None: ...

    def full(self, worker: int) -> bool: ...


class SharedViews:
    """What is known of sets while several calls are prepared and nothing is entered into tables: sizes, and views.

    Rules share the sets that their literals are matched in; each is a formula over others, and worked out once.
    """

    def __init__(self) -> None:
        self._at_most: dict[tuple[MemoryFacts, Table], int] = {}
        self._views: dict[tuple[MemoryFacts, Table], TableView] = {}

    def at_most(self, facts: MemoryFacts, table: Table) -> int:
        found = self._at_most.get((facts, table))
        if found is None:
            found = self._at_most[facts, table] = facts.at_most(table)
        return found

    def view(self, facts: MemoryFacts, table: Table) -> TableView:
        found = self._views.get((facts, table))
        if found is None:
            found = self._views[facts, table] = facts.view(table)
        return found


class Call:
    """One evaluation of a plan: the views of the driver and of the literals, and where the bindings go.

    Compiling a view may mark rows, so it is done before threads start where the table is known, and under a lock where
    it is not. `done`, in `exists` mode, is the mark of the driver's rows that need no further binding.
    """

    _lock = lasting(Lock())

    def __init__(
        self,
        plan: JoinPlan,
        views: Sequence[MemoryFacts],
        sink: Sink,
        done: Mark | None = None,
        shared: SharedViews | None = None,
    ) -> None:
        self._views = views
        self.sink = sink
        self.done = done
        self._compiled: dict[tuple[int, Table], TableView] = {}
        shared = shared or SharedViews()
        for place, table in plan.static_tables():
            self._compiled[place, table] = shared.view(views[place], table)

    def slots(self, table: Table, block: Ids, n: int, access: _Access) -> Positions:
        """A table from tuples to rows, with those in it that the bindings of a block ask for."""
        with self._lock:
            if not table.seeks(n):
                return table.row_slots(0)
            tuples = np.empty((table.arity, n), np.int32)
            for place, source in enumerate(access.sources):
                tuples[place] = block[source, :n] if source >= 0 else access.consts[~source]
            return table.slots_of(tuples, n)

    def presence(self, table: Table) -> Positions:
        """The groups of tuples that a table has."""
        if table.groups_entered < table.n:
            with self._lock:
                table.presence(one_by_one)
        return table.groups

    def view(self, place: int, table: Table) -> TableView:
        """The view of a literal (0 is the driver) on one table."""
        found = self._compiled.get((place, table))
        if found is None:
            with self._lock:
                found = self._compiled[place, table] = self._views[place].view(table)
        return found


class _Access(NamedTuple):
    """How a literal is matched in one table, given what is bound before."""

    columns: tuple[int, ...]
    key_cols: Positions
    sources: Positions
    consts: Ids
    twins: Positions
    fresh: Positions
    fills: tuple[tuple[int, int], ...]
    """Slots of the output that get a constant: variables at positions that the table fixes."""
    checks: tuple[tuple[int, int], ...]
    """Slots of the input that must hold a constant."""
    whole: bool
    """All columns are bound: the fact is looked up."""


@dataclass
class _Step:
    """One literal or comparison behind the driver, with the slots of the variables before and after it."""

    place: int
    """The number of its view."""
    before: dict[int, int]
    after: tuple[int, ...]
    literal: Literal | None = None
    compared: Compared | None = None
    static: Table | None = None
    """The one table of the literal, if that is known beforehand."""
    looked_up: bool = False
    """The literal binds nothing."""
    carry: Positions = field(default_factory=lambda: np.empty(0, np.int64))
    accesses: dict[Table, _Access | None] = field(default_factory=dict)


class JoinPlan:
    """`driver`, then `rest` in order; `needed` lists the variables (or `DRIVER_ROW`) of the resulting bindings."""

    def __init__(
        self, dictionary: Dictionary, driver: Literal, rest: Sequence[Literal | Compared], needed: Sequence[int]
    ) -> None:
        self._dictionary = dictionary
        self.driver = driver
        self._scans: dict[Table, _Access | None] = {}
        late: list[set[int]] = [set(needed)]
        for part in reversed(rest):
            late.append(late[-1] | part.variables())
        late.reverse()
        first = driver.variables() & late[0]
        if DRIVER_ROW in needed:
            first |= {DRIVER_ROW}
        self._first = tuple(sorted(first))
        self._steps: list[_Step] = []
        layout = self._first
        place = 0
        for part, afterwards in zip(rest, late[1:], strict=True):
            before = {variable: slot for slot, variable in enumerate(layout)}
            place += isinstance(part, Literal)
            step = _Step(place, before, layout)
            if isinstance(part, Compared):
                step.compared = part
            else:
                step.literal = part
                step.static = part.static
                step.looked_up = part.variables() <= before.keys()
                if not part.negative and not (step.looked_up and step.static is not None):
                    carried = [variable for variable in layout if variable in afterwards]
                    fresh = sorted((part.variables() - before.keys()) & afterwards)
                    step.after = (*carried, *fresh)
                    step.carry = np.array([before[variable] for variable in carried], np.int64)
            self._steps.append(step)
            layout = step.after
        self.layout = {variable: slot for slot, variable in enumerate(layout)}

    # ------------------------------------------------------------------------------------ running

    def run(
        self, call: Call, worker: int, buffers: Buffers, table: Table, rows: Ids | None, lo: int, hi: int
    ) -> Iterator[None]:
        """Evaluates the plan for the driver's facts in the rows `lo..hi` of a table (or at those places of `rows`).

        Yields when the sink is full. Between blocks it may be given up.
        """
        access = self._driver_access(table)
        if access is None:
            return
        view = call.view(0, table)
        listed = NO_ROWS if rows is None else rows
        copied = rows is None and view.is_span and not len(access.consts) and not len(access.twins)
        if copied:
            lo, hi = max(lo, int(view.bounds[0])), min(hi, int(view.bounds[1]))
        for start in range(lo, hi, tuning.BINDINGS_PER_BLOCK):
            look()
            out = buffers.get(0, len(self._first))
            if copied and (access.fresh >= 0).all():
                n = min(tuning.BINDINGS_PER_BLOCK, hi - start)
                for slot, column in enumerate(access.fresh):
                    out[slot, :n] = table.cols[column, start : start + n]
                yield from self._continue(call, worker, buffers, 0, out, n)
                continue
            n = kernels.scan(
                listed,
                rows is not None,
                start,
                min(start + tuning.BINDINGS_PER_BLOCK, hi),
                table.cols,
                access.key_cols,
                access.consts,
                access.twins,
                *view.test(table),
                access.fresh,
                out,
            )
            for slot, value in access.fills:
                out[slot, :n] = value
            yield from self._continue(call, worker, buffers, 0, out, n)

    def _continue(
        self,
        call: Call,
        worker: int,
        buffers: Buffers,
        level: int,
        block: Ids,
        n: int,
    ) -> Iterator[None]:
        while level < len(self._steps) and n:
            step = self._steps[level]
            if call.done is not None:
                n = kernels.drop_marked(
                    block, n, step.before[DRIVER_ROW], call.done.table.mask, np.uint16(call.done.bit)
                )
            if step.compared is not None:
                n = self._compare(step, step.compared, block, n)
            elif step.static is not None and step.looked_up:
                n = self._look_up(call, step, step.static, block, n)
            else:
                for out, m in self._extensions(call, step, buffers, level, block, n):
                    yield from self._continue(call, worker, buffers, level + 1, out, m)
                return
            level += 1
        if n:
            call.sink.take(worker, block, n)
            if call.sink.full(worker):
                yield

    def _compare(self, step: _Step, compared: Compared, block: Ids, n: int) -> int:
        sources, consts = sources_of((compared.left, compared.right), step.before)
        kept: int = kernels.keep_compared(
            block, n, OPERATORS[compared.operator], sources[0], sources[1], consts, self._dictionary.order()
        )
        return kept

    def _look_up(self, call: Call, step: _Step, table: Table, block: Ids, n: int) -> int:
        """Keeps the bindings whose fact is (or, for a negative literal, is not) there."""
        assert step.literal is not None
        access = self._access(step, table)
        if access is None:
            return n if step.literal.negative else 0
        view = call.view(step.place, table)
        negative = step.literal.negative
        kept: int
        if table.has_groups and view.is_span and view.bounds[0] == 0 and view.bounds[1] >= table.n:
            groups = call.presence(table)
            kept = kernels.probe_presence(block, n, access.sources, access.consts, groups, table.shards, negative)
            return kept
        kept = kernels.probe(
            block,
            n,
            access.sources,
            access.consts,
            call.slots(table, block, n, access),
            table.cols,
            *view.test(table),
            negative,
        )
        return kept

    def _extensions(
        self,
        call: Call,
        step: _Step,
        buffers: Buffers,
        level: int,
        block: Ids,
        n: int,
    ) -> Iterator[tuple[Ids, int]]:
        """The blocks that a literal makes of one block."""
        assert step.literal is not None
        if step.static is not None:
            yield from self._extended(call, step, buffers, level, step.static, block, n)
            return
        for tables, part, m in self._dispatched(step, block, n):
            if step.literal.negative:
                for table in tables:
                    m = self._look_up(call, step, table, part, m)
                yield part, m
                continue
            for table in tables:
                access = self._access(step, table)
                if access is None:
                    continue
                sub, k = part, m
                if access.checks or access.whole:
                    sub = part[:, :m].copy()
                    for slot, value in access.checks:
                        k = kernels.keep_equal(sub, k, slot, value)
                yield from self._extended(call, step, buffers, level, table, sub, k)

    def _dispatched(self, step: _Step, block: Ids, n: int) -> Iterator[tuple[list[Table], Ids, int]]:
        """Splits a block by the bound variables that decide about the table, with the tables for each part."""
        assert step.literal is not None
        literal = step.literal
        parts: list[tuple[Mapping[int, int], Ids]] = [(literal.constants, block[:, :n])]
        for position in literal.relation.deciding():
            term = literal.terms[position]
            if term < 0 or term not in step.before:
                continue
            slot = step.before[term]
            finer: list[tuple[Mapping[int, int], Ids]] = []
            for known, part in parts:
                finer += [({**known, position: value}, part[:, places]) for value, places in grouped(part[slot])]
            parts = finer
        for known, part in parts:
            yield list(literal.relation.candidates(known)), np.ascontiguousarray(part), part.shape[1]

    def _extended(
        self,
        call: Call,
        step: _Step,
        buffers: Buffers,
        level: int,
        table: Table,
        block: Ids,
        n: int,
    ) -> Iterator[tuple[Ids, int]]:
        access = self._access(step, table)
        if access is None or n == 0:
            return
        out = buffers.get(level + 1, len(step.after))
        if access.whole:
            n = self._look_up(call, step, table, block, n)
            if n:
                out[: len(step.carry), :n] = block[step.carry, :n]
                for slot, value in access.fills:
                    out[slot, :n] = value
                yield out, n
            return
        view = call.view(step.place, table)
        if view.is_empty:
            return
        index = table.index(access.columns)
        for run in index.runs(int(view.bounds[1])):
            if run.hi <= view.bounds[0] or view.bounds[1] <= run.lo:
                continue
            covered = len(access.fresh) == 1 and access.fresh[0] == index.covered
            inside = view.is_span and view.bounds[0] <= run.lo and run.hi <= view.bounds[1]
            plain = inside and len(access.twins) == 0 and (covered or len(access.fresh) == 0)
            yield from self._joined(call, step, access, view, table, run, covered, plain, block, n, out)

    @staticmethod
    def _joined(
        call: Call,
        step: _Step,
        access: _Access,
        view: TableView,
        table: Table,
        run: Run,
        covered: bool,
        plain: bool,
        block: Ids,
        n: int,
        out: Ids,
    ) -> Iterator[tuple[Ids, int]]:
        i, at = 0, -1
        while i < n:
            look()
            if call.done is not None and at >= 0:
                row = block[step.before[DRIVER_ROW], i]
                if call.done.table.mask[row] & call.done.bit:
                    i, at = i + 1, -1
                    continue
            i, at, k = kernels.expand(
                block,
                i,
                at,
                n,
                access.sources,
                access.consts,
                *run[2:],
                table.cols,
                access.key_cols,
                access.twins,
                covered,
                plain,
                *view.test(table),
                step.carry,
                access.fresh,
                out,
            )
            if k:
                for slot, value in access.fills:
                    out[slot, :k] = value
                yield out, k

    # ------------------------------------------------------------------------------------ preparing

    def static_tables(self) -> Iterator[tuple[int, Table]]:
        """The tables that are known beforehand, with the numbers of the literals."""
        if self.driver.static is not None:
            yield 0, self.driver.static
        yield from ((step.place, step.static) for step in self._steps if step.static is not None)

    def _driver_access(self, table: Table) -> _Access | None:
        if table not in self._scans:
            self._scans[table] = _access(self.driver, table, {}, self._first, 0)
        return self._scans[table]

    @staticmethod
    def _access(step: _Step, table: Table) -> _Access | None:
        if table not in step.accesses:
            assert step.literal is not None
            step.accesses[table] = _access(step.literal, table, step.before, step.after, len(step.carry))
        return step.accesses[table]


def _access(
    literal: Literal, table: Table, before: dict[int, int], after: Sequence[int], carried: int
) -> _Access | None:
    """How to match a literal in a table; None when the table can hold no match."""
    columns: list[int] = []
    sources: list[int] = []
    consts: list[int] = []
    twins: list[tuple[int, int]] = []
    where: dict[int, int] = {}
    given: dict[int, int] = {}
    checks: list[tuple[int, int]] = []
    fixed = dict(table.fixed)
    for position, term in enumerate(literal.terms):
        value = fixed.get(position)
        if value is None:
            continue
        if term < 0:
            if ~term != value:
                return None
        elif term in before:
            checks.append((before[term], value))
        elif given.setdefault(term, value) != value:
            return None
    for column, position in enumerate(table.positions):
        term = literal.terms[position]
        if term < 0 or term in given:
            columns.append(column)
            sources.append(~len(consts))
            consts.append(~term if term < 0 else given[term])
        elif term in before:
            columns.append(column)
            sources.append(before[term])
        elif term in where:
            twins.append((where[term], column))
        else:
            where[term] = column
    fresh = []
    fills = []
    for slot in range(carried, len(after)):
        variable = after[slot]
        if variable == DRIVER_ROW:
            fresh.append(kernels.ROW_ID)
        elif variable in given:
            fresh.append(kernels.LATER)
            fills.append((slot, given[variable]))
        else:
            fresh.append(where[variable]) if variable in where else fresh.append(kernels.LATER)
    return _Access(
        tuple(columns),
        np.array(columns, np.int64),
        np.array(sources, np.int64),
        np.array(consts, np.int32),
        np.array(twins, np.int64) if twins else _NO_TWINS,
        np.array(fresh, np.int64),
        tuple(fills),
        tuple(checks),
        len(columns) == table.arity and not twins,
    )


def sources_of(terms: Sequence[int], layout: Mapping[int, int]) -> tuple[Positions, Ids]:
    """Where terms come from in bindings with a given layout: sources and constants."""
    consts: list[int] = []
    sources = []
    for term in terms:
        sources.append(~len(consts) if term < 0 else layout[term])
        if term < 0:
            consts.append(~term)
    return np.array(sources, np.int64), np.array(consts, np.int32)


class Buffers:
    """The blocks of one worker, one per level, used again by every plan that it runs."""

    def __init__(self) -> None:
        self._blocks: dict[tuple[int, int], Ids] = {}

    def get(self, level: int, slots: int) -> Ids:
        found = self._blocks.get((level, slots))
        if found is None:
            found = self._blocks[level, slots] = np.empty((slots, tuning.BINDINGS_PER_BLOCK), np.int32)
        return found


def facts_of(literal: Literal, facts: MemoryFacts) -> list[Table]:
    """The tables in which a literal can match facts of a set."""
    return [table for table in literal.tables() if facts.at_most(table)]

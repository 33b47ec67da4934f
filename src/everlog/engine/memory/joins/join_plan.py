"""Joins, block by block.

A `JoinPlan` is a conjunction in the order of its evaluation: the driver, whose rows are read, then literals and
comparisons. Evaluation goes depth first: a block of bindings is extended by the first step into the blocks of the next,
each of which is taken to the end before the next one is made, so that there is one block per step and the bindings never
exist as a whole. Bindings keep only the variables that are still needed.

Where several literals have one and the same variable that is not bound yet, as what closes a cycle has, they *meet*: the
one with the fewest facts for a binding gives the values of the variable, and in the others these are looked up. So the
triangles of a graph with hubs take no longer than the worst case demands: for every edge, the neighbours of the end that
has fewer.

A plan is made once per rule and driver; the views that the literals are matched in come with each run. The number of
bindings at the end is the number of instances considered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from everlog.engine.memory import tuning
from everlog.engine.memory.dictionary import Dictionary
from everlog.engine.memory.facts.relation import Relation, grouped
from everlog.engine.memory.facts.rows import NO_ROWS, Mark
from everlog.engine.memory.facts.sets import MemoryFacts, TableView
from everlog.engine.memory.facts.table import MAX_ROWS, Ids, Index, Positions, Run, Table, one_by_one
from everlog.engine.memory.joins.computed_values import Computed
from everlog.engine.memory.joins.shared_views import COMPILING, SharedViews
from everlog.engine.memory.kernels import table_kernels as kernels
from everlog.interrupts import look

DRIVER_ROW: Final = -1
"""As a variable: the row of the driver's fact."""

OPERATORS: Final = {"=": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5, "~": 6, "is not": 7}

_NO_TWINS: Final = np.empty((0, 2), np.int64)

_EVERYTHING: Final = TableView(0, MAX_ROWS)


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


Part: TypeAlias = Literal | Compared | Computed

Driving: TypeAlias = "tuple[Table, Ids | None, int, int]"
"""Rows of a table that drive a join: all from one to another, or those places of a list."""

Sink = Callable[[int, Ids, int], bool]
"""Takes the bindings at the end: a worker, a block, and their number. True asks the join to pause, to be emptied."""

KeepNew = Callable[[Ids, int, Positions, Ids], int]
"""Keeps, in place, the bindings of a block whose heads may be new, by the sources of these; how many stay."""


class Call:
    """One evaluation of a plan: the views of the driver and of the literals, and where the bindings go.

    Compiling a view may mark rows, so it is done before threads start where the table is known, and under a lock where
    it is not. `done`, in `exists` mode, is the mark of the driver's rows that need no further binding. Of a plan that
    knows its head, `keep_new` passes over heads that are known. `spans` are what an earlier call of the same plan with
    the same views has given as such, and so is what it is `driven` by.
    """

    def __init__(
        self,
        plan: JoinPlan,
        views: Sequence[MemoryFacts],
        sink: Sink,
        done: Mark | None = None,
        shared: SharedViews | None = None,
        spans: Mapping[tuple[int, Table], TableView] | None = None,
        driven: Sequence[Driving] | None = None,
        keep_new: KeepNew | None = None,
    ) -> None:
        self.plan, self.sink, self.done, self.keep_new = plan, sink, done, keep_new
        self._driven = driven
        self._views = [views[place] for place in plan.used]
        self.driver = self._views[0]
        self._shared = SharedViews() if shared is None else shared
        self._spans = spans
        self._known: list[TableView | None] = []
        """By literal, where its table is known beforehand."""
        if spans is None:
            sights = self._shared
            for place, table in plan.tables:
                known = None if table is None else sights[self._views[place]][table]
                self._known.append(None if known is None or known.is_closed else known.view)

    def closed(self, place: int, table: Table) -> MemoryFacts | None:
        """The set that a literal is matched in, if facts of a table may have no rows there."""
        facts = self._views[place]
        return facts if facts.may_close and facts.is_closed(table) else None

    def view(self, place: int, table: Table) -> TableView:
        """The view of a literal (0 is the driver) on one table."""
        if self._spans is not None:
            return self._spans[place, table]
        return self._known[place] or self._shared[self._views[place]][table].view

    def driving(self) -> Sequence[Driving]:
        """The rows that drive it, table by table."""
        if self._driven is None:
            known = self.plan.driver.static
            tables = (known,) if known is not None else facts_of(self.plan.driver.literal, self.driver)
            self._driven = [self._driven_by(table) for table in tables]
        return self._driven

    def _driven_by(self, table: Table) -> Driving:
        found = self.plan.driving_rows(table)
        if found is not None:
            return table, found, 0, len(found)
        rows = self.driver.rows(table)
        return (table, None, rows.lo, rows.hi) if rows.is_span else (table, rows.array(), 0, rows.size)

    def spans(self) -> Mapping[tuple[int, Table], TableView] | None:
        """All views of the plan, if its tables are known and the views are ranges of rows: these hold on to nothing."""
        if not self.plan.is_static or any(
            self.closed(place, table) is not None for place, table in self.plan.static_tables()
        ):
            return None
        found = {(place, table): self.view(place, table) for place, table in self.plan.static_tables()}
        return found if all(view.is_span for view in found.values()) else None


class Access(NamedTuple):
    """How a literal is matched in one table, given what is bound before."""

    columns: tuple[int, ...]
    key_cols: Positions
    sources: Positions
    consts: Ids
    twins: Positions
    fresh: Positions
    fresh_columns: tuple[int, ...]
    """The same as numbers of Python's."""
    seeking: int
    """The place of the first key that a binding gives; -1 if there is none."""
    fills: tuple[tuple[int, int], ...]
    """Slots of the output that get a constant: variables at positions that the table fixes."""
    checks: tuple[tuple[int, int], ...]
    """Slots of the input that must hold a constant."""
    whole: bool
    """All columns are bound: the fact is looked up."""
    plain: bool
    """Nothing is asked of a row, and its number is not wanted: columns are copied."""


@dataclass
class _Comparison:
    """A comparison behind the driver, as its kernel takes it, with the slots of the variables before it."""

    before: dict[int, int]
    test: tuple[int, int, int, Ids]


@dataclass
class _Computation:
    """A computation behind the driver, with the slots of the variables before it and those of its result after it."""

    before: dict[int, int]
    computed: Computed
    carry: Positions
    """The slots whose variables are still needed; a result that is new comes behind them."""
    is_new: bool
    slots: int
    """How many there are after it."""

    def run(self, block: Ids, n: int, out: Ids) -> tuple[Ids, int]:
        """The bindings for which there is a result, and the right one if it is known."""
        found, kept = self.computed.results(block, n, self.before)
        result = self.computed.result
        if result is not None and not self.is_new:
            known = block[self.before[result], :n] if result >= 0 else ~result
            kept &= found == known
        carried, every = len(self.carry), bool(kept.all())
        places: slice | Positions = slice(n) if every else np.flatnonzero(kept)
        m = n if isinstance(places, slice) else len(places)
        for slot, variable in enumerate(self.carry):
            out[slot, :m] = block[variable, places]
        if self.is_new and carried < len(out):
            out[carried, :m] = found[places]
        return out, m


@dataclass
class _KnownHead:
    """Where a head is bound, and what comes next binds what the head does not say: bindings of known heads end here."""

    before: dict[int, int]
    sources: Positions
    consts: Ids


@dataclass
class _Step:
    """A literal, with the slots of the variables before and after it."""

    literal: Literal
    place: int
    """The number of its view."""
    before: dict[int, int]
    after: tuple[int, ...]
    carried: int = 0
    """How many of the variables after it are bound before."""

    def __post_init__(self) -> None:
        self.static = self.literal.static
        self.looked_up = self.literal.variables() <= self.before.keys()
        self.carry: Positions = np.array([self.before[variable] for variable in self.after[: self.carried]], np.int64)
        self._accesses: dict[Table, Access | None] = {}

    @property
    def is_filter(self) -> bool:
        """Whether it binds nothing."""
        return self.static is not None and self.looked_up

    def access(self, table: Table) -> Access | None:
        """How to match the literal in a table; None when the table can hold no match."""
        if table not in self._accesses:
            self._accesses[table] = access_to(self.literal, table, self.before, self.after, self.carried)
        return self._accesses[table]


class _Meeting:
    """Literals that bind the same variable: each as the one that gives its values, with the others to be looked up."""

    def __init__(
        self,
        literals: Sequence[tuple[Literal, int]],
        before: dict[int, int],
        after: tuple[int, ...],
        carried: int,
    ) -> None:
        afterwards = {variable: slot for slot, variable in enumerate(after)}
        looked_up = [_Step(literal, place, afterwards, after) for literal, place in literals]
        self.before = before
        self.ways = [
            (_Step(literal, place, before, after, carried), [*looked_up[:at], *looked_up[at + 1 :]])
            for at, (literal, place) in enumerate(literals)
        ]
        self.followed = 0
        """About how many facts were there to be looked at by the first way."""


class Layout(dict[int, int]):
    """The slots of variables in bindings; where the terms of a literal come from is worked out once."""

    def __init__(self, variables: Iterable[int]) -> None:
        super().__init__((variable, slot) for slot, variable in enumerate(variables))
        self._sources: dict[Literal, tuple[Positions, Ids]] = {}

    def sources(self, literal: Literal) -> tuple[Positions, Ids]:
        """Where the terms of a literal come from, those of the columns alone where its table is known."""
        found = self._sources.get(literal)
        if found is None:
            found = sources_of(literal.terms, self)
            if literal.static is not None:
                found = found[0][list(literal.static.positions)], found[1]
            self._sources[literal] = found
        return found


class Worker:
    """A thread's number, and its blocks, one per level, used again by every plan that it runs."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._blocks: dict[tuple[int, int], Ids] = {}

    def block(self, level: int, slots: int) -> Ids:
        found = self._blocks.get((level, slots))
        if found is None:
            found = self._blocks[level, slots] = np.empty((slots, tuning.BINDINGS_PER_BLOCK), np.int32)
        return found


class JoinPlan:
    """`parts` in order, the driver first; `needed` lists the variables (or `DRIVER_ROW`) of the resulting bindings.

    `used` are the places, in the views that a call is given, of those of the driver and of the other literals. If there
    is a `head`, whoever calls may want those that are known to be passed over.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        parts: Sequence[Part],
        needed: Sequence[int],
        used: tuple[int, ...],
        head: Literal | None = None,
    ) -> None:
        self._dictionary = dictionary
        self.used = used
        driver, *rest = parts
        assert isinstance(driver, Literal)
        late: list[set[int]] = [set(needed)]
        for part in reversed(rest):
            late.append(late[-1] | part.variables())
        layout = tuple(sorted((driver.variables() | {DRIVER_ROW}) & late.pop()))
        self.driver = _Step(driver, 0, {}, layout)
        self._steps: list[_Step | _Comparison | _Computation | _Meeting | _KnownHead] = []
        place = 0
        for at, part in enumerate(rest):
            if len(late) < len(rest) - at:
                continue  # it meets literals before it
            afterwards = late.pop()
            before = {variable: slot for slot, variable in enumerate(layout)}
            if (
                head is not None
                and head.static is not None
                and head.variables() <= before.keys()
                and _binds(part, before)
            ):
                sources, consts = sources_of([head.terms[position] for position in head.static.positions], before)
                self._steps.append(_KnownHead(before, sources, consts))
                head = None  # once is enough
            if len(meeting := _meeting(rest[at:], before)) > 1:
                for _ in meeting[1:]:
                    afterwards = late.pop()
                afterwards = afterwards.union(*(literal.variables() for literal in meeting))
                carried = [variable for variable in layout if variable in afterwards]
                layout = (*carried, *(meeting[0].variables() - before.keys()))
                places = range(place + 1, place + 1 + len(meeting))
                place += len(meeting)
                self._steps.append(_Meeting(list(zip(meeting, places, strict=True)), before, layout, len(carried)))
                continue
            if isinstance(part, Compared):
                (left, right), consts = sources_of((part.left, part.right), before)
                self._steps.append(_Comparison(before, (OPERATORS[part.operator], left, right, consts)))
                continue
            if isinstance(part, Computed):
                carried = [variable for variable in layout if variable in afterwards]
                slots = np.array([before[variable] for variable in carried], np.int64)
                new = sorted(part.gives() - before.keys())
                layout = (*carried, *(variable for variable in new if variable in afterwards))
                self._steps.append(_Computation(before, part, slots, bool(new), len(layout)))
                continue
            place += 1
            carried = []
            if not part.negative and not (part.static is not None and part.variables() <= before.keys()):
                carried = [variable for variable in layout if variable in afterwards]
                layout = (*carried, *sorted((part.variables() - before.keys()) & afterwards))
            self._steps.append(_Step(part, place, before, layout, len(carried)))
        self.layout = Layout(layout)
        self.asks_for_head = any(isinstance(step, _KnownHead) for step in self._steps)
        self.tables = sorted(((step.place, step.static) for step in self._literals()), key=lambda one: one[0])
        """The table of each literal, if it is known beforehand, with its number."""

    def static_tables(self) -> Iterator[tuple[int, Table]]:
        """The tables that are known beforehand, with the numbers of the literals."""
        return ((place, table) for place, table in self.tables if table is not None)

    @cached_property
    def is_static(self) -> bool:
        """Whether the tables of all literals are known beforehand."""
        return all(table is not None for _, table in self.tables)

    def _literals(self) -> Iterator[_Step]:
        yield self.driver
        for step in self._steps:
            if isinstance(step, _Step):
                yield step
            elif isinstance(step, _Meeting):
                yield from (way for way, _ in step.ways)

    def is_apart(self, head: Literal, views: Sequence[MemoryFacts]) -> bool:
        """Whether bindings, which are many, surely make different facts of a head.

        That is so where no step but the driver binds anything that is not computed, and the head tells its rows apart: it
        has all that they have, or a column in which values only ever rise, as numbers of rows do.
        """
        table = self.driver.static
        binding = (step for step in self._steps if isinstance(step, _Meeting | _Step))
        if table is None or any(isinstance(step, _Meeting) or not step.is_filter for step in binding):
            return False
        facts = views[self.used[0]]
        if facts.at_most(table) < tuning.SHARED_TUPLES:
            return False
        rows = facts.rows(table)
        terms, shown = [self.driver.literal.terms[position] for position in table.positions], head.variables()
        if all(term in shown for term in terms if term >= 0):
            return True
        return rows.is_span and any(
            term in shown and kernels.rises(table.cols, column, rows.lo, rows.hi) for column, term in enumerate(terms)
        )

    def driving_rows(self, table: Table) -> Ids | None:
        """The rows of a table that the driver's constants can meet, if an index tells them."""
        access = self.driver.access(table)
        if access is None or not access.columns:
            return None
        return table.rows_with(access.columns, access.consts, table.n)

    def run(self, call: Call, worker: Worker, table: Table, rows: Ids | None, lo: int, hi: int) -> Iterator[None]:
        """Evaluates the plan for the driver's facts in the rows `lo..hi` of a table (or at those places of `rows`).

        Yields when the sink is full. Between blocks it may be given up.
        """
        access = self.driver.access(table)
        if access is None:
            return
        view = call.view(0, table)
        listed = NO_ROWS if rows is None else rows
        copied = access.plain and rows is None and view.is_span
        if copied:
            lo, hi = max(lo, view.lo), min(hi, view.hi)
        match = access.key_cols, access.consts, access.twins
        for start in range(lo, hi, tuning.BINDINGS_PER_BLOCK):
            look()
            out, end = worker.block(0, len(self.driver.after)), min(start + tuning.BINDINGS_PER_BLOCK, hi)
            if copied:
                n = end - start
                for slot, column in enumerate(access.fresh_columns):
                    if column >= 0:
                        out[slot, :n] = table.cols[column, start:end]
            else:
                ranges = listed, rows is not None, start, end
                n = kernels.scan(*ranges, table.cols, *match, *view.test(table), access.fresh, out)
            _fill(out, n, access)
            yield from self._continue(call, worker, 0, out, n)

    def _continue(self, call: Call, worker: Worker, level: int, block: Ids, n: int) -> Iterator[None]:
        """Takes a block of bindings from a step to the end."""
        while level < len(self._steps) and n:
            step = self._steps[level]
            if call.done is not None:
                mask, bit = call.done.table.mask, np.uint16(call.done.bit)
                n = kernels.drop_marked(block, n, step.before[DRIVER_ROW], mask, bit)
            if isinstance(step, _Comparison):
                n = kernels.keep_compared(block, n, *step.test, self._dictionary.order())
            elif isinstance(step, _Computation):
                block, n = step.run(block, n, worker.block(level + 1, step.slots))
            elif isinstance(step, _KnownHead):
                if call.keep_new is not None:
                    n = call.keep_new(block, n, step.sources, step.consts)
            elif isinstance(step, _Meeting):
                for out, m in _met(call, step, worker, level, block, n):
                    yield from self._continue(call, worker, level + 1, out, m)
                return
            elif step.is_filter and step.static is not None:
                n = _look_up(call, step, step.static, block, n)
            else:
                found = _extensions if step.static is None else _extended
                for out, m in found(call, step, worker, level, block, n):
                    yield from self._continue(call, worker, level + 1, out, m)
                return
            level += 1
        if n and call.sink(worker.number, block, n):
            yield


def _fill(out: Ids, n: int, access: Access) -> None:
    for slot, value in access.fills:
        out[slot, :n] = value


def _look_up(call: Call, step: _Step, table: Table, block: Ids, n: int) -> int:
    """Keeps the bindings whose fact is (or, for a negative literal, is not) there."""
    access, negative = step.access(table), step.literal.negative
    if access is None:
        return n if negative else 0
    if (facts := call.closed(step.place, table)) is not None:
        tuples = np.empty((table.arity, n), np.int32)
        kernels.project(block, 0, n, access.sources, access.consts, tuples, 0)
        places = np.flatnonzero(facts.holds(table, tuples) != negative)
        block[:, : len(places)] = block[:, places]
        return len(places)
    view, asked = call.view(step.place, table), (block, n, access.sources, access.consts)
    kept: int
    if table.has_groups and view.has_all(table.n):
        if table.groups_entered < table.n:
            with COMPILING:
                table.enter_groups(one_by_one)
        kept = kernels.probe_presence(*asked, table.groups, table.shards, negative)
    else:
        with COMPILING:
            if table.seeks(n):
                tuples = np.empty((table.arity, n), np.int32)
                kernels.project(block, 0, n, access.sources, access.consts, tuples, 0)
                slots = table.slots_of(tuples, n)
            else:
                slots = table.row_slots(0)
        kept = kernels.probe(*asked, slots, table.cols, *view.test(table), negative)
    return kept


def _extensions(call: Call, step: _Step, worker: Worker, level: int, block: Ids, n: int) -> Iterator[tuple[Ids, int]]:
    """The blocks that a literal, whose tables depend on the bindings, makes of one block."""
    for tables, part in _dispatched(step, block[:, :n]):
        m = part.shape[1]
        if step.literal.negative:
            for table in tables:
                m = _look_up(call, step, table, part, m)
            yield part, m
            continue
        for table in tables:
            access = step.access(table)
            if access is None:
                continue
            sub, k = part, m
            if access.checks or access.whole:
                sub = part.copy()
                for slot, value in access.checks:
                    k = kernels.keep_equal(sub, k, slot, value)
            yield from _extended(call, step, worker, level, sub, k, table)


def _dispatched(step: _Step, block: Ids) -> Iterator[tuple[Iterable[Table], Ids]]:
    """Splits a block by the bound variables that decide about the table, with the tables for each part."""
    literal = step.literal
    parts: list[tuple[Mapping[int, int], Ids]] = [(literal.constants, block)]
    for position in literal.relation.deciding():
        term = literal.terms[position]
        if term >= 0 and term in step.before:
            parts = [
                ({**known, position: value}, part[:, places])
                for known, part in parts
                for value, places in grouped(part[step.before[term]])
            ]
    for known, part in parts:
        yield tuple(literal.relation.candidates(known)), np.ascontiguousarray(part)


def _extended(
    call: Call, step: _Step, worker: Worker, level: int, block: Ids, n: int, table: Table | None = None
) -> Iterator[tuple[Ids, int]]:
    """The blocks that the facts of one table, the step's own if it has one, make of a block."""
    table = table or step.static
    assert table is not None, "a table to look into"
    access = step.access(table)
    if access is None or n == 0:
        return
    out = worker.block(level + 1, len(step.after))
    if access.whole:
        n = _look_up(call, step, table, block, n)
        if n:
            out[: step.carried, :n] = block[step.carry, :n]
            _fill(out, n, access)
            yield out, n
        return
    if len(access.columns) == 1 and (facts := call.closed(step.place, table)) is not None:
        source = int(access.sources[0])
        ends: Ids = block[source, :n] if source >= 0 else np.full(n, access.consts[~source])
        ids = np.unique(ends)
        if len(ids) * tuning.ASKED_ENDS_SHARE <= facts.spread(table, access.columns[0]):
            yield from _ended(facts.ending(table, access.columns[0], ids), ends, step, access, block, out)
            return
    view = call.view(step.place, table)
    lo, hi = view.lo, view.hi
    if lo >= hi:
        return
    index = table.index(access.columns)
    covered = access.fresh_columns == (index.covered,)
    copied = view.is_span and not len(access.twins) and (covered or not access.fresh_columns)
    for run in _runs(table, index, access, block, n, hi):
        if run.hi <= lo or hi <= run.lo:
            continue
        plain = copied and lo <= run.lo and run.hi <= hi
        # Where rows are not tested, what they would be tested for may be anything.
        test = (_EVERYTHING if plain else view).test(table)
        keys, i, at = (access.sources, access.consts, *run[2:]), 0, -1
        while i < n:
            look()
            if call.done is not None and at >= 0:
                row = block[step.before[DRIVER_ROW], i]
                if call.done.table.mask[row] & call.done.bit:
                    i, at = i + 1, -1
                    continue
            match = table.cols, access.key_cols, access.twins, covered, plain, *test
            i, at, k = kernels.expand(block, i, at, n, *keys, *match, step.carry, access.fresh, out)
            if k:
                _fill(out, k, access)
                yield out, k


def _ended(
    pieces: Iterator[Ids], keys: Ids, step: _Step, access: Access, block: Ids, out: Ids
) -> Iterator[tuple[Ids, int]]:
    """The blocks that pairs without rows, in pieces, make of a block that has one end of them: its `keys`."""
    (place,), order = access.columns, np.argsort(keys, kind="stable")
    ids, starts, sizes = np.unique(keys[order], return_index=True, return_counts=True)
    number = np.empty(int(ids.max(initial=-1)) + 1, np.int32)
    number[ids] = np.arange(len(ids), dtype=np.int32)
    alone = len(ids) == len(keys)
    for pairs in pieces:
        mine = number[pairs[place]]
        lasts = np.cumsum(sizes[mine]) if not alone else NO_ROWS
        total = len(mine) if alone else int(lasts[-1]) if len(lasts) else 0
        for start in range(0, total, tuning.BINDINGS_PER_BLOCK):
            look()
            stop = min(start + tuning.BINDINGS_PER_BLOCK, total)
            m = stop - start
            if alone:
                found, binding = pairs[:, start:stop], order[starts[mine[start:stop]]]
            else:
                places = np.arange(start, stop)
                pair = np.searchsorted(lasts, places, "right")
                nth = places - lasts[pair] + sizes[mine[pair]]
                found, binding = pairs[:, pair], order[starts[mine[pair]] + nth]
            for slot, variable in enumerate(step.carry):
                out[slot, :m] = block[variable, binding]
            for slot, column in enumerate(access.fresh_columns, step.carried):
                if column >= 0:
                    out[slot, :m] = found[column]
            _fill(out, m, access)
            yield out, m


def _runs(table: Table, index: Index, access: Access, block: Ids, n: int, hi: int) -> Sequence[Run]:
    """Runs of a table, below a row, with all rows that some bindings meet."""
    place = access.seeking
    if place >= 0 and hi >= tuning.SOUGHT_ROWS and table.looks_for(access.columns, n, hi):
        return (table.sought_run(access.columns, place, block[access.sources[place], :n], hi),)
    return index.runs(hi)


def _binds(part: Part, before: Mapping[int, int]) -> bool:
    """Whether part of a conjunction makes several bindings of one."""
    return isinstance(part, Literal) and not part.negative and not part.variables() <= before.keys()


def _meeting(parts: Sequence[Part], before: Mapping[int, int]) -> list[Literal]:
    """The first of some parts, if it binds one variable, with those behind it that bind the same one."""
    found: list[Literal] = []
    for part in parts:
        if not isinstance(part, Literal) or part.negative or part.static is None:
            break
        new = part.variables() - before.keys()
        known = sum(term < 0 or term in before for term in (part.terms[at] for at in part.static.positions))
        if len(new) != 1 or not known or (found and new != found[0].variables() - before.keys()):
            break
        found.append(part)
    return found


def _met(call: Call, meeting: _Meeting, worker: Worker, level: int, block: Ids, n: int) -> Iterator[tuple[Ids, int]]:
    """The blocks that literals which bind the same variable make of one block."""
    for way, part, size in _ways(call, meeting, block, n):
        step, others = meeting.ways[way]
        for out, m in _extended(call, step, worker, level, part, size):
            for other in others:
                if m and other.static is not None:
                    m = _look_up(call, other, other.static, out, m)
            if m:
                yield out, m


def _ways(call: Call, meeting: _Meeting, block: Ids, n: int) -> Iterator[tuple[int, Ids, int]]:
    """Parts of a block, each with the number of the literal that has the fewest facts for its bindings."""
    first, *others = (step for step, _ in meeting.ways)
    sizes = _facts_met(call, first, block, n)
    if sizes is None or (total := int(sizes.sum())) <= tuning.CROWDED_KEY * n:
        yield 0, block, n
        return
    meeting.followed += total
    every = [sizes]
    for step in others:
        table = step.static
        assert table is not None
        access = step.access(table)
        missing = 0 if access is None else table.n - table.indexed(access.columns)
        # An index is made when it would have paid.
        known = None if tuning.INDEX_ROW_COST * missing > meeting.followed else _facts_met(call, step, block, n, False)
        every.append(np.full(n, np.iinfo(np.int64).max) if known is None else known)
    least = np.argmin(every, axis=0)
    for way in range(len(every)):
        places = np.flatnonzero(least == way)
        if len(places) == n:
            yield way, block, n
        elif len(places):
            yield way, np.ascontiguousarray(block[:, places]), len(places)


def _facts_met(call: Call, step: _Step, block: Ids, n: int, crowded: bool = True) -> Positions | None:
    """About how many facts a literal has for each binding; if it has to be `crowded`, None where keys have few."""
    table = step.static
    assert table is not None
    access = step.access(table)
    if access is None:
        return np.zeros(n, np.int64)
    if call.closed(step.place, table) is not None:
        return None
    view = call.view(step.place, table)
    lo, hi = view.lo, view.hi
    index = table.index(access.columns)
    runs = index.runs(hi)
    if crowded and index.crowding() < tuning.CROWDED_KEY:
        return None
    sizes: Positions = np.zeros(n, np.int64)
    for run in runs:
        if lo < run.hi and run.lo < hi:
            kernels.add_sizes(block, n, access.sources, access.consts, *run[2:7], table.cols, access.key_cols, sizes)
    return sizes


def access_to(
    literal: Literal, table: Table, before: Mapping[int, int] | None = None, after: Sequence[int] = (), carried: int = 0
) -> Access | None:
    """How to match a literal in a table, given the slots before and the variables after it; None if it has no match."""
    before = before or {}
    keys: dict[int, int] = {}  # the terms of columns that are bound
    twins: list[tuple[int, int]] = []
    where: dict[int, int] = {}
    given: dict[int, int] = {}
    checks: list[tuple[int, int]] = []
    for position, value in table.fixed:
        term = literal.terms[position]
        if term >= 0 and term in before:
            checks.append((before[term], value))
        elif value != (~term if term < 0 else given.setdefault(term, value)):
            return None
    for column, position in enumerate(table.positions):
        term = literal.terms[position]
        if term < 0 or term in given or term in before:
            keys[column] = ~given[term] if term in given else term
        elif term in where:
            twins.append((where[term], column))
        else:
            where[term] = column
    sources, consts = sources_of(tuple(keys.values()), before)
    fresh = []
    for variable in after[carried:]:
        fresh.append(kernels.ROW_ID if variable == DRIVER_ROW else where.get(variable, kernels.LATER))
    fills = [(slot, given[variable]) for slot, variable in enumerate(after) if slot >= carried and variable in given]
    return Access(
        tuple(keys),
        np.array(tuple(keys), np.int64),
        sources,
        consts,
        np.array(twins, np.int64) if twins else _NO_TWINS,
        np.array(fresh, np.int64),
        tuple(fresh),
        next((place for place, source in enumerate(sources.tolist()) if source >= 0), -1),
        tuple(fills),
        tuple(checks),
        len(keys) == table.arity,
        not len(consts) and not twins and kernels.ROW_ID not in fresh,
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


def facts_of(literal: Literal, facts: MemoryFacts) -> list[Table]:
    """The tables in which a literal can match facts of a set."""
    return [table for table in literal.tables() if facts.at_most(table)]

"""A conjunction for the memory engine: numbered literals, their join plans by driver, and when a plan is out of date.

Plans are kept by the order of magnitude of the sizes they were made for, so that they are made again when a size has
changed about tenfold and looked up otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from heapq import nlargest

from everlog.datalog.syntax import Atom, Comparison, Computation, Test
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import MemoryFacts
from everlog.engine.memory.facts.table import Table
from everlog.engine.memory.joins.computed_values import Computed
from everlog.engine.memory.joins.join_order import join_order, with_filters
from everlog.engine.memory.joins.join_plan import Compared, JoinPlan, Literal, Part
from everlog.engine.memory.joins.shared_views import SharedViews, magnitude

UNIT = "¬"
"""The hidden nullary predicate, always true, that drives a conjunction without positive atoms."""


class Conjunction:
    """Positive atoms, negative atoms, comparisons and computations over common variables."""

    def __init__(
        self,
        engine: MemoryEngine,
        positive: Sequence[Atom],
        negative: Sequence[Atom],
        comparisons: Sequence[Comparison],
        computations: Sequence[Computation] = (),
        further: Sequence[Atom] = (),
    ) -> None:
        self._engine = engine
        parts: tuple[Atom | Test, ...] = (*positive, *negative, *comparisons, *computations, *further)
        variables = dict.fromkeys(variable for part in parts for variable in part.variables())
        self.numbers = {variable: number for number, variable in enumerate(variables)}
        self.positive = [engine.literal(atom, self.numbers) for atom in positive]
        self.negative = [engine.literal(atom, self.numbers, negative=True) for atom in negative]
        self.comparisons = [
            Compared(one.operator, engine.term(one.left, self.numbers), engine.term(one.right, self.numbers))
            for one in comparisons
        ]
        self.computations = [Computed(one, engine.dictionary, self.numbers) for one in computations]
        self._plans: dict[object, JoinPlan] = {}
        self._by_steps: dict[object, JoinPlan] = {}
        """The same plans by what they are made of: sizes differ more often than orders do."""

    def plan(
        self,
        views: Sequence[MemoryFacts],
        extra: Literal | None,
        needed: Collection[int],
        *,
        small: int | None = None,
        extra_first: bool = False,
        again: bool = False,
        uses: int = 1,
        shared: SharedViews | None = None,
        head: Literal | None = None,
    ) -> JoinPlan | None:
        """A join plan for some views; None if a positive literal has no facts in its view.

        `views` has a set for each positive literal, then each negative one, then perhaps one for `extra`, a further
        positive literal (a head to be matched, or a negative atom whose change drives the join), and last the unit set.
        The literal at `small` is matched in a delta and goes first unless that is much worse; `again` says that the same
        will be asked again, so that it may use indexes that are made for it, and `uses` how often it was asked. `shared` is
        for the plans of one call. Bindings of a `head` that is known may be passed over.
        """
        needed = tuple(dict.fromkeys(needed)) if len(needed) > 1 else tuple(needed)
        size, body = len(self.positive), len(self.positive) + len(self.negative)
        literals, places = list(self.positive), list(range(size))
        if extra is not None:
            literals.append(extra)
            places.append(body)
        if not literals:
            literals, places = [self._engine.literal(Atom(UNIT, ()), {})], [-1]
        # Heads that are asked about resemble the facts that rules derive: where some values have many, so have they.
        alike = extra is not None and not extra.negative and small in (None, size)
        shared = SharedViews() if shared is None else shared
        magnitudes: list[int] = []
        for literal, place in zip(literals, places, strict=True):
            tables = literal.tables()
            facts = sum([shared[views[place]][table].at_most for table in tables])
            if not facts:
                return None
            if len(literals) > 1:
                magnitudes.append(magnitude(facts, sum([table.n for table in tables])))
        key = extra, extra_first, small, again, uses, needed, head is None, tuple(magnitudes)
        found = self._plans.get(key)
        if found is None:
            sized = [
                _Matched(literal, views[place], shared, alike) for literal, place in zip(literals, places, strict=True)
            ]
            first = len(sized) - 1 if extra_first else small
            giving = [(one.needs(), one.gives()) for one in self.computations]
            order = join_order(sized, first, forced=extra_first, again=again, uses=uses, giving=giving)
            tests: list[Literal | Compared] = [*literals, *self.negative, *self.comparisons]
            parts: list[Part] = [*tests, *self.computations]
            places += range(size, body)
            steps = with_filters(order, [*((part.variables(), set()) for part in tests), *giving])
            shape = extra, needed, head is None, tuple(steps)
            found = self._by_steps.get(shape)
            if found is None:
                used = tuple(places[step] for step in steps if step < len(places))
                chosen = [parts[step] for step in steps]
                found = self._by_steps[shape] = JoinPlan(self._engine.dictionary, chosen, needed, used, head)
            self._plans[key] = found
        return found


class _Matched:
    """A literal with its view, as the ordering sees it.

    An order of many literals asks for the same numbers again and again, and a view is a formula over sets: what it has
    answered is remembered, by the variables of this literal that are bound.
    """

    def __init__(self, literal: Literal, view: MemoryFacts, shared: SharedViews, crowded: bool = False) -> None:
        self._literal = literal
        self._crowded = crowded
        every = literal.tables()
        self._view = view
        self._variables = literal.variables()
        facts = [shared[view][table].at_most for table in every]
        self.facts = sum(facts)
        """About how many facts there are to be looked at."""
        self._tables: Sequence[Table] = every
        """Those that estimates look at; where there are very many, what the largest have stands for all."""
        self._at_most = facts
        if len(every) > tuning.ESTIMATED_TABLES:
            largest = nlargest(tuning.ESTIMATED_TABLES, zip(facts, range(len(every)), strict=True))
            self._tables, self._at_most = [every[place] for _, place in largest], [number for number, _ in largest]
        self._every = len(every)
        self._fanouts: dict[frozenset[int], float] = {}
        self._efforts: dict[tuple[frozenset[int], float], tuple[float, float]] = {}

    def variables(self) -> set[int]:
        return self._variables

    def size(self) -> float:
        return self.fanout(set())

    def fanout(self, bound: set[int]) -> float:
        mine = frozenset(self._variables & bound)
        if mine not in self._fanouts:
            parts = zip(self._at_most, self._tables, strict=True)
            every = sum(at_most / self._keys(table, mine) for at_most, table in parts)
            every *= self.facts / max(1, sum(self._at_most))
            self._fanouts[mine] = max(every * self._share(mine), min(every, 1.0))
        return self._fanouts[mine]

    def _share(self, bound: frozenset[int]) -> float:
        """Which part of the tables a binding has to do with: where it tells the property or the class, one of them."""
        terms = self._literal.terms
        telling = next((terms[place] for place in self._literal.relation.deciding() if terms[place] >= 0), None)
        return 1 / self._every if self._every and telling in bound else 1.0

    def _keys(self, table: Table, bound: frozenset[int]) -> float:
        """How many different keys the columns have that are constant or bound, or how many would be as crowded."""
        columns = self._columns(table, bound)
        if self._crowded and 0 < len(columns) < table.arity:
            return max(1.0, table.n / max(1.0, table.crowding(columns)))
        return max(1, table.distinct(columns))

    def effort(self, bound: set[int], bindings: float) -> tuple[float, float]:
        mine = frozenset(self._variables & bound)
        if (mine, bindings) in self._efforts:
            return self._efforts[mine, bindings]
        once, each = 0.0, 0.0
        for at_most, table in zip(self._at_most, self._tables, strict=True):
            columns = self._columns(table, mine)
            if len(columns) == table.arity:
                each += 1.0
            elif self._view.may_close and self._view.is_closed(table):
                each += 1.0 + at_most / self._keys(table, mine)
            else:
                # Of a span an index has runs of its own; rows outside of another view are looked at and passed over.
                seen = at_most if self._view.formula(table).terms is None else table.n
                once += self._indexing(table, columns, bindings)
                each += 0.5 + seen / self._keys(table, mine)
        share = self._share(mine) * self._every / max(1, len(self._tables))
        self._efforts[mine, bindings] = once * share, each * share
        return self._efforts[mine, bindings]

    def _indexing(self, table: Table, columns: tuple[int, ...], bindings: float) -> float:
        """What it costs that there is no index on some columns: to make one, or to look at all rows for a few bindings."""
        index = tuning.INDEX_ROW_COST * (table.n - table.indexed(columns))
        few = bindings <= tuning.FEW_FACTS  # what more of them find may be most rows, and estimates do not tell
        if few and columns and table.looks_for(columns, int(bindings) + 1, table.n):
            return min(index, tuning.SOUGHT_ROW_COST * table.n)
        return index

    def _columns(self, table: Table, bound: frozenset[int]) -> tuple[int, ...]:
        terms = enumerate(self._literal.terms[position] for position in table.positions)
        return tuple(column for column, term in terms if term < 0 or term in bound)

"""`match`: labelled conjunctive queries outside of rules, for the memory engine.

A query is evaluated when a projection asks for it, block by block, so that its matches never exist as a whole; `kept`
evaluates it once and remembers the bindings of all its variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from everlog.datalog.syntax import Atom, Comparison, Variable
from everlog.engine.algebra import Bindings, FactSet, Labelled, Matcher
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.annotations import CountedFacts
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids
from everlog.engine.memory.joins.conjunction import UNIT, Conjunction
from everlog.engine.memory.joins.join_plan import Call, Sink
from everlog.engine.memory.joins.sinks import CountedHeads, Heads, KeptBindings

SinkOf = Callable[[Mapping[int, int]], Sink]
"""Makes a sink for bindings with a given layout."""


class MemoryMatcher(Matcher):
    """Makes queries for one engine; modules ask the same ones again and again, so their plans are kept."""

    def __init__(self, engine: MemoryEngine) -> None:
        self._engine = engine
        self._known: dict[object, Conjunction] = {}
        self._unit = engine.insert_nullary(UNIT)

    def match(self, literals: Sequence[Labelled], comparisons: Sequence[Comparison] = ()) -> Matches:
        positive = [literal for literal in literals if not literal.negative]
        negative = [literal for literal in literals if literal.negative]
        true, false = tuple(one.atom for one in positive), tuple(one.atom for one in negative)
        key = true, false, tuple(comparisons)
        conjunction = self._known.get(key)
        if conjunction is None:
            conjunction = self._known[key] = Conjunction(self._engine, true, false, comparisons)
        views = [as_memory_facts(literal.view) for literal in (*positive, *negative)]
        return Matches(self._engine, conjunction, [*views, self._unit])


class Matches(Bindings):
    """The matches of a query, each once."""

    def __init__(self, engine: MemoryEngine, conjunction: Conjunction, views: Sequence[MemoryFacts]) -> None:
        self._engine = engine
        self._conjunction = conjunction
        self._views = views

    @property
    def numbers(self) -> Mapping[Variable, int]:
        return self._conjunction.numbers

    def count(self) -> int:
        kept = KeptBindings((), remember=False)
        self._deliver((), kept.of, kept)
        return sum(kept.instances)

    def facts(self, atom: Atom, excluding: FactSet | None = None) -> ComputedFacts:
        left_out = None if excluding is None else as_memory_facts(excluding)
        heads = Heads(self._engine.within, self._engine.workers, self._engine.parallel, left_out)
        head = self._engine.literal(atom, self.numbers)
        self._deliver(head.variables(), lambda layout: heads.of(layout, head), heads)
        return heads.facts()

    def counted(self, atom: Atom) -> CountedFacts:
        heads = CountedHeads(self._engine.within, self._engine.workers, self._engine.parallel)
        head = self._engine.literal(atom, self.numbers)
        self._deliver(head.variables(), lambda layout: heads.of(layout, head), heads)
        return heads.counted()

    def kept(self) -> KeptMatches:
        needed = tuple(self.numbers.values())
        kept = KeptBindings(needed)
        self._deliver(needed, kept.of, kept)
        return KeptMatches(self._engine, self._conjunction, kept.layout, kept.bindings())

    def _deliver(self, needed: Iterable[int], sink: SinkOf, emptied: Heads | CountedHeads | KeptBindings) -> None:
        """Evaluates the query into a sink."""
        if not self._conjunction.can_match(self._views):
            return
        sizes = [
            sum(view.at_most(table) for table in literal.tables())
            for literal, view in zip(self._conjunction.positive, self._views, strict=False)
        ]
        # The smallest set goes first, as a delta would: an index that it needs serves the next time too.
        smallest = min(range(len(sizes)), key=sizes.__getitem__) if sizes else None
        plan, used = self._conjunction.plan(self._views, None, needed, small=smallest, again=True)
        call = Call(plan, [self._views[place] for place in used], sink(plan.layout))
        shared = not isinstance(emptied, KeptBindings)
        self._engine.run([(plan, call, self._views[used[0]])], emptied, shared)


class KeptMatches(Matches):
    """Matches that were found once."""

    def __init__(
        self, engine: MemoryEngine, conjunction: Conjunction, layout: Mapping[int, int], bindings: Ids
    ) -> None:
        super().__init__(engine, conjunction, ())
        self._layout = layout
        self._bindings = bindings

    def kept(self) -> KeptMatches:
        return self

    def count(self) -> int:
        return int(self._bindings.shape[1])

    def _deliver(self, needed: Iterable[int], sink: SinkOf, emptied: Heads | CountedHeads | KeptBindings) -> None:
        if not self.count():
            return  # and there may be no layout: a query that cannot match is not even planned
        target = sink(self._layout)
        for start in range(0, self._bindings.shape[1], tuning.BINDINGS_PER_BLOCK):
            block = self._bindings[:, start : start + tuning.BINDINGS_PER_BLOCK].copy()
            target.take(0, block, block.shape[1])
            emptied.flush()

"""`match`: labelled conjunctive queries outside of rules, for the memory engine.

A query is evaluated when a projection asks for it, block by block, so that its matches never exist as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

from everlog.datalog.syntax import Atom, Comparison
from everlog.engine.algebra import Bindings, FactSet, Labelled, Matcher
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.joins.conjunction import UNIT, Conjunction
from everlog.engine.memory.joins.join_plan import Call
from everlog.engine.memory.joins.sinks import Heads


class MemoryMatcher(Matcher):
    """Makes queries for one engine; modules ask the same ones again and again, so their plans are kept."""

    def __init__(self, engine: MemoryEngine) -> None:
        self._engine = engine
        self._conjunction = cache(partial(Conjunction, engine))
        self._unit = engine.insert_nullary(UNIT)

    def match(self, literals: Sequence[Labelled], comparisons: Sequence[Comparison] = ()) -> Matches:
        positive = [literal for literal in literals if not literal.negative]
        negative = [literal for literal in literals if literal.negative]
        true, false = tuple(one.atom for one in positive), tuple(one.atom for one in negative)
        conjunction = self._conjunction(true, false, tuple(comparisons))
        views = [as_memory_facts(literal.view) for literal in (*positive, *negative)]
        return Matches(self._engine, conjunction, [*views, self._unit])


@dataclass(frozen=True, eq=False)
class Matches(Bindings):
    """The matches of a query, each once."""

    _engine: MemoryEngine
    _conjunction: Conjunction
    _views: Sequence[MemoryFacts]

    def facts(self, atom: Atom, excluding: FactSet | None = None) -> ComputedFacts:
        heads = Heads(self._engine, excluding)
        head = self._engine.literal(atom, self._conjunction.numbers)
        sizes = [
            sum(view.at_most(table) for table in literal.tables())
            for literal, view in zip(self._conjunction.positive, self._views, strict=False)
        ]
        # The smallest set goes first, as a delta would: an index that it needs serves the next time too.
        smallest = min(range(len(sizes)), key=sizes.__getitem__) if sizes else None
        plan = self._conjunction.plan(self._views, None, head.variables(), small=smallest, again=True)
        if plan is None:
            return self._engine.empty()
        self._engine.run([Call(plan, self._views, heads.sink(plan.layout, head))], heads)
        return heads.facts()

"""Rules compiled for the memory engine, and `apply`: all instances of many rules, each considered once.

`inst_r[I⁺, I⁻ : P, N]` is evaluated as *Revisited* §9.2 says: once for each body literal that `P` (or, for a negative
literal, `N`) can match, with the literals before it kept out of `P` and `N`, so that no instance is met twice. Only the
literals are looked at whose table has facts in the set, found by an index over the rules; the cost of a call depends on
what changed, not on the number of rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from everlog.datalog.syntax import Rule
from everlog.engine.algebra import FactSet, Region, Rules, Some
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.annotations import CountedFacts
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Table
from everlog.engine.memory.joins.conjunction import UNIT, Conjunction
from everlog.engine.memory.joins.join_plan import DRIVER_ROW, Call, JoinPlan, Literal, SharedViews, Sink, facts_of
from everlog.engine.memory.joins.sinks import CountedHeads, FilteredSink, Heads, PremiseSink, ProvedHeads

_Some = tuple[MemoryFacts, MemoryFacts]
Place = tuple[int, int]
"""The number of a rule and of a literal: positive ones first, then negative ones."""


class CompiledRule:
    """A rule whose negations are single atoms and whose equalities are gone."""

    def __init__(self, engine: MemoryEngine, rule: Rule) -> None:
        self.rule = rule
        negative = [negation.atoms[0] for negation in rule.negative]
        self.body = Conjunction(engine, rule.positive, negative, rule.comparisons, [rule.head])
        self.head = engine.literal(rule.head, self.body.numbers)
        self.literals = [*self.body.positive, *self.body.negative]

    def labelled(self, sides: _Sides, place: int | None = None) -> list[MemoryFacts]:
        """The view of each literal when the one at `place` is matched in `some`; (156) and (157) of *Revisited*."""
        size = len(self.body.positive)
        views: list[MemoryFacts] = [sides.positive] * size + [sides.negative] * (len(self.literals) - size)
        if place is not None:
            for before in range(min(place, size)):
                views[before] = sides.positive_before
            for before in range(size, place):
                views[before] = sides.negative_before
            if place < size:
                views[place] = sides.some[0]
        return views


class _Sides:
    """The sets that literals are matched in; all rules of a call share them, so that each is looked at once."""

    def __init__(self, positive: MemoryFacts, negative: MemoryFacts, some: _Some | None = None) -> None:
        self.positive, self.negative = positive, negative
        if some is not None:
            self.some = some
            self.positive_before, self.negative_before = positive - some[0], negative | some[1]


class MemoryRules(Rules):
    """Some rules of a program; they may share compiled rules with other such sets."""

    def __init__(self, engine: MemoryEngine, compiled: Sequence[CompiledRule]) -> None:
        self._engine = engine
        self._compiled = compiled
        self._rules = [one.rule for one in compiled]
        self._unit = engine.insert_nullary(UNIT)
        self._bodies = _PlaceIndex((number, rule.literals) for number, rule in enumerate(compiled))
        self._heads = _PlaceIndex((number, [rule.head]) for number, rule in enumerate(compiled))

    @property
    def rules(self) -> Sequence[Rule]:
        return self._rules

    def apply(
        self,
        positive: FactSet,
        negative: FactSet | None = None,
        *,
        some: Sequence[Some] = (),
        excluding: FactSet | None = None,
    ) -> ComputedFacts:
        left_out = None if excluding is None else as_memory_facts(excluding)
        heads = Heads(self._engine.within, self._engine.workers, self._engine.parallel, left_out)
        self._run(heads, positive, negative, some)
        return heads.facts()

    def apply_counted(
        self,
        positive: FactSet,
        negative: FactSet | None = None,
        *,
        some: Sequence[Some] = (),
    ) -> CountedFacts:
        heads = CountedHeads(self._engine.within, self._engine.workers, self._engine.parallel)
        self._run(heads, positive, negative, some)
        return heads.counted()

    def provable(self, heads: FactSet, positive: FactSet, negative: FactSet | None = None) -> ComputedFacts:
        proved = ProvedHeads(self._engine.within)
        asked = as_memory_facts(heads)
        sides = _Sides(as_memory_facts(positive), as_memory_facts(positive if negative is None else negative))
        for number, _ in sorted(self._heads.matching(asked)):
            rule = self._compiled[number]
            views = [*rule.labelled(sides), asked, self._unit]
            if not rule.body.can_match(views):
                continue
            plan, used = rule.body.plan(views, rule.head, [DRIVER_ROW], extra_first=True)
            for table in facts_of(rule.head, asked):
                # What an earlier rule proved needs no second proof: the joins skip it by its mark.
                sink = proved.of(table, plan.layout[DRIVER_ROW])
                call = Call(plan, [views[place] for place in used], sink, proved.mark(table))
                driver = ComputedFacts(self._engine.within, {table: asked.rows(table)})
                self._engine.run([(plan, call, driver)], proved, shared=False)
        self._engine.derivations += sum(proved.instances)
        return proved.facts()

    def premises(self, heads: FactSet, positive: FactSet, negative: FactSet, region: Region) -> ComputedFacts:
        sides = _Sides(as_memory_facts(positive), as_memory_facts(negative))
        asked, shared = as_memory_facts(heads), SharedViews()
        found = Heads(self._engine.within, self._engine.workers, self._engine.parallel, None)
        calls: list[tuple[JoinPlan, Call, MemoryFacts]] = []
        for number in sorted({number for number, _ in self._heads.matching(asked)}):
            rule = self._compiled[number]
            atoms = [literal for literal in rule.body.positive if self._engine.meets(literal, region)]
            views = [*rule.labelled(sides), asked, self._unit]
            if not atoms or not rule.body.can_match(views, shared):
                continue
            needed = [variable for atom in atoms for variable in atom.variables()]
            plan, used = rule.body.plan(views, rule.head, needed, small=len(rule.body.positive), shared=shared)
            call = Call(plan, [views[place] for place in used], PremiseSink(found, plan.layout, atoms), shared=shared)
            calls.append((plan, call, views[used[0]]))
        self._engine.run(calls, found)
        self._engine.derivations += sum(found.instances)
        return found.facts().within(region)

    # ------------------------------------------------------------------------------------ in common

    def _run(
        self,
        heads: Heads | CountedHeads,
        positive: FactSet,
        negative: FactSet | None,
        conditions: Sequence[Some],
    ) -> None:
        some = sorted(((as_memory_facts(P), as_memory_facts(N)) for P, N in conditions), key=_size)
        sides = _Sides(
            as_memory_facts(positive),
            as_memory_facts(positive if negative is None else negative),
            some[0] if conditions else None,
        )
        shared = SharedViews()
        calls: list[tuple[JoinPlan, Call, MemoryFacts]] = []
        for number, place in self._places(some):
            rule = self._compiled[number]
            size = len(rule.body.positive)
            views = rule.labelled(sides, place)
            extra: Literal | None = None
            if place is not None and place >= size:
                negated = rule.literals[place]
                extra = Literal(negated.relation, negated.terms)
                views.append(some[0][1])
            views.append(self._unit)
            if not rule.body.can_match(views, shared):
                continue
            tests = [
                (literal, condition[0] if at < size else condition[1])
                for condition in some[1:]
                for at, literal in enumerate(rule.literals)
            ]
            needed = [*rule.head.variables(), *(variable for literal, _ in tests for variable in literal.variables())]
            small = None if place is None else min(place, size)
            plan, used = rule.body.plan(views, extra, needed, small=small, shared=shared)
            sink: Sink = heads.of(plan.layout, rule.head)
            if tests:
                sink = FilteredSink(sink, plan.layout, tests)
            call = Call(plan, [views[place] for place in used], sink, shared=shared)
            calls.append((plan, call, views[used[0]]))
        self._engine.run(calls, heads)
        self._engine.derivations += sum(heads.instances)

    def _places(self, some: Sequence[_Some]) -> Iterable[tuple[int, int | None]]:
        """The rules, with the literal that the first condition is put to, that a call has to look at."""
        if not some:
            return [(number, None) for number in range(len(self._compiled))]
        P, N = some[0]
        found: list[Place] = []
        for place in sorted({*self._bodies.matching(P), *self._bodies.matching(N)}):
            rule = self._compiled[place[0]]
            if facts_of(rule.literals[place[1]], P if place[1] < len(rule.body.positive) else N):
                found.append(place)
        return found


class MemoryCompiler:
    """Compiles rules for one memory engine; parts of a program share what is compiled of a rule."""

    def __init__(self, engine: MemoryEngine) -> None:
        self._engine = engine
        self._compiled: dict[Rule, CompiledRule] = {}

    def __call__(self, rules: Sequence[Rule]) -> MemoryRules:
        for rule in rules:
            if rule not in self._compiled:
                self._compiled[rule] = CompiledRule(self._engine, rule)
        return MemoryRules(self._engine, [self._compiled[rule] for rule in rules])


def _size(condition: _Some) -> int:
    """At most how many facts a condition has; a range of an annotation is as large as the tables."""
    return sum(facts.at_most(table) for facts in condition for table in facts.tables())


class _PlaceIndex:
    """Literals of rules by their table, or by their predicate where that does not tell the table."""

    def __init__(self, rules: Iterable[tuple[int, Sequence[Literal]]]) -> None:
        self._by_table: dict[Table, list[Place]] = {}
        self._by_predicate: dict[str, list[Place]] = {}
        for number, literals in rules:
            for at, literal in enumerate(literals):
                table = literal.static
                if table is not None:
                    self._by_table.setdefault(table, []).append((number, at))
                else:
                    self._by_predicate.setdefault(literal.relation.predicate, []).append((number, at))

    def matching(self, facts: MemoryFacts) -> set[Place]:
        """The places whose literal may match a fact of the set."""
        places: set[Place] = set()
        predicates = set()
        for table in facts.tables():
            places.update(self._by_table.get(table, ()))
            predicates.add(table.predicate)
        for predicate in predicates:
            places.update(self._by_predicate.get(predicate, ()))
        return places

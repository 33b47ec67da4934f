"""Rules compiled for the memory engine, and `apply`: all instances of many rules, each considered once.

`inst_r[I⁺, I⁻ : P, N]` is evaluated as *Revisited* §9.2 says: once for each body literal that `P` (or, for a negative
literal, `N`) can match, with the literals before it kept out of `P` and `N`, so that no instance is met twice. Only the
literals are looked at whose table has facts in the set, found by an index over the rules; the cost of a call depends on
what changed, not on the number of rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, cached_property, partial
from typing import Final

from everlog.datalog.syntax import Rule
from everlog.engine.algebra import FactSet, Region, Rules, Some
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.annotations import CountedFacts
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts, is_nothing
from everlog.engine.memory.facts.table import Table
from everlog.engine.memory.joins.conjunction import UNIT, Conjunction
from everlog.engine.memory.joins.join_plan import DRIVER_ROW, Call, JoinPlan, Literal, facts_of
from everlog.engine.memory.joins.shared_views import SharedViews
from everlog.engine.memory.joins.sinks import CountedHeads, Heads, ProvedHeads, filtered

_Some = tuple[MemoryFacts, MemoryFacts]
_Planned = tuple[Literal, JoinPlan, list[MemoryFacts], list[tuple[Literal, MemoryFacts]]]
"""A head, a plan with the views of its literals, and second conditions."""
_NO_TESTS: Final[list[tuple[Literal, MemoryFacts]]] = []
Place = tuple[int, int]
"""The number of a rule and of a literal: positive ones first, then negative ones."""

_POSITIVE, _NEGATIVE, _POSITIVE_BEFORE, _NEGATIVE_BEFORE, _SOME, _SOME_NEGATIVE, _UNIT = range(7)
"""The sets that literals are matched in, by their place in `_sides`."""


class _Way:
    """How a rule is matched with one of its literals in `some`, or with none; (156) and (157) of *Revisited*.

    Everything but the sizes of sets is the same in each call, so plans are found by these alone.
    """

    def __init__(self, rule: CompiledRule, place: int | None) -> None:
        self._body, self._needed = rule.body, rule.shown
        size, literals = len(rule.body.positive), rule.literals
        roles = [_POSITIVE] * size + [_NEGATIVE] * (len(literals) - size)
        self._extra: Literal | None = None
        if place is not None:
            roles[: min(place, size)] = [_POSITIVE_BEFORE] * min(place, size)
            roles[size:place] = [_NEGATIVE_BEFORE] * max(place - size, 0)
            if place < size:
                roles[place] = _SOME
            else:
                self._extra = Literal(literals[place].relation, literals[place].terms)
                roles.append(_SOME_NEGATIVE)
        self.roles = (*roles, _UNIT)
        """The sets of the literals, of the negated one that is matched, if it is one, and of the conjunction's unit."""
        self._small = None if place is None else min(place, size)
        tables = [literal.static for literal in rule.body.positive]
        places = [*range(size), *([] if self._extra is None else [len(literals)])]
        if self._extra is not None:
            tables.append(self._extra.static)
        self._sized = [(at, table) for at, table in zip(places, tables, strict=True) if table is not None]
        self._is_static = len(self._sized) == len(places)
        self._plans: dict[tuple[int, ...], JoinPlan] = {}

    def plan(
        self, views: Sequence[MemoryFacts], shared: SharedViews, head: Literal | None, more: tuple[int, ...] = ()
    ) -> JoinPlan | None:
        """The plan for some views; None where a literal has no facts.

        Without a `head`, known ones are wanted as well; `more` variables may be needed than those of the head.
        """
        key = [0 if head is None else 1, *more]
        for at, table in self._sized:
            sight = shared[views[at]][table]
            if not sight.at_most:
                return None
            key.append(sight.magnitude)
        sizes = tuple(key)
        found = self._plans.get(sizes) if self._is_static else None
        if found is None:
            needed = (*self._needed, *more)
            found = self._body.plan(views, self._extra, needed, small=self._small, shared=shared, head=head)
            if self._is_static and found is not None:
                self._plans[sizes] = found
        return found


class CompiledRule:
    """A rule whose negations are single atoms and whose equalities are gone."""

    def __init__(self, engine: MemoryEngine, rule: Rule) -> None:
        self.rule = rule
        negative = [negation.atoms[0] for negation in rule.negative]
        self.body = Conjunction(engine, rule.positive, negative, rule.comparisons, rule.computations, [rule.head])
        self.head = engine.literal(rule.head, self.body.numbers)
        self.literals = [*self.body.positive, *self.body.negative]
        self.shown = tuple(self.head.variables())
        """The variables of the head."""
        self._needed = tuple(literal.static for literal in self.body.positive if literal.static is not None)
        self._ways: dict[int | None, _Way] = {}

    def lacks_facts(self) -> bool:
        """Whether some atom of the body has no fact at all, whatever set it is matched in."""
        return not all([table.n for table in self._needed])

    def way(self, place: int | None = None) -> _Way:
        """How it is matched when the literal at `place` is matched in `some`."""
        found = self._ways.get(place)
        if found is None:
            found = self._ways[place] = _Way(self, place)
        return found

    def labelled(self, sides: Sequence[MemoryFacts]) -> list[MemoryFacts]:
        """The view of each literal when none is matched in `some`."""
        return [sides[role] for role in self.way().roles[:-1]]


def _sides(
    unit: MemoryFacts, positive: FactSet, negative: FactSet | None, some: _Some | None = None
) -> Sequence[MemoryFacts]:
    """The sets that literals are matched in; all rules of a call share them, so that each is looked at once."""
    true = as_memory_facts(positive)
    false = true if negative is None else as_memory_facts(negative)
    P, N = (unit, unit) if some is None else some
    return true, false, true - P, false | N, P, N, unit


class MemoryRules(Rules):
    """Some rules of a program; they may share compiled rules with other such sets."""

    def __init__(self, engine: MemoryEngine, compiled: Sequence[CompiledRule]) -> None:
        self._engine = engine
        self._compiled = compiled
        self._rules = [one.rule for one in compiled]
        self._unit = engine.insert_nullary(UNIT)

    @cached_property
    def _bodies(self) -> _PlaceIndex:
        return _PlaceIndex((number, rule.literals) for number, rule in enumerate(self._compiled))

    @cached_property
    def _heads(self) -> _PlaceIndex:
        return _PlaceIndex((number, [rule.head]) for number, rule in enumerate(self._compiled))

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
        heads = Heads(self._engine, excluding)
        self._run(heads, positive, negative, some)
        return heads.facts()

    def apply_counted(
        self, positive: FactSet, negative: FactSet | None = None, *, some: Sequence[Some] = ()
    ) -> CountedFacts:
        heads = CountedHeads(self._engine)
        self._run(heads, positive, negative, some)
        return heads.counted()

    def provable(self, heads: FactSet, positive: FactSet, negative: FactSet | None = None) -> ComputedFacts:
        proved, asked = ProvedHeads(self._engine), as_memory_facts(heads)
        sides = _sides(self._unit, positive, negative)
        for number, _ in sorted(self._heads.matching(asked)):
            rule = self._compiled[number]
            views = [*rule.labelled(sides), asked, self._unit]
            plan = rule.body.plan(views, rule.head, [DRIVER_ROW], extra_first=True)
            if plan is None:
                continue
            for table in facts_of(rule.head, asked):
                # What an earlier rule proved needs no second proof: the joins skip it by its mark.
                views[-2] = ComputedFacts(self._engine.within, {table: asked.rows(table)})
                call = Call(plan, views, proved.sink(table, plan.layout[DRIVER_ROW]), proved.mark(table))
                self._engine.run([call], proved, shared=False)
        self._engine.derivations += sum(proved.instances)
        return proved.facts()

    def premises(self, heads: FactSet, positive: FactSet, negative: FactSet, region: Region) -> ComputedFacts:
        sides, asked, shared = _sides(self._unit, positive, negative), as_memory_facts(heads), SharedViews()
        found = Heads(self._engine)
        calls = []
        for number, _ in sorted(self._heads.matching(asked)):
            rule = self._compiled[number]
            atoms = [literal for literal in rule.body.positive if self._engine.meets(literal, region)]
            views = [*rule.labelled(sides), asked, self._unit]
            needed = [variable for atom in atoms for variable in atom.variables()]
            small = len(rule.body.positive)
            plan = rule.body.plan(views, rule.head, needed, small=small, shared=shared) if atoms else None
            if plan is None:
                continue
            calls.append(Call(plan, views, found.sink(plan.layout, *atoms), shared=shared))
        self._engine.run(calls, found)
        self._engine.derivations += sum(found.instances)
        return found.facts().within(region)

    def _run(self, heads: Heads, positive: FactSet, negative: FactSet | None, conditions: Sequence[Some]) -> None:
        """Considers the instances that `apply` is about."""
        some = [(as_memory_facts(P), as_memory_facts(N)) for P, N in conditions]
        if len(some) > 1:
            some.sort(key=_size)
        places = self._places(some)
        if not places:
            return
        sides, shared = _sides(self._unit, positive, negative, some[0] if some else None), heads.shared
        planned: list[_Planned] = []
        for number, place in places:
            rule = self._compiled[number]
            if rule.lacks_facts():
                continue
            way = rule.way(place)
            views = [sides[role] for role in way.roles]
            tests, more = _NO_TESTS, tuple[int, ...]()
            if len(some) > 1:
                tests = [(literal, N if literal.negative else P) for P, N in some[1:] for literal in rule.literals]
                more = tuple(variable for literal, _ in tests for variable in literal.variables())
            plan = way.plan(views, shared, rule.head if heads.leaves_out else None, more)
            if plan is not None:
                planned.append((rule.head, plan, views, tests))
        _expect_apart(heads, planned)
        calls = []
        for head, plan, views, tests in planned:
            sink = heads.sink(plan.layout, head)
            if tests:
                sink = filtered(sink, plan.layout, tests)
            keep_new = heads.keep_new(head) if plan.asks_for_head else None
            calls.append(Call(plan, views, sink, shared=shared, keep_new=keep_new))
        self._engine.run(calls, heads)
        self._engine.derivations += sum(heads.instances)

    def _places(self, some: Sequence[_Some]) -> Sequence[tuple[int, int | None]]:
        """The rules, with the literal that the first condition is put to, that a call has to look at."""
        if not some:
            return [(number, None) for number in range(len(self._compiled))]
        if not self._compiled:
            return []
        P, N = some[0]

        def driven(place: Place) -> bool:
            literal = self._compiled[place[0]].literals[place[1]]
            facts = N if literal.negative else P
            return bool(facts_of(literal, facts) if literal.static is None else facts.at_most(literal.static))

        found = self._bodies.matching(P)
        if not is_nothing(N):
            found |= self._bodies.matching(N)
        return [place for place in (sorted(found) if len(found) > 1 else found) if driven(place)]


def _expect_apart(heads: Heads, planned: Sequence[_Planned]) -> None:
    """Tells of the tables that are empty, and get the heads of one plan that makes no head twice."""
    empty = [one for one in planned if (table := one[0].static) is not None and not table.n]
    if not empty:
        return
    derived = Counter(head.relation.predicate for head, *_ in planned)
    for head, plan, views, _ in empty:
        if head.static is not None and derived[head.relation.predicate] == 1 and plan.is_apart(head, views):
            heads.expect_apart(head.static)


class MemoryCompiler:
    """Compiles rules for one memory engine; parts of a program share what is compiled of a rule."""

    def __init__(self, engine: MemoryEngine) -> None:
        self._engine = engine
        self._compiled = cache(partial(CompiledRule, engine))

    def __call__(self, rules: Sequence[Rule]) -> MemoryRules:
        return MemoryRules(self._engine, [self._compiled(rule) for rule in rules])


def _size(condition: _Some) -> int:
    """At most how many facts a condition has; a range of an annotation is as large as the tables."""
    return sum(facts.at_most(table) for facts in condition for table in facts.tables())


class _PlaceIndex:
    """Literals of rules by their table, or by their predicate where that does not tell the table."""

    def __init__(self, rules: Iterable[tuple[int, Sequence[Literal]]]) -> None:
        self._places: dict[Table, list[Place]] = {}
        self._named: dict[str, list[Place]] = {}
        for number, literals in rules:
            for at, literal in enumerate(literals):
                if literal.static is not None:
                    self._places.setdefault(literal.static, []).append((number, at))
                else:
                    self._named.setdefault(literal.relation.predicate, []).append((number, at))

    def matching(self, facts: MemoryFacts) -> set[Place]:
        """The places whose literal may match a fact of the set."""
        found: set[Place] = set()
        if not self._named and len(self._places) <= tuning.FEW_PLACES:
            for table, places in self._places.items():
                if facts.at_most(table):
                    found.update(places)
            return found
        for table in facts.tables():
            found.update(self._places.get(table, ()), self._named.get(table.predicate, ()))
        return found

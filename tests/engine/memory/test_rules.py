"""`apply` is formula (65) of *Revisited*: the same heads, as often as there are instances, and no instance twice."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from everlog.datalog.reader import parse_program
from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import Atom, Rule, Variable
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import MemoryFacts
from everlog.engine.memory.joins.rules import CompiledRule, MemoryCompiler, MemoryRules
from everlog.planning.compiled_program import compile_program
from oracles import naive
from oracles.naive import Fact
from support.cramped import cramped
from support.stored import disguised, facts_in, multiplicities, stored
from support.strategies import Writer

property_test = settings(deadline=None, derandomize=True, max_examples=130, phases=[Phase.generate])
seeds = st.integers(0, 2**32)
blocks = pytest.mark.parametrize("size", [2, 1 << 12], ids="block={}".format)


class Question:
    """Some rules, `I⁺` and `I⁻` at random, with conditions `P ⊆ I⁺`, `N ∩ I⁻ = ∅`, and facts to ask about."""

    def __init__(self, seed: int) -> None:
        writer = Writer(Random(seed))
        self.random = writer.random
        self.engine = MemoryEngine(workers=self.random.choice([1, 2]))
        written = [writer.plain_rule() for _ in range(self.random.randint(1, 3))]
        self.rules = list({canonical_rule(rule): rule for rule in written}.values())
        self.compiled = MemoryRules(self.engine, [CompiledRule(self.engine, rule) for rule in self.rules])
        self.all = naive.facts(writer.vocabulary.atoms())
        self.positive = naive.facts(writer.facts(0.5))
        self.negative = self.positive if self.random.random() < 0.3 else naive.facts(writer.facts(0.3))
        self.conditions = [
            (self.some(self.positive), self.some(self.all - self.negative)) for _ in range(self.random.randrange(3))
        ]
        self.asked = self.some(self.all)

    def some(self, facts: frozenset[Fact]) -> frozenset[Fact]:
        density = self.random.choice([0.0, 0.1, 0.5, 1.0])
        return frozenset(one for one in sorted(facts, key=repr) if self.random.random() < density)

    def set(self, facts: frozenset[Fact]) -> MemoryFacts:
        return disguised(self.engine, facts, self.all, self.random)

    def sets(self) -> tuple[MemoryFacts, MemoryFacts | None, list[tuple[MemoryFacts, MemoryFacts]]]:
        # Conditions are plain sets: a table has bits for sixteen sets, and every disguise takes two.
        conditions = [(stored(self.engine, P), stored(self.engine, N)) for P, N in self.conditions]
        negative = None if self.negative is self.positive else self.set(self.negative)
        return self.set(self.positive), negative, conditions

    def heads(self) -> Counter[Fact]:
        """The heads of all instances, by the definition."""
        return Counter(
            naive.instance_of(rule.head, one)
            for rule in self.rules
            for one in naive.instances(rule, self.positive, self.negative, self.conditions)
        )


@blocks
@property_test
@given(seed=seeds)
def test_apply(size: int, seed: int) -> None:
    with cramped(size):
        question = Question(seed)
        positive, negative, some = question.sets()
        excluding = question.some(question.all)
        expected = question.heads()
        found = question.compiled.apply(positive, negative, some=some)
        assert facts_in(question.engine, found) == expected.keys()
        assert question.engine.derivations == expected.total()
        found = question.compiled.apply(positive, negative, some=some, excluding=question.set(excluding))
        assert facts_in(question.engine, found) == expected.keys() - excluding
        assert question.engine.derivations == 2 * expected.total()


@blocks
@property_test
@given(seed=seeds)
def test_apply_counted(size: int, seed: int) -> None:
    with cramped(size):
        question = Question(seed)
        positive, negative, some = question.sets()
        expected = question.heads()
        counted = question.compiled.apply_counted(positive, negative, some=some)
        assert multiplicities(question.engine, counted) == expected
        assert counted.total() == question.engine.derivations == expected.total()


@blocks
@property_test
@given(seed=seeds)
def test_provable(size: int, seed: int) -> None:
    """One instance is considered for each fact that has one."""
    with cramped(size):
        question = Question(seed)
        question.conditions.clear()
        positive, negative, _ = question.sets()
        found = question.compiled.provable(question.set(question.asked), positive, negative)
        expected = question.heads().keys() & question.asked
        assert facts_in(question.engine, found) == expected
        assert question.engine.derivations == len(expected)


# By hand


def compiled(engine: MemoryEngine, text: str) -> MemoryRules:
    return MemoryRules(engine, [CompiledRule(engine, rule) for rule in parse_program(text).rules])


def test_a_negative_literal_is_driven_by_what_disappeared() -> None:
    """(157): `not B` is matched in `N`; here B(1) has just become false."""
    engine = MemoryEngine(workers=1)
    rules = compiled(engine, "p(?x) :- a(?x), not b(?x) .")
    a = stored(engine, [naive.fact("a", x) for x in (1, 2, 3)])
    b = stored(engine, [naive.fact("b", 2)])
    gone = stored(engine, [naive.fact("b", 1)])
    found = rules.apply(a, b, some=[(engine.empty(), gone)])
    assert facts_in(engine, found) == {naive.fact("p", 1)}
    assert engine.derivations == 1


def test_a_repeated_atom_in_the_delta_is_one_instance() -> None:
    """(155): both atoms match the same new fact, and the instance is met once."""
    engine = MemoryEngine(workers=1)
    rules = compiled(engine, "p(?x, ?z) :- e(?x, ?y), e(?y, ?z) .")
    loop = stored(engine, [naive.fact("e", 1, 1)])
    counted = rules.apply_counted(loop, some=[(loop, engine.empty())])
    assert multiplicities(engine, counted) == Counter({naive.fact("p", 1, 1): 1})


def test_many_rules_and_one_new_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thousands of rules only those are looked at that the fact, or the head asked for, can match."""
    x = Variable("x")
    rules = [Rule(Atom(f"p{i + 1}", (x,)), (Atom(f"p{i}", (x,)),)) for i in range(5_000)]
    engine = MemoryEngine(workers=1)
    (stratum,) = compile_program(rules, MemoryCompiler(engine), "single")
    looked_at: list[Rule] = []
    way = CompiledRule.way

    def noted(rule: CompiledRule, place: int | None = None) -> object:
        looked_at.append(rule.rule)
        return way(rule, place)

    monkeypatch.setattr(CompiledRule, "way", noted)
    delta = stored(engine, [naive.fact("p3000", "a")])
    found = stratum.rules.apply(delta, some=[(delta, engine.empty())])
    assert facts_in(engine, found) == {naive.fact("p3001", "a")}
    assert looked_at == [rules[3000]]
    assert facts_in(engine, stratum.rules.provable(found, delta)) == {naive.fact("p3001", "a")}
    assert looked_at == [rules[3000], rules[3000]]

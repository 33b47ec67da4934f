"""`apply` on Spark is formula (65) of *Revisited*: the same heads, as often as there are instances, none twice."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Atom, Comparison, Rule, Variable
from everlog.engine.algebra import FactSet, Region
from everlog.engine.spark import tuning
from everlog.engine.spark.facts.sets import as_spark_facts
from everlog.engine.spark.joins.rules import SparkRules
from oracles import naive
from oracles.naive import Facts as FactsOf
from support.joint import VALUES, Question, joint_questions
from support.spark_sets import Facts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIZE = 3
"""Questions in one."""


@pytest.fixture(autouse=True, params=["far", "near"])
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules are applied by Spark, to sets some of which are not even broadcast; or on the driver."""
    tiny, few, small = {"far": (5, 20, 40), "near": (1_000, 1_000, 10_000)}[request.param]
    monkeypatch.setattr(tuning, "DRIVER_FACTS", tiny)
    monkeypatch.setattr(tuning, "BROADCAST_LOOK_UP_FACTS", few)
    monkeypatch.setattr(tuning, "BROADCAST_JOIN_FACTS", small)


class Asked:
    """A question in an engine of its own."""

    def __init__(self, spark: SparkSession, seed: int, conditions: int) -> None:
        self.question: Question = joint_questions(seed, SIZE, conditions)
        self.facts = Facts(spark, VALUES)
        self.rules: SparkRules = SparkRules(self.facts.engine, self.question.rules)
        self.random = Random(seed)
        self.positive = self.disguised(self.question.positive)
        self.negative = self.disguised(self.question.negative)
        self.some = [(self.facts.stored(P), self.disguised(N)) for P, N in self.question.conditions]
        self.heads = Counter(self.question.heads())

    def disguised(self, facts: FactsOf) -> FactSet:
        """The set of some facts, perhaps as a view over sets that have other facts as well."""
        stored, others = self.facts.stored, sorted(self.question.all - facts, key=repr)
        more = frozenset(one for one in others if self.random.random() < 0.5)
        half = frozenset(one for one in sorted(facts, key=repr) if self.random.random() < 0.5)
        ways = [
            lambda: stored(facts),
            lambda: stored(facts | more) - stored(more),
            lambda: stored(facts - half) | stored(half),
            lambda: stored(facts | more) & stored(facts | (self.question.all - more)),
        ]
        return self.random.choice(ways)()

    def derived(self) -> int:
        """The instances considered since the last call."""
        found, self.facts.engine.derivations = self.facts.engine.derivations, 0
        return found


@pytest.mark.parametrize("conditions", [0, 2])
def test_apply(spark: SparkSession, conditions: int) -> None:
    asked = Asked(spark, 101 + conditions, conditions)
    excluded = frozenset(list(asked.heads)[::2])
    found = asked.rules.apply(asked.positive, asked.negative, some=asked.some, excluding=asked.disguised(excluded))
    assert asked.facts.facts_in(found) == asked.heads.keys() - excluded
    assert asked.derived() == asked.heads.total() > 20
    counted = asked.rules.apply_counted(asked.positive, asked.negative, some=asked.some)
    assert asked.facts.multiplicities(counted) == asked.heads
    assert counted.total() == asked.derived() == asked.heads.total()


def test_provable_and_premises(spark: SparkSession) -> None:
    """One instance is considered for each fact that has one; premises are those of all instances."""
    asked = Asked(spark, 300, 0)
    heads = asked.disguised(asked.question.asked)
    found = asked.rules.provable(heads, asked.positive, asked.negative)
    expected = asked.heads.keys() & asked.question.asked
    assert asked.facts.facts_in(found) == expected
    assert asked.derived() == len(expected) > 0
    bodies = frozenset(asked.question.bodies())
    arities = {predicate: len(arguments) for predicate, arguments in asked.question.all}
    left_out = min(predicate for predicate, _ in bodies)
    chosen = {predicate: arity for predicate, arity in arities.items() if predicate != left_out}
    patterns = [Atom(name, tuple(Variable(str(n)) for n in range(arity))) for name, arity in chosen.items()]
    premises = asked.rules.premises(heads, asked.positive, asked.negative, Region(tuple(patterns)))
    assert asked.facts.facts_in(premises) == {one for one in bodies if one[0] in chosen} != bodies
    assert asked.derived() == sum(n for head, n in asked.heads.items() if head in asked.question.asked)


def test_a_negative_literal_is_driven_by_what_disappeared(spark: SparkSession) -> None:
    """(157): `not B` is matched in `N`; here B(1) has just become false."""
    facts = Facts(spark, VALUES)
    rules = SparkRules(facts.engine, parse_program("p(?x) :- a(?x), not b(?x) .").rules)
    a, b, gone = (
        facts.stored([naive.fact(name, x) for x in xs]) for name, xs in (("a", (1, 2, 3)), ("b", (2,)), ("b", (1,)))
    )
    found = rules.apply(a, b, some=[(facts.engine.empty(), gone)])
    assert facts.facts_in(found) == {naive.fact("p", 1)}
    assert facts.engine.derivations == 1


def test_names_are_what_equality_can_merge(spark: SparkSession) -> None:
    names = ["a", 'say "b"', "", NamedNode("http://example.org/"), BlankNode("n")]
    others = [1, 1.5, True, Literal("a", language="en"), Literal("a", datatype=NamedNode("http://example.org/"))]
    facts = Facts(spark, [*names, *others])
    x, y = Variable("x"), Variable("y")
    rule = Rule(Atom("p", (x, y)), (Atom("q", (x,)), Atom("q", (y,)), Comparison("~", x, y)))
    given = facts.stored([naive.fact("q", one) for one in (*names, *others)])
    found = SparkRules(facts.engine, [rule]).apply(given)
    assert facts.facts_in(found) == {naive.fact("p", one, other) for one in names for other in names}


@pytest.mark.parametrize("tiny", [5, 8])
def test_few_facts_may_lead_to_many(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tiny: int) -> None:
    """What is too much for the driver after all is computed by Spark, and no instance counts twice.

    With 8, the driver begins to apply the rules itself; with 5 it is surprised by what Spark gives.
    """
    monkeypatch.setattr(tuning, "DRIVER_FACTS", tiny)
    monkeypatch.setattr(tuning, "BROADCAST_JOIN_FACTS", 4)
    monkeypatch.setattr(tuning, "DRIVER_LOOKS", 4)
    facts = Facts(spark, VALUES)
    rules = SparkRules(facts.engine, parse_program("p(?x, ?y) :- a(?x), b(?y) .").rules)
    a, b = (facts.stored([naive.fact(name, x) for x in range(3)]) for name in "ab")
    pairs = {naive.fact("p", x, y) for x in range(3) for y in range(3)}
    some = [(a, facts.engine.empty())]
    assert facts.facts_in(rules.apply(a | b, some=some)) == pairs
    assert facts.engine.derivations == len(pairs) > tuning.DRIVER_FACTS
    assert facts.multiplicities(rules.apply_counted(a | b, some=some)) == Counter(pairs)
    assert facts.engine.derivations == 2 * len(pairs)
    assert facts.engine.driver_applications == 0


@pytest.mark.parametrize("conditions", [0, 2])
def test_bindings_are_extended_half_by_half(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, conditions: int
) -> None:
    """Where they lead to more than the driver should hold at a time, nothing is lost and no instance counts twice."""
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 1_000)
    monkeypatch.setattr(tuning, "DRIVER_BINDINGS", 3)
    asked = Asked(spark, 211 + conditions, conditions)
    found = asked.rules.apply(asked.positive, asked.negative, some=asked.some)
    assert asked.facts.facts_in(found) == asked.heads.keys()
    assert asked.derived() == asked.heads.total() > 10
    counted = asked.rules.apply_counted(asked.positive, asked.negative, some=asked.some)
    assert asked.facts.multiplicities(counted) == asked.heads
    assert asked.facts.engine.driver_applications == 2


@pytest.mark.parametrize("sizes", ["far"], indirect=True)
def test_few_facts_ask_for_what_they_meet(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver asks Spark for what few facts meet in sets that are not there, by jobs at first, and then in files."""
    asked = Asked(spark, 303, 2)
    few = max(len(P) + len(N) for P, N in asked.question.conditions)
    monkeypatch.setattr(tuning, "DRIVER_FACTS", few)
    monkeypatch.setattr(tuning, "BROADCAST_JOIN_FACTS", 2)
    monkeypatch.setattr(tuning, "ASKED_BEFORE_SORTED", 1)
    monkeypatch.setattr(tuning, "SORTED_BLOCK_ROWS", 3)
    facts, heads = asked.facts, asked.heads
    many = [facts.engine.computed(as_spark_facts(one).computed().table()) for one in (asked.positive, asked.negative)]
    assert not any(one.on_driver for one in many)
    for _ in range(2):
        assert facts.facts_in(asked.rules.apply(*many, some=asked.some)) == heads.keys()
        assert asked.derived() == heads.total()
    assert facts.engine.driver_applications == 2
    assert any(run.files for one in many for run in one.runs)
    # A few facts go, and nothing is copied: what is asked for later is without them.
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 2)
    monkeypatch.setattr(tuning, "GONE_SHARE", 0)
    gone = frozenset(sorted(asked.question.positive, key=repr)[:2])
    left = many[0].minus(facts.stored(gone)).computed()
    assert [run.source for run in left.runs] == [*many[0].runs]
    assert facts.facts_in(left) == asked.question.positive - gone


def test_one_of_many_matches_is_proof_enough(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a group has a member is not found by looking at all of them, also where the first one is gone."""
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 1_000)
    monkeypatch.setattr(tuning, "DRIVER_LOOKS", 20)
    facts = Facts(spark, VALUES)
    rules = SparkRules(facts.engine, parse_program("g(?x) :- m(?x, ?y) .").rules)
    members = [naive.fact("m", "a", y) for y in range(50)] + [naive.fact("m", "b", y) for y in range(2)]
    heads = facts.stored([naive.fact("g", x) for x in "abc"])
    gone = facts.stored([naive.fact("m", "b", 1)])
    all_gone = facts.stored([naive.fact("m", "b", y) for y in range(2)])
    held = {naive.fact("g", "a"), naive.fact("g", "b")}
    assert facts.facts_in(rules.provable(heads, facts.stored(members))) == held
    assert facts.facts_in(rules.provable(heads, facts.stored(members) - gone)) == held
    assert facts.facts_in(rules.provable(heads, facts.stored(members) - all_gone)) == {naive.fact("g", "a")}
    assert facts.engine.driver_applications == 3

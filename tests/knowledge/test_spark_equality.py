"""Equality on Spark, by rewriting and by rules: the same programs and updates as in memory, many at once."""

from __future__ import annotations

import re

import pytest
from pyoxigraph import NamedNode
from pyspark.sql import SparkSession

from everlog import KnowledgeBase
from everlog.datalog.reader import parse_program
from everlog.datalog.values import SAME_AS
from everlog.engine.spark.names import SparkNames
from oracles import clingo_oracle, naive
from oracles.equality import materialise
from oracles.exchange import facts_of
from oracles.naive import Fact, Facts
from support.equalities import EqualityCase, if_defined, random_case, rows
from support.on_spark import all_facts, decoded

_PREFIX = "http://example.org/"


@pytest.mark.parametrize(("mode", "number", "updates"), [("rewrite", 6, 2), ("axioms", 4, 1)])
def test_random_programs_and_updates(spark: SparkSession, mode: str, number: int, updates: int) -> None:
    cases = [case for seed in range(40) if _is_defined(case := random_case(seed, updates=3))][:number]
    program = parse_program("\n".join([f"@prefix ex: <{_PREFIX}> .", *(_apart(*one) for one in enumerate(cases))]))
    kb = KnowledgeBase(program, engine="spark", spark=spark, equality=mode)
    explicit = [case.facts for case in cases]
    kb.add(rows(_together(explicit)))
    report, before = kb.materialise(), frozenset[Fact]()
    for step in range(updates + 1):
        if step:
            changes = [case.updates[step - 1] for case in cases]
            report = kb.update(
                add=rows(_together([add for add, _ in changes])), delete=rows(_together([gone for _, gone in changes]))
            )
            explicit = [(E - gone) | add for E, (add, gone) in zip(explicit, changes, strict=True)]
        expected = _together(
            materialise(case.program, E, clingo_oracle.materialise) for case, E in zip(cases, explicit, strict=True)
        )
        assert _facts(kb) == expected, f"after {step}"
        assert report.facts["total"] == len(expected)
        assert report.facts["explicit"] == sum(map(len, explicit))
        if step:
            assert (report.added, report.deleted) == (len(expected - before), len(before - expected))
            assert report.derivations.keys() != {"materialise"}, "it was not computed anew"
        before = expected


def _is_defined(case: EqualityCase) -> bool:
    kb = if_defined(case)
    return kb is not None and "occurs" not in str(kb.reasoner.engine.relations())


def _apart(number: int, case: EqualityCase) -> str:
    """The rules of a case with names of their own."""
    lines = case.text.splitlines()[1:]
    text = re.sub(r"\b(p|q|r|key|u|w)\(", rf"\1_{number}(", "\n".join(lines))
    return re.sub(r"\b(c|ex:)(\w+)", rf"\g<1>{number}_\2", text)


def _together(many: object) -> Facts:
    """Facts of several cases, with the names that `_apart` gives."""
    return frozenset(
        (name if name == "triple" else f"{name}_{number}", tuple(_renamed(number, one) for one in arguments))
        for number, facts in enumerate(many)  # type: ignore[arg-type, var-annotated]
        for name, arguments in facts
    )


def _renamed(number: int, argument: object) -> object:
    value = naive.value_of(argument)  # type: ignore[arg-type]
    if isinstance(value, NamedNode) and value != SAME_AS:
        value = NamedNode(value.value.replace(_PREFIX, f"{_PREFIX}{number}_"))
    elif isinstance(value, str):
        value = f"c{number}_{value[1:]}"
    return naive.fact("", value)[1][0]


def _facts(kb: KnowledgeBase) -> Facts:
    names = kb.reasoner.world.names
    if isinstance(names, SparkNames):
        return decoded(kb, names._in_all_names(kb.reasoner.I, kb.reasoner.E))
    return all_facts(kb)


@pytest.mark.parametrize("mode", ["rewrite", "axioms"])
def test_seen_from_outside_nothing_is_rewritten(spark: SparkSession, mode: str) -> None:
    program = parse_program("""
        ?x = ?y :- key(?x, ?k), key(?y, ?k) .
        lonely(?x) :- p(?x, _), not q(?x) .
        [?x, owl:differentFrom, ?y] :- far(?x, ?y) .
    """)
    kb, memory = (KnowledgeBase(program, engine=one, spark=spark, equality=mode) for one in ("spark", "memory"))
    for one in (kb, memory):
        one.add({"key": [("a", 1), ("b", 1), ("c", 2)], "p": [("b", "u"), ("c", "u")], "q": [("c",)], "on": [()]})
    report = kb.materialise()
    assert report.facts == memory.materialise().facts
    assert _facts(kb) == facts_of(memory)
    for predicate in ("p", "triple", "on"):
        assert {*kb.rows(predicate, "derived")} == {*memory.rows(predicate, "derived")}
        assert sorted(kb.rows(predicate), key=repr) == sorted(memory.rows(predicate), key=repr)
    for goal in ("p(a, ?y)", "[?x, owl:sameAs, ?y]", "p(?x, u), p(?y, u), ?x != ?y"):
        assert kb.query(goal) == memory.query(goal)
    for one in (kb, memory):
        one.update(add={"far": [("a", "b")], "key": [("d", 2), (7, 2)], "new": [("b",)]})
    assert _facts(kb) == facts_of(memory)
    assert kb.clashes() == memory.clashes() != []

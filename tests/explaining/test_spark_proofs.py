"""Proofs on Spark, from the driver and from jobs; and a store that one engine made is explained by the other."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

import everlog
from everlog.engine.spark import tuning
from everlog.knowledge.base import KnowledgeBase
from oracles.equality_proofs import EqualWorld
from oracles.exchange import facts_of
from oracles.naive import fact
from support.computing_programs import computing
from support.equalities import random_case, rows
from support.joint import joint_computing
from support.minimum_programs import with_minima
from support.on_spark import jobs_started
from support.proving import check_all, explained, explained_together

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = """
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z), not blocked(?z) .
    seen(?x, ?n) :- AGGREGATE(reach(?x, ?y) ON ?x BIND COUNT(?y) AS ?n), FILTER(?n > 1) .
"""
FACTS = {"edge": [("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")], "blocked": [("e",)]}


def test_from_the_driver_and_a_store_by_either_engine(spark: SparkSession, tmp_path: Path) -> None:
    kb = KnowledgeBase(PROGRAM, engine="spark", spark=spark)
    kb.add(FACTS)
    kb.materialise()
    kb.update(add={"edge": [("d", "e")]}, delete={"edge": [("c", "d")]})
    check_all(kb, kb.program)
    assert explained(kb, fact("reach", "a", "c")).is_least()
    kb.save(tmp_path / "s")
    check_all(everlog.open(tmp_path / "s", engine="memory"), kb.program)


def test_from_jobs(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 0)
    kb = KnowledgeBase("p(?x) :- q(?x, ?y), p(?y), not r(?x) . p(?x) :- s(?x) .", engine="spark", spark=spark)
    kb.add({"q": [("a", "b"), ("c", "a")], "s": [("b",)], "r": [("c",)]})
    kb.materialise()
    check_all(kb, kb.program)


def test_random_programs(spark: SparkSession) -> None:
    """Negation, expressions, aggregates and minima, after an update."""
    cases = [computing(Random(f"why {seed}"), updates=1) for seed in range(2)]
    one = joint_computing([*cases, with_minima(Random("why"), updates=1)])
    kb = KnowledgeBase(one.program, engine="spark", spark=spark)
    kb.add(one.facts)
    kb.materialise()
    for add, delete in one.updates:
        kb.update(add, delete)
    assert check_all(kb, one.program) > 50


def test_equal_names(spark: SparkSession) -> None:
    case = random_case(3, updates=1)
    kb = KnowledgeBase(case.program, engine="spark", spark=spark, equality="rewrite")
    kb.add(rows(case.facts))
    kb.materialise()
    world = EqualWorld(case.program, facts_of(kb, "explicit"))
    derived = sorted(facts_of(kb, "derived"), key=repr)
    for one, proof in zip(derived, explained_together(kb, derived), strict=True):
        assert world.check(proof) == one


def test_jobs_do_not_depend_on_the_number_of_facts(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """A level of a proof takes so many jobs, however many facts it has."""
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 0)
    jobs = []
    for size in (2, 40):
        kb = KnowledgeBase("p(?x) :- q(?x, ?y), r(?y) . r(?y) :- s(?y) .", engine="spark", spark=spark)
        kb.add({"q": [(0, number) for number in range(size)], "s": [(number,) for number in range(size)]})
        kb.materialise()
        before = jobs_started(spark)
        assert kb.explain("p", (0,)).holds
        jobs.append(jobs_started(spark) - before)
    assert jobs[0] == jobs[1] > 0

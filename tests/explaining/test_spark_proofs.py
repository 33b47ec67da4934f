"""The same proofs on Spark, from the driver and from jobs; and a store that one engine made is explained by the other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import everlog
from everlog.engine.spark import tuning
from everlog.knowledge.base import KnowledgeBase
from oracles.exchange import facts_of
from oracles.naive import fact
from oracles.proofs import World
from support.proving import explained

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = """
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z), not blocked(?z) .
"""
FACTS = {"edge": [("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")], "blocked": [("e",)]}


def check(kb: KnowledgeBase, **options: Any) -> None:
    world = World(kb.program.rules, facts_of(kb, "explicit"))
    proof = explained(kb, fact("reach", "a", "c"), **options).proof
    assert proof is not None
    assert world.check(proof)[0] == fact("reach", "a", "c")


def test_from_the_driver_and_a_store_by_either_engine(spark: SparkSession, tmp_path: Path) -> None:
    kb = KnowledgeBase(PROGRAM, engine="spark", spark=spark)
    kb.add(FACTS)
    kb.materialise()
    check(kb)
    kb.save(tmp_path / "s")
    check(everlog.open(tmp_path / "s", engine="memory"))


def test_from_jobs(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 0)
    kb = KnowledgeBase(PROGRAM, engine="spark", spark=spark)
    kb.add(FACTS)
    kb.materialise()
    check(kb, paths=False)

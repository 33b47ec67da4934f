"""The same proofs on Spark, from the driver and from jobs; and a store that one engine made is explained by the other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import everlog
from everlog.datalog.reader import parse_program
from everlog.engine.spark import tuning
from everlog.knowledge.base import KnowledgeBase
from oracles.naive import fact
from support.proving import check_all

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = """
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z), not blocked(?z) .
"""
FACTS = {"edge": [("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")], "blocked": [("e",)]}
ASKED = [fact("reach", "a", "c")]


def test_from_the_driver_and_a_store_by_either_engine(spark: SparkSession, tmp_path: Path) -> None:
    program = parse_program(PROGRAM)
    kb = KnowledgeBase(program, engine="spark", spark=spark)
    kb.add(FACTS)
    kb.materialise()
    assert check_all(kb, program, ASKED) == 1
    kb.save(tmp_path / "s")
    assert check_all(everlog.open(tmp_path / "s", engine="memory"), program, ASKED) == 1


def test_from_jobs(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 0)
    program = parse_program(PROGRAM)
    kb = KnowledgeBase(program, engine="spark", spark=spark)
    kb.add(FACTS)
    kb.materialise()
    assert check_all(kb, program, ASKED) == 1

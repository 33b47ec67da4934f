"""The Python workers of a session that a user made run Everlog, or the user is told what to set."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from everlog import KnowledgeBase, parse_program
from everlog.spark import workers
from everlog.spark.workers import UnfitWorkers, prepare_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OTHER = Path("/usr/bin/python3")


@pytest.fixture
def a_users(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[SparkSession]:
    """A session as if a user had made it: nobody has said which Python its workers are."""
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    before = spark.sparkContext.pythonExec
    spark.sparkContext.pythonExec = "python3"
    workers._seen.discard(spark)
    yield spark
    spark.sparkContext.pythonExec = before


def test_workers_on_this_machine_are_this_python(a_users: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("1,2\n", encoding="utf-8")
    kb = KnowledgeBase(parse_program("reach(?x, ?y) :- edge(?x, ?y) ."), spark=a_users)
    kb.load(tmp_path / "edge.csv")
    assert a_users.sparkContext.pythonExec == sys.executable
    assert kb.rows("edge") == [(1, 2)]


@pytest.mark.skipif(not OTHER.exists(), reason="there is no other Python")
def test_workers_that_cannot_run_everlog_are_found_out_first(
    a_users: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", str(OTHER))
    a_users.sparkContext.pythonExec = str(OTHER)
    kb = KnowledgeBase(parse_program("reach(?x, ?y) :- edge(?x, ?y) ."), spark=a_users)
    with pytest.raises(UnfitWorkers, match=r"cannot run Everlog \(.*No module named .*Set PYSPARK_PYTHON"):
        kb.add({"edge": a_users.createDataFrame([(1, 2)], "x int, y int")})
    a_users.sparkContext.pythonExec = sys.executable
    prepare_workers(a_users)
    kb.add({"edge": a_users.createDataFrame([(1, 2)], "x int, y int")})
    assert kb.materialise().facts == {"explicit": 1, "total": 2}

"""Interrupts while Spark works: a job is cancelled, and the knowledge base is as before."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

import everlog
from everlog import EverlogError, KnowledgeBase, parse_program
from everlog.engine.spark import tuning
from everlog.store.commit import Writing
from support.forking import in_fork
from support.interrupting import asked_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.usefixtures("python_handles_interrupts"),
    pytest.mark.skipif(
        threading.current_thread() is not threading.main_thread(), reason="signals are the main thread's"
    ),
]

PROGRAM = parse_program("""
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    sum(?x) :- slow(?x), n(?y), n(?z), n(?u), ?y < ?z, ?z < ?u, ?u < ?y .
""")
EDGES = [(n, n + 1) for n in range(4)]


@pytest.fixture(scope="module")
def kb(spark: SparkSession) -> KnowledgeBase:
    found = KnowledgeBase(PROGRAM, engine="spark", spark=spark)
    found.add({"edge": EDGES, "n": [(number,) for number in range(6000)]})
    found.materialise()
    return found


def seen(kb: KnowledgeBase) -> tuple[Any, ...]:
    return sorted(kb.rows("reach")), kb.size("edge", "explicit"), kb.size("n"), kb.size("slow"), kb.size("sum")


def test_a_long_job_is_cancelled(kb: KnowledgeBase, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "DRIVER_LOOKS", 1_000)  # else the driver would try by itself first
    before, asked = seen(kb), []

    def interrupt() -> None:
        asked.append(monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(3, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        kb.update(add={"slow": [(1,)], "edge": [(4, 5)]})
    assert asked, "the job was over too soon"
    assert monotonic() - asked[0] < 20, (
        "the job itself takes hours; where nobody else is at work, this takes two seconds"
    )
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert seen(kb) == before
    assert spark.range(5).count() == 5, "jobs of others are not cancelled"
    kb.update(add={"edge": [(4, 5)]})
    assert len(kb.rows("reach")) == 15
    kb.update(delete={"edge": [(4, 5)]})
    assert seen(kb) == before


def test_an_update_is_given_up_between_jobs(kb: KnowledgeBase) -> None:
    before = seen(kb)
    for look in (1, 2, 4):
        with asked_at(look), pytest.raises(KeyboardInterrupt):
            kb.update(delete={"edge": [(1, 2)]})
        assert seen(kb) == before


def test_a_version_that_came_to_nothing_is_written_again(
    kb: KnowledgeBase, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    own = KnowledgeBase(parse_program("reach(?x, ?y) :- edge(?x, ?y) ."), engine="spark", spark=spark)
    own.add({"edge": [("a", "b")]})
    own.save(store)
    own.update(add={"edge": [("new", "newer")]})

    def interrupted(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Writing, "commit", interrupted)
        own.save(store)
    assert sorted(own.rows("reach")) == [("a", "b"), ("new", "newer")]
    assert own.save(store) == 2
    assert sorted(everlog.open(store, engine="memory").rows("reach")) == [("a", "b"), ("new", "newer")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_process_is_refused(kb: KnowledgeBase) -> None:
    def use() -> None:
        for work in (lambda: kb.rows("edge"), lambda: kb.update(), lambda: kb.dataframe("edge"), lambda: kb.spark):
            with pytest.raises(EverlogError, match="Spark belongs to the process that this one was forked from"):
                work()
        memory = KnowledgeBase(PROGRAM, engine="memory")
        memory.add({"edge": EDGES})
        memory.materialise()
        assert memory.size("reach") == 10
        with pytest.raises(EverlogError, match="Spark belongs to the process that this one was forked from"):
            memory.dataframe("edge")

    in_fork(use)
    assert kb.size("edge") == 4

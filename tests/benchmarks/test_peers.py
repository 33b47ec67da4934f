"""Every system that is installed counts what the naive evaluator counts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from benchmarks import prepare as preparing
from benchmarks.data import data_file
from benchmarks.job import Job, open_job
from benchmarks.peers import ALWAYS, PEERS
from benchmarks.process import Limits, run_module
from benchmarks.worker import answer
from benchmarks.workload import BenchmarkMistake, Instance, Workload
from benchmarks.workloads import GENERATED, KNOWLEDGE, PAPERS, WORKLOADS, workload

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = [each.name for each in WORKLOADS if each not in (*GENERATED, *KNOWLEDGE, *PAPERS)]


def prepared(folder: Path, name: str, parameters: dict[str, int], *peers: str) -> Job:
    folder.mkdir(exist_ok=True)
    preparing.prepare(folder, name, parameters, [PEERS[peer] for peer in peers])
    return open_job(folder)


def answered(job: Job, peer: str) -> dict[str, Any]:
    found = answer(job, PEERS[peer], {})
    if found["status"] == "absent":
        pytest.skip(f"{peer} is not installed: {found['reason']}")
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("peer", ALWAYS)
def test_a_system_counts_what_the_naive_evaluator_counts(
    name: str,
    peer: str,
    tiny: dict[str, dict[str, int]],
    university: Path,
    tmp_path: Path,
    naive: Callable[[Instance], dict[str, int]],
) -> None:
    found = answered(prepared(tmp_path / "job", name, tiny[name], peer), peer)
    assert found["status"] == "ok", found.get("reason")
    assert found["facts"] == naive(workload(name).instance(**tiny[name]))
    assert found["version"]
    assert found["load_seconds"] >= 0 < found["reasoning_seconds"]


def test_spark_has_the_query_of_a_linear_program(
    spark: SparkSession,
    naive: Callable[[Instance], dict[str, int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a session beside that of the tests, which it does not end."""

    def started(conf: dict[str, str]) -> SparkSession:
        session = spark.newSession()
        for key, value in conf.items():
            session.conf.set(key, value)
        monkeypatch.setattr(session, "stop", lambda: None)
        return session

    monkeypatch.setattr("everlog.spark.session.start_session", started)
    monkeypatch.setattr("benchmarks.peers.spark._wait_for_java", lambda: None)
    size = {"nodes": 8, "edges": 8}  # each step on a path is a job
    found = answered(prepared(tmp_path, "dag-sparse", size, "spark"), "spark")
    assert found["status"] == "ok", found.get("reason")
    assert found["facts"] == naive(workload("dag-sparse").instance(**size))


@pytest.mark.parametrize("name", ["dag-nonlinear", "andersen", "pc"])
def test_spark_refuses_what_its_query_cannot_state(name: str, tiny: dict[str, dict[str, int]], tmp_path: Path) -> None:
    assert "name itself once" in prepared(tmp_path / "job", name, tiny[name], "spark").refusals["spark"]


def test_a_process_without_memory_ends_alone() -> None:
    """What asks for more than it may have is an error of its own, not of the one that started it."""
    limit = Limits(memory_bytes=2**29)
    ended = run_module("timeit", ["-n1", "-r1", "len(bytearray(2**30))"], 60.0, limit)
    assert ended.code and "MemoryError" in ended.errors and not ended.timed_out
    late = run_module("timeit", ["-n1", "-r1", "while True: pass"], 60.0, Limits(processor_seconds=1))
    assert late.timed_out and late.seconds < 59


NEGATION = """
far(?x, ?y) :- edge(?x, ?y), not near(?x, _), ?x != ?y .
far(?x, ?z) :- far(?x, ?y), edge(?y, ?z), ?z > 2, not near(?z, ?x) .
"""


@pytest.mark.parametrize("peer", ALWAYS)
def test_negation_and_comparisons_mean_the_same_everywhere(
    peer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build() -> Instance:
        edges = [(1, 2), (2, 3), (3, 4), (4, 4), (4, 1), (5, 6), (6, 5)]
        return Instance(NEGATION, {"edge": _table(edges), "near": _table([(5, 1), (4, 2)])})

    monkeypatch.setattr(preparing, "workload", lambda name: Workload(name, "", {}, build))
    found = answered(prepared(tmp_path / "job", "negation", {}, peer), peer)
    # 1-2, 2-3, 3-4 and 6-5 start; 1-3, 1-4, 3-4 and 6-6 follow, but 2-4 does not: near(4, 2)
    assert found == {**found, "status": "ok", "facts": {"far": 7}}


def _table(rows: list[tuple[int, int]]) -> pa.Table:
    return pa.table({f"a{at}": pa.array(column) for at, column in enumerate(zip(*rows, strict=True))})


@pytest.mark.parametrize("peer", ["clingo", "nemo", "everlog", "duckdb", "duckdb-rounds"])
def test_several_result_predicates_are_counted_apart(
    peer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build() -> Instance:
        program = "p(?x) :- q(?x, ?y) . s(?x, ?y) :- q(?x, ?y), p(?y) ."
        return Instance(program, {"q": _table([(1, 2), (2, 3)]), "s": _table([(9, 9)])})

    monkeypatch.setattr(preparing, "workload", lambda name: Workload(name, "", {}, build))
    found = answered(prepared(tmp_path / "job", "several", {}, peer), peer)
    assert found == {**found, "status": "ok", "facts": {"p": 2, "s": 2}}


def test_lubm_grows_with_its_copies(tmp_path: Path) -> None:
    try:
        data_file("rdf/lubm1.nt.gz")
    except BenchmarkMistake as absent:
        pytest.skip(str(absent))
    one, two = (
        answered(prepared(tmp_path / str(k), "lubm", {"k": k}, "clingo"), "clingo")["facts"]["triple"] for k in (1, 2)
    )
    assert (one, two) == (137_961, 275_922)


def test_souffle_is_compiled_once_and_its_sizes_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for the compiler that checks its program and makes a binary that prints a size."""
    (tmp_path / "bin").mkdir()
    compiler = tmp_path / "bin" / "souffle"
    compiler.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --version ]; then echo "Version: 2.5"; exit; fi\n'
        f"echo compiled >> {tmp_path}/log\n"
        'while [ "$1" != -o ]; do shift; done\n'
        'grep -q "^r_reach(x0,x1) :- r_reach(x0,x2), r_edge(x2,x1).$" "$3" || exit 1\n'
        'printf "#!/bin/sh\\nprintf \'r_reach\\\\t7\\\\n\'\\n" > "$2"; chmod +x "$2"\n',
        encoding="utf-8",
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    job = prepared(tmp_path / "job", "dag", {"nodes": 5, "edges": 6}, "souffle")
    for _ in range(2):
        found = answer(job, PEERS["souffle"], {})
        assert found == {**found, "status": "ok", "facts": {"reach": 7}, "version": "2.5"}
    assert (tmp_path / "log").read_text().split() == ["compiled"]


def test_an_absent_system_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = prepared(tmp_path / "job", "dag", {"nodes": 5, "edges": 6}, "souffle")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert answer(job, PEERS["souffle"], {}) == {"status": "absent", "reason": "souffle is not on the PATH"}


def test_an_error_is_an_answer(tmp_path: Path) -> None:
    job = prepared(tmp_path / "job", "dag", {"nodes": 5, "edges": 6}, "clingo")
    answered(job, "clingo")
    shutil.rmtree(tmp_path / "job" / "relations")
    assert answer(job, PEERS["clingo"], {})["status"] == "error"

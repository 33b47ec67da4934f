"""The benchmark `datalog`: tiny workloads on systems that are not Everlog, and what is shown of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchmarks import command, datalog
from benchmarks import prepare as preparing
from benchmarks.datalog import ROWS, SIZES, DatalogRequest, Measured, run_datalog, shown
from benchmarks.datalog_report import line_text, tables
from benchmarks.job import open_job
from benchmarks.outcome import Outcome, SystemRuns
from benchmarks.peers import PEERS
from benchmarks.runner import Request, Result
from benchmarks.worker import answer
from benchmarks.workload import BenchmarkMistake
from benchmarks.workloads import PAPERS, WORKLOADS, workload
from everlog import KnowledgeBase

SYSTEMS = ("everlog", "generic", "duckdb", "duckdb-rounds", "clingo")
ROUNDS = ("doop", "polonius-opt")
"""A dozen relations take a script hundreds of rounds of dozens of queries, however few facts there are."""


@pytest.mark.parametrize("name", [each.name for each in PAPERS])
def test_systems_count_the_same(name: str, tiny: dict[str, dict[str, int]], tmp_path: Path) -> None:
    systems = [system for system in SYSTEMS if name not in ROUNDS or not system.startswith("duckdb")]
    preparing.prepare(tmp_path, name, tiny[name], [PEERS[system] for system in systems])
    job = open_job(tmp_path)
    found: dict[str, dict[str, Any]] = {system: answer(job, PEERS[system], {}) for system in systems}
    ended = {system: one for system, one in found.items() if one["status"] == "ok"}
    assert all(one["status"] in ("ok", "not expressible") for one in found.values()), found
    assert ended.keys() >= {"everlog", "generic"} and len(ended) >= 3
    everlog = ended["everlog"]["facts"]
    assert all(one["facts"] == everlog for one in ended.values())
    assert sum(everlog.values()) > 0
    sums = [one["sums"] for system, one in ended.items() if system != "clingo"]
    assert all(one == sums[0] for one in sums) and bool(sums[0]) == name.startswith(("cc", "sssp"))


@pytest.mark.parametrize("name", ["doop", "polonius-opt", "crdt", "galen"])
def test_relations_of_interest_are_not_empty(name: str, tiny: dict[str, dict[str, int]]) -> None:
    """A generated program that says nothing would agree with everybody."""
    instance = workload(name).instance(**tiny[name])
    kb = KnowledgeBase(instance.program, engine="memory")
    kb.add(instance.facts)
    kb.materialise()
    empty = {rule.head.predicate for rule in kb.program.rules if not kb.size(rule.head.predicate)}
    assert empty <= {"escapes", "between", "staticPoints"}


def test_the_optimised_borrow_checker_finds_the_same_errors() -> None:
    errors = []
    for name in ("polonius", "polonius-opt"):
        instance = workload(name).instance(functions=4, points=60, variables=8)
        kb = KnowledgeBase(instance.program, engine="memory")
        kb.add(instance.facts)
        kb.materialise()
        errors.append((set(kb.rows("error")), set(kb.rows("liveLoan"))))
    assert errors[0] == errors[1] and errors[0][0]


def test_the_order_of_a_text_is_that_of_its_tree() -> None:
    instance = workload("crdt").instance(edits=60, jumps=12, run=4)
    kb = KnowledgeBase(instance.program, engine="memory")
    kb.add(instance.facts)
    kb.materialise()
    children: dict[int, list[int]] = {}
    for row in instance.facts["insert"].to_pylist():
        children.setdefault(row["a1"], []).append(row["a0"])
    gone = set(instance.facts["removed"]["a0"].to_pylist())

    def written(element: int) -> Iterator[int]:
        yield element
        for child in sorted(children.get(element, ()), reverse=True):
            yield from written(child)

    text = list(written(0))
    assert set(kb.rows("next")) == set(pairwise(text))
    kept = [element for element in text if element not in gone and element]
    assert set(kb.rows("visible")) == set(pairwise(kept))


def test_each_row_has_a_workload_and_sizes_that_it_knows() -> None:
    names = {each.name for each in WORKLOADS}
    assert {row.workload for row in ROWS.values()} <= names
    assert all(workload(row.workload).parameters(size) for row in ROWS.values() for size in row.sizes)


def _runs(system: str, seconds: float, facts: int = 42) -> SystemRuns:
    outcome = Outcome("ok", seconds + 1, 50_000_000, facts={"tc": facts}, reasoning_seconds=seconds)
    return SystemRuns(system, "", (replace(outcome, processor_seconds=seconds / 2),))


def _late(system: str) -> SystemRuns:
    return SystemRuns(system, "", (Outcome("timeout", 60.0, 10**9, reason="stopped after 60 s"),))


def _measured(size: str, *systems: SystemRuns, row: str = "tc") -> Measured:
    return Measured(row, size, Result(Request("tc"), {"nodes": 5}, {"arc": 6}, systems, None), {})


def test_tables_have_times_memory_and_growth() -> None:
    small = _measured("small", _runs("everlog", 0.5), _runs("duckdb", 2.0), _runs("clingo", 20.0))
    large = _measured("large", _runs("everlog", 5.0, 420), _runs("duckdb", 200.0, 420), _late("clingo"))
    text = tables([small, large])
    assert "| tc, small | 6 | 42 | 0.50 (0.25) | 2.00 (1.00) | 20 (10) | 0.50–0.50 | 2 |" in text
    assert "| tc, large | 6 | 420 | 5.00 (2.50) | 200 (100) | > 60 | 5.00–5.00 | 1 |" in text
    assert "| tc, small | 6 | 42 | 50 | 50 | 50 |" in text
    assert "| tc | 1.00 | 2.00 | – |" in text
    assert line_text(large).endswith("clingo > 60")
    as_many = replace(large, result=replace(large.result, systems=(_runs("everlog", 5.0), _runs("duckdb", 9.0))))
    assert "| tc | – | – | – |" in tables([small, as_many])


def test_a_row_without_two_peers_or_with_a_disagreement_has_no_times() -> None:
    alone = _measured("small", _runs("everlog", 0.5), _runs("generic", 0.5), _runs("duckdb", 2.0))
    other = _measured("small", _runs("everlog", 0.5), _runs("duckdb", 2.0), _runs("clingo", 2.0, facts=41), row="sg")
    assert shown([alone, other]) == []
    text = tables([alone, other])
    assert "tc: fewer than two peers" in text
    assert "sg, small: the systems disagree, so there are no times: tc: duckdb, everlog: 42; clingo: 41" in text
    assert "0.50" not in text and "DISAGREE" in line_text(other)


def test_a_system_that_failed_is_not_asked_about_larger_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run(request: Request) -> Result:
        asked.append(request.peers)
        systems = tuple(_late(name) if name == "clingo" else _runs(name, 1.0) for name in request.peers)
        return Result(request, request.parameters, {"arc": 6}, systems, None)

    monkeypatch.setattr(datalog, "run", run)
    found = run_datalog(DatalogRequest(("tc",), SIZES, ("everlog", "clingo")))
    assert asked == [("everlog", "clingo"), ("everlog",), ("everlog",)]
    assert found[1].given_up == {"clingo": "timeout at small"}


def test_when_time_is_up_the_larger_sizes_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    minutes = iter([0, 0, 2, 3, 5, 6, 7])

    def run(request: Request) -> Result:
        return Result(request, request.parameters, {"arc": 6}, (_runs("everlog", 1.0),), None)

    monkeypatch.setattr(datalog, "run", run)
    monkeypatch.setattr(datalog, "monotonic", lambda: 60 * next(minutes))
    request = DatalogRequest(("tc", "sg"), SIZES, ("everlog",), minutes=4)
    found = run_datalog(request)
    assert [(one.row, one.size) for one in found] == [("tc", "small"), ("tc", "medium"), ("sg", "small")]
    assert datalog.left_out(request, found) == ["tc, large", "sg, medium", "sg, large"]


def test_the_command_shows_tables_and_writes_all_that_was_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(request: Request) -> Result:
        systems = tuple(_runs(name, 1.0) for name in request.peers)
        return Result(request, request.parameters, {"arc": 6}, systems, None)

    monkeypatch.setattr(datalog, "run", run)
    file = tmp_path / "found.json"
    options = ["--set", "size=small", "--peers", "everlog,duckdb,clingo", "--json", str(file)]
    assert command.main(["run", "datalog", "--rows", "tc", *options]) == 0
    assert "| tc, small | 6 | 42 | 1.00 (0.50) |" in capsys.readouterr().out
    (one,) = json.loads(file.read_text())
    assert one["parameters"] == {"nodes": 500, "edges": 5000}
    assert one["systems"]["clingo"]["runs"][0]["facts"] == {"tc": 42}


@pytest.mark.parametrize(
    "wrong", [{"rows": ("nothing",)}, {"sizes": ("huge",)}, {"systems": ("prolog",)}, {"repeat": 0}]
)
def test_what_there_is_not_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(BenchmarkMistake, match=r"there are|at least once"):
        run_datalog(DatalogRequest(**wrong))

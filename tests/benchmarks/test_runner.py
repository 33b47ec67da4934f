"""Runs in processes, and what is shown of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import command, recorded, runner
from benchmarks.outcome import Outcome, SystemRuns
from benchmarks.process import run_module
from benchmarks.report import as_json, as_text
from benchmarks.runner import Estimate, Patience, Request, Result
from benchmarks.workload import BenchmarkMistake
from benchmarks.workloads import workload

TINY = ["--set", "nodes=30", "--set", "edges=60"]


def runs(system: str, *seconds: float, facts: int = 42, derivations: int | None = None) -> SystemRuns:
    return SystemRuns(
        system,
        "everything",
        tuple(
            Outcome("ok", each + 1, 50_000_000, "", "1.0", {}, 0.1, each, {"reach": facts}, derivations)
            for each in seconds
        ),
    )


def result(*systems: SystemRuns, estimate: Estimate | None = None) -> Result:
    return Result(Request("dag"), {"nodes": 5}, {"edge": 6}, systems, estimate, cores=2, python="3.11")


def test_a_run_shows_a_row_for_each_system_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("clingo", reason="clingo is not installed")
    monkeypatch.setenv("PATH", str(tmp_path))
    file = tmp_path / "result.json"
    arguments = ["run", "dag", *TINY, "--repeat", "2", "--peers", "clingo,souffle", "--json", str(file)]
    assert command.main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    lines = shown.out.splitlines()
    assert lines[0] == "dag: nodes=30, edges=60, seed=1"
    assert next(line.split()[:3] for line in lines if line.startswith("clingo ")) == ["clingo", "60", "138"]
    assert "souffle: absent, souffle is not on the PATH" in lines
    written = json.loads(file.read_text())
    clingo, souffle = written["systems"]
    assert [run["facts"] for run in clingo["runs"]] == [{"reach": 138}] * 2
    assert clingo["median"]["peak_bytes"] > 1_000_000
    assert clingo["median"]["process_seconds"] > clingo["median"]["reasoning_seconds"] > 0
    assert (souffle["status"], len(souffle["runs"])) == ("absent", 1)
    assert written["souffle_estimate"] is None


def test_nobody_is_waited_for_who_takes_much_longer_than_the_first() -> None:
    (first,) = runs("everlog", 0.5).outcomes
    request = Request("dag", peers=("everlog", "clingo"), timeout=20.0, patience=Patience(times=10, seconds=2))
    assert request.timeout_of("everlog", []) == request.timeout_of("everlog", [first]) == 20
    assert request.timeout_of("clingo", [first]) == pytest.approx(8)
    late = replace(first, reasoning_seconds=3.0)
    assert request.timeout_of("clingo", [late]) == 20
    assert request.timeout_of("clingo", [replace(first, status="error")]) == 20


def test_a_process_that_takes_too_long_is_ended() -> None:
    ended = run_module("timeit", ["-n1", "-r1", "import time; time.sleep(60)"], timeout=0.5)
    assert ended.timed_out
    assert 0.5 <= ended.seconds < 30


def test_a_timeout_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    late = SystemRuns("nemo", "x", (Outcome("timeout", 300.0, 10**9, reason="stopped after 300 s"),))
    text = as_text(result(runs("everlog", 1.0), late))
    (row,) = (line.split() for line in text.splitlines() if line.startswith("nemo  "))
    assert row == ["nemo", "6", "timeout", "–", "–", "–", "–", ">", "300", "1000", "–", "–"]
    assert "nemo: timeout, stopped after 300 s" in text


def test_the_table_has_medians_spread_and_the_ratio_to_everlog() -> None:
    text = as_text(result(runs("everlog", 2.0, 1.0, 4.0, derivations=1234), runs("duckdb", 5.0)))
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if "–" in line and ":" not in line}
    assert rows["everlog"] == ["6", "42", "1,234", "0.100", "2.000", "1.000–4.000", "3.00", "50", "1.00", "1.00"]
    assert rows["duckdb"] == ["6", "42", "–", "0.100", "5.000", "5.000–5.000", "6.00", "50", "2.50", "2.43"]


def test_a_system_that_loads_while_it_reasons_is_compared_with_load_and_reasoning() -> None:
    nemo = replace(runs("nemo", 4.1), loads_while_reasoning=True)
    text = as_text(result(runs("everlog", 2.0), nemo))
    (row,) = (line.split() for line in text.splitlines() if line.startswith("nemo  "))
    assert (row[4], row[-2:]) == ("(inside)", ["–", "2.00"])


def test_an_estimate_that_was_recorded_with_load_is_compared_with_load() -> None:
    text = as_text(result(runs("everlog", 1.9), estimate=Estimate(6.2, 4.0, with_load=True)))
    (row,) = (line.split() for line in text.splitlines() if line.startswith("souffle (estimate) "))
    assert row[-3:] == ["–", "≈", "2.00"]


def test_a_disagreement_replaces_the_times_and_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    differing = result(runs("everlog", 1.25), runs("clingo", 7.5), runs("nemo", 3.5, facts=41))
    monkeypatch.setattr(command, "run", lambda request: differing)
    assert command.main(["run", "dag"]) == 1
    shown = capsys.readouterr().out
    assert "THE SYSTEMS DISAGREE" in shown
    assert "reach: clingo, everlog: 42; nemo: 41" in shown
    assert not any(seconds in shown for seconds in ("1.25", "7.5", "3.5"))
    assert as_json(differing)["disagreements"]


def test_two_runs_of_one_system_must_agree_as_well() -> None:
    first, second = runs("clingo", 1.0), runs("clingo", 1.0, facts=43)
    assert result(replace(first, outcomes=first.outcomes + second.outcomes)).disagreements


def test_a_failure_of_everlog_fails_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = SystemRuns("everlog", "x", (Outcome("error", 1.0, 1, reason="ValueError: no"),))
    monkeypatch.setattr(command, "run", lambda request: result(broken, runs("clingo", 1.0)))
    assert command.main(["run", "dag"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nothing"], "no workload nothing"),
        (["run", "dag", "--set", "nodes"], "'nodes' is not KEY=VALUE"),
        (["run", "dag", "--set", "nodes=many"], "whole numbers"),
        (["run", "dag", "--peers", "prolog"], "no peer prolog"),
        (["run", "dag", "--repeat", "0"], "at least once"),
        (["run", "dag", "--set", "nodes=2", "--set", "edges=9", "--peers", "clingo"], "only 1 exist"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(arguments) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""


def test_list_names_workloads_and_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["list"]) == 0
    assert "dag: linear reachability" in (shown := capsys.readouterr().out)
    assert "nodes=10000, edges=100000, seed=1" in shown


def test_recorded_times_hold_for_the_default_sizes_only() -> None:
    dag = workload("dag")
    assert recorded.souffle_seconds(dag, dag.defaults) == 9.0
    assert recorded.souffle_seconds(dag, {**dag.defaults, "seed": 7}) == 9.0
    assert recorded.souffle_seconds(dag, {**dag.defaults, "nodes": 5}) is None


def test_an_estimate_is_scaled_by_duckdb_and_marked() -> None:
    estimate = Estimate(recorded_seconds=9.0, duckdb_dag_seconds=3.1)
    assert estimate.seconds == pytest.approx(4.5)
    text = as_text(result(runs("everlog", 1.5), estimate=estimate))
    (row,) = (line.split() for line in text.splitlines() if line.startswith("souffle (estimate) "))
    assert row == ["souffle", "(estimate)", *"––––≈", "4.50", *"–––≈", "3.00", "–"]
    assert "NOT RUN HERE" in text


def test_souffle_is_estimated_from_duckdbs_dag_in_this_run(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = SystemRuns("souffle", "x", (Outcome("absent", 1.0, 1, reason="souffle is not on the PATH"),))
    measured: list[str] = []

    def measure(name: str, parameters: object, request: Request) -> tuple[dict[str, int], tuple[SystemRuns, ...]]:
        measured.append(name)
        return {"p": 1}, (runs("duckdb", 12.4),) if request.peers == ("duckdb",) else (absent,)

    monkeypatch.setattr(runner, "_measure", measure)
    estimate = runner.run(Request("pc", peers=("souffle",))).estimate
    assert measured == ["pc", "dag"]
    assert estimate is not None
    assert estimate.seconds == pytest.approx(1.6)
    assert runner.run(Request("pc", {"n": 5}, peers=("souffle",))).estimate is None


def test_a_workload_that_cannot_be_made_is_the_users_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERLOG_DATA", str(tmp_path))
    with pytest.raises(BenchmarkMistake, match="set EVERLOG_DATA"):
        runner.run(Request("lubm", peers=("clingo",)))

"""The benchmark of updates, small: what is measured, that the algorithms agree, what is shown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import command
from benchmarks.updates import ALGORITHMS, Direction, Measured, Request, Row, interval
from benchmarks.updates_report import as_json, conclusions, row_text
from benchmarks.updates_worker import Samples, measure
from benchmarks.workload import BenchmarkMistake
from benchmarks.workloads import workload
from benchmarks.workloads.triples import triple_table

DAG = workload("dag").instance(nodes=40, edges=90)


def row(*algorithms: str) -> Row:
    asked = {"algorithms": algorithms, "changed": [3, 10], "repeat": 4, "limit": 60.0, "options": {"modules": "off"}}
    content = measure("dag", DAG, asked)
    return Row(
        **{**content, "measured": [Measured.of(one) for one in json.loads(json.dumps(content["measured"]))]},
        peak_bytes=1_000_000,
    )


def test_every_algorithm_is_measured_and_all_agree() -> None:
    measured = row(*ALGORITHMS)
    assert [(one.algorithm, one.changed) for one in measured.measured if one.changed == 3] == [
        (name, 3) for name in ALGORITHMS
    ]
    assert measured.disagreements() == []
    assert (measured.explicit, measured.total) == (90, measured.total)
    for one in measured.measured:
        samples = 3 if one.algorithm == "remat" else 4
        for way in (one.deletion, one.addition):
            assert len(way.seconds) == len(way.derivations) == len(way.facts) == samples
        assert all(gone < 0 for gone in one.deletion.facts)
        assert [-gone for gone in one.deletion.facts] == one.addition.facts, "what is added again is all back"
    assert measured.state["counting"] > measured.state["dredc"] > measured.state["dred"] == measured.state["auto"] == 0
    text = row_text(measured)
    assert "3 facts deleted and added again" in text and "bytes of state per fact" in text
    shown = conclusions([measured, replace(measured, name="lubm"), replace(measured, name="lubm-large")])
    for part in ("lubm to lubm-large (1.0 times the facts)", "has the fewest derivations", "auto takes", "gains least"):
        assert part in shown


def test_times_are_not_shown_where_algorithms_disagree() -> None:
    measured = row("dred", "fbf")
    facts = list(measured.measured[0].deletion.facts)
    facts[1] -= 1
    off = replace(measured.measured[0], deletion=replace(measured.measured[0].deletion, facts=facts))
    wrong = replace(measured, measured=[off, *measured.measured[1:]])
    assert len(wrong.disagreements()) == 1
    assert "DISAGREE" in row_text(wrong) and "delete s" not in row_text(wrong)


def test_samples_are_uniform_stable_and_light() -> None:
    table = triple_table([(f"<s{n}>", "<p>", f'"{n % 3}"') for n in range(500)])
    samples = Samples({"triple": table, "edge": DAG.facts["edge"]})
    assert samples.of(20, seed=1)["triple"].equals(samples.of(20, seed=1)["triple"])

    def facts(count: int, seed: int) -> set[tuple[object, ...]]:
        found = samples.of(count, seed)
        assert sum(part.num_rows for part in found.values()) == min(count, 590)
        return {(name, *line) for name, part in found.items() for line in zip(*part.to_pydict().values(), strict=True)}

    assert facts(20, 1) < facts(80, 1) != facts(80, 2)
    assert len(facts(1000, 3)) == 590
    drawn = samples.of(20, seed=1)["triple"]
    assert drawn.nbytes < 4000
    assert drawn.schema.field("a0").metadata == {b"everlog": b"ntriples"}


def test_the_interval_is_the_papers() -> None:
    assert interval([1.0, 2.0, 3.0, 4.0]) == pytest.approx(1.96 / 2 * 1.2909944)
    assert interval([5.0]) == 0.0


def test_json_has_every_sample_and_its_summary() -> None:
    measured = row("dred")
    written = json.loads(json.dumps(as_json(Request(), [measured])))
    (first, _) = written["rows"][0]["summary"]
    assert first["deletion"]["seconds"]["samples"] == 4
    assert Direction(**written["rows"][0]["measured"][0]["deletion"]) == measured.measured[0].deletion


def test_the_command(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "updates.json"
    arguments = ["run", "updates", "--rows", "gene-ontology", "--algorithms", "dred,remat", "--changed", "5"]
    assert command.main([*arguments, "--repeat", "2", "--json", str(file)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("gene-ontology: ") and "5 facts deleted and added again" in shown
    assert [one["algorithm"] for one in json.loads(file.read_text())["rows"][0]["measured"]] == ["dred", "remat"]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request(rows=("lumb",)), "no row lumb; there are lubm, "),
        (Request(algorithms=()), "no algorithm"),
        (Request(repeat=1), "two samples"),
        (Request(changed=(0,)), "one fact or more"),
    ],
)
def test_mistakes_are_named(request_: Request, message: str) -> None:
    with pytest.raises(BenchmarkMistake, match=message):
        request_.check()

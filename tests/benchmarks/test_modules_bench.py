"""The benchmark of modules, small: systems agree, what is shown, and that a disagreement shows no times."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import command, modules
from benchmarks.modules import DUCKDB, OFF, ON, ROWS, Measured, Request, Row
from benchmarks.modules_report import as_json, comparisons, row_text
from benchmarks.modules_worker import measure
from benchmarks.workload import BenchmarkMistake, Instance
from benchmarks.workloads import modular, workload

ASKED = {"repeat": 2, "limit": 60.0, "longest": 60.0, "option": "modules", "options": {}}
SMALL: dict[str, tuple[Callable[[], Instance], Callable[[], Instance] | None]] = {
    "dag": (lambda: workload("dag").instance(nodes=30, edges=60), lambda: workload("dag").instance(nodes=30, edges=60)),
    "stc": (lambda: modular.components((7, 5, 2)), lambda: modular.components_linear((7, 5, 2))),
    "seq": (lambda: modular.sequence(20), lambda: modular.sequence(20)),
    "cliques": (lambda: modular.cliques((6, 4)), None),
    "chains": (lambda: modular.example_29(7, 9), None),
}
KINDS = {"dag": "reach", "stc": "stc", "seq": "seq", "cliques": "stc", "chains": "rch"}


def measured(name: str) -> Row:
    build, peer = SMALL[name]
    asked = {**ASKED, "options": ROWS[name].options}
    found = [Measured(system, **measure(build(), system, asked)) for system in (ON, OFF)]
    if peer is not None:
        found.append(Measured(DUCKDB, **measure(peer(), DUCKDB, ASKED)))
    return Row(name, found, 6.2)


@pytest.mark.parametrize("name", SMALL)
def test_systems_agree(name: str) -> None:
    row = measured(name)
    on, off = row.of(ON), row.of(OFF)
    assert on is not None and off is not None
    assert row.disagreements() == []
    assert on.modules[0].startswith(f"{KINDS[name]} of ") and not off.modules
    assert list(on.updates) == list(off.updates) and len(on.materialise) == 2
    assert all(len(seconds) == 2 for seconds in on.updates.values())
    text = row_text(row)
    assert "times as fast as off" in text and "times materialising anew" in text
    assert ("times as fast as DuckDB" in text) == (row.of(DUCKDB) is not None)


def test_the_components_have_the_facts_that_they_are_known_for() -> None:
    assert sum(size**2 for size in modular.COMPONENTS) == 736_000 and sum(modular.COMPONENTS) == 2_000
    assert modular.components((7, 5, 2)).size == 14 + 10 + 1


def test_short_chains_are_left_to_rules() -> None:
    found = Measured(ON, **measure(modular.short_chains(2, 200, 50), ON, {**ASKED, "repeat": 1}))
    assert not found.modules and found.facts > 98


def test_no_times_where_systems_disagree() -> None:
    row = measured("seq")
    wrong = replace(row.measured[0], facts=row.measured[0].facts + 1)
    text = row_text(replace(row, measured=[wrong, *row.measured[1:]]))
    assert "DISAGREE" in text and "materialise s" not in text


def test_a_system_that_fails_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    row = replace(measured("seq"), measured=[*measured("seq").measured[:1], Measured(OFF, "stopped after 1 s")])
    assert "stopped after 1 s" in row_text(row)
    assert any("anew" in line for line in comparisons(row))


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The processes are left out: what they measure is tested above."""

    def here(name: str, system: str, request: Request) -> Measured:
        build, peer = SMALL[name]
        chosen = peer if system == DUCKDB and peer is not None else build
        return Measured(system, **measure(chosen(), system, {**ASKED, "repeat": request.repeat}))

    monkeypatch.setattr(modules, "_measured", here)
    file = tmp_path / "out.json"
    assert command.main(["run", "modules", "--rows", "seq,stc", "--repeat", "1", "--json", str(file)]) == 0
    assert "seq of next" in capsys.readouterr().out
    content = json.loads(file.read_text())
    assert [row["name"] for row in content["rows"]] == ["seq", "stc"]
    assert command.main(["run", "modules", "--rows", "none"]) == 2
    assert set(SMALL) <= set(ROWS)
    with pytest.raises(BenchmarkMistake):
        Request(repeat=0).check()
    assert as_json(Request(), [])["rows"] == []

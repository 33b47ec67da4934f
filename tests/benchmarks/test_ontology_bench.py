"""The benchmark `ontologies`: its peers' workers, and its lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.ontologies import Measured, _line, _ratios, run_ontologies
from benchmarks.ontologies_worker import SYSTEMS, Clock
from benchmarks.workload import BenchmarkMistake

PREFIXES = """@prefix : <http://ex.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


@pytest.mark.parametrize("system", ["reasonable", "owlrl"])
def test_a_peer_reads_reasons_and_writes(system: str, tmp_path: Path) -> None:
    ontology, data = tmp_path / "o.ttl", tmp_path / "data"
    ontology.write_text(PREFIXES + ":A a owl:Class ; rdfs:subClassOf :B .")
    data.mkdir()
    (data / "part.nt").write_text(f"<http://ex.org/x> {TYPE} <http://ex.org/A> .\n")
    clock = Clock()
    found = SYSTEMS[system](ontology, data, tmp_path / "out", clock)
    assert f"<http://ex.org/x> {TYPE} <http://ex.org/B> ." in (tmp_path / "out.nt").read_text()
    assert found["reasoning"] >= 0
    assert found["facts"] >= 4
    assert set(clock.parts) == {"read", "reason", "write"}


def measured(system: str, reasoning: float, total: float) -> Measured:
    run = {"reasoning": reasoning, "total": total, "facts": 10, "parts": {"read": total}}
    return Measured(system, 2, 1_000, (run,), 5_000_000)


def test_lines_and_ratios() -> None:
    found = [measured("everlog", 0.5, 4.0), measured("reasonable", 1.0, 2.0)]
    assert " 0.500 " in _line(found[0])
    assert _ratios(found) == ["reasonable on 2: 2.00 times Everlog's reasoning, 0.50 times its total"]
    late = Measured("owlrl", 2, 1_000, outcome="no result in 5 s")
    assert "no result in 5 s" in _line(late)
    assert _ratios([found[0], late]) == []


def test_mistakes() -> None:
    with pytest.raises(BenchmarkMistake, match="everlog, complete, reasonable, owlrl"):
        run_ontologies([1], ["hermit"], 1, 10.0, print)

"""The benchmark of shapes at a tiny size: results are pySHACL's, and every line is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, parse

from benchmarks.shapes import SHAPES, Request, by_pyshacl, results_of, run_shapes
from benchmarks.workload import BenchmarkMistake
from benchmarks.workloads.lubm import LUBM
from everlog import KnowledgeBase


def test_there_are_fifty_shapes() -> None:
    kinds = [
        quad.object.value for quad in parse(path=str(SHAPES), format=RdfFormat.TURTLE) if "type" in str(quad.predicate)
    ]
    assert len([kind for kind in kinds if kind.endswith(("#NodeShape", "#PropertyShape"))]) == 50


def test_results_are_those_of_pyshacl(data: Path) -> None:
    pytest.importorskip("pyshacl", reason="results are compared with those of pySHACL")
    instance = LUBM.build(1)
    kb = KnowledgeBase(instance.program, engine="memory")
    kb.add({"triple": instance.facts["triple"].slice(0, 800)})
    kb.materialise()
    theirs, _, _ = by_pyshacl(kb.sparql("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }").serialize("nt"))
    assert results_of(kb.validate(SHAPES)) == theirs
    assert len(theirs) > 50


def test_updates_are_measured(data: Path) -> None:
    lines: list[str] = []
    run_shapes(Request(("updates",), 1, 1, 100, 1), lines.append)
    assert [line.split()[0] for line in lines[1:]] == ["delete", "add"]
    with pytest.raises(BenchmarkMistake, match="rows are some of pyshacl, updates"):
        run_shapes(Request(("all",)), print)

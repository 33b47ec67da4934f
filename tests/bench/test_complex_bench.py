"""The benchmark of decompositions, small: they are used, and all systems find the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from decompositions import check_decomposition
from everlog.bench.modules import BENCHES, DUCKDB, OFF, ON, Measured, Request, Row
from everlog.bench.modules_report import row_text
from everlog.bench.modules_worker import measure
from everlog.bench.workload import BenchmarkMistake, Instance
from everlog.bench.workloads import wide, workload
from everlog.datalog.reader import parse_program
from everlog.planning.decomposing import Worth
from everlog.planning.hypertree import decompose

ASKED = {"repeat": 1, "limit": 60.0, "option": "hypertree", "options": {}}
SMALL: dict[str, Callable[[], Instance]] = {
    "pc": lambda: workload("pc").instance(n=8, k=40),
    "exp": lambda: wide.expressions(4, 40),
    **{name: partial(wide.pattern, name, 300, 900) for name in wide.PATTERNS},
}


@pytest.mark.parametrize("name", SMALL)
def test_systems_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everlog.planning.decomposing.IN_MEMORY", Worth(cheaper=0.1, much=1.0))
    build = SMALL[name]
    systems = [ON, OFF] if name == "exp" else [ON, OFF, DUCKDB]
    row = Row(name, [Measured(system, **measure(build(), system, ASKED)) for system in systems])
    on, off = row.of(ON), row.of(OFF)
    assert on is not None
    assert off is not None
    assert row.disagreements() == []
    assert on.facts > 0
    # A clique is one node, which is no gain.
    assert any(module.startswith("hypertree") for module in on.modules) == (name != "clique")
    assert not any(module.startswith("hypertree") for module in off.modules)
    assert "times as fast as off" in row_text(row)


def test_all_that_is_derived_by_expressions() -> None:
    """Every slot of an inner node, since all leaves have their values."""
    instance = wide.expressions(3, 7)
    inner = sum(instance.facts[kind].num_rows for kind in ("sum", "difference", "product"))
    leaves = instance.facts["val"].num_rows // 7
    assert leaves == inner + 3
    found = measure(instance, OFF, ASKED)
    assert found["facts"] == 7 * (inner + leaves)


def test_the_bodies_have_decompositions() -> None:
    """Sixteen rules about people, with cyclic bodies; those of expressions have nine atoms."""
    texts = [wide.EXPRESSIONS, *wide.PATTERNS.values(), f"@prefix ub: <http://example.org/> .\n{wide.RELATIONS}"]
    programs = [parse_program(text) for text in texts]
    assert [len(rule.positive) for rule in programs[0].rules] == [9, 9, 9]
    assert len(programs[-1].rules) == 16
    for program in programs:
        for rule in program.rules:
            found = decompose(rule.positive, frozenset(rule.head.variables()))
            check_decomposition(rule.positive, found)
            assert found.width == (3 if rule.head.predicate == "clique" else 2)
    assert set(SMALL) <= set(BENCHES["complex"].rows)


def test_mistakes() -> None:
    with pytest.raises(BenchmarkMistake, match="no pattern star"):
        wide.pattern("star")
    with pytest.raises(BenchmarkMistake, match="complex has no row dag"):
        Request("complex", ("dag",)).check()

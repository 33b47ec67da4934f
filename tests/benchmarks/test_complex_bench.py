"""The benchmark of decompositions, small: they are used, and all systems find the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from benchmarks.modules import BENCHES, DUCKDB, OFF, ON, Measured, Request, Row
from benchmarks.modules_report import growth, row_text
from benchmarks.modules_worker import measure
from benchmarks.workload import BenchmarkMistake, Instance
from benchmarks.workloads import wide, workload
from everlog.datalog.reader import parse_program
from everlog.planning.decomposition.decomposition_choice import Worth
from everlog.planning.decomposition.hypertree_search import decompose
from support.decompositions import check_decomposition

ASKED = {"repeat": 1, "limit": 60.0, "longest": 60.0, "option": "hypertree", "options": {}}
SMALL: dict[str, Callable[[], Instance]] = {
    "pc": lambda: workload("pc").instance(n=8, k=40),
    "exp": lambda: wide.expressions(4, 40),
    **{name: partial(wide.pattern, name, 300, 900) for name in wide.PATTERNS},
}


@pytest.mark.parametrize("name", SMALL)
def test_systems_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everlog.planning.decomposition.decomposition_choice.IN_MEMORY", Worth(cheaper=0.1, much=1.0))
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


def test_what_takes_too_long_is_given_up() -> None:
    """The rest is known; the time that it had says how much faster the other one is at least."""
    given_up: list[dict[str, object]] = []
    instance = wide.expressions(2, 20)
    measure(instance, OFF, {**ASKED, "longest": 1e-6}, lambda content: given_up.append(dict(content)))
    assert given_up[0]["over"] == {"materialise": 1e-6}
    assert given_up[0]["status"] == "more than 1e-06 s"
    on = Measured(ON, "ok", [0.5], {"delete 9": [0.1], "add 9": [0.1]}, facts=3)
    row = Row("exp", [on, Measured(OFF, "ok", [5.0], over={"delete 9": 60.0}, facts=3)])
    text = row_text(row)
    assert "> 60" in text
    assert "materialise: 10.0 times as fast as off" in text
    assert "delete 9: more than 600.0 times as fast as off" in text
    assert "add 9: " not in text.partition("anew")[0]
    late = row_text(Row("exp", [on, Measured(OFF, "more than 60 s", over={"materialise": 60.0})]))
    assert "more than 60 s" in late
    assert "materialise: more than 120.0 times as fast as off" in late


def test_growth_is_fitted() -> None:
    rows = {name: subject.size for name, subject in BENCHES["complex"].rows.items() if subject.size}
    assert len(rows) == 4
    squared = [Row(name, [Measured(ON, materialise=[1e-9 * size**2])]) for name, size in rows.items()]
    assert growth(squared) == ["pc: from n·k = 75,000 to 1,200,000 the time grows with (n·k)^2.00"]
    assert growth(squared[:2]) == []
    assert "0.1 times as fast as Soufflé on the rule split by hand, recorded 0.43 s" in row_text(
        Row("pc", [Measured(ON, materialise=[4.3])])
    )


def test_mistakes() -> None:
    with pytest.raises(BenchmarkMistake, match="no pattern star"):
        wide.pattern("star")
    with pytest.raises(BenchmarkMistake, match="complex has no row dag"):
        Request("complex", ("dag",)).check()

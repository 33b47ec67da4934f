"""Workloads: the same seed gives the same facts, sizes are as asked, and the shapes are what their headers say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.data import DataAbsent
from benchmarks.workload import BenchmarkMistake, Instance
from benchmarks.workloads import GENERATED, WORKLOADS, workload

NAMES = [each.name for each in WORKLOADS if each not in GENERATED]
VARYING = {"cspa", "csda", "polonius", "polonius-opt", "doop", "galen", "crdt"}
SEEDED = [name for name in NAMES if "seed" in workload(name).defaults]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_parameters_give_the_same_facts(name: str, tiny: dict[str, dict[str, int]], university: Path) -> None:
    first, second = workload(name).instance(**tiny[name]), workload(name).instance(**tiny[name])
    assert first.facts.keys() == second.facts.keys()
    assert all(first.facts[predicate].equals(second.facts[predicate]) for predicate in first.facts)


@pytest.mark.parametrize("name", SEEDED)
def test_another_seed_gives_other_facts(name: str, tiny: dict[str, dict[str, int]]) -> None:
    first, second = workload(name).instance(**tiny[name], seed=1), workload(name).instance(**tiny[name], seed=2)
    assert first.size == second.size or name in VARYING
    assert any(not first.facts[predicate].equals(second.facts[predicate]) for predicate in first.facts)


@pytest.mark.parametrize("name", NAMES)
def test_facts_are_distinct(name: str, tiny: dict[str, dict[str, int]], university: Path) -> None:
    for table in workload(name).instance(**tiny[name]).facts.values():
        rows = [tuple(row.values()) for row in table.to_pylist()]
        assert len(set(rows)) == len(rows)


@pytest.mark.parametrize(
    ("name", "facts"),
    [("dag", 100_000), ("dag-nonlinear", 20_000), ("andersen", 100_000), ("same-generation", 12_000), ("pc", 160_002)],
)
def test_default_sizes(name: str, facts: int) -> None:
    assert workload(name).instance().size == facts


def test_the_edges_of_a_full_graph_are_all_the_pairs() -> None:
    edges = workload("dag").instance(nodes=60, edges=60 * 59 // 2).facts["edge"].to_pylist()
    assert {(row["a0"], row["a1"]) for row in edges} == {(i, j) for j in range(60) for i in range(j)}


def test_children_have_their_parents_one_level_up() -> None:
    parents = workload("same-generation").instance(people=30, levels=3, edges=45).facts["parent"].to_pylist()
    level = {0: 0} | {person: 1 + (person - 1) // 10 for person in range(1, 31)}
    assert all(level[row["a0"]] == level[row["a1"]] + 1 for row in parents)
    assert {row["a0"] for row in parents} == set(range(1, 31))


def test_groups_of_variables_do_not_meet(tiny: dict[str, dict[str, int]]) -> None:
    for table in workload("andersen").instance(**tiny["andersen"]).facts.values():
        assert all(row["a0"] // 20 == row["a1"] // 20 for row in table.to_pylist())


@pytest.mark.parametrize(("n", "k"), [(4, 1), (5, 3)])
def test_pc_adds_what_the_paper_says(n: int, k: int, naive: Callable[[Instance], dict[str, int]]) -> None:
    assert naive(workload("pc").instance(n=n, k=k)) == {"PC": 2 * n * k + n * k + k}


def test_copies_of_a_university_rename_individuals_only(university: Path) -> None:
    triples = workload("lubm").instance(k=3).facts["triple"]
    rows = [tuple(row.values()) for row in triples.to_pylist()]
    assert len(rows) == len(set(rows)) == 15
    assert triples.schema.field("a2").metadata == {b"everlog": b"ntriples"}
    ann = [row for row in rows if row[0].startswith("<http://u.edu/ann?copy=2")]
    ontology = "<http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
    assert sorted(ann) == [
        ("<http://u.edu/ann?copy=2>", f"{ontology}name>", '"Ann"'),
        ("<http://u.edu/ann?copy=2>", f"{ontology}worksFor>", "<http://u.edu/maths?copy=2>"),
    ]
    assert {row[2] for row in rows if row[1].endswith("#type>")} == {f"{ontology}Chair>"}


def test_one_copy_is_the_data_itself(university: Path) -> None:
    assert not any("copy=" in row["a0"] for row in workload("lubm").instance(k=1).facts["triple"].to_pylist())


def test_the_benchmark_names_data_that_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERLOG_DATA", str(tmp_path))
    with pytest.raises(DataAbsent, match="set EVERLOG_DATA"):
        workload("lubm").instance(k=1)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("dag", {"sides": 3}, "no parameter sides; it has nodes, edges, seed"),
        ("dag", {"nodes": 3, "edges": 4}, "only 3 exist"),
        ("pc", {"n": 3}, "n ≥ 4"),
        ("lubm", {"k": 0}, "k ≥ 1"),
        ("same-generation", {"people": 5, "levels": 2, "edges": 4}, "people ≤ edges"),
    ],
)
def test_mistaken_sizes_are_named(name: str, parameters: dict[str, int], message: str) -> None:
    with pytest.raises(BenchmarkMistake, match=message):
        workload(name).instance(**parameters)


def test_an_unknown_workload_is_named() -> None:
    with pytest.raises(BenchmarkMistake, match="no workload dga; there are dag, "):
        workload("dga")

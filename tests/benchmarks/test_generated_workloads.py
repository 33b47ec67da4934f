"""UOBM-like and Claros-like workloads: small ones of the generators' own, under the papers' programs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.generators import claros_collections as generate_claros
from benchmarks.generators import uobm_universities as generate_uobm
from benchmarks.workload import BenchmarkMistake, Instance
from benchmarks.workloads import GENERATED, workload
from everlog import KnowledgeBase, parse_program

SMALL = {
    "uobm": {"universities": 1},
    "claros": {"collections": 3},
    "claros-extended": {"collections": 3},
    "relations": {"groups": 3},
}


@pytest.fixture(autouse=True)
def _small_units(monkeypatch: pytest.MonkeyPatch) -> None:
    uobm = replace(
        generate_uobm.PROFILE,
        departments=(2, 2),
        undergraduates_per_faculty=(1, 2),
        graduates_per_faculty=(1, 1),
        courses_per_second_teacher=10,
    )
    monkeypatch.setattr(generate_uobm, "PROFILE", uobm)
    claros = replace(generate_claros.PROFILE, large=(12, 15), collections_per_large=3)
    monkeypatch.setattr(generate_claros, "PROFILE", claros)


def derived(instance: Instance) -> tuple[Counter[str], KnowledgeBase]:
    """How many triples of each property follow, by the part of its IRI after `#`."""
    kb = KnowledgeBase(parse_program(instance.program))
    kb.add(dict(instance.facts))
    kb.materialise()
    return Counter(str(p)[1:-1].rsplit("#", 1)[-1] for _, p, _ in kb.rows("triple", "derived")), kb


@pytest.mark.parametrize("name", [each.name for each in GENERATED])
def test_the_seed_decides_and_facts_are_distinct(data: Path, name: str) -> None:
    first, again, other = (workload(name).instance(**SMALL[name], seed=seed).facts["triple"] for seed in (1, 1, 2))
    assert first.equals(again)
    rows = set(zip(*(column.to_pylist() for column in first.columns), strict=True))
    assert len(rows) == first.num_rows
    assert rows != set(zip(*(column.to_pylist() for column in other.columns), strict=True))


def test_the_rules_of_uobm_fire(data: Path) -> None:
    found, kb = derived(workload("uobm").instance(universities=1))
    for name in ("hasSameHomeTownWith", "isFriendOf", "sameAs", "hasMember", "hasAlumnus", "subOrganizationOf", "like"):
        assert found[name] > 10, name
    towns = {(str(s), str(o)) for s, p, o in kb.rows("triple") if str(p).endswith("#hasSameHomeTownWith>")}
    assert towns and all((o, s) in towns and (s, s) in towns for s, o in towns)
    heads = [(s, o) for s, p, o in kb.rows("triple") if str(p).endswith("#sameAs>") and s != o]
    assert heads, "two heads of one department are candidates for one person"


def test_the_places_of_a_collection_are_a_clique(data: Path) -> None:
    plain, _ = derived(workload("claros").instance(collections=3))
    assert plain["P67i_is_referred_to_by"] > 10 and plain["P89i_contains"] > 10
    assert plain["relatedPlaces"] == 0
    found, kb = derived(workload("claros-extended").instance(collections=3))
    related = {(str(s), str(o)) for s, p, o in kb.rows("triple") if str(p).endswith("#relatedPlaces>")}
    for number in range(3):
        places = {s for s, _ in related if s.startswith(f"<http://claros.example.org/collection{number}/")}
        assert len(places) >= 5
        assert {(s, o) for s in places for o in places} == {pair for pair in related if pair[0] in places}
    for name in ("relatedManMadeThings", "relatedDocuments", "relatedInformationObjects", "referToSame"):
        assert found[name] > 10, name


@pytest.mark.parametrize("name", [each.name for each in GENERATED])
def test_nothing_is_no_size(name: str) -> None:
    with pytest.raises(BenchmarkMistake, match="or more"):
        workload(name).instance(**dict.fromkeys(SMALL[name], 0))

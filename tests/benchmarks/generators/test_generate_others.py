"""The UOBM-like and the Claros-like generators: what they promise, and the same data from Spark."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.generators.claros_collections import (
    CRM,
    PROFILE,
    collection_triples,
    collections,
    write_collections,
)
from benchmarks.generators.uobm_universities import VOCABULARY, uobm_universities, uobm_university_triples
from everlog.errors import EverlogError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Triple = tuple[str, str, str]


def rows(frame: DataFrame) -> list[Triple]:
    return list(zip(*(column.to_pylist() for column in frame.toArrow().columns), strict=True))


@pytest.fixture(scope="module")
def university() -> list[Triple]:
    return list(uobm_university_triples(0, seed=7))


def test_a_university_has_the_proportions_of_the_original(university: list[Triple]) -> None:
    assert 180_000 < len(university) < 360_000
    assert len(set(university)) == len(university)
    count = Counter(p[len(VOCABULARY) + 1 : -1] for _, p, _ in university if p.startswith(f"<{VOCABULARY}"))
    # Per thousand triples, one university of the original generator against this one.
    for name, original in {"takesCourse": 139, "isFriendOf": 137, "publicationAuthor": 106, "hasMajor": 49}.items():
        assert original / 1.5 < 1000 * count[name] / len(university) < original * 1.5, name
    heads = Counter(o for _, p, o in university if p == f"<{VOCABULARY}isHeadOf>")
    assert set(heads.values()) == {2}


def test_towns_are_trees_with_an_edge_more_here_and_there(university: list[Triple]) -> None:
    edges = [(s, o) for s, p, o in university if p == f"<{VOCABULARY}hasSameHomeTownWith>"]
    town: dict[str, str] = {}

    def root(person: str) -> str:
        while town.setdefault(person, person) != person:
            person = town[person]
        return person

    for one, other in edges:
        town[root(one)] = root(other)
    sizes = Counter(root(person) for person in list(town))
    assert min(sizes.values()) >= 2 and max(sizes.values()) <= 20
    assert len(town) - len(sizes) < len(edges) < len(town)


def test_spark_makes_the_same_universities(spark: SparkSession) -> None:
    made = rows(uobm_universities(spark, 1, seed=7))
    assert sorted(made) == sorted(uobm_university_triples(0, seed=7))


def test_spark_makes_the_same_collections_and_files_of_them(spark: SparkSession, tmp_path: Path) -> None:
    expected = [triple for number in range(4) for triple in collection_triples(number, seed=3)]
    assert len(set(expected)) == len(expected)
    assert sorted(rows(collections(spark, 4, seed=3))) == sorted(expected)
    write_collections(spark, 4, tmp_path / "data", seed=3)
    files = sorted((tmp_path / "data").iterdir())
    assert [file.name for file in files] == [f"collections-0000{number}.nt" for number in range(4)]
    assert sum(len(file.read_text().splitlines()) for file in files) == len(expected)


def test_one_collection_in_ten_is_large() -> None:
    places = [
        sum(p == f"<{CRM}P87_is_identified_by>" for _, p, _ in collection_triples(number)) for number in range(20)
    ]
    large = [number for number, count in enumerate(places) if count >= PROFILE.large[0]]
    assert large == [9, 19]
    assert all(PROFILE.small[0] <= count <= PROFILE.small[1] for n, count in enumerate(places) if n not in large)


def test_documents_connect_all_places_of_a_collection() -> None:
    triples = list(collection_triples(1, seed=5))
    documents: dict[str, list[str]] = {}
    for s, p, o in triples:
        if p == f"<{CRM}P70_documents>":
            documents.setdefault(s, []).append(o)
    reached, waiting = set(), [next(iter(documents.values()))[0]]
    while waiting:
        place = waiting.pop()
        if place not in reached:
            reached.add(place)
            waiting += [other for places in documents.values() if place in places for other in places]
    assert reached == {s for s, p, _ in triples if p == f"<{CRM}P87_is_identified_by>"}


@pytest.mark.parametrize("make", [uobm_universities, collections])
def test_nothing_is_a_mistake(spark: SparkSession, make: object) -> None:
    with pytest.raises(EverlogError, match="ask for one or more"):
        make(spark, 0)  # type: ignore[operator]

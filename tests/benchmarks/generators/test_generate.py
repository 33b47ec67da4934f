"""The generator: LUBM's profile, and the same data whatever the number of tasks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.generators.universities import VOCABULARY, universities, university_triples, write_universities
from everlog.errors import EverlogError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def term(name: str) -> str:
    return f"<{VOCABULARY}{name}>"


@pytest.fixture(scope="module")
def one() -> list[tuple[str, str, str]]:
    return list(university_triples(0, seed=7))


def members(triples: list[tuple[str, str, str]], kind: str) -> list[str]:
    return [s for s, p, o in triples if p == TYPE and o == term(kind)]


def test_a_university_has_the_published_proportions(one: list[tuple[str, str, str]]) -> None:
    assert 90_000 < len(one) < 175_000
    assert len(set(one)) == len(one)
    departments = members(one, "Department")
    assert 15 <= len(departments) <= 25
    for department in departments:
        inside = [t for t in one if t[0].startswith(department[:-1])]
        count = {kind: len(members(inside, kind)) for kind in ("FullProfessor", "AssociateProfessor")}
        assert 7 <= count["FullProfessor"] <= 10
        assert 10 <= count["AssociateProfessor"] <= 14
        assert 8 <= len(members(inside, "AssistantProfessor")) <= 11
        assert 5 <= len(members(inside, "Lecturer")) <= 7
        faculty = sum(p == term("worksFor") for _, p, _ in inside)
        assert 8 * faculty <= len(members(inside, "UndergraduateStudent")) <= 14 * faculty
        graduates = members(inside, "GraduateStudent")
        assert 3 * faculty <= len(graduates) <= 4 * faculty
        assert 10 <= len(members(inside, "ResearchGroup")) <= 20
        assert sum(p == term("headOf") for _, p, _ in inside) == 1
        assert len(graduates) // 5 <= len(members(inside, "TeachingAssistant")) <= len(graduates) // 4
        assert len(graduates) // 4 <= len(members(inside, "ResearchAssistant")) <= len(graduates) // 3


def test_everybody_does_what_the_profile_says(one: list[tuple[str, str, str]]) -> None:
    def each(predicate: str, kind: str) -> Counter[int]:
        done = Counter(s for s, p, _ in one if p == term(predicate))
        return Counter(done[person] for person in members(one, kind))

    assert set(each("takesCourse", "UndergraduateStudent")) == {2, 3, 4}
    assert set(each("takesCourse", "GraduateStudent")) == {1, 2, 3}
    assert set(each("advisor", "GraduateStudent")) == {1}
    advised = each("advisor", "UndergraduateStudent")
    assert 0.15 < advised[1] / advised.total() < 0.25
    for degree in ("undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom"):
        assert set(each(degree, "FullProfessor")) == {1}
    assert set(each("teacherOf", "Lecturer")) <= {2, 3, 4}
    taught = Counter(o for _, p, o in one if p == term("teacherOf"))
    assert set(taught.values()) == {1}
    written = Counter(o for _, p, o in one if p == term("publicationAuthor") and "/FullProfessor" in o)
    assert min(written.values()) >= 15 and max(written.values()) <= 20


def test_spark_makes_the_same_triples_and_files_of_them(spark: SparkSession, tmp_path: Path) -> None:
    expected = {t for number in range(2) for t in university_triples(number, seed=7)}
    made = universities(spark, 2, seed=7).toArrow()
    assert set(zip(*(column.to_pylist() for column in made.columns), strict=True)) == expected
    write_universities(spark, 2, tmp_path / "data", seed=7)
    files = sorted((tmp_path / "data").iterdir())
    assert [file.name for file in files] == ["universities-00000.nt", "universities-00001.nt"]
    lines = [line for file in files for line in file.read_text().splitlines()]
    assert len(lines) == len(expected) == len(set(lines))
    assert f"<http://www.University0.edu> {TYPE} {term('University')} ." in lines


def test_the_seed_decides() -> None:
    some = [next(university_triples(1, seed=seed)) for seed in (1, 2)]
    assert some[0] == some[1]  # what is said of the university itself
    assert list(university_triples(1, seed=1)) == list(university_triples(1, seed=1))
    assert set(university_triples(1, seed=1)) != set(university_triples(1, seed=2))


def test_no_universities_is_a_mistake(spark: SparkSession) -> None:
    with pytest.raises(EverlogError, match="ask for one or more"):
        universities(spark, 0)

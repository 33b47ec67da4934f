"""Universities for benchmarks and demonstrations: data in the vocabulary and the proportions of LUBM, made by Spark jobs.

The Lehigh University Benchmark publishes a profile: how many departments a university has, how many people of each rank,
courses, publications, and so on. `PROFILE` is that profile. Every department draws from random numbers of its own, seeded
by (seed, university, department), so that the data depends on nothing but the seed: not on the number of tasks, and the
first ten universities of fifty are ten universities. No triple comes twice.

Functions that run in Spark tasks are at the top and know nothing of Spark; a university is some 130,000 triples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from benchmarks.generators.generation import TYPE, Range, Triple, generated, write_ntriples

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VOCABULARY: Final = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
KNOWN_UNIVERSITIES: Final = 1000
"""Degrees are from any of these, whether they are generated or not."""


@dataclass(frozen=True)
class Rank:
    """A rank of the faculty: how many per department, and how much each of them publishes."""

    name: str
    people: Range
    publications: Range
    professor: bool = True


@dataclass(frozen=True)
class Profile:
    """LUBM's profile of a university; both ends of a range belong to it."""

    departments: Range = (15, 25)
    ranks: tuple[Rank, ...] = (
        Rank("FullProfessor", (7, 10), (15, 20)),
        Rank("AssociateProfessor", (10, 14), (10, 18)),
        Rank("AssistantProfessor", (8, 11), (5, 10)),
        Rank("Lecturer", (5, 7), (0, 5), professor=False),
    )
    courses_taught: Range = (1, 2)
    research_groups: Range = (10, 20)
    undergraduates_per_faculty: Range = (8, 14)
    graduates_per_faculty: Range = (3, 4)
    undergraduate_courses: Range = (2, 4)
    graduate_courses: Range = (1, 3)
    co_authored: Range = (0, 5)
    undergraduates_per_advised: int = 5
    graduates_per_teaching_assistant: Range = (4, 5)
    graduates_per_research_assistant: Range = (3, 4)
    research_interests: int = 30


PROFILE: Final = Profile()


def university_triples(university: int, seed: int = 0) -> Iterator[Triple]:
    """The triples of one university, as N-Triples terms."""
    iri = _university(university)
    if university == 0:  # the first one says for all that degrees are from that they are universities
        for known in range(KNOWN_UNIVERSITIES):
            yield _university(known), TYPE, _term("University")
    elif university >= KNOWN_UNIVERSITIES:
        yield iri, TYPE, _term("University")
    yield iri, _term("name"), f'"University{university}"'
    departments = Random(f"{seed}/{university}").randint(*PROFILE.departments)
    for number in range(departments):
        yield from _Department(iri, university, number, seed).triples()


class _Department:
    """One department; what it draws depends on its own seed only."""

    def __init__(self, university_iri: str, university: int, number: int, seed: int) -> None:
        self._random = Random(f"{seed}/{university}/{number}")
        self._university = university_iri
        self._number = number
        self._domain = f"Department{number}.University{university}.edu"
        self._iri = f"<http://www.{self._domain}>"

    def triples(self) -> Iterator[Triple]:
        yield self._iri, TYPE, _term("Department")
        yield self._iri, _term("name"), f'"Department{self._number}"'
        yield self._iri, _term("subOrganizationOf"), self._university
        groups = self._draw(PROFILE.research_groups)
        for group in self._several("ResearchGroup", groups):
            yield group, TYPE, _term("ResearchGroup")
            yield group, _term("subOrganizationOf"), self._iri
        ranks = [(rank, self._draw(rank.people)) for rank in PROFILE.ranks]
        faculty = sum(people for _, people in ranks)
        courses = [self._draw(PROFILE.courses_taught) for _ in range(faculty)]
        graduate_courses = [self._draw(PROFILE.courses_taught) for _ in range(faculty)]
        undergraduates = self._draw(PROFILE.undergraduates_per_faculty, times=faculty)
        graduates = self._draw(PROFILE.graduates_per_faculty, times=faculty)
        professors = [
            self._name(rank.name, number) for rank, people in ranks if rank.professor for number in range(people)
        ]
        yield from self._staff(ranks, courses, graduate_courses)
        yield from self._courses("Course", sum(courses))
        yield from self._courses("GraduateCourse", sum(graduate_courses))
        yield from self._undergraduates(undergraduates, sum(courses), professors)
        yield from self._graduates(graduates, sum(courses), sum(graduate_courses), professors)
        yield from self._publications(ranks, graduates)

    # ------------------------------------------------------------------------------------ people

    def _person(self, kind: str, number: int) -> Iterator[Triple]:
        person, name = self._name(kind, number), f"{kind}{number}"
        yield person, TYPE, _term(kind)
        yield person, _term("name"), f'"{name}"'
        yield person, _term("emailAddress"), f'"{name}@{self._domain}"'
        yield person, _term("telephone"), '"xxx-xxx-xxxx"'

    def _staff(self, ranks: list[tuple[Rank, int]], courses: list[int], graduate: list[int]) -> Iterator[Triple]:
        place = course = graduate_course = 0
        for rank, people in ranks:
            for number in range(people):
                person = self._name(rank.name, number)
                yield from self._person(rank.name, number)
                yield person, _term("worksFor"), self._iri
                for degree in ("undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom"):
                    yield person, _term(degree), self._some_university()
                if rank.professor:
                    interest = self._random.randrange(PROFILE.research_interests)
                    yield person, _term("researchInterest"), f'"Research{interest}"'
                for _ in range(courses[place]):
                    yield person, _term("teacherOf"), self._name("Course", course)
                    course += 1
                for _ in range(graduate[place]):
                    yield person, _term("teacherOf"), self._name("GraduateCourse", graduate_course)
                    graduate_course += 1
                place += 1
        yield self._name("FullProfessor", self._random.randrange(ranks[0][1])), _term("headOf"), self._iri

    def _undergraduates(self, count: int, courses: int, professors: Sequence[str]) -> Iterator[Triple]:
        for number in range(count):
            student = self._name("UndergraduateStudent", number)
            yield from self._person("UndergraduateStudent", number)
            yield student, _term("memberOf"), self._iri
            for course in self._random.sample(range(courses), self._draw(PROFILE.undergraduate_courses)):
                yield student, _term("takesCourse"), self._name("Course", course)
            if self._random.randrange(PROFILE.undergraduates_per_advised) == 0:
                yield student, _term("advisor"), self._random.choice(professors)

    def _graduates(self, count: int, courses: int, graduate: int, professors: Sequence[str]) -> Iterator[Triple]:
        for number in range(count):
            student = self._name("GraduateStudent", number)
            yield from self._person("GraduateStudent", number)
            yield student, _term("memberOf"), self._iri
            yield student, _term("undergraduateDegreeFrom"), self._some_university()
            yield student, _term("advisor"), self._random.choice(professors)
            for course in self._random.sample(range(graduate), self._draw(PROFILE.graduate_courses)):
                yield student, _term("takesCourse"), self._name("GraduateCourse", course)
        # No two assistants share a course, so there are never more of them than courses.
        assistants = min(count // self._draw(PROFILE.graduates_per_teaching_assistant), courses)
        researchers = count // self._draw(PROFILE.graduates_per_research_assistant)
        chosen = self._random.sample(range(count), assistants + researchers)
        taught = self._random.sample(range(courses), assistants)
        for number, course in zip(chosen, taught, strict=False):
            student = self._name("GraduateStudent", number)
            yield student, TYPE, _term("TeachingAssistant")
            yield student, _term("teachingAssistantOf"), self._name("Course", course)
        for number in chosen[assistants:]:
            yield self._name("GraduateStudent", number), TYPE, _term("ResearchAssistant")

    # ------------------------------------------------------------------------------------ work

    def _courses(self, kind: str, count: int) -> Iterator[Triple]:
        for number, course in enumerate(self._several(kind, count)):
            yield course, TYPE, _term(kind)
            yield course, _term("name"), f'"{kind}{number}"'

    def _publications(self, ranks: list[tuple[Rank, int]], graduates: int) -> Iterator[Triple]:
        written: list[str] = []
        for rank, people in ranks:
            for number in range(people):
                author = self._name(rank.name, number)
                for publication in range(self._draw(rank.publications)):
                    iri = f"{author[:-1]}/Publication{publication}>"
                    if rank.professor:
                        written.append(iri)
                    yield iri, TYPE, _term("Publication")
                    yield iri, _term("name"), f'"Publication{publication}"'
                    yield iri, _term("publicationAuthor"), author
        for number in range(graduates):
            student = self._name("GraduateStudent", number)
            for publication in self._random.sample(range(len(written)), self._draw(PROFILE.co_authored)):
                yield written[publication], _term("publicationAuthor"), student

    # ------------------------------------------------------------------------------------ drawing and naming

    def _draw(self, within: Range, times: int = 1) -> int:
        least, most = within
        return self._random.randint(least * times, most * times)

    def _some_university(self) -> str:
        return _university(self._random.randrange(KNOWN_UNIVERSITIES))

    def _name(self, kind: str, number: int) -> str:
        return f"{self._iri[:-1]}/{kind}{number}>"

    def _several(self, kind: str, count: int) -> list[str]:
        return [self._name(kind, number) for number in range(count)]


def _university(number: int) -> str:
    return f"<http://www.University{number}.edu>"


def _term(name: str) -> str:
    return f"<{VOCABULARY}{name}>"


# ---------------------------------------------------------------------------------------- on Spark


def universities(spark: SparkSession, count: int, seed: int = 0) -> DataFrame:
    """The triples of `count` universities: string columns `a0`, `a1`, `a2` of N-Triples terms."""
    return generated(spark, university_triples, "universities", count, seed)


def write_universities(spark: SparkSession, count: int, folder: Path, seed: int = 0) -> None:
    """The same as N-Triples files in a folder that does not exist yet, one or more universities to a file."""
    write_ntriples(universities(spark, count, seed), folder, "universities")

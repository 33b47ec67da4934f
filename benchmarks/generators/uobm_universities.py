"""Universities in the vocabulary and the proportions of UOBM, made by Spark jobs.

UOBM adds to LUBM what its rules are about: people who come from one town (a symmetric and transitive property), friends
(a symmetric one), what people like, majors, two heads of a department and two teachers of a course, which are candidates
for `owl:sameAs`, and colleges for women. `PROFILE` follows a university of the original generator, with larger towns.

A person knows people of the same university only, so that a university depends on its number and the seed alone; it is
some 290,000 triples. No triple comes twice.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from benchmarks.generators.generation import TYPE, Range, Triple, generated, write_ntriples

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VOCABULARY: Final = "http://uob.iodt.ibm.com/univ-bench-dl.owl#"

_SPORTS: Final = ("Tennis", "BasketBall", "Baseball", "Swimming")
_MUSIC: Final = ("Pop_Music", "Rock_and_Roll", "Classic_Music", "Country_Music")
_MAJORS: Final = {
    "Science": ("Physics", "Mathematics", "Chemistry", "Biology", "Computer_Science", "Statistics", "Astronomy"),
    "Engineering": ("Civil_Engineering", "Electrical_Engineering", "Mechanical_Engineering", "Computer_Engineering"),
    "FineArts": ("Drama", "Architecture", "Modern_Arts", "Performing_Arts", "Asian_Arts"),
    "HumanitiesAndSocial": ("History", "English", "Economics", "Philosophy", "Psychology", "Linguistics"),
}
_PUBLICATIONS: Final = (
    *("Article", "Book", "ConferencePaper", "JournalArticle", "Manual"),
    *("Software", "Specification", "TechnicalReport", "UnofficialPublication"),
)
_TASTES: Final = ("like", "love", "isCrazyAbout")


@dataclass(frozen=True)
class Profile:
    """A university; of `one in n` things one has the property."""

    departments: Range = (15, 25)
    colleges: Range = (3, 5)
    faculty: tuple[tuple[str, Range], ...] = (
        ("FullProfessor", (7, 10)),
        ("AssociateProfessor", (10, 14)),
        ("AssistantProfessor", (8, 11)),
        ("VisitingProfessor", (1, 4)),
        ("Lecturer", (5, 7)),
    )
    staff: Range = (15, 22)
    research_groups: Range = (10, 20)
    courses_taught: Range = (3, 4)
    undergraduates_per_faculty: Range = (12, 16)
    graduates_per_faculty: Range = (4, 5)
    courses_taken: Range = (1, 5)
    publications_per_faculty: Range = (9, 15)
    authors: Range = (2, 5)
    friends: Range = (0, 5)
    tastes: Range = (0, 2)
    women_of_a_college: Range = (150, 300)
    universities_known: int = 5
    town: Range = (2, 20)
    people_per_townsman: int = 5
    towns_with_a_cycle: int = 4
    courses_per_second_teacher: int = 80


PROFILE: Final = Profile()


def uobm_university_triples(university: int, seed: int = 0) -> Iterator[Triple]:
    """The triples of one university, as N-Triples terms."""
    if university == 0:  # the first one says for all what majors and interests are
        yield from _subjects()
    yield from _University(university, seed).triples()


def _subjects() -> Iterator[Triple]:
    for sport in _SPORTS:
        yield _term(sport), TYPE, _term(f"{sport}Class")
    for music in _MUSIC:
        yield _term(music), TYPE, _term("Music")
    for majors in _MAJORS.values():
        for major in majors:
            yield _term(major), TYPE, _term(f"{major}Class")


class _University:
    def __init__(self, number: int, seed: int) -> None:
        self._random = Random(f"uobm/{seed}/{number}")
        self._number = number
        self._iri = f"<http://www.University{number}.edu>"
        self._people: list[str] = []

    def triples(self) -> Iterator[Triple]:
        yield self._iri, TYPE, _term("University")
        yield self._iri, _term("name"), f'"University{self._number}"'
        departments = self._draw(PROFILE.departments)
        for number in range(departments):
            yield from self._department(number)
        for number in range(self._draw(PROFILE.colleges)):
            yield from self._college(number)
        yield from self._acquaintances()
        yield from self._towns()

    # ------------------------------------------------------------------------------------ organisations

    def _department(self, number: int) -> Iterator[Triple]:
        domain = f"Department{number}.University{self._number}.edu"
        here = f"<http://www.{domain}>"
        yield here, TYPE, _term("Department")
        yield here, _term("name"), f'"Department{number}"'
        yield here, _term("subOrganizationOf"), self._iri
        for group in range(self._draw(PROFILE.research_groups)):
            name = _inside(here, "ResearchGroup", group)
            yield name, TYPE, _term("ResearchGroup")
            yield name, _term("subOrganizationOf"), here
        faculty = [
            (rank, _inside(here, rank, each)) for rank, within in PROFILE.faculty for each in range(self._draw(within))
        ]
        professors = [person for rank, person in faculty if rank != "Lecturer"]
        courses: list[str] = []
        for rank, person in faculty:
            yield from self._person(person, domain, rank)
            yield from self._faculty_member(person, here, courses)
        # Two heads, and now and then two teachers, are one person under two names.
        chair = _inside(here, "Chair", 0)
        yield from self._person(chair, domain, "Chair")
        yield chair, _term("isHeadOf"), here
        yield faculty[0][1], _term("isHeadOf"), here
        for course in courses:
            yield course, TYPE, _term("Course")
            yield course, _term("name"), f'"{course[1:-1].rsplit("/", 1)[1]}"'
            if self._one_in(PROFILE.courses_per_second_teacher):
                yield course, _term("isTaughtBy"), f"{course[:-1]}Teacher>"
        for each in range(self._draw(PROFILE.staff)):
            person = _inside(here, "Staff", each)
            yield from self._person(person, domain, self._random.choice(["SystemsStaff", "ClericalStaff"]))
            yield person, _term("worksFor"), here
        students = yield from self._students(here, domain, len(faculty), courses, professors)
        authors = [*(person for _, person in faculty), *students]
        for each in range(self._draw(PROFILE.publications_per_faculty, times=len(faculty))):
            yield from self._publication(_inside(here, "Publication", each), authors)

    def _college(self, number: int) -> Iterator[Triple]:
        domain = f"College{number}.University{self._number}.edu"
        here = f"<http://www.{domain}>"
        yield here, TYPE, _term("WomanCollege" if number == 0 else "College")
        yield here, _term("subOrganizationOf"), self._iri
        for each in range(self._draw(PROFILE.women_of_a_college) if number == 0 else 0):
            person = _inside(here, "Student", each)
            yield from self._person(person, domain, "Woman", gender=False)
            yield person, _term("isStudentOf"), here

    # ------------------------------------------------------------------------------------ people

    def _person(self, person: str, domain: str, kind: str, gender: bool = True) -> Iterator[Triple]:
        self._people.append(person)
        name = person[1:-1].rsplit("/", 1)[1]
        yield person, TYPE, _term(kind)
        if gender:
            yield person, TYPE, _term(self._random.choice(["Man", "Woman"]))
        yield person, _term("firstName"), f'"{name}.first"'
        yield person, _term("lastName"), f'"{name}.last"'
        yield person, _term("emailAddress"), f'"{name}@{domain}"'
        yield person, _term("telephone"), '"xxx-xxx-xxxx"'
        for taste in self._random.sample([*_SPORTS, *_MUSIC], self._draw(PROFILE.tastes)):
            yield person, _term(self._random.choice(_TASTES)), _term(taste)

    def _faculty_member(self, person: str, here: str, courses: list[str]) -> Iterator[Triple]:
        yield person, _term(self._random.choice(["worksFor", "worksFor", "isMemberOf"])), here
        for degree in ("hasUndergraduateDegreeFrom", "hasMasterDegreeFrom", "hasDoctoralDegreeFrom"):
            yield person, _term(degree), self._some_university()
        for _ in range(self._draw(PROFILE.courses_taught)):
            course = _inside(here, "Course", len(courses))
            courses.append(course)
            yield person, _term("teacherOf"), course

    def _students(
        self, here: str, domain: str, faculty: int, courses: Sequence[str], professors: Sequence[str]
    ) -> Generator[Triple, None, list[str]]:
        """Gives the graduates, who publish."""
        graduates = []
        for kind, within in (
            ("UndergraduateStudent", PROFILE.undergraduates_per_faculty),
            ("GraduateStudent", PROFILE.graduates_per_faculty),
        ):
            for each in range(self._draw(within, times=faculty)):
                student = _inside(here, kind, each)
                yield from self._person(student, domain, kind)
                yield student, _term("enrollIn"), here
                majors = _MAJORS[self._random.choice(list(_MAJORS))]
                yield student, _term("hasMajor"), _term(self._random.choice(majors))
                for course in self._random.sample(courses, self._draw(PROFILE.courses_taken)):
                    yield student, _term("takesCourse"), course
                if kind == "GraduateStudent":
                    graduates.append(student)
                    yield student, _term("isAdvisedBy"), self._random.choice(professors)
                    yield student, _term("hasUndergraduateDegreeFrom"), self._some_university()
                    if self._one_in(3):
                        yield student, TYPE, _term("ResearchAssistant")
                    elif self._one_in(3):
                        yield student, _term("teachingAssistantOf"), self._random.choice(courses)
        return graduates

    def _publication(self, publication: str, authors: Sequence[str]) -> Iterator[Triple]:
        yield publication, TYPE, _term(self._random.choice(_PUBLICATIONS))
        for author in self._random.sample(authors, self._draw(PROFILE.authors)):
            yield publication, _term("publicationAuthor"), author

    def _acquaintances(self) -> Iterator[Triple]:
        for person in self._people:
            for friend in self._random.sample(self._people, self._draw(PROFILE.friends)):
                if friend != person:
                    yield person, _term("isFriendOf"), friend

    def _towns(self) -> Iterator[Triple]:
        """Everybody of a town is connected to somebody named before; some towns have one connection more."""
        left = self._random.sample(self._people, len(self._people) // PROFILE.people_per_townsman)
        while len(left) > 1:
            size = min(self._draw(PROFILE.town), len(left))
            town, left = left[:size], left[size:]
            for place in range(1, size):
                yield town[place], _term("hasSameHomeTownWith"), self._random.choice(town[:place])
            if size > 2 and self._one_in(PROFILE.towns_with_a_cycle):
                yield town[0], _term("hasSameHomeTownWith"), town[-1]

    # ------------------------------------------------------------------------------------ drawing

    def _draw(self, within: Range, times: int = 1) -> int:
        least, most = within
        return self._random.randint(least * times, most * times)

    def _one_in(self, times: int) -> bool:
        return self._random.randrange(times) == 0

    def _some_university(self) -> str:
        return f"<http://www.University{self._random.randrange(PROFILE.universities_known)}.edu>"


def _inside(organisation: str, kind: str, number: int) -> str:
    return f"{organisation[:-1]}/{kind}{number}>"


def _term(name: str) -> str:
    return f"<{VOCABULARY}{name}>"


def uobm_universities(spark: SparkSession, count: int, seed: int = 0) -> DataFrame:
    """The triples of `count` universities: string columns `a0`, `a1`, `a2` of N-Triples terms."""
    return generated(spark, uobm_university_triples, "universities", count, seed)


def write_uobm_universities(spark: SparkSession, count: int, folder: Path, seed: int = 0) -> None:
    """The same as N-Triples files in a folder that does not exist yet."""
    write_ntriples(uobm_universities(spark, count, seed), folder, "uobm")

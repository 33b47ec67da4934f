"""Random programs and facts that use the whole rule language.

Every predicate has a level: positive atoms of a body come from the head's level or below, negated ones from below, so that
programs are stratified and recursion runs through several predicates. Where negation tells atoms of one predicate apart,
as in `p(1, ?x) :- …, not p("a", ?x)`, the *shapes* of atoms have the levels.

Hypothesis draws a seed and a generator of its own writes the program: dense ones, thousands of them in seconds. A failing
case is made small by `smallest`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import TypeVar

from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from everlog.datalog.printer import print_atom, print_program
from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import (
    TRIPLE,
    Atom,
    BodyLiteral,
    Comparison,
    Constant,
    Negation,
    Operator,
    Program,
    Rule,
    Term,
    Variable,
)
from everlog.datalog.values import RDF_TYPE, XSD, Value
from oracles import naive
from oracles.naive import Facts

P, Q, C, D = (NamedNode(f"http://example.org/{name}") for name in "pqCD")
BYTE, HALVES, YES, NEW_YEAR, SAME_DAY = (
    Literal(text, datatype=NamedNode(XSD + name))
    for text, name in [
        ("1", "byte"),
        ("2.50", "decimal"),
        ("1", "boolean"),
        ("2024-01-01", "date"),
        ("2024-01-01Z", "date"),
    ]
)
VALUES: list[Value] = ["a", 1, 1.0, True, "b", 2, P, C, RDF_TYPE, 2.5, BYTE, HALVES, YES, NEW_YEAR, SAME_DAY]
VARIABLES = [Variable(name) for name in "xyzw"]
LOCAL = [Variable(name) for name in "lmn"]
OPERATORS: list[Operator] = ["=", "!=", "<", "<=", ">", ">="]

T = TypeVar("T")


@dataclass(frozen=True)
class Shape:
    """A predicate with constants at some places and anything at the others (None)."""

    predicate: str
    places: tuple[Constant | None, ...]


def shape(predicate: str, *places: Value | None) -> Shape:
    return Shape(predicate, tuple(None if place is None else Constant(place) for place in places))


_PROPERTIES = shape(TRIPLE, None, P, None), shape(TRIPLE, None, Q, None)
_CLASSES = shape(TRIPLE, None, RDF_TYPE, C), shape(TRIPLE, None, RDF_TYPE, D)
_ANY_CLASS = shape(TRIPLE, None, RDF_TYPE, None)
_ANY_TRIPLE = shape(TRIPLE, None, None, None)
_FEW = shape("few", 1, None), shape("few", "a", None)

# For each family of shapes, the ways to group them: what can share an instance shares a level.
_FAMILIES: list[list[list[tuple[Shape, ...]]]] = [
    *([[(shape(name, *[None] * arity),)]] for name, arity in {"on": 0, "u": 1, "v": 1, "e": 2, "f": 2, "t": 3}.items()),
    [[(*_FEW, shape("few", None, None))], [(one,) for one in _FEW]],
    [
        [(*_PROPERTIES, *_CLASSES, _ANY_CLASS, _ANY_TRIPLE)],
        [*((one,) for one in _PROPERTIES), (*_CLASSES, _ANY_CLASS)],
        [(one,) for one in (*_PROPERTIES, *_CLASSES)],
    ],
]


@dataclass(frozen=True)
class Vocabulary:
    """What a program is made of: a few shapes with their levels, and a few values."""

    levels: dict[Shape, int]
    values: list[Value]

    def atoms(self) -> list[Atom]:
        """All facts that there could be."""
        constants = [Constant(value) for value in self.values]
        found = (
            Atom(one.predicate, terms)
            for one in self.levels
            for terms in product(*(constants if place is None else [place] for place in one.places))
        )
        return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Case:
    """A program, with facts that are not part of it."""

    program: Program
    facts: tuple[Atom, ...]

    @property
    def explicit(self) -> Facts:
        return naive.facts([*self.program.facts, *self.facts])

    def __repr__(self) -> str:
        return f"{print_program(self.program)}with {', '.join(map(print_atom, self.facts))}"


def seeded(make: Callable[[Writer], T]) -> st.SearchStrategy[T]:
    """What a generator makes of any seed."""
    return st.integers(0, 2**40).map(lambda seed: make(Writer(Random(seed))))


def cases(rules: int = 8) -> st.SearchStrategy[Case]:
    """A program with stratified negation, and facts for it."""
    return seeded(lambda writer: writer.case(rules))


def smallest(case: Case, fails: Callable[[Case], bool]) -> Case:
    """A failing case without the rules and facts that do not matter."""
    for name in ("rules", "facts"):
        for one in getattr(case.program, name):
            kept = tuple(other for other in getattr(case.program, name) if other != one)
            fewer = replace(case, program=replace(case.program, **{name: kept}))
            case = fewer if fails(fewer) else case
    for fact in case.facts:
        fewer = replace(case, facts=tuple(other for other in case.facts if other != fact))
        case = fewer if fails(fewer) else case
    return case


class Writer:
    """Writes atoms, rules and programs over a vocabulary."""

    def __init__(self, random: Random) -> None:
        self.random = random
        levels: dict[Shape, int] = {}
        for family in random.sample(_FAMILIES, random.randint(2, 4)):
            for group in random.choice(family):
                levels.update(dict.fromkeys(group, random.randrange(3)))
        self.vocabulary = Vocabulary(levels, random.sample(VALUES, random.randint(3, 5)))
        self.shapes = list(levels)

    def one_in(self, times: int) -> bool:
        return self.random.randrange(times) == 0

    def facts(self, density: float | None = None) -> tuple[Atom, ...]:
        density = self.random.choice([0.1, 0.2, 0.4]) if density is None else density
        return tuple(atom for atom in self.vocabulary.atoms() if self.random.random() < density)

    def case(self, rules: int) -> Case:
        written = [self.rule() for _ in range(self.random.randint(1, rules))]
        distinct = {canonical_rule(rule): rule for rule in written if rule.body}
        return Case(Program(tuple(distinct.values()), self.facts(0.02)), self.facts())

    def rule(self) -> Rule:
        """A rule that keeps to the levels."""
        levels, head = self.vocabulary.levels, self.random.choice(self.shapes)
        below = [one for one in self.shapes if levels[one] < levels[head]]
        within = [one for one in self.shapes if levels[one] <= levels[head]]
        positive = [(one, self.atom(one, VARIABLES)) for one in self.body(within)]
        body: list[BodyLiteral] = [atom for _, atom in positive]
        bound = variables(atom for _, atom in positive)
        # Only these may be compared inside a NOT EXISTS without being bound there: the others depend on the head.
        lower = variables(atom for one, atom in positive if one in below)
        if self.one_in(6):
            fresh = self.random.choice(VARIABLES)
            body.append(Comparison("=", fresh, self.term([one for one in bound if one != fresh])))
            bound = list(dict.fromkeys([*bound, fresh]))
        if bound and self.one_in(4):
            body.append(self.comparison(OPERATORS, bound))
        for _ in range(self.random.choice([0, 0, 1, 1, 2]) if below else 0):
            body.append(self.negation(below, bound, lower))
        self.random.shuffle(body)
        return Rule(self.atom(head, bound), tuple(body))

    def plain_rule(self) -> Rule:
        """A rule that need not be stratified, without equalities, whose negations are single atoms."""
        positive = [self.atom(one, VARIABLES) for one in self.body(self.shapes)]
        bound = variables(positive)
        body: list[BodyLiteral] = [*positive]
        for _ in range(self.random.choice([0, 1, 1, 2])):
            body.append(Negation((self.atom(self.random.choice(self.shapes), bound),)))
        if bound and self.one_in(4):
            body.append(self.comparison(OPERATORS[1:], bound))
        self.random.shuffle(body)
        return Rule(self.atom(self.random.choice(self.shapes), bound), tuple(dict.fromkeys(body)))

    def body(self, shapes: list[Shape]) -> list[Shape]:
        """Up to three shapes; an empty body is rare, and so are wide atoms, which make oracles slow."""
        chosen = self.random.choices(shapes, k=self.random.choice([1, 2, 2, 3, 3, 3, 0]))
        wide = [one for one in chosen if one.places.count(None) > 2]
        return chosen if len(chosen) < 3 else [one for one in chosen if one not in wide] + wide[:1]

    def negation(self, below: list[Shape], bound: list[Variable], lower: list[Variable]) -> Negation:
        if self.one_in(2):
            return Negation((self.atom(self.random.choice(below), bound),))
        inner = [self.atom(one, [*LOCAL, *bound]) for one in self.random.choices(below, k=self.random.randint(1, 2))]
        inside = variables(inner)
        local = tuple(variable for variable in inside if variable in LOCAL)
        comparable = list(dict.fromkeys([*inside, *lower]))
        compared = (self.comparison(OPERATORS, comparable),) if comparable and self.one_in(2) else ()
        return Negation(tuple(dict.fromkeys(inner)), local, compared)

    def atom(self, one: Shape, among: list[Variable]) -> Atom:
        return Atom(one.predicate, tuple(self.term(among) if place is None else place for place in one.places))

    def term(self, among: list[Variable]) -> Term:
        if among and not self.one_in(7):
            return self.random.choice(among)
        return Constant(self.random.choice(self.vocabulary.values))

    def comparison(self, operators: list[Operator], among: list[Variable]) -> Comparison:
        left = self.random.choice(among)
        return Comparison(self.random.choice(operators), left, self.term([one for one in among if one != left]))


def variables(atoms: Iterable[Atom]) -> list[Variable]:
    return list(dict.fromkeys(variable for atom in atoms for variable in atom.variables()))

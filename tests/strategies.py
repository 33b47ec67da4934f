"""Random programs and facts that use the whole rule language.

Every predicate has a level: positive atoms of a body come from the head's level or below, negated ones from below, so that
programs are stratified and recursion runs through several predicates. Where negation tells atoms of one predicate apart,
as in `p(1, ?x) :- …, not p("a", ?x)`, the *shapes* of atoms have the levels.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from pyoxigraph import NamedNode

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
from everlog.datalog.values import RDF_TYPE, Value, identity

P, Q, C, D = (NamedNode(f"http://example.org/{name}") for name in "pqCD")
VALUES: list[Value] = ["a", 1, 1.0, True, "b", 2, P, C, RDF_TYPE, 2.5]
VARIABLES = [Variable(name) for name in "xyzw"]
LOCAL = [Variable(name) for name in "lmn"]
OPERATORS: list[Operator] = ["=", "!=", "<", "<=", ">", ">="]


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


@dataclass(frozen=True)
class Case:
    """A program, with facts that are not part of it."""

    program: Program
    facts: list[Atom]

    @property
    def explicit(self) -> frozenset[Atom]:
        return frozenset({*self.program.facts, *self.facts})


@st.composite
def vocabularies(draw: st.DrawFn) -> Vocabulary:
    levels: dict[Shape, int] = {}
    for family in draw(st.lists(st.sampled_from(_FAMILIES), min_size=2, max_size=4, unique_by=id)):
        for group in draw(st.sampled_from(family)):
            level = draw(st.integers(0, 2))
            levels.update(dict.fromkeys(group, level))
    return Vocabulary(levels, draw(st.lists(st.sampled_from(VALUES), min_size=4, max_size=7, unique_by=identity)))


@st.composite
def facts(draw: st.DrawFn, vocabulary: Vocabulary, least: int = 0, most: int = 40) -> list[Atom]:
    """Distinct facts."""
    shapes, values = st.sampled_from(list(vocabulary.levels)), st.sampled_from(vocabulary.values)
    chosen = draw(st.lists(shapes, min_size=least, max_size=most))
    return list(
        dict.fromkeys(
            Atom(one.predicate, tuple(Constant(draw(values)) if place is None else place for place in one.places))
            for one in chosen
        )
    )


@st.composite
def cases(draw: st.DrawFn, rules: int = 8) -> Case:
    """A program with stratified negation, and facts for it."""
    vocabulary = draw(vocabularies())
    number = draw(st.integers(rules // 3, rules))
    written = [_rule(draw, vocabulary) for _ in range(number)]
    distinct = {canonical_rule(rule): rule for rule in written if rule.body}
    program = Program(tuple(distinct.values()), tuple(draw(facts(vocabulary, most=3))))
    return Case(program, draw(facts(vocabulary, least=20, most=50)))


@st.composite
def plain_rules(draw: st.DrawFn, vocabulary: Vocabulary) -> Rule:
    """A rule whose negations are single atoms and that has no equalities; it need not be stratified."""
    writer = _Writer(draw, vocabulary.values)
    shapes = st.sampled_from(list(vocabulary.levels))
    positive = [writer.atom(one, VARIABLES) for one in draw(_some(list(vocabulary.levels)))]
    bound = _variables(positive)
    body: list[BodyLiteral] = [*positive]
    body += [Negation((writer.atom(one, bound),)) for one in draw(st.lists(shapes, max_size=2))]
    if bound and draw(st.integers(0, 3)) == 0:
        body.append(writer.comparison(OPERATORS[1:], bound))
    return Rule(writer.atom(draw(shapes), bound), tuple(dict.fromkeys(draw(st.permutations(body)))))


def _rule(draw: st.DrawFn, vocabulary: Vocabulary) -> Rule:
    levels, writer = vocabulary.levels, _Writer(draw, vocabulary.values)
    head = draw(st.sampled_from(list(levels)))
    below = [one for one in levels if levels[one] < levels[head]]
    within = [one for one in levels if levels[one] <= levels[head]]
    positive = [(one, writer.atom(one, VARIABLES)) for one in draw(_some(within))]
    body: list[BodyLiteral] = [atom for _, atom in positive]
    bound = _variables([atom for _, atom in positive])
    # Only these may be compared inside a NOT EXISTS without being bound there: the others depend on the head.
    lower = _variables([atom for one, atom in positive if one in below])
    if draw(st.integers(0, 5)) == 0:
        fresh = draw(st.sampled_from(VARIABLES))
        body.append(Comparison("=", fresh, writer.term([one for one in bound if one != fresh])))
        bound = list(dict.fromkeys([*bound, fresh]))
    if bound and draw(st.integers(0, 3)) == 0:
        body.append(writer.comparison(OPERATORS, bound))
    if below:
        body += [_negation(writer, below, bound, lower) for _ in range(draw(st.sampled_from([0, 1, 0, 1, 2])))]
    return Rule(writer.atom(head, bound), tuple(draw(st.permutations(body))))


def _some(shapes: list[Shape]) -> st.SearchStrategy[list[Shape]]:
    """Shapes for a positive body; an empty one is rare."""
    return st.sampled_from([1, 2, 2, 3, 3, 0]).flatmap(
        lambda number: st.lists(st.sampled_from(shapes), min_size=number, max_size=number)
    )


def _negation(writer: _Writer, below: list[Shape], bound: list[Variable], lower: list[Variable]) -> Negation:
    draw, shapes = writer.draw, st.sampled_from(below)
    if draw(st.booleans()):
        return Negation((writer.atom(draw(shapes), bound),))
    inner = [writer.atom(one, [*LOCAL, *bound]) for one in draw(st.lists(shapes, min_size=1, max_size=2))]
    inside = _variables(inner)
    local = tuple(variable for variable in inside if variable in LOCAL)
    comparable = list(dict.fromkeys([*inside, *lower]))
    compared = (writer.comparison(OPERATORS, comparable),) if comparable and draw(st.booleans()) else ()
    return Negation(tuple(dict.fromkeys(inner)), local, compared)


@dataclass(frozen=True)
class _Writer:
    """Fills shapes with variables and constants."""

    draw: st.DrawFn
    values: list[Value]

    def atom(self, one: Shape, variables: list[Variable]) -> Atom:
        return Atom(one.predicate, tuple(self.term(variables) if place is None else place for place in one.places))

    def term(self, variables: list[Variable]) -> Term:
        if variables and self.draw(st.integers(0, 5)):
            return self.draw(st.sampled_from(variables))
        return Constant(self.draw(st.sampled_from(self.values)))

    def comparison(self, operators: list[Operator], variables: list[Variable]) -> Comparison:
        left = self.draw(st.sampled_from(variables))
        right = self.term([variable for variable in variables if variable != left])
        return Comparison(self.draw(st.sampled_from(operators)), left, right)


def _variables(atoms: list[Atom]) -> list[Variable]:
    return list(dict.fromkeys(variable for atom in atoms for variable in atom.variables()))

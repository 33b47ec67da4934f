"""Equality by definition: a congruence over all facts, for the naive evaluator and for clingo.

The program is written with a predicate `eq` for owl:sameAs, reflexive, symmetric and transitive, and one rule for each
place of each predicate. `!=` is `not eq`. Of `eq`, only pairs of different names are facts that anybody sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from everlog.datalog.syntax import TRIPLE, Atom, BodyLiteral, Comparison, Constant, Negation, Program, Rule, Variable
from everlog.datalog.values import SAME_AS
from everlog.planning.equality_rules import with_same_as
from oracles import naive
from oracles.naive import Fact, Facts

_EQ = "eq"
_SAME = naive.key(SAME_AS)


def materialise(
    program: Program, explicit: Facts, evaluate: Callable[[Sequence[Rule], Facts], Facts] = naive.materialise
) -> Facts:
    """Everything that follows, without `c ≈ c` that is not explicit."""
    rules = [_rule(rule) for rule in with_same_as(program).rules]
    given = frozenset(map(_from_triple, explicit))
    arities = {name: len(arguments) for name, arguments in given}
    for rule in rules:
        for atom in (rule.head, *rule.positive, *(atom for one in rule.negative for atom in one.atoms)):
            arities[atom.predicate] = len(atom.terms)
    found = evaluate([*rules, *_axioms({**arities, _EQ: 2})], given)
    seen = (one for one in found if one[0] != _EQ or one[1][0] != one[1][1] or one in given)
    return frozenset(map(_to_triple, seen))


def _axioms(arities: dict[str, int]) -> Iterator[Rule]:
    x, y, z = Variable("x"), Variable("y"), Variable("z")
    yield Rule(Atom(_EQ, (y, x)), (Atom(_EQ, (x, y)),))
    yield Rule(Atom(_EQ, (x, z)), (Atom(_EQ, (x, y)), Atom(_EQ, (y, z))))
    for name, arity in arities.items():
        terms = [Variable(f"v{place}") for place in range(arity)]
        for place in range(arity):
            yield Rule(Atom(_EQ, (terms[place], terms[place])), (Atom(name, tuple(terms)),))
            if name != _EQ:
                changed = tuple(y if other == place else one for other, one in enumerate(terms))
                yield Rule(Atom(name, changed), (Atom(name, tuple(terms)), Atom(_EQ, (terms[place], y))))


def _rule(rule: Rule) -> Rule:
    return Rule(_atom(rule.head), tuple(_literals(rule.head, rule.body)))


def _literals(head: Atom, body: Iterable[BodyLiteral]) -> Iterator[BodyLiteral]:
    for literal in body:
        if isinstance(literal, Atom):
            yield _atom(literal)
        elif isinstance(literal, Negation):
            yield Negation(tuple(map(_atom, literal.atoms)), literal.local, literal.tests)
        elif isinstance(literal, Comparison) and literal.operator == "!=":
            if _atom(head).predicate != _EQ:
                yield Negation((Atom(_EQ, (literal.left, literal.right)),))
        else:
            yield literal


def _atom(atom: Atom) -> Atom:
    if atom.predicate == TRIPLE and atom.terms[1] == Constant(SAME_AS):
        return Atom(_EQ, (atom.terms[0], atom.terms[2]))
    return atom


def _from_triple(fact: Fact) -> Fact:
    name, arguments = fact
    return (_EQ, (arguments[0], arguments[2])) if name == TRIPLE and arguments[1] == _SAME else fact


def _to_triple(fact: Fact) -> Fact:
    name, arguments = fact
    return (TRIPLE, (arguments[0], _SAME, arguments[1])) if name == _EQ else fact

"""Substitution and normal names respect the scopes of negations."""

from __future__ import annotations

import pytest

from everlog.datalog.substitution import canonical_rule, pattern, substitute_literal
from everlog.datalog.syntax import Atom, Comparison, Constant, Negation, Rule, Variable

x, y, z = (Variable(name) for name in "xyz")
a = Constant("a")


def test_a_local_variable_is_not_substituted() -> None:
    negation = Negation((Atom("p", (x, y)),), (y,), (Comparison("<", x, y),))
    expected = Negation((Atom("p", (a, y)),), (y,), (Comparison("<", a, y),))
    assert substitute_literal(negation, {x: a, y: a}) == expected


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ((x, y), (y, x), True),
        ((x, y), (x, x), False),
        ((x, a), (y, a), True),
        ((x, a), (x, y), False),
        ((Constant(1),), (Constant(1.0),), False),
    ],
)
def test_patterns(one: tuple[Variable, ...], other: tuple[Variable, ...], same: bool) -> None:
    assert (pattern(Atom("p", one)) == pattern(Atom("p", other))) == same


def test_a_variable_that_shadows_another_gets_a_name_of_its_own() -> None:
    def rule(inner: Variable) -> Rule:
        return Rule(Atom("p", (x,)), (Atom("q", (x,)), Negation((Atom("r", (inner,)),), (inner,)), Atom("s", (x,))))

    assert canonical_rule(rule(x)) == canonical_rule(rule(y)) == canonical_rule(rule(z))
    shared = Rule(Atom("p", (x,)), (Atom("q", (x,)), Negation((Atom("r", (x,)),)), Atom("s", (x,))))
    assert canonical_rule(rule(x)) != canonical_rule(shared)

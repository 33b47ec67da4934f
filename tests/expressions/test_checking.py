"""What is said of an expression that cannot be."""

from __future__ import annotations

import re

import pytest

from everlog.datalog.syntax import Constant, Expression, Variable
from everlog.datalog.values import XSD
from everlog.errors import EverlogError
from everlog.expressions.functions import check_expression
from support.expression_values import call

X = Variable("x")

REFUSED: list[tuple[Expression, str]] = [
    (call("CONCTA", X), "there is no function CONCTA; did you mean CONCAT?"),
    (call("XYZZY", X), "there is no function XYZZY"),
    (
        call(XSD + "intger", X),
        "there is no function <http://www.w3.org/2001/XMLSchema#intger>; "
        "did you mean <http://www.w3.org/2001/XMLSchema#integer>?",
    ),
    (call("+", 1, call("STRLEN")), "STRLEN takes 1 argument, not 0"),
    (call("*", X), "* takes 2 arguments, not 1"),
    (call("SUBSTR", X), "SUBSTR takes 2 or 3 arguments, not 1"),
    (call("COALESCE"), "COALESCE takes at least 1 argument, not 0"),
    (
        call("NOW"),
        "NOW is not the same whenever it is asked, and what rules derive depends on facts alone: give the value as a fact",
    ),
    (
        call("UUID"),
        "UUID is not the same whenever it is asked, and what rules derive depends on facts alone: "
        'write SKOLEM("name", ?x, …), an IRI that its arguments determine',
    ),
    (call("!", call("BOUND", X)), "BOUND says nothing in a rule, where every variable is bound: leave it out"),
    (
        call("EXISTS"),
        "EXISTS is no part of an expression: write the atoms, or NOT EXISTS, in the body of the rule",
    ),
    (call("SKOLEM", X), 'the first argument of SKOLEM is a name, a string in quotes: SKOLEM("name", ?x, …)'),
]


@pytest.mark.parametrize(("expression", "message"), REFUSED, ids=[message[:30] for _, message in REFUSED])
def test_an_expression_is_refused_with_the_reason(expression: Expression, message: str) -> None:
    with pytest.raises(EverlogError, match=f"^{re.escape(message)}$"):
        check_expression(expression)


@pytest.mark.parametrize("name", ["NOW", "RAND", "UUID", "STRUUID", "BNODE"])
def test_what_depends_on_more_than_its_arguments_is_refused(name: str) -> None:
    with pytest.raises(EverlogError, match=f"^{name} is not the same whenever it is asked"):
        check_expression(call(name))


@pytest.mark.parametrize(
    "expression", [X, Constant(1), call("-", X), call("-", X, 1), call("IN", X), call("SKOLEM", "name", X, 1)]
)
def test_an_expression_that_can_be_computed_is_accepted(expression: Expression) -> None:
    check_expression(expression)

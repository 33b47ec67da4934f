"""IRIs that their arguments determine."""

from __future__ import annotations

from pyoxigraph import NamedNode

from everlog.datalog.syntax import Variable
from everlog.expressions.columns import column_of
from everlog.expressions.evaluation import evaluate
from everlog.expressions.skolem import skolem
from support.expression_values import VALUES, call


def test_the_same_arguments_are_the_same_iri_forever() -> None:
    assert skolem(["employment", 1, "a"]) == NamedNode(
        "everlog:skolem/employment/28c888570962eb30d8ef341222b68594895af9cf"
    )
    assert skolem(["a b/c"]) == NamedNode("everlog:skolem/a%20b%2Fc/dbf8341a1f77c46bce6781fac9adaa4c55221393")
    assert skolem([1]) == NamedNode("everlog:skolem/016873237948db8ac52a006c8022296dabcc85ea")


def test_different_arguments_are_different_iris() -> None:
    arguments = [
        *([value] for value in VALUES),
        *(["a", value] for value in VALUES),
        ["a", "b\n", "c"],
        ["a", "b", "\nc"],
    ]
    assert len({skolem(one) for one in arguments}) == len(arguments)


def test_in_an_expression_all_arguments_count() -> None:
    x = Variable("x")
    found = evaluate(call("SKOLEM", "n", x, 1), {x: column_of([1, "1", None])}, 3).values()
    assert found == [skolem(["n", 1, 1]), skolem(["n", "1", 1]), None]

"""Whole columns and single values compute the same, and columns are what they were made of."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from everlog.datalog.syntax import Call, Constant, Expression, Variable
from everlog.datalog.values import Value, identity
from everlog.expressions.columns import Booleans, Column, Doubles, Integers, Strings, Terms, column_of, terms_of
from everlog.expressions.evaluation import evaluate, holds
from support.expression_values import BOOLEANS, DOUBLES, INTEGERS, NAMES, STRINGS, TAGGED, call

X, Y = Variable("x"), Variable("y")
KINDS: dict[str, list[Value | None]] = {
    "integers": [*INTEGERS, None, 3, -(2**62), 2**62],
    "doubles": [*DOUBLES, None, 0.49999999999999994],
    "booleans": [*BOOLEANS, None],
    "strings": [*STRINGS[2:], "ABC", None, "\U0001f600x", "a", ""],
    "mixed": [1, "a", None, *TAGGED, *NAMES],
}
OF_ONE = ["+", "-", "!", "ABS", "CEIL", "FLOOR", "ROUND", "STRLEN", "UCASE", "LCASE", "STR", "CONCAT"]
OF_TWO = [
    *("+", "-", "*", "/", "=", "!=", "<", "<=", ">", ">=", "&&", "||", "IN", "COALESCE"),
    *("CONCAT", "CONTAINS", "STRSTARTS", "STRENDS", "SUBSTR"),
]


def keys(column: Column) -> list[object]:
    return [None if value is None else identity(value) for value in column.values()]


def results(expression: Expression, x: Column, y: Column) -> list[object]:
    return keys(evaluate(expression, {X: x, Y: y}, max(x.length, y.length)))


@pytest.mark.parametrize("function", OF_ONE)
def test_functions_of_one_column(function: str) -> None:
    for values in KINDS.values():
        typed, single = column_of(values), terms_of(values)
        assert results(Call(function, (X,)), typed, typed) == results(Call(function, (X,)), single, single)


@pytest.mark.parametrize("function", OF_TWO)
def test_functions_of_two_columns(function: str) -> None:
    for left, right in product(KINDS.values(), repeat=2):
        pairs = list(product(left, right))
        ones, others = [one for one, _ in pairs], [other for _, other in pairs]
        expected = results(Call(function, (X, Y)), terms_of(ones), terms_of(others))
        assert results(Call(function, (X, Y)), column_of(ones), column_of(others)) == expected
        assert results(Call(function, (X, Y)), column_of(ones), terms_of(others)) == expected


@pytest.mark.parametrize("function", OF_TWO)
def test_constants_stand_for_columns_of_copies(function: str) -> None:
    for left, right in product(KINDS.values(), repeat=2):
        rows = column_of(left)
        for value in right[-5:]:
            copies = column_of([value] * len(left))
            constant = Variable("unbound") if value is None else value
            assert results(call(function, X, constant), rows, rows) == results(call(function, X, Y), rows, copies)
            assert results(call(function, constant, X), rows, rows) == results(call(function, Y, X), rows, copies)


def test_three_columns_in_one() -> None:
    for condition, yes, no in product(KINDS.values(), repeat=3):
        rows = list(product(condition[:9], yes[-5:], no[-5:]))
        typed, single = (
            {Variable(name): make([row[place] for row in rows]) for place, name in enumerate("abc")}
            for make in (column_of, terms_of)
        )
        chosen = call("IF", *map(Variable, "abc"))
        assert keys(evaluate(chosen, typed, len(rows))) == keys(evaluate(chosen, single, len(rows)))


@pytest.mark.parametrize("length", [0, 1, 3])
def test_an_expression_without_variables_has_as_many_rows_as_asked_for(length: int) -> None:
    assert evaluate(call("+", 1, 2), {}, length).values() == [3] * length
    assert evaluate(call("CONCAT", "a", "b"), {}, length).values() == ["ab"] * length
    assert evaluate(call("/", 1, 0), {}, length).values() == [None] * length


@pytest.mark.parametrize("values", [[1], [1.5], [True], ["a"], NAMES])
def test_no_rows_are_no_results(values: list[Value]) -> None:
    nothing = column_of(values).take(np.zeros(0, dtype=np.intp))
    for function in OF_TWO:
        for other in (1, "a", X):
            assert evaluate(call(function, X, other), {X: nothing}, 0).values() == []
    assert evaluate(call("IF", True, X, 1), {X: nothing}, 0).values() == []
    assert len(holds(nothing)) == 0


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None, 2**63 - 1], Integers),
        ([1.5, None, math.nan, -0.0], Doubles),
        ([True, None, False], Booleans),
        (["a", None, ""], Strings),
        ([1, 1.0, True, "1", None, *NAMES, *TAGGED], Terms),
        ([None, None], Terms),
    ],
)
def test_a_column_has_the_most_specific_kind_and_its_values(values: list[Value | None], kind: type[Column]) -> None:
    column = column_of(values)
    expected = [None if value is None else identity(value) for value in values]
    assert isinstance(column, kind)
    assert column.length == len(values)
    assert keys(column) == expected
    assert column.missing is not None and column.missing.tolist() == [value is None for value in values]
    places = np.array([0, 1, 1, 0, *range(len(values))], dtype=np.intp)
    taken = column.take(places)
    assert keys(taken) == [expected[place] for place in places]
    found = taken.distinct()
    assert [found.values[place] is None for place in found.places] == [expected[place] is None for place in places]
    assert len(found.values) == len(set(expected))


def test_a_value_is_computed_once_for_equal_arguments() -> None:
    column = column_of(["a", "b"]).take(np.array([0, 1] * 500, dtype=np.intp))
    assert evaluate(call("MD5", X), {X: column}, 1000).distinct().values == [
        "0cc175b9c0f1b6a831c399e269772661",
        "92eb5ffee6ae2fec3ad71c777531578f",
    ]


def test_combinations_of_many_distinct_values_are_told_apart() -> None:
    """Those of nine columns of 256 values each are more than 64 bits can number."""
    first, *others = variables = [Variable(f"v{place}") for place in range(9)]
    rows: list[Value] = [f"{row}." for row in range(256)]
    columns: dict[Variable, Column] = {first: terms_of([*rows, *rows[1:], rows[0]])}
    columns.update((one, terms_of([*rows, *rows])) for one in others)
    expected = [f"{one}{other * 8}" for one, other in zip(columns[first].values(), [*rows, *rows], strict=True)]
    assert evaluate(call("CONCAT", *variables), columns, 512).values() == expected


def test_what_is_there_for_all_rows_after_something_was_missing_is_there() -> None:
    first = call("COALESCE", X, Constant(1))
    assert evaluate(call("+", first, Constant(1)), {}, 2).values() == [2, 2]


def test_a_condition_holds_where_it_is_true() -> None:
    assert holds(column_of([1, 0, None])).tolist() == [True, False, False]
    assert holds(column_of(["a", "", None])).tolist() == [True, False, False]
    assert holds(column_of([True, NAMES[0], None])).tolist() == [True, False, False]

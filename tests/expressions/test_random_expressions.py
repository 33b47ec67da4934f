"""Random expressions over random values compute what pyoxigraph does.

The values are such that pyoxigraph and we agree on every function that occurs; `test_against_pyoxigraph.py` has the others.
"""

from __future__ import annotations

from random import Random

import pytest

from everlog.datalog.syntax import Expression, Variable
from everlog.datalog.values import Value, identity
from everlog.expressions.columns import column_of
from everlog.expressions.evaluation import evaluate
from oracles.sparql_oracle import pyoxigraph_values, sparql
from support.expression_values import DURATIONS, MOMENTS, NAMES, STRINGS, TAGGED, call, xsd

NUMBERS: list[Value] = [0, 1, -3, 7, 2**62, 2**63 - 1, -(2**63), 0.5, -0.0, 1e10, *map(float, range(5))]
DECIMALS = [xsd("decimal", text) for text in ("0", "2.5", "-7.5", "100.1")]
VARIABLES = {
    "n": [*NUMBERS, *DECIMALS, None],
    "i": [0, 1, 2, 3, -1, 2**63 - 1],
    "f": [0.5, 2.5, -0.0, 1e300],
    "t": [*STRINGS, *TAGGED, None],
    "s": [*STRINGS],
    "b": [True, False, None],
    "m": [*MOMENTS, None],
    "d": DURATIONS,
    "x": [*NUMBERS, *DECIMALS, *STRINGS, *TAGGED, *MOMENTS, *DURATIONS, None],
    "o": [*NAMES, True],
}


class Expressions:
    """Random expressions of a kind: numbers, texts, booleans, or moments."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def number(self, depth: int) -> Expression:
        if depth == 0:
            return self.random.choice(
                [Variable("n"), Variable("i"), Variable("f"), Variable("x"), *map(_constant, (2, 2.5))]
            )
        name = self.random.choice(
            ["+", "-", "-1", "*", "ABS", "CEIL", "FLOOR", "ROUND", "STRLEN", "YEAR", "IF", "COALESCE"]
        )
        if name == "*":
            return call("*", self.number(depth - 1), self.random.choice([2, 10, -3, 0.1]))
        if name in ("+", "-", "COALESCE"):
            return call(name, self.number(depth - 1), self.number(depth - 1))
        if name == "IF":
            return call("IF", self.truth(depth - 1), self.number(depth - 1), self.number(depth - 1))
        if name in ("STRLEN", "YEAR"):
            return call(name, self.text(depth - 1) if name == "STRLEN" else self.moment(depth - 1))
        return call(name.removesuffix("1"), self.number(depth - 1))

    def text(self, depth: int) -> Expression:
        if depth == 0:
            return self.random.choice([Variable("t"), Variable("s"), Variable("x"), *map(_constant, ("", "a", "bc"))])
        name = self.random.choice(
            ["CONCAT", "UCASE", "LCASE", "SUBSTR", "STRBEFORE", "STRAFTER", "ENCODE_FOR_URI", "IF", "LANG"]
        )
        if name == "SUBSTR":
            return call(name, self.text(depth - 1), self.random.choice([-1, 1, 2]), self.random.choice([0, 1, 5]))
        if name == "IF":
            return call("IF", self.truth(depth - 1), self.text(depth - 1), self.text(depth - 1))
        texts = 2 if name in ("CONCAT", "STRBEFORE", "STRAFTER") else 1
        return call(name, *(self.text(depth - 1) for _ in range(texts)))

    def truth(self, depth: int) -> Expression:
        if depth == 0:
            return self.random.choice([Variable("b"), _constant(True), _constant(False)])
        name = self.random.choice(
            ["=", "!=", "<", ">=", "&&", "||", "!", "IN", "CONTAINS", "STRENDS", "ISNUMERIC", "ISLITERAL"]
        )
        if name in ("&&", "||", "!"):
            return call(name, *(self.truth(depth - 1) for _ in range(1 if name == "!" else 2)))
        if name in ("CONTAINS", "STRENDS"):
            return call(name, self.text(depth - 1), self.text(depth - 1))
        if name in ("ISNUMERIC", "ISLITERAL"):
            return call(name, self.any(depth - 1))
        if name in ("<", ">="):
            make = self.random.choice([self.number, self.text, self.moment])
            return call(name, make(depth - 1), make(depth - 1))
        return call(name, self.any(depth - 1), *(self.any(depth - 1) for _ in range(3 if name == "IN" else 1)))

    def moment(self, depth: int) -> Expression:
        if depth == 0:
            return Variable("m")
        sign = self.random.choice("+-") if depth == 1 else "-"  # pyoxigraph turns sums of sums around
        return call(sign, self.moment(depth - 1), Variable(self.random.choice("ddm")))

    def any(self, depth: int) -> Expression:
        make = self.random.choice([self.number, self.text, self.truth, self.moment, None])
        return Variable("o") if make is None else make(depth)


def _constant(value: Value) -> Expression:
    return call("x", value).arguments[0]


@pytest.mark.parametrize("seed", range(6))
def test_random_expressions(seed: int) -> None:
    random, expressions = Random(seed), Expressions(seed)
    made = [expressions.any(random.choice([1, 2, 2, 3])) for _ in range(60)]
    rows = [[random.choice(values) for values in VARIABLES.values()] for _ in range(80)]
    variables = [Variable(name) for name in VARIABLES]
    columns = {one: column_of([row[place] for row in rows]) for place, one in enumerate(variables)}
    for expression, expected in zip(made, pyoxigraph_values(made, variables, rows), strict=True):
        ours = evaluate(expression, columns, len(rows)).values()
        for row, one, other in zip(rows, ours, expected, strict=True):
            assert (one is None) == (other is None) and (one is None or identity(one) == identity(other)), (
                f"{sparql(expression)} of {dict(zip(VARIABLES, row, strict=True))} is {one} and not {other}"
            )

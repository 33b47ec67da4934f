"""Every function of one value and of two computes what pyoxigraph does, but for what is listed here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import product

import numpy as np
from pyoxigraph import Literal

from everlog.datalog.ntriples import write_term
from everlog.datalog.syntax import Call, Variable
from everlog.datalog.values import XSD, Value, identity
from everlog.expressions.columns import column_of
from everlog.expressions.evaluation import evaluate
from everlog.expressions.numbers import number
from oracles.sparql_oracle import pyoxigraph_values
from support.expression_values import DECIMALS, DOUBLES, INTEGERS, NAMES, OTHERS, REWRITTEN, STRINGS, TAGGED, VALUES

X, Y = Variable("x"), Variable("y")
CASTS = [
    *(XSD + name for name in ("integer", "decimal", "float", "double", "boolean", "string")),
    *(XSD + name for name in ("dateTime", "date", "time", "duration", "yearMonthDuration", "dayTimeDuration")),
]
OF_ONE = [
    *("+", "-", "!", "ABS", "CEIL", "FLOOR", "ROUND", "COALESCE"),
    *("STRLEN", "UCASE", "LCASE", "ENCODE_FOR_URI", "MD5", "SHA1", "SHA256", "SHA384", "SHA512", "CONCAT"),
    *("STR", "LANG", "DATATYPE", "IRI", "URI", "ISIRI", "ISURI", "ISBLANK", "ISLITERAL", "ISNUMERIC"),
    *("YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS", "TIMEZONE", "TZ"),
    *CASTS,
]
OF_TWO_NUMBERS = [
    "+",
    "-",
    "*",
    "/",
    "=",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&&",
    "||",
    "IN",
    "NOT IN",
    "COALESCE",
    "SAMETERM",
]
OF_TWO_TEXTS = [
    *("CONCAT", "CONTAINS", "STRSTARTS", "STRENDS", "STRBEFORE", "STRAFTER", "SUBSTR"),
    *("LANGMATCHES", "STRDT", "STRLANG", "<", "&&", "REGEX"),
]


def is_any(*kinds: type) -> Callable[[Value], bool]:
    return lambda value: isinstance(number(value), kinds)


def is_nan(value: Value) -> bool:
    return (found := number(value)) is not None and found != found


def is_tagged(value: Value) -> bool:
    return isinstance(value, Literal) and value.language is not None


DEVIATIONS: list[tuple[str, set[str], Callable[[Value], bool]]] = [
    ("pyoxigraph forgets how a value is written", {"STR", "DATATYPE", "SAMETERM", "COALESCE"}, REWRITTEN.__contains__),
    ("it writes doubles with all their zeros", {"STR", XSD + "string"}, is_any(float, np.float32)),
    ("it has NaN fail", {"<", "<=", ">", ">="}, is_nan),
    ("it has no order of booleans", {"<", "<=", ">", ">="}, lambda value: isinstance(value, bool)),
    ("it orders a term that has no order with itself", {"<", "<=", ">", ">="}, (OTHERS + NAMES).__contains__),
    ("it has strings with a language be neither true nor false", {"!", "&&", "||"}, is_tagged),
    ("it has malformed literals be neither true nor false", {"!", "&&", "||"}, OTHERS.__contains__),
    ("it has products fail that are longer than 18 digits", {"*", "/"}, is_any(Decimal)),
    ("it is not precise with floats", {XSD + "decimal"}, is_any(float, np.float32)),
    ("it cannot begin before the first character by so much", {"SUBSTR"}, lambda value: value == -(2**63)),
]


def deviates(function: str, arguments: Sequence[Value | None]) -> bool:
    """Whether we mean to compute something else than pyoxigraph; `test_specification.py` says what."""
    present = [value for value in arguments if value is not None]
    return any(function in functions and any(map(applies, present)) for _, functions, applies in DEVIATIONS)


def differences(functions: Sequence[str], rows: Sequence[tuple[Value | None, ...]]) -> list[str]:
    """What we and pyoxigraph compute differently, written down."""
    variables = [X, Y][: len(rows[0])]
    calls = [Call(function, tuple(variables)) for function in functions]
    columns = {one: column_of([row[place] for row in rows]) for place, one in enumerate(variables)}
    expected = pyoxigraph_values(calls, variables, rows)
    return [
        f"{one.function}({', '.join(map(shown, row))}) is {shown(ours)} and not {shown(theirs)}"
        for one, results in zip(calls, expected, strict=True)
        for row, ours, theirs in zip(rows, evaluate(one, columns, len(rows)).values(), results, strict=True)
        if key(ours) != key(theirs) and not deviates(one.function, row)
    ]


def key(value: Value | None) -> object:
    return None if value is None else identity(value)


def shown(value: Value | None) -> str:
    return "missing" if value is None else write_term(value)


def test_functions_of_one_value() -> None:
    assert differences(OF_ONE, [(value,) for value in [*VALUES, None]]) == []


def test_functions_of_two_numbers_moments_or_durations() -> None:
    values = [value for value in VALUES if value not in STRINGS[3:]]
    assert differences(OF_TWO_NUMBERS, list(product([*values, None], repeat=2))) == []


def test_functions_of_two_texts() -> None:
    values = [*STRINGS, *TAGGED, *INTEGERS, *NAMES, *OTHERS[:4], *DECIMALS[:2], *DOUBLES[:2], True, None]
    assert differences(OF_TWO_TEXTS, list(product(values, repeat=2))) == []

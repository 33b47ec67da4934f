"""The functions that expressions may call, by name, and what is wrong with calls of others."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

import pyarrow.compute as pc

from everlog.datalog.suspicions import did_you_mean
from everlog.datalog.syntax import Call, Constant, Expression
from everlog.datalog.value_spaces import data_form, data_kind, data_value
from everlog.datalog.values import XSD, Value
from everlog.errors import EverlogError
from everlog.expressions import (
    calendar_functions,
    casts,
    forms,
    number_columns,
    numbers,
    orders,
    regular_expressions,
    term_functions,
    text_columns,
    text_functions,
)
from everlog.expressions.application import Function, OfValues, strict
from everlog.expressions.argument_counts import check_count
from everlog.expressions.columns import Column
from everlog.expressions.skolem import skolem


def _comparison(
    of_values: OfValues, of_numbers: Callable[[Any, Any], Any], of_texts: Callable[[Any, Any], Any]
) -> Function:
    numeric, textual = number_columns.comparison(of_numbers), text_columns.comparison(of_texts)

    def of_columns(left: Column, right: Column) -> Column | None:
        found = numeric(left, right)
        return textual(left, right) if found is None else found

    return strict(of_values, 2, of_columns)


def _first_of(of_numbers: OfValues, of_others: OfValues) -> OfValues:
    """A function of numbers that means something for other values, too."""

    def of_values(*values: Value) -> Value | None:
        found = of_numbers(*values)
        return of_others(*values) if found is None else found

    return of_values


def _one_or_two(one: Function, two: Function) -> Function:
    """A sign that has a meaning before one argument and another between two."""
    return Function(lambda columns: (one if len(columns) == 1 else two).apply(columns), 1, 2)


_EQUAL: Final = _comparison(orders.equal, operator.eq, pc.equal)
_AMONG: Final = forms.among(_EQUAL)

FUNCTIONS: Final[Mapping[str, Function]] = {
    "!": forms.negated,
    "&&": forms.both,
    "||": forms.any_of,
    "=": _EQUAL,
    "!=": _comparison(orders.unequal, operator.ne, pc.not_equal),
    "<": _comparison(orders.order("<"), operator.lt, pc.less),
    "<=": _comparison(orders.order("<="), operator.le, pc.less_equal),
    ">": _comparison(orders.order(">"), operator.gt, pc.greater),
    ">=": _comparison(orders.order(">="), operator.ge, pc.greater_equal),
    "IN": _AMONG,
    "NOT IN": forms.contrary(_AMONG),
    "IF": forms.choice,
    "COALESCE": forms.first_present,
    "+": _one_or_two(
        strict(_first_of(numbers.plus, calendar_functions.plus), 1, number_columns.plus),
        strict(_first_of(numbers.add, calendar_functions.add), 2, number_columns.add),
    ),
    "-": _one_or_two(
        strict(_first_of(numbers.negate, calendar_functions.negate), 1, number_columns.negate),
        strict(_first_of(numbers.subtract, calendar_functions.subtract), 2, number_columns.subtract),
    ),
    "*": strict(numbers.multiply, 2, number_columns.multiply),
    "/": strict(numbers.divide, 2, number_columns.divide),
    "ABS": strict(numbers.absolute, 1, number_columns.absolute),
    "CEIL": strict(numbers.ceiling, 1, number_columns.ceiling),
    "FLOOR": strict(numbers.floor, 1, number_columns.floor),
    "ROUND": strict(numbers.rounded, 1, number_columns.rounded),
    "STRLEN": strict(text_functions.length, 1, text_columns.length),
    "UCASE": strict(text_functions.upper, 1, text_columns.upper),
    "LCASE": strict(text_functions.lower, 1, text_columns.lower),
    "CONCAT": strict(text_functions.concatenate, 0, text_columns.concatenate, optional=None),
    "SUBSTR": strict(text_functions.substring, 2, text_columns.substring, optional=1),
    "CONTAINS": strict(text_functions.contains, 2, text_columns.contains),
    "STRSTARTS": strict(text_functions.starts, 2, text_columns.starts),
    "STRENDS": strict(text_functions.ends, 2, text_columns.ends),
    "STRBEFORE": strict(text_functions.before, 2),
    "STRAFTER": strict(text_functions.after, 2),
    "ENCODE_FOR_URI": strict(text_functions.encoded, 1),
    **{name: strict(text_functions.hashed(name), 1) for name in ("MD5", "SHA1", "SHA256", "SHA384", "SHA512")},
    "REGEX": strict(regular_expressions.matches, 2, optional=1),
    "REPLACE": strict(regular_expressions.replaced, 3, optional=1),
    "YEAR": strict(calendar_functions.year, 1),
    "MONTH": strict(calendar_functions.month, 1),
    "DAY": strict(calendar_functions.day, 1),
    "HOURS": strict(calendar_functions.hours, 1),
    "MINUTES": strict(calendar_functions.minutes, 1),
    "SECONDS": strict(calendar_functions.seconds, 1),
    "TIMEZONE": strict(calendar_functions.timezone, 1),
    "TZ": strict(calendar_functions.zone, 1),
    "STR": strict(term_functions.string, 1, text_columns.string),
    "LANG": strict(term_functions.language, 1),
    "LANGMATCHES": strict(term_functions.language_matches, 2),
    "DATATYPE": strict(term_functions.datatype, 1),
    **dict.fromkeys(("IRI", "URI"), strict(term_functions.iri, 1)),
    "STRDT": strict(term_functions.with_datatype, 2),
    "STRLANG": strict(term_functions.with_language, 2),
    "SAMETERM": strict(term_functions.same_term, 2),
    **dict.fromkeys(("ISIRI", "ISURI"), strict(term_functions.is_iri, 1)),
    "ISBLANK": strict(term_functions.is_blank, 1),
    "ISLITERAL": strict(term_functions.is_literal, 1),
    "ISNUMERIC": strict(term_functions.is_numeric, 1),
    "ISVALID": strict(term_functions.is_valid, 1),
    "DATA_KIND": strict(data_kind, 1, text_columns.kinds, of_literals=True),
    "DATA_VALUE": strict(data_value, 1, of_literals=True),
    "DATA_FORM": strict(data_form, 1, of_literals=True),
    "SKOLEM": strict(lambda *values: skolem(values), 1, optional=None),
    XSD + "integer": strict(casts.to_xsd_integer, 1),
    XSD + "decimal": strict(casts.to_xsd_decimal, 1),
    XSD + "float": strict(casts.to_xsd_float, 1),
    XSD + "double": strict(casts.to_xsd_double, 1),
    XSD + "boolean": strict(casts.to_xsd_boolean, 1),
    XSD + "string": strict(casts.to_xsd_string, 1),
    **{XSD + kind: strict(calendar_functions.to_moment(kind), 1) for kind in ("dateTime", "date", "time")},
    **{
        XSD + kind: strict(calendar_functions.to_duration(kind), 1)
        for kind in ("duration", "yearMonthDuration", "dayTimeDuration")
    },
}

_FRESH: Final = "is not the same whenever it is asked, and what rules derive depends on facts alone"
_REFUSED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("NOW", "RAND"), f"{_FRESH}: give the value as a fact"),
    **dict.fromkeys(
        ("UUID", "STRUUID", "BNODE"), f'{_FRESH}: write SKOLEM("name", ?x, …), an IRI that its arguments determine'
    ),
    "BOUND": "says nothing in a rule, where every variable is bound: leave it out",
    **dict.fromkeys(
        ("EXISTS", "NOT EXISTS"), "is no part of an expression: write the atoms, or NOT EXISTS, in the body of the rule"
    ),
}
"""What SPARQL has and rules have not, with the reason and what to write instead."""


def check_expression(expression: Expression) -> None:
    """Refuse an expression with a function that there is not, or with a wrong number of arguments."""
    if not isinstance(expression, Call):
        return
    name, count = expression.function, len(expression.arguments)
    if name in _REFUSED:
        raise EverlogError(f"{name} {_REFUSED[name]}")
    function = FUNCTIONS.get(name)
    if function is None:
        raise EverlogError(f"there is no function {_shown(name)}{did_you_mean(_shown(name), map(_shown, FUNCTIONS))}")
    check_count(_shown(name), count, function.least, function.most)
    if name == "SKOLEM" and not _is_text(expression.arguments[0]):
        raise EverlogError('the first argument of SKOLEM is a name, a string in quotes: SKOLEM("name", ?x, …)')
    for argument in expression.arguments:
        check_expression(argument)


def _shown(name: str) -> str:
    return f"<{name}>" if ":" in name else name


def _is_text(expression: Expression) -> bool:
    return isinstance(expression, Constant) and isinstance(expression.value, str)

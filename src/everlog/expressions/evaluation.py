"""Expressions over columns: what they compute, row by row, and where a condition holds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from everlog.datalog.syntax import Constant, Expression, Variable
from everlog.expressions.application import Function
from everlog.expressions.columns import Column, Mask, column_of, terms_of
from everlog.expressions.functions import FUNCTIONS
from everlog.expressions.truth import holding, truths


def evaluate(
    expression: Expression,
    columns: Mapping[Variable, Column],
    length: int,
    functions: Mapping[str, Function] = FUNCTIONS,
) -> Column:
    """The values of an expression for so many rows; a row in which computing fails has none.

    A variable without a column is bound nowhere. Queries have more functions than rules.
    """
    with np.errstate(all="ignore"):
        return _evaluated(expression, columns, functions).widened(length)


def holds(column: Column) -> Mask:
    """Where the effective boolean value of a column is true."""
    return holding(truths(column))


def _evaluated(expression: Expression, columns: Mapping[Variable, Column], functions: Mapping[str, Function]) -> Column:
    if isinstance(expression, Variable):
        return columns[expression] if expression in columns else terms_of([None])
    if isinstance(expression, Constant):
        return column_of([expression.value])
    arguments = [_evaluated(argument, columns, functions) for argument in expression.arguments]
    return functions[expression.function].apply(arguments)

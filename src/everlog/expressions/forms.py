"""Functions whose result may be there although an argument is missing: logic, `IF`, `COALESCE` and `IN`.

All arguments are computed in all rows, and the result is chosen among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final

import numpy as np

from everlog.expressions.application import Function
from everlog.expressions.columns import Booleans, Column, either
from everlog.expressions.truth import conjunction, disjunction, holding, negation, truths

negated: Final = Function(lambda columns: negation(columns[0]), 1, 1)
both: Final = Function(lambda columns: reduce(conjunction, columns), 2, None)
any_of: Final = Function(lambda columns: reduce(disjunction, columns), 2, None)


def _if(columns: Sequence[Column]) -> Column:
    condition = truths(columns[0])
    return either(holding(condition), *columns[1:]).blanked(condition.missing)


def _first_present(columns: Sequence[Column]) -> Column:
    found, *others = columns
    for other in others:
        if (gaps := found.missing) is not None:
            found = either(gaps, other, found)
    return found


choice: Final = Function(_if, 3, 3)
first_present: Final = Function(_first_present, 1, None)


def among(equality: Function) -> Function:
    """`IN`: whether the first argument equals one of the others."""

    def apply(columns: Sequence[Column]) -> Column:
        first, *others = columns
        found: Column = Booleans(np.zeros(1, dtype=np.bool_))
        for other in others:
            found = disjunction(found, equality.apply([first, other]))
        return found

    return Function(apply, 1, None)


def contrary(function: Function) -> Function:
    """The function that is true where another one is false."""
    return Function(lambda columns: negation(function.apply(columns)), function.least, function.most)

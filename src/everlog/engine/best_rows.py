"""The best rows of groups, by the order of all values (`expressions/total_order.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import Extreme
from everlog.engine.group_numbers import numbered
from everlog.expressions.columns import Column, Doubles, Integers
from everlog.expressions.numbers import number
from everlog.expressions.total_order import ranked


def best_rows(columns: NDArray[Any], values: Column, extreme: Extreme) -> NDArray[np.intp]:
    """For each group of rows, which agree in all columns but one, the row whose value in that is best.

    Where only numbers count, groups without any have no best row.
    """
    rows = _counting(values, extreme)
    ranks = ranked(values.take(rows)).ranks
    others = [place for place in range(len(columns)) if place != extreme.place]
    groups, _ = numbered(columns[others][:, rows], len(rows))
    order = np.lexsort((ranks if extreme.function == "MIN" else ~ranks, groups))
    first = np.ones(len(order), np.bool_)
    first[1:] = groups[order[1:]] != groups[order[:-1]]
    found: NDArray[np.intp] = rows[order[first]]
    return found


def _counting(values: Column, extreme: Extreme) -> NDArray[np.intp]:
    """The rows whose values count."""
    if not extreme.numbers or isinstance(values, Integers):
        return np.arange(values.length)
    if isinstance(values, Doubles):
        return np.flatnonzero(~np.isnan(values.array))
    distinct, places = values.distinct()
    known = [None if value is None else number(value) for value in distinct]
    there = np.array([one is not None and one == one for one in known], np.bool_)
    return np.flatnonzero(there[places])


def kinds_of(values: Column, extreme: Extreme) -> frozenset[str]:
    """The kinds of numbers among some values: `integer`, `double`, `other`, and `zero`.

    The latter are doubles to which adding 0.0, or whose comparison with 0.0, may give the other, and better, one of 0.0 and
    -0.0; where the least of sums is sought it does not.
    """
    if not values.length:
        return frozenset()
    if isinstance(values, Integers):
        return frozenset({"integer"})
    if isinstance(values, Doubles):
        found, zero = {"double"}, bool((values.array == 0).any())
    else:
        some = [value for value in values.distinct()[0] if value is not None and number(value) is not None]
        found = {{int: "integer", float: "double"}.get(type(value), "other") for value in some}
        zero = any(type(value) is float and value == 0 for value in some)
    signed = zero and (extreme.function == "MAX" or not extreme.adds)
    return frozenset({*found, "zero"} if signed else found)

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


def kinds_of(values: Column) -> frozenset[str]:
    """The kinds of numbers among some values: `integer`, `double` and `other`."""
    if not values.length:
        return frozenset()
    if isinstance(values, Integers | Doubles):
        return frozenset({"integer" if isinstance(values, Integers) else "double"})
    found = {type(value) for value in values.distinct()[0] if value is not None and number(value) is not None}
    return frozenset({int: "integer", float: "double"}.get(kind, "other") for kind in found)

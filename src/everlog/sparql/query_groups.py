"""Groups of solutions, and what aggregates say of them (section 18.5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from everlog.datalog.syntax import Aggregation, Variable
from everlog.expressions.aggregation import aggregated
from everlog.expressions.columns import Column, Integers, either
from everlog.expressions.functions import FUNCTIONS
from everlog.sparql.query_terms import QueryTerms
from everlog.sparql.solutions import UNBOUND, Ids, Mask, Places, Solutions, first_places, group_numbers

_FAILING: Final = frozenset({"SUM", "AVG", "MIN", "MAX", "GROUP_CONCAT"})
"""Aggregates that have no value if one of their arguments has none; others pass it over."""


def groups_of(solutions: Solutions, keys: Sequence[Variable], always: Solutions | None) -> tuple[Places, Solutions]:
    """The number of each solution's group, and the groups by their keys.

    With `always`, there are also groups for its rows, which have columns for all keys.
    """
    columns = [solutions.column(key) for key in keys]
    if always is None:
        numbers, some = group_numbers(columns, solutions.length)
        return numbers, Solutions(len(some), {key: column[some] for key, column in zip(keys, columns, strict=True)})
    first = always.length
    both = [np.concatenate([always.column(key), column]) for key, column in zip(keys, columns, strict=True)]
    numbers, some = group_numbers(both, first + solutions.length)
    return numbers[first:], Solutions(len(some), {key: column[some] for key, column in zip(keys, both, strict=True)})


def aggregate(
    aggregation: Aggregation,
    terms: QueryTerms,
    solutions: Solutions,
    numbers: Places,
    count: int,
    argument: Column | Ids | None,
) -> Column:
    """The values of an aggregate for so many groups; without an argument it is about whole solutions.

    Of a variable's values the ids are enough where they are only counted.
    """
    function, rows = aggregation.function, np.arange(solutions.length)
    if argument is None:
        if aggregation.distinct:
            own = [column for name, column in solutions.columns.items() if not name.name.startswith(("#", "_:"))]
            _, rows = group_numbers([numbers.astype(np.int64), *own], solutions.length)
        return aggregated("COUNT", numbers[rows], count, [])
    if not isinstance(argument, Column):
        rows = np.flatnonzero(argument != UNBOUND)
        if aggregation.distinct:
            rows = rows[group_numbers([numbers[rows].astype(np.int64), argument[rows]], len(rows))[1]]
        return aggregated("COUNT", numbers[rows], count, [])
    failed = _failed(argument, numbers, count) if function in _FAILING else None
    if aggregation.distinct:
        ids = terms.ids(argument)
        rows = first_places([numbers.astype(np.int64), ids], solutions.length)
        numbers, argument = numbers[rows], argument.take(rows)
    found = _computed(function, numbers, count, argument, aggregation.separator)
    return found if failed is None else found.blanked(failed)


def _computed(function: str, numbers: Places, count: int, argument: Column, separator: str) -> Column:
    if function != "AVG":
        return aggregated(function, numbers, count, [argument], separator)
    totals = aggregated("SUM", numbers, count, [argument])
    sizes = aggregated("COUNT", numbers, count, [argument])
    assert isinstance(sizes, Integers)
    quotients = FUNCTIONS["/"].apply([totals, sizes]).widened(count)
    empty = sizes.array == 0
    return either(empty, Integers(np.zeros(1, np.int64)), quotients) if empty.any() else quotients


def _failed(argument: Column, numbers: Places, count: int) -> Mask | None:
    """The groups in which the argument of some solution has no value."""
    missing = argument.missing
    if missing is None:
        return None
    found: Mask = np.zeros(count, np.bool_)
    found[numbers[missing]] = True
    return found

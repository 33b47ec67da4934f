"""How a function is applied to columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.datalog.values import Value
from everlog.expressions.columns import Column, Places, column_of, terms_of

OfValues: TypeAlias = Callable[..., Value | None]
"""A function of single values; its result is None where computing it fails."""

OfColumns: TypeAlias = Callable[..., Column | None]
"""The same on whole columns; None if it does not know columns of these kinds."""


@dataclass(frozen=True, slots=True)
class Function:
    """What may be called in an expression: how many arguments it takes, and what it makes of their columns."""

    apply: Callable[[Sequence[Column]], Column]
    least: int
    most: int | None
    """None if there may be any number of them."""
    of_literals: bool = False
    """Whether names have no result, so that an engine need not look at them."""


def strict(
    of_values: OfValues,
    arguments: int,
    of_columns: OfColumns | None = None,
    optional: int | None = 0,
    of_literals: bool = False,
) -> Function:
    """A function whose result is missing where an argument is.

    Columns that `of_columns` knows are computed as a whole, others value by value. It takes so many arguments, and so many
    optional ones, or any number of these if that is None.
    """

    def apply(columns: Sequence[Column]) -> Column:
        if any(column.length == 1 and (gaps := column.missing) is not None and gaps[0] for column in columns):
            return terms_of([None])
        known = None if of_columns is None else of_columns(*columns)
        return _value_by_value(of_values, columns) if known is None else known

    return Function(apply, arguments, None if optional is None else arguments + optional, of_literals)


def _value_by_value(of_values: OfValues, columns: Sequence[Column]) -> Column:
    """The results of a function, which is called once for each distinct combination of arguments."""
    if not columns:
        return column_of([of_values()])
    found = [column.distinct() for column in columns]
    combined = np.zeros(1, dtype=np.int64)
    count = 1
    for one in found:
        if count * len(one.values) >= 2**63:
            combined = _numbered(combined)
            count = len(combined)
        combined = combined * len(one.values) + one.places
        count *= len(one.values)
    rows = _numbered(combined)
    first = np.zeros(int(rows.max()) + 1 if len(rows) else 0, dtype=np.intp)
    first[rows[::-1]] = np.arange(len(rows))[::-1]
    arguments = [
        [one.values[place] for place in np.broadcast_to(one.places, len(rows))[first].tolist()] for one in found
    ]
    return column_of([None if None in row else of_values(*row) for row in zip(*arguments, strict=True)]).take(rows)


def _numbered(keys: NDArray[np.int64]) -> Places:
    """For each key the number of its first occurrence among distinct ones."""
    numbers: Places = pa.array(keys).dictionary_encode().indices.to_numpy().astype(np.intp)
    return numbers

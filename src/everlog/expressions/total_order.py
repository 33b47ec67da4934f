"""The order of all values in which aggregates find a least and a greatest one, whatever order rows come in.

Blank nodes come first, then IRIs, then literals: numbers, strings, strings with a language, booleans, dates with a time,
dates, times, durations, and all others. Numbers are ordered by their exact values, whatever their types, and NaN is the
greatest; strings and names by code points; strings with a language by their texts first; dates and times as if those
without a zone were in UTC; durations by where they end if they begin with September 1696; other literals by datatype and
text. Of equal numbers integers come first, then decimals, floats and doubles, which is the order of promotion: so equal
numbers to which the same is added, exactly, stay in their order. What is equal so far is ordered by how N-Triples writes
the terms. So two values have the same place only if they are the same, and none is placed before one that is `<` it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.datalog.comparing import comparable
from everlog.datalog.ntriples import write_term
from everlog.datalog.values import Value
from everlog.expressions.columns import Column, Doubles, Integers, column_of
from everlog.expressions.durations import DAY, duration
from everlog.expressions.moments import Moment, instant, moment, moved
from everlog.expressions.numbers import number
from everlog.expressions.truth import boolean

Ranks: TypeAlias = NDArray[np.int64]

_BLANK, _IRI, _NUMBER, _STRING, _TAGGED, _BOOLEAN, _DATE_AND_TIME, _DATE, _TIME, _DURATION, _OTHER = range(11)
_MOMENTS: Final = {"dateTime": _DATE_AND_TIME, "date": _DATE, "time": _TIME}
_KINDS: Final[Mapping[type, int]] = {int: 0, Decimal: 1, np.float32: 2, float: 3}
"""Numbers of equal value by their kinds."""
_BEGINNING: Final = Moment("dateTime", date(1696, 9, 1).toordinal() * DAY, None)


def place_in_order(value: Value) -> tuple[int, Any, str]:
    """A key by which values are sorted.

    >>> sorted([True, "a", 2.5, 10, 1.0, 1], key=place_in_order)
    [1, 1.0, 2.5, 10, 'a', True]
    """
    if isinstance(value, str):
        return _STRING, value, ""
    if isinstance(value, NamedNode | BlankNode):
        return _IRI if isinstance(value, NamedNode) else _BLANK, value.value, ""
    kind, place = _place_of_literal(value)
    return kind, place, f"{_KINDS.get(type(number(value)), 0)}{write_term(value)}"


def _place_of_literal(value: Value) -> tuple[int, Any]:
    if (found := _exact(value)) is not None:
        return _NUMBER, found
    if (truth := boolean(value)) is not None:
        return _BOOLEAN, truth
    if (point := moment(value)) is not None:
        return _MOMENTS[point.kind], instant(point)
    if (time := duration(value)) is not None:
        return _DURATION, moved(_BEGINNING, time).clock
    assert isinstance(value, Literal)
    return (_OTHER, (value.datatype.value, value.value)) if value.language is None else (_TAGGED, value.value)


def _exact(value: Value) -> tuple[bool, int | Decimal | float] | None:
    """A number without rounding, and before it whether it is NaN; some are too long to be computed with."""
    found = number(value)
    if found is None and isinstance(value, Literal) and (known := comparable(value)) and known.kind == "number":
        found = Decimal(value.value)
    if found is None:
        return None
    if isinstance(found, int | Decimal):
        return False, found
    return (True, 0.0) if math.isnan(found) else (False, float(found))


class Ranked(NamedTuple):
    """The values of a column as integers in the same order, and the way back from integers to a column."""

    ranks: Ranks
    values: Callable[[Ranks], Column]

    def reversed(self) -> Ranked:
        """The same with the greatest value first."""
        values = self.values
        return Ranked(~self.ranks, lambda ranks: values(~ranks))


def ranked(column: Column) -> Ranked:
    """The values of a column by their places in the order; none of them may be missing."""
    if isinstance(column, Integers):
        return Ranked(column.array, Integers)
    if isinstance(column, Doubles):
        return Ranked(
            _folded(np.where(np.isnan(column.array), np.nan, column.array).view(np.int64)),
            lambda ranks: Doubles(_folded(ranks).view(np.float64)),
        )
    values, places = column.distinct()
    keys = [(place_in_order(value), place) for place, value in enumerate(values) if value is not None]
    order = [place for _, place in sorted(keys)]
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return Ranked(ranks[places], column_of([values[place] for place in order]).take)


def _folded(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bits of doubles as integers in the order of the doubles, or the other way round."""
    return bits ^ ((bits >> 63) & np.int64(2**63 - 1))

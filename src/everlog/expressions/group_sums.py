"""Sums of the numbers of groups, exact until the end, so that they depend neither on the order of rows nor on history.

Numbers are cut into parts of so few bits that 64 are enough to add those of the largest group, and the sums of the parts
are put together. A sum of integers or decimals is missing if it does not fit into its type, however large the sums on the
way there are. A sum of doubles is the double next to the exact sum. Where floats or doubles are among the numbers, all are
first promoted to that type; NaN and infinities add up as IEEE 754 has it, and a sum of zeros is 0.0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.values import Value
from everlog.expressions.columns import Column, Doubles, Integers, Places, column_of, either
from everlog.expressions.numbers import Number, number, number_value, to_double, to_float

_INTEGER, _DECIMAL, _FLOAT, _DOUBLE, _NO_NUMBER = range(5)
"""The kinds of numbers. The sum of a group is of the last of the kinds that it has."""

_BITS: Final = 63
"""Those of an integer, without the sign."""
_LEAST_EXPONENT: Final = -1074
"""That of the least double, of which all are multiples."""
_DIGITS: Final = 18
"""So many a decimal has behind its point."""


class _Addends(NamedTuple):
    """Numbers to be added: distinct ones and their kinds, and which one each row has."""

    numbers: NDArray[Any]
    kinds: NDArray[np.int8]
    places: Places


def sums(groups: Places, count: int, column: Column) -> Column:
    """The sum of each group: 0 if it has no rows, and missing if something in it is no number."""
    if isinstance(column, Integers):
        return _integer_column(_exact_sums(groups, count, column.array))
    if isinstance(column, Doubles):
        found = Doubles(_double_sums(groups, count, column.array))
        empty = np.bincount(groups, minlength=count) == 0
        return either(empty, Integers(np.zeros(1, dtype=np.int64)), found) if empty.any() else found
    addends = _addends(column)
    kinds = _kinds(groups, count, addends)
    totals: list[Value | None] = [0] * count
    for kind in np.unique(kinds[kinds >= 0]).tolist():
        rows = kinds[groups] == kind
        of_kind = _OF_KIND[kind](groups[rows], count, addends._replace(places=addends.places[rows]))
        for place in np.flatnonzero(kinds == kind).tolist():
            totals[place] = of_kind[place]
    return column_of(totals)


def continued_sums(old: Column, come: tuple[Places, Column], gone: tuple[Places, Column]) -> Column:
    """The sums of groups after rows came and went; missing where old sums and these rows do not tell.

    They tell a sum of integers, since then all its addends are, and one of decimals if one of them is there for certain.
    """
    count = old.length
    before, more, less = _addends(old), _addends(come[1]), _addends(gone[1])
    came = _kinds(come[0], count, more)
    kinds = np.maximum(before.kinds[before.places], came)
    lost = (_kinds(gone[0], count, less) == _DECIMAL) & (came != _DECIMAL)
    digits = _DIGITS if (kinds == _DECIMAL).any() else 0
    totals = (
        _in_units(before, digits)[before.places].astype(np.object_)
        + _exact_sums(come[0], count, _in_units(more, digits), more.places)
        - _exact_sums(gone[0], count, _in_units(less, digits), less.places)
    )
    told: list[Value | None] = [None] * count
    for place in np.flatnonzero((kinds == _INTEGER) | ((kinds == _DECIMAL) & ~lost)).tolist():
        exact = totals[place]
        told[place] = number_value(exact // 10**digits) if kinds[place] == _INTEGER else _decimal_value(exact)
    return column_of(told)


def _addends(column: Column) -> _Addends:
    if isinstance(column, Integers):
        kinds = np.full(column.length, _INTEGER, dtype=np.int8)
        kinds[slice(0) if column.missing is None else column.missing] = _NO_NUMBER
        return _Addends(column.array, kinds, np.arange(column.length))
    values, places = column.distinct()
    numbers = np.empty(len(values), dtype=np.object_)
    numbers[:] = [None if value is None else number(value) for value in values]
    return _Addends(numbers, np.fromiter(map(_kind, numbers), np.int8, len(values)), places)


def _kind(one: Number | None) -> int:
    if one is None:
        return _NO_NUMBER
    if isinstance(one, int | Decimal):
        return _INTEGER if isinstance(one, int) else _DECIMAL
    return _FLOAT if isinstance(one, np.float32) else _DOUBLE


def _kinds(groups: Places, count: int, addends: _Addends) -> NDArray[np.int8]:
    """The kind of the sum of each group, and -1 where there is nothing to add."""
    kinds = np.full(count, -1, dtype=np.int8)
    np.maximum.at(kinds, groups, addends.kinds[addends.places])
    return kinds


def _in_units(addends: _Addends, digits: int) -> NDArray[Any]:
    """Integers and decimals as integers, in units of the last of so many digits behind the point; 0 for all others."""
    if digits == 0 and addends.numbers.dtype == np.int64:
        return addends.numbers
    units = np.zeros(len(addends.numbers), dtype=np.object_)
    for place in np.flatnonzero(addends.kinds <= (_DECIMAL if digits else _INTEGER)).tolist():
        above, below = Decimal(addends.numbers.item(place)).as_integer_ratio()
        units[place] = above * 10**digits // below
    return units


def _sums_of_integers(groups: Places, count: int, addends: _Addends) -> list[Value | None]:
    return _integer_column(_exact_sums(groups, count, _in_units(addends, 0), addends.places)).values()


def _sums_of_decimals(groups: Places, count: int, addends: _Addends) -> list[Value | None]:
    units = _in_units(addends, _DIGITS)
    return [_decimal_value(total) for total in _exact_sums(groups, count, units, addends.places).tolist()]


def _sums_of_floats(groups: Places, count: int, addends: _Addends) -> list[Value | None]:
    found = _double_sums(groups, count, _promoted(addends, to_float))
    return [number_value(np.float32(total)) for total in found]


def _sums_of_doubles(groups: Places, count: int, addends: _Addends) -> list[Value | None]:
    return Doubles(_double_sums(groups, count, _promoted(addends, to_double))).values()


def _promoted(addends: _Addends, promote: Callable[[Number], Any]) -> NDArray[np.float64]:
    found = [0.0 if one is None else float(promote(one)) for one in addends.numbers.tolist()]
    return np.array(found, dtype=np.float64)[addends.places]


_OF_KIND: Final[Mapping[int, Callable[[Places, int, _Addends], list[Value | None]]]] = {
    _INTEGER: _sums_of_integers,
    _DECIMAL: _sums_of_decimals,
    _FLOAT: _sums_of_floats,
    _DOUBLE: _sums_of_doubles,
    _NO_NUMBER: lambda groups, count, addends: [None] * count,
}


def _integer_column(totals: NDArray[Any]) -> Column:
    return Integers(totals) if totals.dtype == np.int64 else column_of([number_value(one) for one in totals.tolist()])


def _decimal_value(units: int) -> Value | None:
    return number_value(Decimal(f"{units}E-{_DIGITS}"))


def _room(groups: Places) -> int:
    """How many bits a number may have so that 64 hold the sum of as many as the largest group has."""
    largest = int(np.bincount(groups).max()) if len(groups) else 1
    return _BITS - (largest - 1).bit_length()


def _added(groups: Places, count: int, integers: NDArray[np.int64]) -> NDArray[np.int64]:
    totals = np.zeros(count, dtype=np.int64)
    np.add.at(totals, groups, integers)
    return totals


def _exact_sums(
    groups: Places, count: int, integers: NDArray[Any], places: Places | slice = slice(None)
) -> NDArray[Any]:
    """Sums of integers, given distinct ones and which one each row has: of 64 bits if these are known to be enough."""
    bits = _room(groups)
    parts = []
    while len(integers) and max(-int(integers.min()), int(integers.max())) >= 2**bits:
        parts.append(_added(groups, count, (integers & (2**bits - 1)).astype(np.int64)[places]))
        integers = integers >> bits
    rest = _added(groups, count, integers.astype(np.int64, copy=False)[places])
    if not parts:
        return rest
    totals = rest.astype(np.object_)
    for part in reversed(parts):
        totals = totals * 2**bits + part
    return totals


def _double_sums(groups: Places, count: int, doubles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of doubles, each rounded once."""
    finite = np.isfinite(doubles)
    if finite.all():
        return _finite_sums(groups, count, doubles)
    totals = _finite_sums(groups[finite], count, doubles[finite])
    totals[groups[~finite]] = 0.0
    np.add.at(totals, groups[~finite], doubles[~finite])
    return totals


def _finite_sums(groups: Places, count: int, doubles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bits are taken from the front of all numbers, as multiples of a power of 2, until nothing is left of any."""
    bits = _room(groups)
    parts: list[tuple[int, NDArray[np.int64]]] = []
    while len(doubles) and (largest := max(-doubles.min(), doubles.max())) > 0:
        exponent = max(math.frexp(largest)[1] - bits, _LEAST_EXPONENT)
        unit = math.ldexp(1.0, exponent)
        front = np.trunc(doubles / unit)
        parts.append((exponent, _added(groups, count, front.astype(np.int64))))
        doubles = doubles - front * unit
        left = np.flatnonzero(doubles)
        groups, doubles = groups[left], doubles[left]
    if not parts:
        return np.zeros(count)
    least, last = parts[-1]
    if len(parts) == 1:
        return np.ldexp(last.astype(np.float64), least)
    totals = sum(part.astype(np.object_) << (exponent - least) for exponent, part in parts)
    return np.array([_rounded(total, least) for total in totals.tolist()], dtype=np.float64)


def _rounded(total: int, exponent: int) -> float:
    """The double next to an integer times a power of 2."""
    try:
        return total / 2**-exponent if exponent < 0 else float(total << exponent)
    except OverflowError:
        return math.inf if total > 0 else -math.inf

"""Solutions: a bag of mappings from variables to terms, as columns of ids.

A column has 64-bit ids, and `UNBOUND` where a solution does not bind its variable. Solutions without columns are a number:
so many empty mappings. Nothing is changed in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import Variable
from everlog.engine.group_numbers import numbered

Ids: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]

UNBOUND: Final = -1


@dataclass(eq=False, slots=True)
class Solutions:
    """So many solutions, and a column for each variable that they may bind."""

    length: int
    columns: Mapping[Variable, Ids]

    def take(self, places: Places | Mask | slice) -> Solutions:
        """The solutions at some places, in that order, or those of a mask."""
        if isinstance(places, slice):
            length = len(range(*places.indices(self.length)))
        else:
            length = int(places.sum()) if places.dtype == np.bool_ else len(places)
            if places.dtype == np.bool_ and length == self.length:
                return self
        return Solutions(length, {variable: column[places] for variable, column in self.columns.items()})

    def column(self, variable: Variable) -> Ids:
        """The column of a variable, which may be bound nowhere."""
        found = self.columns.get(variable)
        return np.full(self.length, UNBOUND, np.int64) if found is None else found

    def project(self, variables: Iterable[Variable]) -> Solutions:
        """The solutions with some variables alone; those that are bound nowhere get a column, too."""
        wanted = tuple(variables)
        if wanted == tuple(self.columns):
            return self
        return Solutions(self.length, {variable: self.column(variable) for variable in wanted})

    def without(self, variables: Iterable[Variable]) -> Solutions:
        gone = set(variables)
        if gone.isdisjoint(self.columns):
            return self
        return Solutions(self.length, {name: column for name, column in self.columns.items() if name not in gone})

    def extended(self, variable: Variable, column: Ids) -> Solutions:
        return Solutions(self.length, {**self.columns, variable: column})

    def distinct(self) -> Solutions:
        """Each solution once: its first occurrence, in the order of these."""
        return self.take(first_places(list(self.columns.values()), self.length))


UNIT: Final = Solutions(1, {})
"""The one empty mapping, which joins with everything."""

NOTHING: Final = Solutions(0, {})


def first_places(columns: Sequence[Ids], length: int) -> Places:
    """For each distinct row of some columns the place of its first occurrence, in order."""
    numbers, some = group_numbers(columns, length)
    first = np.empty(len(some), np.intp)
    first[numbers[::-1]] = np.arange(length - 1, -1, -1)  # the last one that is written stays
    first.sort()
    return first


def group_numbers(columns: Sequence[Ids], length: int) -> tuple[Places, Places]:
    """The number of each row's group, of rows that are the same, and for each group a row of it."""
    shifted: list[NDArray[Any]] = [column + 1 for column in columns]
    return numbered(shifted, length)


def stacked(parts: Sequence[Solutions]) -> Solutions:
    """The solutions of several bags, one bag after the other."""
    parts = [part for part in parts if part.length] or list(parts[:1])
    if len(parts) == 1:
        return parts[0]
    variables = dict.fromkeys(variable for part in parts for variable in part.columns)
    columns = {variable: np.concatenate([part.column(variable) for part in parts]) for variable in variables}
    return Solutions(sum(part.length for part in parts), columns)

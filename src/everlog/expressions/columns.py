"""Columns: vectors of values, some of which may be missing.

A column has one kind: `Integers`, `Doubles`, `Booleans`, `Strings`, or `Terms` for everything else and for mixtures. A
value is missing where a variable is not bound or where computing it failed. A column of one row may stand for that value in
all rows, which is how constants are computed with; `widened` makes it as long as the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from everlog.datalog.values import Value, identity

Mask: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]


class Distinct(NamedTuple):
    """The values of a column, each once (a missing one is None), and for each row which one it has."""

    values: list[Value | None]
    places: Places


class Column(ABC):
    """A vector of values."""

    @property
    @abstractmethod
    def length(self) -> int: ...

    @property
    @abstractmethod
    def missing(self) -> Mask | None:
        """True where there is no value; None only if there is one everywhere."""

    @abstractmethod
    def take(self, places: Places) -> Column:
        """The rows at some places, in that order."""

    @abstractmethod
    def blanked(self, gaps: Mask | None) -> Column:
        """The column without the values of some rows."""

    @abstractmethod
    def distinct(self) -> Distinct: ...

    @abstractmethod
    def values(self) -> list[Value | None]: ...

    def widened(self, length: int) -> Column:
        """The column with so many rows, if it has one that stands for all."""
        return self if self.length == length else self.take(np.zeros(length, dtype=np.intp))


@dataclass(frozen=True, slots=True, eq=False)
class _Numbers(Column):
    """An array of numbers or of booleans, and beside it where there are none."""

    array: NDArray[Any]
    missing: Mask | None = None

    @property
    def length(self) -> int:
        return len(self.array)

    def take(self, places: Places) -> Column:
        return type(self)(self.array[places], None if self.missing is None else self.missing[places])

    def blanked(self, gaps: Mask | None) -> Column:
        return type(self)(self.array, joined([self.missing, gaps]))

    def values(self) -> list[Value | None]:
        found: list[Value | None] = self.array.tolist()
        if self.missing is not None:
            for place in np.flatnonzero(self.missing):
                found[place] = None
        return found

    def distinct(self) -> Distinct:
        dictionary, places = _encoded(pa.array(self._keys(), mask=self.missing))
        gaps = None if not dictionary.null_count else dictionary.is_null().to_numpy(zero_copy_only=False)
        keys = dictionary.fill_null(0).to_numpy(zero_copy_only=False).view(self.array.dtype)
        return Distinct(type(self)(keys, gaps).values(), places)

    def _keys(self) -> NDArray[Any]:
        """Integers that are the same exactly where the values are."""
        return self.array


class Integers(_Numbers):
    """Integers of 64 bits."""

    __slots__ = ()


class Doubles(_Numbers):
    """Numbers of type xsd:double."""

    __slots__ = ()

    def _keys(self) -> NDArray[Any]:
        return np.where(np.isnan(self.array), np.nan, self.array).view(np.int64)


class Booleans(_Numbers):
    """True and false."""

    __slots__ = ()

    def _keys(self) -> NDArray[Any]:
        return self.array.view(np.int8)


@dataclass(frozen=True, slots=True, eq=False)
class Strings(Column):
    """Texts without a language, as an Arrow array of `large_string` that is null where one is missing."""

    array: pa.LargeStringArray

    @property
    def length(self) -> int:
        return len(self.array)

    @property
    def missing(self) -> Mask | None:
        return self.array.is_null().to_numpy(zero_copy_only=False) if self.array.null_count else None

    def take(self, places: Places) -> Column:
        return Strings(self.array.take(pa.array(places)))

    def blanked(self, gaps: Mask | None) -> Column:
        return self if gaps is None else Strings(pc.if_else(pa.array(gaps), None, self.array))

    def values(self) -> list[Value | None]:
        found: list[Value | None] = self.array.to_pylist()
        return found

    def distinct(self) -> Distinct:
        dictionary, places = _encoded(self.array)
        return Distinct(dictionary.to_pylist(), places)


@dataclass(frozen=True, slots=True, eq=False)
class Terms(Column):
    """Values of any kinds, None where one is missing: an array of them, and for each row its place there.

    Without places, each row has a value of its own.
    """

    array: NDArray[np.object_]
    places: Places | None = None

    @property
    def length(self) -> int:
        return len(self.array if self.places is None else self.places)

    @property
    def missing(self) -> Mask | None:
        none = np.fromiter((value is None for value in self.array), np.bool_, len(self.array))
        if not none.any():
            return None
        return none if self.places is None else none[self.places]

    def take(self, places: Places) -> Column:
        chosen = places if self.places is None else self.places[places]
        return Terms(self.array[chosen]) if len(chosen) <= len(self.array) else Terms(self.array, chosen)

    def blanked(self, gaps: Mask | None) -> Column:
        if gaps is None:
            return self
        places = np.arange(len(self.array)) if self.places is None else self.places
        return Terms(np.append(self.array, [None]), np.where(gaps, len(self.array), places))

    def values(self) -> list[Value | None]:
        found: list[Value | None] = (self.array if self.places is None else self.array[self.places]).tolist()
        return found

    def distinct(self) -> Distinct:
        known: dict[object, int] = {}
        values: list[Value | None] = []
        numbers = np.empty(len(self.array), dtype=np.intp)
        for place, value in enumerate(self.array.tolist()):
            number = known.setdefault(None if value is None else identity(value), len(values))
            if number == len(values):
                values.append(value)
            numbers[place] = number
        return Distinct(values, numbers if self.places is None else numbers[self.places])


def column_of(values: Sequence[Value | None]) -> Column:
    """A column of the most specific kind that has all the values.

    >>> column_of([1, None, 3])
    Integers(array=array([1, 0, 3]), missing=array([False,  True, False]))
    """
    kinds = set(map(type, values))
    gaps = np.fromiter((value is None for value in values), np.bool_, len(values)) if type(None) in kinds else None
    kinds.discard(type(None))
    if kinds == {str}:
        return Strings(pa.array(values, pa.large_string()))
    for kind, made, dtype in ((int, Integers, np.int64), (float, Doubles, np.float64), (bool, Booleans, np.bool_)):
        if kinds == {kind}:
            present = values if gaps is None else [kind(0) if value is None else value for value in values]
            return made(np.array(present, dtype=dtype), gaps)
    return terms_of(values)


def terms_of(values: Sequence[Value | None]) -> Terms:
    """A column of terms, whatever the values are."""
    array = np.empty(len(values), dtype=np.object_)
    array[:] = values
    return Terms(array)


def joined(masks: Sequence[Mask | None]) -> Mask | None:
    """Where any of several masks is true; None if nowhere."""
    found: Mask | None = None
    for mask in masks:
        if mask is not None:
            found = mask if found is None else found | mask
    return found


def either(condition: Mask, yes: Column, no: Column) -> Column:
    """The column that has the values of one column where a condition is true, and those of another elsewhere."""
    length = max(len(condition), yes.length, no.length) if min(len(condition), yes.length, no.length) else 0
    if isinstance(yes, Strings) and isinstance(no, Strings):
        rows = np.broadcast_to(condition, length)
        return Strings(pc.if_else(pa.array(rows), _texts(yes, length), _texts(no, length)))
    if isinstance(yes, _Numbers) and type(yes) is type(no):
        gaps = None if joined([yes.missing, no.missing]) is None else np.where(condition, _gaps(yes), _gaps(no))
        return type(yes)(np.where(condition, yes.array, no.array), gaps)
    one, other = yes.distinct(), no.distinct()
    places = np.where(condition, one.places, other.places + len(one.values))
    return column_of(one.values + other.values).take(places)


def _texts(column: Strings, length: int) -> Any:
    """The texts of a column; of one that stands for all rows, the scalar."""
    return column.array[0] if column.length == 1 != length else column.array


def _gaps(column: Column) -> Mask:
    return np.zeros(1, dtype=np.bool_) if column.missing is None else column.missing


def _encoded(array: pa.Array) -> tuple[pa.Array, Places]:
    """The distinct entries of an Arrow array, and the place of each row among them."""
    encoded = array.dictionary_encode(null_encoding="encode")
    return encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False).astype(np.intp)

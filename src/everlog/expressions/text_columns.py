"""SPARQL's functions on strings over whole columns, by Arrow.

Each function gives None for columns of other kinds, and where Arrow means something else by its own; those values are then
computed one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import NamedNode

from everlog.datalog.value_spaces import KIND, TEXT_FORMS
from everlog.expressions.columns import Booleans, Column, Integers, Mask, Strings, Terms, joined

_FAR: Final = 2**40
"""A position behind the end of every text."""


def length(column: Column) -> Column | None:
    if not isinstance(column, Strings):
        return None
    return Integers(pc.utf8_length(column.array).fill_null(0).to_numpy(), column.missing)


def string(column: Column) -> Column | None:
    """The texts of strings and integers."""
    if isinstance(column, Integers):
        return Strings(pa.array(column.array, mask=column.missing).cast(pa.large_string()))
    return column if isinstance(column, Strings) else None


def kinds(column: Column) -> Column | None:
    """The kinds of strings (`value_spaces.py`): the narrowest type that fits decides."""
    if not isinstance(column, Strings):
        return None
    names = [*TEXT_FORMS, "string"]
    found = np.full(len(column.array), len(names) - 1, np.intp)
    for place in reversed(range(len(TEXT_FORMS))):
        fits = pc.match_substring_regex(column.array, f"^(?:{TEXT_FORMS[names[place]]})$")
        found[fits.fill_null(False).to_numpy(zero_copy_only=False)] = place
    values = np.array([NamedNode(KIND + name) for name in names], dtype=np.object_)
    return Terms(values, found).blanked(column.missing)


def _ascii(change: Callable[[pa.Array], pa.Array]) -> Callable[[Column], Column | None]:
    """Capitals of other scripts change the length of a text at times, which Arrow leaves out."""

    def changed(column: Column) -> Column | None:
        if not isinstance(column, Strings) or not pc.all(pc.string_is_ascii(column.array), min_count=0).as_py():
            return None
        return Strings(change(column.array))

    return changed


upper: Final = _ascii(pc.ascii_upper)
lower: Final = _ascii(pc.ascii_lower)


def concatenate(*columns: Column) -> Column | None:
    arrays = [column.array for column in columns if isinstance(column, Strings)]
    if len(arrays) < len(columns) or not columns:
        return None
    rows = max(map(len, arrays)) if min(map(len, arrays)) else 0
    parts = [array[0] if len(array) == 1 != rows else array for array in arrays]
    return Strings(pc.binary_join_element_wise(*parts, pa.scalar("", pa.large_string())))


def substring(source: Column, start: Column, count: Column | None = None) -> Column | None:
    if not isinstance(source, Strings) or (first := _constant(start, Integers)) is None:
        return None
    beginning = max(first - 1, 0)
    if count is None:
        return Strings(pc.utf8_slice_codeunits(source.array, beginning))
    if (characters := _constant(count, Integers)) is None:
        return None
    end = min(max(first - 1 + characters, beginning), _FAR)
    return Strings(pc.utf8_slice_codeunits(source.array, min(beginning, end), end))


def _search(look: Callable[..., pa.Array]) -> Callable[[Column, Column], Column | None]:
    def computed(column: Column, part: Column) -> Column | None:
        if not isinstance(column, Strings) or (sought := _constant(part, Strings)) is None:
            return None
        return _booleans(look(column.array, pattern=sought), column.missing)

    return computed


contains: Final = _search(pc.match_substring)
starts: Final = _search(pc.starts_with)
ends: Final = _search(pc.ends_with)


def comparison(compare: Callable[[Any, Any], pa.Array]) -> Callable[[Column, Column], Column | None]:
    """An operator of Arrow on two columns of strings."""

    def computed(left: Column, right: Column) -> Column | None:
        if not isinstance(left, Strings) or not isinstance(right, Strings):
            return None
        one: Any = left.array[0] if left.length == 1 else left.array
        other: Any = right.array[0] if right.length == 1 and left.length != 1 else right.array
        return _booleans(compare(one, other), joined([left.missing, right.missing]))

    return computed


def _constant(column: Column, kind: type[Column]) -> Any:
    """The value of a column of one row and of some kind, or None."""
    return column.values()[0] if isinstance(column, kind) and column.length == 1 else None


def _booleans(array: pa.Array, missing: Mask | None) -> Booleans:
    return Booleans(array.fill_null(False).to_numpy(zero_copy_only=False), missing)

"""Effective boolean values of SPARQL, and the logic of three values: true, false, and missing."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow.compute as pc
from pyoxigraph import Literal

from everlog.datalog.comparing import LEXICAL
from everlog.datalog.values import XSD, Value
from everlog.expressions.columns import Booleans, Column, Doubles, Integers, Mask, Strings, joined
from everlog.expressions.numbers import NUMERIC, number

_WRITTEN: Final = {"true": True, "1": True, "false": False, "0": False}


def read_boolean(text: str) -> bool | None:
    """The boolean that a text denotes, if any."""
    return _WRITTEN.get(text)


def boolean(value: Value) -> bool | None:
    """The boolean that a value is, if it is one."""
    if isinstance(value, Literal) and value.datatype.value == XSD + "boolean":
        return read_boolean(value.value)
    return value if isinstance(value, bool) else None


def boolean_value(value: Value) -> bool | None:
    """Whether a value counts as true; None if it counts as neither.

    A string counts as true unless it is empty, and a number unless it is zero or NaN. A literal of a type of numbers or
    booleans that is written like none counts as false.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value != ""
    if isinstance(value, int | float):
        return value == value and value != 0
    if not isinstance(value, Literal):
        return None
    if value.language is not None:
        return value.value != ""
    name = value.datatype.value.removeprefix(XSD)
    if name == "boolean":
        return boolean(value) or False
    found = number(value)
    if found is not None:
        return bool(found == found and found != 0)
    return False if name in NUMERIC and not LEXICAL[name].fullmatch(value.value) else None


def truths(column: Column) -> Booleans:
    """The effective boolean values of a column."""
    if isinstance(column, Booleans):
        return column
    if isinstance(column, Integers):
        return Booleans(column.array != 0, column.missing)
    if isinstance(column, Doubles):
        return Booleans((column.array != 0) & ~np.isnan(column.array), column.missing)
    if isinstance(column, Strings):
        return Booleans(pc.binary_length(column.array).fill_null(0).to_numpy() > 0, column.missing)
    found = column.distinct()
    judged = [None if value is None else boolean_value(value) for value in found.values]
    gaps = np.array([one is None for one in judged], dtype=np.bool_)
    return Booleans(
        np.array([bool(one) for one in judged], dtype=np.bool_)[found.places],
        gaps[found.places] if gaps.any() else None,
    )


def negation(column: Column) -> Column:
    """`!`: true where a column is false."""
    found = truths(column)
    return Booleans(~found.array, found.missing)


def conjunction(left: Column, right: Column) -> Column:
    """`&&`: false where one side is false, and missing where neither is and one is missing."""
    return negation(disjunction(negation(left), negation(right)))


def disjunction(left: Column, right: Column) -> Column:
    """`||`: true where one side is true, and missing where neither is and one is missing."""
    one, other = truths(left), truths(right)
    true = holding(one) | holding(other)
    gaps = joined([one.missing, other.missing])
    return Booleans(true, None if gaps is None else gaps & ~true)


def holding(truth: Booleans) -> Mask:
    """Where a column of booleans is true."""
    return truth.array if truth.missing is None else truth.array & ~truth.missing

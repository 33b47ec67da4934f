"""Rows by groups: numbers for the distinct combinations of what some columns have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_DENSE: Final = 4
"""Values up to so many times as large as a column is long are numbered by an array that has a place for each."""


Number = TypeVar("Number", np.int32, np.int64, np.uint64)


def distinct_numbers(numbers: NDArray[Number]) -> NDArray[Number]:
    """Each number once, in order. (NumPy's own way hashes them, which takes ten times as long.)"""
    if is_dense(numbers):
        present = np.zeros(int(numbers.max()) + 1, np.bool_)
        present[numbers] = True
        return np.flatnonzero(present).astype(numbers.dtype)
    ordered = np.sort(numbers)
    new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]


def is_dense(numbers: NDArray[Any]) -> bool:
    """Whether numbers are none below zero and lie so close together that an array may have a place for each."""
    return bool(len(numbers)) and int(numbers.max()) < _DENSE * len(numbers) and int(numbers.min()) >= 0


def numbered(columns: Sequence[NDArray[Any]] | NDArray[Any], rows: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The number of each row's group, and for each group a row of it; without columns all rows are one group."""
    if not len(columns):
        return np.zeros(rows, np.intp), np.zeros(min(rows, 1), np.intp)
    codes, size = _encoded(columns[0])
    for column in columns[1:]:
        more, sizes = _encoded(column)
        codes, size = _encoded(codes.astype(np.int64) * sizes + more)
    some = np.empty(size, np.intp)
    some[codes] = np.arange(rows)
    return codes, some


def _encoded(column: NDArray[Any]) -> tuple[NDArray[np.intp], int]:
    if is_dense(column):
        present = np.zeros(int(column.max()) + 1, np.bool_)
        present[column] = True
        numbers = np.cumsum(present) - 1
        return numbers[column], int(numbers[-1]) + 1
    encoded = pa.array(column).dictionary_encode()
    return encoded.indices.to_numpy().astype(np.intp), len(encoded.dictionary)

"""Rows by groups: numbers for the distinct combinations of what some columns have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def numbered(columns: Sequence[NDArray[Any]] | NDArray[Any], rows: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The number of each row's group, and for each group a row of it; without columns all rows are one group."""
    if not len(columns):
        return np.zeros(rows, np.intp), np.zeros(min(rows, 1), np.intp)
    codes, size = _encoded(columns[0])
    for column in columns[1:]:
        more, sizes = _encoded(column)
        codes, size = _encoded(codes.astype(np.int64) * sizes + more)
    first = np.empty(size, np.intp)
    first[codes[::-1]] = np.arange(rows - 1, -1, -1)
    return codes, first


def _encoded(column: NDArray[Any]) -> tuple[NDArray[np.intp], int]:
    encoded = pa.array(column).dictionary_encode()
    return encoded.indices.to_numpy().astype(np.intp), len(encoded.dictionary)

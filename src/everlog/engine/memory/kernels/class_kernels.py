"""Kernels for classes of equal constants: union–find over ids."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _root(one, parent):
    while parent[one] != one:
        parent[one] = parent[parent[one]]
        one = parent[one]
    return one


@njit(cache=True, nogil=True)
def unite(left, right, parent):
    """Joins the trees of the ends of pairs."""
    for i in range(left.shape[0]):
        a, b = _root(left[i], parent), _root(right[i], parent)
        if a != b:
            parent[max(a, b)] = min(a, b)


@njit(cache=True, nogil=True)
def roots(ids, parent):
    out = np.empty(ids.shape[0], np.int32)
    for i in range(ids.shape[0]):
        out[i] = _root(ids[i], parent)
    return out

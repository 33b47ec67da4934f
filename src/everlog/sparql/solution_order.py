"""The order of solutions (section 15.1): what is unbound first, then blank nodes, IRIs and literals.

Literals are ordered as `<` has it and, where that says nothing, as `total_order.py` has it; what is equal, as `1` and `1.0`
are, leaves the decision to the next condition.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from everlog.expressions.columns import Booleans, Column, Doubles, Integers
from everlog.expressions.total_order import place_in_order
from everlog.sparql.solutions import Places


def sorted_places(columns: Sequence[tuple[Column, bool]], length: int) -> Places:
    """The places of rows in the order of some columns; of each, whether its greatest value comes first."""
    keys = [-_ranks(column) if greatest_first else _ranks(column) for column, greatest_first in columns]
    found: Places = np.lexsort(keys[::-1]) if keys else np.arange(length)
    return found


def _ranks(column: Column) -> NDArray[np.int64]:
    """Numbers in the order of a column's values, the same where these are equal; -1 where one is missing."""
    if isinstance(column, Integers | Booleans) or (isinstance(column, Doubles) and not np.isnan(column.array).any()):
        _, ranks = np.unique(column.array, return_inverse=True)
        found: NDArray[np.int64] = ranks.astype(np.int64)
        return found if column.missing is None else np.where(column.missing, -1, found)
    values, places = column.distinct()
    keys = {place: place_in_order(value)[:2] for place, value in enumerate(values) if value is not None}
    by_place = np.full(len(values), -1, np.int64)
    rank, before = -1, None
    for place in sorted(keys, key=keys.__getitem__):
        if keys[place] != before:
            rank, before = rank + 1, keys[place]
        by_place[place] = rank
    return by_place[places]

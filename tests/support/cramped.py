"""The memory engine with blocks and buffers so small that a handful of facts fills them.

What happens between blocks, at a full sink, between threads or when a set grows too large to be listed, then happens all
the time instead of once in a hundred thousand rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from everlog.engine.memory import tuning

CRAMPED: Final = (
    "BINDINGS_PER_BLOCK",
    "SHARED_TUPLES",
    "COLLECTED_TUPLES",
    "SHARED_DRIVER_ROWS",
    "FIRST_TUPLES",
    "FEW_TUPLES",
    "LISTED_ROWS",
    "SCANNED_ROWS",
    "SCANS_BEFORE_INDEX",
    "SOUGHT_ROWS",
    "SHARED_STEPS",
    "SOUGHT_SHARE",
    "LOOKS_BEFORE_INDEX",
    "MANY_MEMBERS",
    "GROUPED_ROWS",
    "GROUP_PLACES",
    "FEW_COUNTED",
)


@contextmanager
def cramped(size: int = 2) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in CRAMPED:
            patch.setattr(tuning, name, size)
        if size < tuning.CROWDED_KEY:  # literals that bind the same variable meet, and indexes for that cost nothing
            patch.setattr(tuning, "CROWDED_KEY", 0)
            patch.setattr(tuning, "INDEX_ROW_COST", 0.0)
        yield

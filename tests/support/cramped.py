"""The memory engine with blocks and buffers so small that a handful of facts fills them.

What happens between blocks, at a full sink, between threads or when a set grows too large to be listed, then happens all
the time instead of once in a hundred thousand rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from everlog.engine.memory import engine, join, matcher, rows, sinks, table


@contextmanager
def cramped(size: int = 2) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (engine, join, matcher):
            patch.setattr(module, "BLOCK", size)
        for module in (sinks, table):
            patch.setattr(module, "SHARED", size)
        patch.setattr(sinks, "LIMIT", size)
        patch.setattr(engine, "_SHARE", size)
        patch.setattr(table, "_FIRST", size)
        patch.setattr(rows, "_SMALL", size)
        yield

"""Python's collections of garbage, which wait while something reasons.

A full collection looks at every object of the process: at Numba's, at the rules, and at the user's own. That takes as long
as hundreds of rounds of few facts, and reasoning, which makes hardly any cycles, would cause one again and again: 400 rules
that find two facts in every round take 35 µs each instead of 55.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from everlog.interrupts import lasting

_SELDOM: Final = 100
"""Full collections are so many times as rare: work of hours may make cycles all the same, in code of the user's."""

_lock: Final = lasting(Lock())
_blocks = [0]
"""How many blocks there are, in all threads."""
_before = [0]
"""After how many collections of younger objects there was a full one outside of all blocks."""


@contextmanager
def few_collections() -> Iterator[None]:
    """A block, perhaps beside or inside of others, in which full collections are rare."""
    _enter(1)
    try:
        yield
    finally:
        _enter(-1)


def _enter(more: int) -> None:
    with _lock:
        _blocks[0] += more
        young, middle, old = gc.get_threshold()
        if more > 0 and _blocks[0] == 1:
            _before[0] = old
            gc.set_threshold(young, middle, old * _SELDOM)
        elif not _blocks[0] and old == _before[0] * _SELDOM:  # else somebody has set another one meanwhile
            gc.set_threshold(young, middle, _before[0])

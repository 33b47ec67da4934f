"""Python's full collections of garbage are rare while something reasons in memory.

A full collection looks at every object of the process: at Numba's, at the rules, and at the user's own. That takes as long
as hundreds of rounds of few facts, and reasoning, which makes hardly any cycles, would cause one again and again: 400 rules
that find two facts in every round take 35 µs each instead of 55.
"""

from __future__ import annotations

import gc
import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from everlog.interrupts import lasting

_SELDOM: Final = 100
"""Full collections are so many times as rare: work of hours may make cycles all the same, in code of the user's."""

_MOST: Final = 2**31 - 1
"""Python takes no larger threshold."""


class _Thresholds:
    """After how many collections of younger objects there is a full one: outside of all blocks, and in them."""

    def __init__(self) -> None:
        self._lock = lasting(threading.Lock())
        self._blocks = Counter[int]()
        """The blocks of each thread."""
        self._outside = self._inside = 0

    def enter(self, thread: int) -> None:
        with self._lock:
            if not self._blocks:
                young, middle, old = gc.get_threshold()
                self._outside, self._inside = old, min(old * _SELDOM, _MOST)
                gc.set_threshold(young, middle, self._inside)
            self._blocks[thread] += 1

    def leave(self, thread: int) -> None:
        with self._lock:
            self._keep(self._blocks - Counter([thread]))

    def forked(self) -> None:
        """Forgets the blocks of threads that are not in this process."""
        mine = threading.get_ident()
        self._keep(Counter({thread: blocks for thread, blocks in self._blocks.items() if thread == mine}))

    def _keep(self, blocks: Counter[int]) -> None:
        were, self._blocks = self._blocks, blocks
        young, middle, old = gc.get_threshold()
        if were and not blocks and old == self._inside:  # else somebody has set another one meanwhile
            gc.set_threshold(young, middle, self._outside)


_thresholds: Final = _Thresholds()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_thresholds.forked)


@contextmanager
def few_collections() -> Iterator[None]:
    """A block, perhaps beside or inside of others, in which full collections are rare."""
    thread = threading.get_ident()
    _thresholds.enter(thread)
    try:
        yield
    finally:
        _thresholds.leave(thread)

"""A limit for each thing that a process measures: what takes longer is given up, with everything that was known before.

A computation in compiled code cannot be interrupted, so the process ends; kernels and peers let other threads run, so that
the one which watches gets to say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer


class Watch:
    """Calls `give_up` with what was being measured, and the seconds it had, when it takes longer than that."""

    def __init__(self, seconds: float, give_up: Callable[[str, float], None]) -> None:
        self._seconds, self._give_up = seconds, give_up

    @contextmanager
    def over(self, what: str) -> Iterator[None]:
        timer = Timer(self._seconds, self._give_up, (what, self._seconds))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

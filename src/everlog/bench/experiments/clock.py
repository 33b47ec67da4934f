"""How experiments take time: the processor's, of a process in which one thread works.

On an idle machine that is what a clock on the wall says, to a few per cent; on a busy one it does not count what others
took. What reads from disk or has several threads cannot be measured so, and is not.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Final, TypeVar

T = TypeVar("T")

WORKERS: Final = 1
"""Threads of the engine in what is measured so."""


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What some work comes to, and its seconds."""
    begun = process_time()
    result = work()
    return result, process_time() - begun

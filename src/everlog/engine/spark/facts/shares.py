"""Long loops over rows of the driver, a share of the rows for each thread.

Loops let go of Python's lock, and most of their time they wait for memory, which two can do as well as one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Final, TypeVar

from everlog.engine.spark import tuning
from everlog.interrupts import aside

T = TypeVar("T")

PROCESSORS: Final = os.cpu_count() or 1


def shares(rows: int, most: int = tuning.MOST_SHARES) -> list[slice]:
    """So many rows in shares, at most so many, one after the other: one for each thread, and one alone if they are few."""
    number = min(PROCESSORS, most, tuning.MOST_SHARES, rows // tuning.SHARE_ROWS)
    if number < 2:
        return [slice(0, rows)]
    return [slice(start, stop) for start, stop in pairwise(rows * share // number for share in range(number + 1))]


def shared_out(rows: int, work: Callable[..., T], calls: Sequence[tuple[Any, ...]]) -> list[T]:
    """The results of some calls of a loop, a thread for each, over so many rows in all."""
    return aside(rows, _together, work, calls) if len(calls) > 1 else [aside(rows, work, *calls[0])]


def _together(work: Callable[..., T], calls: Sequence[tuple[Any, ...]]) -> list[T]:
    with ThreadPoolExecutor(len(calls) - 1, "everlog-share") as others:
        waiting = [others.submit(work, *call) for call in calls[1:]]
        return [work(*calls[0]), *(one.result() for one in waiting)]

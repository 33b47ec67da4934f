"""Where an update takes as long as starting again (*Revisited* 10.4, *Equality* 4), by binary search over its size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa

from benchmarks.workload import Instance

SHARES: Final = (0.25, 0.5, 0.75, 1.0)
"""Parts of a break-even point that are looked at."""
_STEPS: Final = 10
_CLOSE: Final = 0.025
_SHORT: Final = 0.5
"""Seconds."""


class Order:
    """The explicit facts in the order of one seed; a sample is a beginning of it, so that a larger contains a smaller."""

    def __init__(self, instance: Instance, seed: int = 0) -> None:
        self._instance = instance
        sizes = [table.num_rows for table in instance.facts.values()]
        self._ends = np.cumsum([0, *sizes])
        self._order = np.random.default_rng(seed).permutation(instance.size)

    def sample(self, size: int) -> dict[str, pa.Table]:
        return self._chosen(self._order[:size])

    def rest(self, size: int) -> Instance:
        """The instance without a sample."""
        return Instance(self._instance.program, self._chosen(self._order[size:]))

    def _chosen(self, numbers: np.ndarray[Any, Any]) -> dict[str, pa.Table]:
        found = {}
        numbers = np.sort(numbers)
        for place, (predicate, table) in enumerate(self._instance.facts.items()):
            first, last = self._ends[place : place + 2]
            here = numbers[(numbers >= first) & (numbers < last)] - first
            if len(here):
                found[predicate] = table.take(pa.array(here))
        return found


def break_even(
    explicit: int, update: Callable[[int], float], again: Callable[[int], float]
) -> tuple[int, list[dict[str, Any]]]:
    """The size, and what was measured on the way to it; both take a size and give seconds.

    The search ends when both differ by less than 2.5% of their average, or after ten steps. A wrong turn is never made
    good, so what takes little time, and may be disturbed by anything, is measured twice.
    """
    lo, hi, steps = 0, explicit, []
    size = explicit // 2
    for _ in range(_STEPS):
        steps.append({"size": size, "seconds": _least(update, size), "again": _least(again, size)})
        seconds, anew = steps[-1]["seconds"], steps[-1]["again"]
        if abs(seconds - anew) < _CLOSE * (seconds + anew) / 2:
            break
        lo, hi = (size, hi) if seconds < anew else (lo, size)
        if (lo + hi) // 2 in (0, size):
            break
        size = (lo + hi) // 2
    return size, steps


def _least(measure: Callable[[int], float], size: int) -> float:
    first = measure(size)
    return min(first, measure(size)) if first < _SHORT else first

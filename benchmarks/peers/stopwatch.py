"""Seconds by the clock and of the processors, of this process and of those that it has waited for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from time import perf_counter, process_time


@dataclass(frozen=True)
class Lap:
    seconds: float
    processor: float


class Stopwatch:
    def __init__(self) -> None:
        self._last = self._now()

    def lap(self) -> Lap:
        """What has passed since the last lap, or since the beginning."""
        before, self._last = self._last, self._now()
        return Lap(self._last.seconds - before.seconds, self._last.processor - before.processor)

    @staticmethod
    def _now() -> Lap:
        times = os.times()
        return Lap(perf_counter(), process_time() + times.children_user + times.children_system)

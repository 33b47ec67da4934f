"""The seconds that are spent on reasoning: a clock that leaves out what happens once per machine, as compiling does."""

from __future__ import annotations

from time import perf_counter

_left_out = [0.0]


def now() -> float:
    """A moment; two of them differ by the seconds between them, without those that are left out."""
    return perf_counter() - _left_out[0]


def leave_out(seconds: float) -> None:
    """Takes the last seconds for nothing."""
    _left_out[0] += seconds


def left_out() -> float:
    """All seconds that were left out so far."""
    return _left_out[0]

"""How long the strata of a program take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import perf_counter

from everlog.planning.compiled_program import CompiledStratum


def timed(strata: Iterable[CompiledStratum], seconds: dict[int, float]) -> Iterator[CompiledStratum]:
    """The strata one by one; what is done with each, until the next is asked for, is noted by its index."""
    for stratum in strata:
        started = perf_counter()
        yield stratum
        seconds[stratum.index] = perf_counter() - started

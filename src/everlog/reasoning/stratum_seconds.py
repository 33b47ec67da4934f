"""How long the strata of a program take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from everlog import clock
from everlog.planning.compiled_program import CompiledStratum


def timed(strata: Iterable[CompiledStratum], seconds: dict[int, float]) -> Iterator[CompiledStratum]:
    """The strata one by one; what is done with each, until the next is asked for, is noted by its index."""
    for stratum in strata:
        started = clock.now()
        yield stratum
        seconds[stratum.index] = clock.now() - started

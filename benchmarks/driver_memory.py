"""The driver's memory over the rounds of a run: that of this process, and the JVM's heap after a garbage collection."""

from __future__ import annotations

import resource
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SOME: Final = 10
"""So many rounds at either end are looked at."""
_MIB: Final = 2**20


class DriverMemory:
    """Told of each round, it notes the memory after the first and after the last of them."""

    def __init__(self, spark: SparkSession, rounds: int) -> None:
        self._spark = spark
        self._rounds = rounds
        self._seen = 0
        self.first: list[tuple[int, int]] = []
        self.last: list[tuple[int, int]] = []
        """Bytes of this process, and of the heap."""

    def __call__(self, stratum: int, number: int, new: int) -> None:
        self._seen += 1
        if self._seen <= _SOME:
            self.first.append(self._now())
        elif self._seen > self._rounds - _SOME:
            self.last.append(self._now())

    def _now(self) -> tuple[int, int]:
        return resident_bytes(), heap_bytes(self._spark)

    def summary(self) -> str:
        """The medians of both ends."""
        (process, heap), (process_after, heap_after) = (
            [median(one) for one in zip(*seen, strict=True)] for seen in (self.first, self.last)
        )
        return (
            f"memory in the first {len(self.first)} rounds and the last {len(self.last)}: this process "
            f"{process / _MIB:,.0f} and {process_after / _MIB:,.0f} MiB, the JVM's heap after a collection "
            f"{heap / _MIB:,.0f} and {heap_after / _MIB:,.0f} MiB"
        )


def resident_bytes() -> int:
    """The memory that this process has now."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * resource.getpagesize()


def heap_bytes(spark: SparkSession) -> int:
    """The heap of the session's driver that is in use once its garbage is collected."""
    jvm = spark.sparkContext._jvm
    assert jvm is not None, "a session of this process"
    jvm.java.lang.System.gc()
    machine = jvm.java.lang.Runtime.getRuntime()
    return int(machine.totalMemory() - machine.freeMemory())

"""The row `many` of `script/bench run spark`: rules about universities over many triples, with the memory engine beside it.

The triples are copies of one university, in a table of this process. Each engine is given them, materialises, and deletes
and adds a thousand of them, the second time with what the first one has made for it. Seconds are the clock's, and in
brackets the processor's of this process and of Spark's.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from benchmarks.workload import BenchmarkMistake
from everlog import KnowledgeBase

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COPIES: Final = (10, 100)
CHANGED: Final = 1_000

Line = Callable[[str], None]


def run_many(spark: SparkSession, repeat: int, say: Line) -> None:
    """Says a line for each engine and size; both engines must have the same numbers of facts."""
    from benchmarks.workloads.lubm import LUBM

    _told(LUBM.build(1), spark, lambda line: None)  # which loads what is compiled
    for copies in COPIES:
        _told(LUBM.build(copies), spark, say)


def _told(instance: Any, spark: SparkSession, say: Line) -> None:
    triples: pa.Table = instance.facts["triple"]
    gone = triples.take(np.random.default_rng(1).choice(triples.num_rows, CHANGED, replace=False))
    sizes = []
    for engine in ("memory", "spark"):
        kb = KnowledgeBase(instance.program, engine=engine, spark=spark)
        given, _ = _taken(partial(kb.add, {"triple": triples}))
        took, report = _taken(kb.materialise)
        updates: list[tuple[dict[str, Any], dict[str, Any]]] = [({}, {"triple": gone}), ({"triple": gone}, {})]
        changes = [_taken(partial(kb.update, more, fewer)) for more, fewer in updates * 2]
        sizes.append([one.facts["total"] for one in (report, *(one for _, one in changes))])
        jobs = "" if report.spark is None else f", {report.spark['jobs']} jobs"
        first, _, deleted, added = (seconds for seconds, _ in changes)
        say(
            f"many, {engine}: {triples.num_rows:,} triples given in {given}, {report.facts['total']:,} facts in {took}, "
            f"{report.rounds} rounds{jobs}; {CHANGED:,} deleted in {deleted}, the first time in {first}, added in {added}"
        )
    if sizes[0] != sizes[1]:
        raise BenchmarkMistake(f"facts in memory are {sizes[0]}, and on Spark {sizes[1]}")


def _taken(work: Callable[[], Any]) -> tuple[str, Any]:
    """What some work takes by the clock and of processors, and what it gives."""
    begun, processor = perf_counter(), process_time() + _of_spark()
    found = work()
    took = perf_counter() - begun
    return f"{took:.2f} s ({process_time() + _of_spark() - processor:.2f})", found


def _of_spark() -> float:
    """The processor's seconds of the processes that this one has started, and of theirs that have ended."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[1]) == os.getpid():
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")

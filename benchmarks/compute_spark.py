"""The rows of `script/bench run compute` on Spark, beside the memory engine: the same facts, the same results.

A run is given its facts before the clock starts. How many rounds a run takes is that of the engine: Spark follows best
facts round by round where memory settles them in order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.workload import BenchmarkMistake
from everlog import KnowledgeBase, Report

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHANGED: Final = 1_000

Facts = Mapping[str, Any]
Say = Callable[[str], None]


def run_on_spark(works: Mapping[str, tuple[str, str, Facts]], repeat: int, master: str | None, say: Say) -> None:
    """Measures programs, each with the relation that is compared and its facts, and says a line for each."""
    from everlog.spark.session import start_session

    spark = start_session(master=master or "local[*]")
    try:
        _seconds(_given("warm(?x, ?y) :- e(?x), BIND(?x + 1 AS ?y) .", {"e": [(1,)]}, spark).materialise)
        for name, (program, relation, facts) in works.items():
            say(f"{name} on Spark: {_compared(program, relation, facts, repeat, spark)}")
    finally:
        spark.stop()


def _compared(program: str, relation: str, facts: Facts, repeat: int, spark: SparkSession) -> str:
    seconds: dict[str, float] = {}
    changed: dict[str, list[float]] = {"memory": [], "spark": []}
    sums: dict[str, list[tuple[int, Any]]] = {"memory": [], "spark": []}
    rounds = 0
    name, table = next((name, one) for name, one in facts.items() if isinstance(one, pa.Table))
    gone = table.take(np.random.default_rng(1).choice(table.num_rows, CHANGED, replace=False))
    for engine in ("memory", "spark"):
        runs = []
        for _ in range(repeat):
            kb = _given(program, facts, spark if engine == "spark" else None)
            took, report = _seconds(kb.materialise)
            runs.append(took)
            rounds = report.rounds
        seconds[engine] = median(runs)
        sums[engine].append(_summed(kb, relation))
        for more, fewer in (({}, {name: gone}), ({name: gone}, {})) * 2:
            took, _ = _seconds(partial(kb.update, more, fewer))
            changed[engine].append(took)
            sums[engine].append(_summed(kb, relation))
    if sums["memory"] != sums["spark"]:
        raise BenchmarkMistake(
            f"facts of {relation} and their sums are {sums['memory']} and, on Spark, {sums['spark']}"
        )
    mine, theirs = seconds["spark"], seconds["memory"]
    deleted, added = (changed["spark"][place] for place in (2, 3))
    beside = [f"{changed['memory'][place]:.3f}" for place in (2, 3)]
    by_round = f" in {rounds} {'round' if rounds == 1 else 'rounds'}, {mine / rounds:.2f} s each" if rounds else ""
    return (
        f"{mine:.2f} s{by_round}; in memory {theirs:.2f} s, {mine / theirs:.0f} times as fast; "
        f"{CHANGED:,} deleted in {deleted:.2f} s and added in {added:.2f} s, in memory in {' and '.join(beside)} s; "
        f"both engines have the same {sums['spark'][0][0]:,} facts, after updates too"
    )


def _given(program: str, facts: Facts, spark: SparkSession | None) -> KnowledgeBase:
    kb = KnowledgeBase(program, engine="memory" if spark is None else "spark", spark=spark)
    kb.add(facts)
    return kb


def _summed(kb: KnowledgeBase, relation: str) -> tuple[int, Any]:
    """How many facts a relation has, and the sum of their last arguments."""
    table = kb.facts(relation)
    return table.num_rows, pc.sum(table.column(table.num_columns - 1)).as_py()


def _seconds(work: Callable[[], Report]) -> tuple[float, Report]:
    begun = perf_counter()
    report = work()
    return perf_counter() - begun, report

"""Rows of the benchmark `spark` about the shapes of graphs: connected components, and a hub.

* `components`: rounds and seconds of large-star and small-star, which GraphFrames alternates too; others who published it
  report fewer than ten rounds on graphs of billions of edges (github.com/kwartile/connected-component).
* `hub`: a round in which a million edges meet in one node, against one in which they do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.datalog.reader import parse_program
from everlog.engine.spark import tuning
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.runs import Run
from everlog.engine.spark.graphs.components import components
from everlog.knowledge.base import KnowledgeBase

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Line = Callable[[str], None]
TWO_STEPS: Final = parse_program("two(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .")


@contextmanager
def nothing_on_the_driver() -> Iterator[None]:
    """Every step is a job of Spark's, however few facts there are: what is measured is a round of Spark's."""
    before, tuning.DRIVER_FACTS = tuning.DRIVER_FACTS, 0
    try:
        yield
    finally:
        tuning.DRIVER_FACTS = before


class _Counting(SparkEngine):
    """Counts what it computes."""

    runs = 0

    def run(self, *given: Any, **named: Any) -> Run:
        self.runs += 1
        return super().run(*given, **named)


def _no_terms(texts: pa.Array) -> NDArray[np.int64]:
    assert not len(texts), "graphs of numbers mention no values"
    return np.empty(0, np.int64)


@nothing_on_the_driver()
def run_components(spark: SparkSession, repeat: int, say: Line, size: int = 500_000) -> None:
    """A chain whose numbers are in no order, and a random graph of as many nodes."""
    for name, edges in (("chain", shuffled_chain(spark, size)), ("random graph", random_graph(spark, size))):
        edges = edges.persist()
        count = edges.count()
        seconds, rounds, found = [], 0, 0
        for _ in range(repeat):
            engine = _Counting(spark, None, _no_terms)
            facts = engine.facts({"edge": edges})
            before = engine.runs
            begun = perf_counter()
            labels = components(engine, f"(SELECT a0 AS x, a1 AS y FROM {facts.table()})", len(facts))
            seconds.append(perf_counter() - begun)
            rounds = engine.runs - before - 2  # the first prepares edges, the last gives labels to nodes
            ((found,),) = engine.spark.sql(f"SELECT count(DISTINCT a1) FROM {labels.view()}").collect()
            engine.release()
        say(
            f"components of a {name} of {count:,} edges: {found:,} in {rounds} rounds of one job each, "
            f"{median(seconds):.1f} s"
        )
        edges.unpersist()


def shuffled_chain(spark: SparkSession, size: int) -> DataFrame:
    """Edges from each number to the next in an order that is a permutation of them."""
    step = _coprime(size)
    return spark.range(size - 1).selectExpr(f"(id * {step}) % {size} AS a0", f"((id + 1) * {step}) % {size} AS a1")


def _coprime(size: int) -> int:
    """A number without a common divisor, whose multiples are far from sorted."""
    from math import gcd

    step = int(size * 0.618) | 1
    while gcd(step, size) != 1:
        step += 2
    return step


def random_graph(spark: SparkSession, size: int) -> DataFrame:
    return spark.range(size).selectExpr(f"pmod(xxhash64(id, 1), {size}) AS a0", f"pmod(xxhash64(id, 2), {size}) AS a1")


@nothing_on_the_driver()
def run_hub(spark: SparkSession, repeat: int, say: Line, size: int = 1_000_000) -> None:
    seconds = {}
    for nodes in (1, 1_000):
        edges = meeting(spark, size, nodes).persist()
        edges.count()
        runs = []
        for _ in range(repeat + 1):  # the first warms up
            kb = KnowledgeBase(TWO_STEPS, engine="spark", spark=spark, modules="off")
            kb.add({"edge": edges})
            begun = perf_counter()
            report = kb.materialise()
            runs.append(perf_counter() - begun)
            assert report.facts["total"] - report.facts["explicit"] == size, "every edge has one that follows it"
        seconds[nodes] = median(runs[1:])
        edges.unpersist()
    say(
        f"hub: {size:,} edges meet in one node and are followed by another edge in {seconds[1]:.1f} s, "
        f"{seconds[1] / seconds[1_000]:.2f} times what it takes where they meet in 1,000 nodes"
    )


def meeting(spark: SparkSession, size: int, nodes: int) -> DataFrame:
    """So many edges to some nodes, and one from each of these."""
    into = spark.range(size).selectExpr("id + 1000000 AS x", f"id % {nodes} AS y")
    return into.unionAll(spark.range(nodes).selectExpr("id AS x", "-1 - id AS y"))

"""Spark's own recursive query, in local mode.

It knows `UNION ALL` alone: rows that come again are kept, so that a graph with many paths between two nodes, or with a
cycle, has no result; Spark is told to give up after some millions of rows. And it may name itself only once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import chain
from typing import Final

from benchmarks.encoding import NotExpressible
from benchmarks.job import Job
from benchmarks.peers.peer import Measurement, Peer
from benchmarks.relational import Relational
from benchmarks.sql import LAST_ROUND, branches, only_stratum

ROWS: Final = 5_000_000


def _query(work: Relational) -> str:
    stratum = only_stratum(work)
    if stratum.extreme(stratum.relations[0]) is not None:
        raise NotExpressible("a minimum that rules refine")
    columns, start, steps = branches(stratum)
    if any(len(drivers) > 1 for drivers in steps):
        raise NotExpressible("a rule with several recursive atoms; Spark's query may name itself once")
    if len(steps) > 1:
        raise NotExpressible("several recursive rules; Spark's query may name itself once")
    query = " UNION ALL ".join([*start, *chain(*steps)])
    return f"WITH RECURSIVE {LAST_ROUND}({columns}) AS ({query}) SELECT DISTINCT {columns} FROM {LAST_ROUND}"


def _measure(job: Job, options: Mapping[str, str]) -> Measurement:
    import pyarrow as pa

    from everlog.spark.session import start_session

    (derived,) = (relation for relation in job.relations if relation.derived)
    limits = {"spark.sql.cteRecursionRowLimit": str(ROWS), "spark.sql.cteRecursionLevelLimit": "2000"}
    spark = start_session(conf=limits)
    try:
        began = time.perf_counter()
        for relation in job.relations:
            if relation.rows:
                facts = pa.ipc.open_file(pa.memory_map(str(job.relation_file(relation, "arrow")))).read_all()
                frame = spark.createDataFrame(facts).persist()
                frame.count()
                frame.createOrReplaceTempView(relation.name)
            elif not relation.derived:
                columns = ", ".join(f"a{position} bigint" for position in range(relation.arity))
                spark.createDataFrame([], columns).createOrReplaceTempView(relation.name)
        loaded = time.perf_counter()
        found = spark.sql(job.texts["spark"]).persist().count()
        done = time.perf_counter()
        return Measurement(
            version=spark.version,
            load_seconds=loaded - began,
            reasoning_seconds=done - loaded,
            facts=job.by_predicate({derived.name: found}),
            settings={"master": str(spark.conf.get("spark.master"))},
        )
    except Exception as failure:
        # What Java reports here is no PySparkException, and as long as the query.
        if "RECURSION_ROW_LIMIT_EXCEEDED" not in str(failure):
            raise
        raise RuntimeError(f"gave up after {ROWS:,} rows, since those that come again are kept") from None
    finally:
        spark.stop()
        _wait_for_java()


def _wait_for_java() -> None:
    """Java's memory is counted as this process's when it was waited for; it ends when nobody talks to it any more."""
    from pyspark import SparkContext

    started = getattr(getattr(SparkContext, "_gateway", None), "proc", None)
    if started is not None:
        started.stdin.close()
        started.wait(timeout=60)


SPARK = Peer(
    "spark",
    form="arrow",
    timed="WITH RECURSIVE … UNION ALL and DISTINCT, from cached tables to a cached table; starting Spark is not counted",
    measure=_measure,
    translate=_query,
)

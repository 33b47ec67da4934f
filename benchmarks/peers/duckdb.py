"""DuckDB: one recursive query with `UNION`, its result kept as a table."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from benchmarks.job import Job
from benchmarks.peers.peer import Measurement, Peer
from benchmarks.sql import recursive_query


def _measure(job: Job, options: Mapping[str, str]) -> Measurement:
    import duckdb
    import pyarrow as pa

    (derived,) = (relation for relation in job.relations if relation.derived)
    connection = duckdb.connect()
    began = time.perf_counter()
    for relation in job.relations:
        columns = ", ".join(f"a{position} BIGINT" for position in range(relation.arity))
        connection.execute(f"CREATE TABLE {relation.name} ({columns})")
        if relation.rows:
            facts = pa.ipc.open_file(pa.memory_map(str(job.relation_file(relation, "arrow")))).read_all()
            connection.register("facts", facts)
            connection.execute(f"INSERT INTO {relation.name} SELECT * FROM facts")
            connection.unregister("facts")
    loaded = time.perf_counter()
    connection.execute(f"CREATE TABLE result AS {job.texts['duckdb']}")
    done = time.perf_counter()
    return Measurement(
        version=duckdb.__version__,
        load_seconds=loaded - began,
        reasoning_seconds=done - loaded,
        facts=job.by_predicate({derived.name: _number(connection, "SELECT count(*) FROM result")}),
        settings={"threads": str(_number(connection, "SELECT current_setting('threads')"))},
    )


def _number(connection: Any, query: str) -> int:
    row = connection.execute(query).fetchone()
    return int(row[0])


DUCKDB = Peer(
    "duckdb",
    form="arrow",
    timed="CREATE TABLE … AS WITH RECURSIVE …, from tables in memory to a table in memory",
    measure=_measure,
    translate=recursive_query,
)

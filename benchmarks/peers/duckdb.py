"""DuckDB: for each derived relation one recursive query with `UNION`, its result kept as a table.

Where a relation keeps minima, the query is `USING KEY`. Relations that depend on each other are no recursive query; the
peer `duckdb-rounds` has them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benchmarks.job import Job
from benchmarks.peers.peer import Measurement, Peer
from benchmarks.peers.stopwatch import Stopwatch
from benchmarks.relational import Relational
from benchmarks.sql import recursive_query, strata


def loaded(job: Job) -> Any:
    """A connection whose tables have the job's facts."""
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect()
    for relation in job.relations:
        columns = ", ".join(f"a{position} BIGINT" for position in range(relation.arity))
        connection.execute(f"CREATE TABLE {relation.name} ({columns})")
        if relation.rows:
            facts = pa.ipc.open_file(pa.memory_map(str(job.relation_file(relation, "arrow")))).read_all()
            connection.register("facts", facts)
            connection.execute(f"INSERT INTO {relation.name} SELECT * FROM facts")
            connection.unregister("facts")
    return connection


def counted(job: Job, connection: Any) -> dict[str, int]:
    return job.by_predicate(
        {
            relation.name: _number(connection, f"SELECT count(*) FROM {relation.name}")
            for relation in job.relations
            if relation.derived
        }
    )


def summed(job: Job, connection: Any, extremes: Mapping[str, int]) -> dict[str, int]:
    """The sums of what relations keep the minima or maxima of, by predicate."""
    return {
        relation.predicate: _number(connection, f"SELECT coalesce(sum(a{place}), 0) FROM {relation.name}")
        for relation in job.relations
        if (place := extremes.get(relation.name)) is not None
    }


def threads(connection: Any) -> str:
    return str(_number(connection, "SELECT current_setting('threads')"))


def _queries(work: Relational) -> str:
    found = strata(work)
    extremes = {
        relation.name: extreme.place
        for stratum in found
        for relation in stratum.relations
        if (extreme := stratum.extreme(relation)) is not None
    }
    queries = [(stratum.relations[0].name, recursive_query(stratum)) for stratum in found]
    return json.dumps({"queries": queries, "extremes": extremes})


def _measure(job: Job, options: Mapping[str, str]) -> Measurement:
    import duckdb

    content = json.loads(job.texts["duckdb"])
    watch = Stopwatch()
    connection = loaded(job)
    load = watch.lap()
    for name, query in content["queries"]:
        connection.execute(f"CREATE TABLE result AS {query}")
        connection.execute(f"DROP TABLE {name}")
        connection.execute(f"ALTER TABLE result RENAME TO {name}")
    reasoning = watch.lap()
    return Measurement(
        version=duckdb.__version__,
        load_seconds=load.seconds,
        reasoning_seconds=reasoning.seconds,
        processor_seconds=reasoning.processor,
        facts=counted(job, connection),
        sums=summed(job, connection, content["extremes"]),
        settings={"threads": threads(connection)},
    )


def _number(connection: Any, query: str) -> int:
    row = connection.execute(query).fetchone()
    return int(row[0])


DUCKDB = Peer(
    "duckdb",
    form="arrow",
    timed="CREATE TABLE … AS WITH RECURSIVE …, from tables in memory to a table in memory",
    measure=_measure,
    translate=_queries,
)

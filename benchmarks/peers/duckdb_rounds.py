"""DuckDB as a Datalog engine: a script that evaluates rules round by round, as RecStep does on another database.

For each derived relation there is a table of all facts and one of those that the last round added. A round makes one
query of the rules of a relation, with one branch for each recursive atom, which is matched in the last round; what is
known goes out. So it says what a recursive query cannot: relations that depend on each other, and negation in between.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benchmarks.job import Job
from benchmarks.peers.duckdb import counted, loaded, summed, threads
from benchmarks.peers.peer import Measurement, Peer
from benchmarks.peers.stopwatch import Stopwatch
from benchmarks.relational import Relation, Relational
from benchmarks.sql import SqlStratum, columns_of, select, strata
from everlog.datalog.syntax import Atom, Rule


def _script(work: Relational) -> str:
    return json.dumps([[_described(stratum, relation) for relation in stratum.relations] for stratum in strata(work)])


def _described(stratum: SqlStratum, relation: Relation) -> dict[str, Any]:
    rules = [rule for rule in stratum.rules if rule.head.predicate == relation.name]
    extreme = stratum.extreme(relation)
    return {
        "name": relation.name,
        "columns": columns_of(relation),
        "start": [select(rule, lambda at, atom: atom.predicate) for rule in rules if not stratum.recursive(rule)],
        "steps": [_step(rule, driver) for rule in rules for driver in stratum.recursive(rule)],
        "extreme": None if extreme is None else [extreme.place, extreme.function],
    }


def _step(rule: Rule, driver: int) -> str:
    def table(at: int, atom: Atom) -> str:
        return f"{atom.predicate}_last" if at == driver else atom.predicate

    return select(rule, table)


def _measure(job: Job, options: Mapping[str, str]) -> Measurement:
    import duckdb

    script = json.loads(job.texts["duckdb-rounds"])
    watch = Stopwatch()
    connection = loaded(job)
    load = watch.lap()
    rounds = 0
    for stratum in script:
        rounds += _evaluated(connection, stratum)
    reasoning = watch.lap()
    extremes = {one["name"]: one["extreme"][0] for stratum in script for one in stratum if one["extreme"]}
    return Measurement(
        version=duckdb.__version__,
        load_seconds=load.seconds,
        reasoning_seconds=reasoning.seconds,
        processor_seconds=reasoning.processor,
        facts=counted(job, connection),
        sums=summed(job, connection, extremes),
        settings={"threads": threads(connection), "rounds": str(rounds)},
    )


def _evaluated(connection: Any, stratum: list[dict[str, Any]]) -> int:
    """Rounds until no relation of the stratum has new facts; how many there were."""
    for one in stratum:
        name = one["name"]
        connection.execute(f"ALTER TABLE {name} RENAME TO {name}_given")
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_given LIMIT 0")
        _found(connection, one, [f"SELECT * FROM {name}_given", *one["start"]])
    rounds = 1
    while _entered(connection, stratum):
        rounds += 1
        for one in stratum:
            _found(connection, one, one["steps"])
    return rounds


def _found(connection: Any, one: dict[str, Any], queries: list[str]) -> None:
    """Makes the table of what queries find that is not known yet, or better than what is."""
    name, columns = one["name"], one["columns"]
    if not queries:
        connection.execute(f"CREATE OR REPLACE TABLE {name}_new AS SELECT * FROM {name} LIMIT 0")
        return
    union = " UNION ALL ".join(queries)
    if one["extreme"] is None:
        same = " AND ".join(f"k.{column} = s.{column}" for column in columns) or "true"
        query = f"SELECT DISTINCT * FROM ({union}) s WHERE NOT EXISTS (SELECT 1 FROM {name} k WHERE {same})"
    else:
        place, function = one["extreme"]
        value = columns[place]
        keys = [column for column in columns if column != value]
        best = ", ".join(f"{function}({column}) AS {column}" if column == value else column for column in columns)
        same = " AND ".join(f"k.{key} = s.{key}" for key in keys)
        better = f"k.{value} {'<=' if function == 'MIN' else '>='} s.{value}"
        query = (
            f"SELECT * FROM (SELECT {best} FROM ({union}) GROUP BY {', '.join(keys)}) s "
            f"WHERE NOT EXISTS (SELECT 1 FROM {name} k WHERE {same} AND {better})"
        )
    connection.execute(f"CREATE OR REPLACE TABLE {name}_new AS {query}")


def _entered(connection: Any, stratum: list[dict[str, Any]]) -> bool:
    """Whether there are new facts, which are then known and those of the last round."""
    some = False
    for one in stratum:
        name = one["name"]
        if one["extreme"] is not None:
            keys = [column for at, column in enumerate(one["columns"]) if at != one["extreme"][0]]
            same = " AND ".join(f"{name}.{key} = n.{key}" for key in keys)
            connection.execute(f"DELETE FROM {name} USING {name}_new n WHERE {same}")
        some |= bool(connection.execute(f"INSERT INTO {name} SELECT * FROM {name}_new").fetchone()[0])
        connection.execute(f"DROP TABLE IF EXISTS {name}_last")
        connection.execute(f"ALTER TABLE {name}_new RENAME TO {name}_last")
    return some and any(one["steps"] for one in stratum)


DUCKDB_ROUNDS = Peer(
    "duckdb-rounds",
    form="arrow",
    timed="a script of queries, round by round, from tables in memory to tables in memory",
    measure=_measure,
    translate=_script,
)

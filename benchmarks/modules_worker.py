"""Measures one system on one row: `python -m benchmarks.modules_worker BENCH ROW SYSTEM REQUEST`.

A process of its own, so that systems do not share memory. What it measured is the last line that it prints; where a
single measurement takes too long, that is what was measured before.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

from benchmarks.modules import BENCHES, DUCKDB, OFF, SMALL
from benchmarks.updates_worker import Samples
from benchmarks.watch import Watch
from benchmarks.workload import Instance
from everlog.errors import EverlogError

Stopped = Callable[[dict[str, Any]], None]
"""Is told what was measured when the next measurement takes too long, and does not return."""


def measure(
    instance: Instance, system: str, asked: Mapping[str, Any], stopped: Stopped | None = None
) -> dict[str, Any]:
    """What `Measured` has but for the process's memory."""
    content: dict[str, Any] = {"materialise": [], "updates": {}, "changed": {}}

    def give_up(what: str, seconds: float) -> None:
        content["over"] = {what: seconds}
        if not content["materialise"]:
            content["status"] = f"more than {seconds:g} s"
        if stopped is not None:
            stopped(content)

    watch = Watch(asked["longest"], give_up)
    (_duckdb if system == DUCKDB else _everlog)(instance, system, asked, watch, content)
    return content


def _everlog(instance: Instance, system: str, asked: Mapping[str, Any], watch: Watch, content: dict[str, Any]) -> None:
    from everlog import KnowledgeBase, parse_program

    program = parse_program(instance.program)
    options = {"engine": "memory", asked["option"]: "off" if system == OFF else "auto", **asked["options"]}
    samples, heads = Samples(instance.facts), sorted({rule.head.predicate for rule in program.rules})
    began = perf_counter()
    for number in range(asked["repeat"]):
        if number and perf_counter() - began > asked["limit"]:
            break
        kb: Any = KnowledgeBase(program, **options)
        kb.add(instance.facts)
        with watch.over("materialise"):
            report: Any = kb.materialise()
        content["materialise"].append(report.seconds["reasoning"])
        content["explicit"] = report.facts["explicit"]
        content["facts"] = sum(kb.size(predicate) for predicate in heads)
        content["state_bytes"] = report.state_bytes
        content["modules"] = [f"{one['kind']} of {', '.join(one['predicates'])}" for one in report.modules]
        for size in dict.fromkeys((min(SMALL, instance.size // 4), instance.size // 4)):
            sample = samples.of(size, seed=number)
            for way in ("delete", "add"):
                what = f"{way} {size}"
                started = perf_counter()
                with watch.over(what):
                    report = kb.update(**{way: sample})
                content["updates"].setdefault(what, []).append(perf_counter() - started)
                content["changed"].setdefault(what, report.added - report.deleted)


def _duckdb(instance: Instance, system: str, asked: Mapping[str, Any], watch: Watch, content: dict[str, Any]) -> None:
    try:
        import duckdb
    except ImportError as missing:
        content["status"] = f"absent: {missing}"
        return
    import pyarrow as pa

    from benchmarks.relational import relational
    from benchmarks.sql import only_stratum, recursive_query
    from everlog.datalog.reader import parse_program

    work = relational(parse_program(instance.program), instance)
    query = recursive_query(only_stratum(work))
    content["explicit"] = instance.size
    began = perf_counter()
    for number in range(asked["repeat"]):
        if number and perf_counter() - began > asked["limit"]:
            break
        with duckdb.connect() as connection:
            for relation in work.relations:
                columns = [f"a{position}" for position in range(relation.arity)]
                connection.execute(f"CREATE TABLE {relation.name} ({', '.join(f'{name} BIGINT' for name in columns)})")
                if relation.rows:
                    facts = pa.table(dict(zip(columns, relation.columns, strict=True)))
                    connection.register("facts", facts)
                    connection.execute(f"INSERT INTO {relation.name} SELECT * FROM facts")
                    connection.unregister("facts")
            started = perf_counter()
            with watch.over("materialise"):
                connection.execute(f"CREATE TABLE result AS {query}")
            content["materialise"].append(perf_counter() - started)
            row = connection.execute("SELECT count(*) FROM result").fetchone()
            content["facts"] = int(row[0]) if row is not None else 0


def main(argv: Sequence[str]) -> int:
    bench, name, system, asked = argv
    subject = BENCHES[bench].rows[name]
    build = subject.peer if system == DUCKDB and subject.peer is not None else subject.instance
    try:
        print(json.dumps(measure(build(), system, json.loads(asked), _say_and_end)))
    except EverlogError as mistake:
        print(mistake, file=sys.stderr)
        return 2
    return 0


def _say_and_end(content: dict[str, Any]) -> None:
    print(json.dumps(content), flush=True)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

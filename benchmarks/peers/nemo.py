"""Nemo, through its Python module. It reads its files when it first needs them, so loading is part of its reasoning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import metadata

from benchmarks.job import Job
from benchmarks.peers.peer import Measurement, Peer
from benchmarks.peers.stopwatch import Stopwatch
from benchmarks.relational import Relational
from benchmarks.translate import NEMO as DIALECT
from benchmarks.translate import rule_text


def _program(work: Relational) -> str:
    outputs = [f"@output {relation.name} ." for relation in work.relations if relation.derived]
    return "\n".join([*(rule_text(rule, DIALECT) for rule in work.rules), *outputs])


def _measure(job: Job, options: Mapping[str, str]) -> Measurement:
    import nmo_python

    imports = [
        f"@import {relation.name} :- csv{{resource={json.dumps(str(job.relation_file(relation, 'csv')))}, "
        f"format=({','.join(['int'] * relation.arity)})}} ."
        for relation in job.relations
        if relation.rows
    ]
    watch = Stopwatch()
    engine = nmo_python.NemoEngine(nmo_python.load_string("\n".join([*imports, job.texts["nemo"]])))
    load = watch.lap()
    engine.reason()
    reasoning = watch.lap()
    return Measurement(
        version=metadata.version("nemo-python"),
        load_seconds=load.seconds,
        reasoning_seconds=reasoning.seconds,
        processor_seconds=reasoning.processor,
        facts=job.by_predicate(
            {
                relation.name: sum(1 for _ in engine.result(relation.name))
                for relation in job.relations
                if relation.derived
            }
        ),
        settings={"threads": "1"},
    )


NEMO = Peer(
    "nemo",
    form="csv",
    timed="reason(), which reads the CSV files; load is the parsing of the program",
    measure=_measure,
    translate=_program,
    loads_while_reasoning=True,
)

"""Everlog itself, through its public interface. Options are those of `KnowledgeBase`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from benchmarks.job import Job
from benchmarks.peers.peer import Measurement, Peer


def _measure(job: Job, options: Mapping[str, str]) -> Measurement:
    import pyarrow as pa

    from everlog import KnowledgeBase, parse_program

    settings: dict[str, Any] = {"engine": "memory", **options}
    began = time.perf_counter()
    facts = {name: pa.ipc.open_file(pa.memory_map(str(job.native_file(name)))).read_all() for name in job.facts}
    kb = KnowledgeBase(parse_program(job.program), **settings)
    kb.add(facts)
    loaded = time.perf_counter()
    report = kb.materialise()
    done = time.perf_counter()
    return Measurement(
        version=everlog_version(),
        load_seconds=loaded - began,
        reasoning_seconds=report.seconds["reasoning"],
        facts={predicate: kb.size(predicate) for predicate in job.results},
        derivations=report.derivations["materialise"],
        other_seconds={**report.seconds, "materialise, by this clock": done - loaded},
        settings=settings,
    )


def everlog_version() -> str:
    try:
        return metadata.version("everlog")
    except metadata.PackageNotFoundError:
        return "checkout"


EVERLOG = Peer(
    "everlog",
    form="native",
    timed="materialise(), as its report says, without planning and the compiling of kernels (once per machine); facts are "
    "added, encoded and indexed in load; the result stays in the engine",
    measure=_measure,
)

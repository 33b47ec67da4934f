"""Everlog itself, through its public interface. Options are those of `KnowledgeBase`.

`generic` is Everlog by the ordinary joins alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from typing import Any, Final

from benchmarks.job import Job
from benchmarks.peers.peer import Measurement, Peer
from benchmarks.peers.stopwatch import Stopwatch


def _measure(job: Job, options: Mapping[str, str]) -> Measurement:
    import pyarrow as pa

    from everlog import KnowledgeBase, parse_program

    settings: dict[str, Any] = {"engine": "memory", **options}
    watch = Stopwatch()
    facts = {name: pa.ipc.open_file(pa.memory_map(str(job.native_file(name)))).read_all() for name in job.facts}
    kb = KnowledgeBase(parse_program(job.program), **settings)
    kb.add(facts)
    load = watch.lap()
    report = kb.materialise()
    done = watch.lap()
    return Measurement(
        version=everlog_version(),
        load_seconds=load.seconds,
        reasoning_seconds=report.seconds["reasoning"],
        # What was not reasoning, planning and compiling, has the same share of the processor as of the clock.
        processor_seconds=done.processor * min(1.0, report.seconds["reasoning"] / done.seconds),
        facts={predicate: kb.size(predicate) for predicate in job.results},
        sums=_sums(kb),
        derivations=report.derivations["materialise"],
        other_seconds={**report.seconds, "materialise, by this clock": done.seconds},
        settings=settings,
    )


def _sums(kb: Any) -> dict[str, int]:
    import pyarrow.compute as pc

    kept = {rule.head.predicate: rule.extreme.place for rule in kb.program.rules if rule.extreme is not None}
    return {name: pc.sum(kb.facts(name).column(place)).as_py() or 0 for name, place in kept.items()}


def everlog_version() -> str:
    try:
        return metadata.version("everlog")
    except metadata.PackageNotFoundError:
        return "checkout"


TIMED: Final = (
    "materialise(), as its report says, without planning and the compiling of kernels (once per machine); facts are "
    "added, encoded and indexed in load; the result stays in the engine"
)
EVERLOG = Peer("everlog", form="native", timed=TIMED, measure=_measure)
GENERIC = Peer(
    "generic",
    form="native",
    timed=f"Everlog's {TIMED}; no modules, no decompositions",
    measure=lambda job, options: _measure(job, {"modules": "off", "hypertree": "off", **options}),
)

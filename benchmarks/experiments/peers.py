"""Everlog beside other systems on the same work, each in a process of its own, with limits.

Results are compared before times count. A system that is absent, fails or takes too long has a record that says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from benchmarks.experiments.owl import owl
from benchmarks.experiments.records import Record
from benchmarks.outcome import SystemRuns
from benchmarks.process import Limits
from benchmarks.runner import Request, Result, run

_PEERS: Final[Mapping[str, Mapping[str, Mapping[str, int]]]] = {
    "tiny": {"dag": {"nodes": 60, "edges": 120}},
    "small": {
        "dag": {"nodes": 2_000, "edges": 20_000},
        "dag-sparse": {"nodes": 4_000, "edges": 4_400},
        "dag-nonlinear": {"nodes": 500, "edges": 2_500},
        "lubm": {"k": 3},
        "andersen": {"groups": 40},
        "same-generation": {"people": 3_000, "edges": 4_000},
        "pc": {"n": 60, "k": 60},
    },
    "medium": {
        name: {} for name in ("dag", "dag-sparse", "dag-nonlinear", "lubm", "andersen", "same-generation", "pc")
    },
}

_TIMEOUT: Final = {"tiny": 60.0, "small": 30.0, "medium": 30.0}
_REPEAT: Final = {"tiny": 1, "small": 2, "medium": 2}
_MEMORY: Final = 6 * 2**30
"""Bytes for each process, so that what grows without end leaves the machine alone."""


def peers(scale: str, repeat: int | None = None) -> Iterator[Record]:
    """Every workload on every system, Spark where its recursive query can state it; and an ontology."""
    names = ("everlog", "duckdb", "clingo", "nemo", "souffle", "spark")
    for workload, parameters in _PEERS[scale].items():
        asked = names if scale != "tiny" else ("everlog", "clingo")
        yield from _systems(run(_request(workload, parameters, asked, scale, repeat)))
    yield from owl(scale, repeat or _REPEAT[scale], _TIMEOUT[scale], Limits(memory_bytes=_MEMORY))


def _request(
    workload: str, parameters: Mapping[str, int], systems: tuple[str, ...], scale: str, repeat: int | None
) -> Request:
    return Request(workload, parameters, systems, repeat or _REPEAT[scale], _TIMEOUT[scale], _MEMORY)


def _systems(result: Result) -> Iterator[Record]:
    for runs in result.systems:
        yield {
            "workload": result.request.workload,
            "parameters": dict(result.parameters),
            "explicit": sum(result.facts.values()),
            "system": runs.system,
            "agrees": not result.disagreements,
            **_measured(runs),
        }


def _measured(runs: SystemRuns) -> Record:
    if runs.status != "ok":
        return {"status": runs.status, "reason": runs.last.reason}
    return {
        "status": "ok",
        "version": runs.last.version,
        "total": sum(runs.last.facts.values()),
        "load_seconds": [outcome.load_seconds for outcome in runs.outcomes],
        "seconds": [outcome.reasoning_seconds for outcome in runs.outcomes],
        "loads_while_reasoning": runs.loads_while_reasoning,
        "peak_bytes": runs.peak_bytes,
    }

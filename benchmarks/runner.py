"""Runs one workload on several systems: prepare once, then each system in turn, as often as asked.

Repetitions go round the systems rather than system by system, so that a slow minute of the machine falls on all.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import recorded
from benchmarks.outcome import Outcome, SystemRuns, disagreements
from benchmarks.peers import ALWAYS, PEERS
from benchmarks.process import Limits, run_module
from benchmarks.workload import BenchmarkMistake, Parameters
from benchmarks.workloads import workload
from benchmarks.workloads.graphs import DAG


@dataclass(frozen=True)
class Patience:
    """How long others may take: so many times as long as the first system took to load and to reason, and some seconds."""

    times: float
    seconds: float

    def timeout(self, first: Outcome) -> float:
        return self.times * (first.load_seconds + first.reasoning_seconds) + self.seconds


@dataclass(frozen=True)
class Request:
    workload: str
    parameters: Parameters = field(default_factory=dict)
    """What differs from the workload's defaults."""
    peers: tuple[str, ...] = ALWAYS
    repeat: int = 3
    timeout: float = 300.0
    memory_bytes: int | None = None
    """What a process may have."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of Everlog's `KnowledgeBase`."""
    patience: Patience | None = None
    """Bounds the time of all systems but the first, once that has come to an end."""

    def timeout_of(self, peer: str, first: Sequence[Outcome]) -> float:
        """How long a system may take, with what the first one took so far."""
        if self.patience is None or peer == self.peers[0] or not first or first[0].status != "ok":
            return self.timeout
        return min(self.timeout, self.patience.timeout(first[0]))


@dataclass(frozen=True)
class Estimate:
    """Soufflé's recorded time and what it would be here."""

    recorded_seconds: float
    duckdb_dag_seconds: float
    with_load: bool = False

    @property
    def seconds(self) -> float:
        return recorded.scaled(self.recorded_seconds, self.duckdb_dag_seconds)


@dataclass(frozen=True)
class Result:
    request: Request
    parameters: Parameters
    facts: Mapping[str, int]
    systems: tuple[SystemRuns, ...]
    estimate: Estimate | None
    cores: int = field(default_factory=lambda: os.cpu_count() or 1)
    python: str = field(default_factory=platform.python_version)

    @property
    def disagreements(self) -> list[str]:
        return disagreements(self.systems)

    def system(self, name: str) -> SystemRuns | None:
        return next((runs for runs in self.systems if runs.system == name), None)


def run(request: Request) -> Result:
    """All the runs of a request; `BenchmarkMistake` if the workload cannot be made."""
    chosen = workload(request.workload)
    parameters = chosen.parameters(request.parameters)
    unknown = [peer for peer in request.peers if peer not in PEERS]
    if unknown or not request.peers:
        raise BenchmarkMistake(f"no peer {', '.join(unknown)}; there are {', '.join(PEERS)}")
    if request.repeat < 1:
        raise BenchmarkMistake("a run is repeated at least once: --repeat 1")
    facts, systems = _measure(chosen.name, parameters, request)
    result = Result(request, parameters, facts, systems, estimate=None)
    return Result(request, parameters, facts, systems, _estimate(result))


def _measure(name: str, parameters: Parameters, request: Request) -> tuple[Mapping[str, int], tuple[SystemRuns, ...]]:
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as folder:
        progress(f"{name}: preparing")
        prepared = _prepare(Path(folder), name, parameters, request)
        outcomes: dict[str, list[Outcome]] = {peer: [] for peer in request.peers}
        for repetition in range(request.repeat):
            for peer, before in outcomes.items():
                if not before or before[-1].status == "ok":
                    progress(f"{name}: {peer}, run {repetition + 1} of {request.repeat}")
                    timeout = request.timeout_of(peer, outcomes[request.peers[0]])
                    before.append(_run_once(Path(folder), peer, request, timeout))
    progress("")
    systems = tuple(
        SystemRuns(peer, PEERS[peer].timed, tuple(done), PEERS[peer].loads_while_reasoning)
        for peer, done in outcomes.items()
    )
    return prepared["facts"], systems


def _prepare(folder: Path, name: str, parameters: Parameters, request: Request) -> dict[str, Any]:
    arguments = [str(folder), name, json.dumps(dict(parameters)), ",".join(request.peers)]
    ended = run_module("benchmarks.prepare", arguments, timeout=request.timeout)
    if ended.timed_out:
        raise BenchmarkMistake(f"making {name} took more than {request.timeout:g} s; raise --timeout")
    if ended.code:
        lines = ended.errors.strip().splitlines() or [f"exit code {ended.code}"]
        raise BenchmarkMistake(lines[-1] if ended.code == 2 else f"{name} cannot be made: {lines[-1]}")
    prepared: dict[str, Any] = json.loads(ended.output.splitlines()[-1])
    return prepared


def _run_once(folder: Path, peer: str, request: Request, timeout: float) -> Outcome:
    options = dict(request.options) if PEERS[peer].form == "native" else {}
    limits = Limits(memory_bytes=request.memory_bytes)
    ended = run_module("benchmarks.worker", [str(folder), peer, json.dumps(options)], timeout, limits)
    if ended.timed_out:
        return Outcome("timeout", ended.seconds, ended.peak_bytes, reason=f"stopped after {timeout:.3g} s")
    if ended.code:
        lines = ended.errors.strip().splitlines() or ["no message"]
        return Outcome("error", ended.seconds, ended.peak_bytes, reason=f"exit code {ended.code}: {lines[-1]}")
    found = json.loads(ended.output.splitlines()[-1])
    return Outcome(
        process_seconds=ended.seconds - found.get("repeated_seconds", 0.0),
        peak_bytes=ended.peak_bytes,
        process_processor_seconds=ended.processor - found.get("repeated_processor_seconds", 0.0),
        **found,
    )


def _estimate(result: Result) -> Estimate | None:
    """Soufflé's time, if it was asked for and is absent, these sizes were recorded, and DuckDB is there to compare."""
    souffle = result.system("souffle")
    seconds = recorded.souffle_seconds(workload(result.request.workload), result.parameters)
    if souffle is None or souffle.status != "absent" or seconds is None:
        return None
    duckdb = result.system("duckdb") if result.request.workload == DAG.name else None
    if duckdb is None:
        calibration = Request(DAG.name, peers=("duckdb",), repeat=result.request.repeat, timeout=result.request.timeout)
        _, (duckdb,) = _measure(DAG.name, DAG.defaults, calibration)
    with_load = result.request.workload in recorded.WITH_LOAD
    return Estimate(seconds, duckdb.reasoning[0], with_load) if duckdb.status == "ok" else None


def progress(text: str) -> None:
    """A line that the next one replaces; only for someone who watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

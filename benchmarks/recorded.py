"""Soufflé's times where it cannot be run: recorded once, and scaled to this machine.

Recorded: compiled, two threads, on data of the same make and size, with DuckDB's `dag` at 6.2 seconds beside it. An
estimate is the recorded time × DuckDB's `dag` time here / 6.2, and is always shown as one. It holds for the default
sizes only. `lubm` was recorded from the reading of its files to the result, so it is compared with loading included.
"""

from __future__ import annotations

from typing import Final

from benchmarks.workload import Parameters, Workload

DUCKDB_DAG_SECONDS: Final = 6.2
SOUFFLE_SECONDS: Final = {
    "dag": 9.0,
    "dag-nonlinear": 3.8,
    "lubm": 2.5,
    "andersen": 1.4,
    "same-generation": 0.76,
    "pc": 0.8,
}
WITH_LOAD: Final = frozenset({"lubm"})


def souffle_seconds(workload: Workload, parameters: Parameters) -> float | None:
    """The recorded time, or None for sizes that were not recorded."""
    same = all(parameters[name] == workload.defaults[name] for name in parameters if name != "seed")
    return SOUFFLE_SECONDS.get(workload.name) if same else None


def scaled(recorded: float, duckdb_dag: float) -> float:
    return recorded * duckdb_dag / DUCKDB_DAG_SECONDS

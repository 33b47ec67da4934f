"""`script/bench run modules` and `complex`: something on and off, modules or decompositions, and a peer beside them.

A row is a program with data. Each system works on it in a process of its own: Everlog with it, Everlog without, and DuckDB
where one recursive query says the same. Everlog materialises; then a sample of explicit facts is deleted and added
again, a small one and a quarter of them. All systems must count the same facts before any time is shown. What takes longer
than a limit is given up, and said to take more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any, Final

from benchmarks.process import run_module
from benchmarks.runner import progress
from benchmarks.workload import BenchmarkMistake, Instance
from benchmarks.workloads import modular, wide, workload

ON, OFF, DUCKDB = "on", "off", "duckdb"
SYSTEMS: Final = (ON, OFF, DUCKDB)
SMALL: Final = 1000


@dataclass(frozen=True)
class Subject:
    """What a row works on: the program and data, what DuckDB is given instead, and whether modules can be off."""

    instance: Callable[[], Instance]
    peer: Callable[[], Instance] | None = None
    without: bool = True
    souffle: float | None = None
    """Soufflé's recorded time (see `recorded.py`)."""
    recorded: Mapping[str, float] = field(default_factory=dict)
    """Times of peers that were recorded once, on two threads, and are shown as they are."""
    size: int | None = None
    """What the time is to grow with, where rows differ in that alone."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of `KnowledgeBase` for this row."""

    def systems(self) -> tuple[str, ...]:
        return (ON, *([OFF] if self.without else []), *([DUCKDB] if self.peer is not None else []))


@dataclass(frozen=True)
class Bench:
    """The rows of a benchmark, and the option of `KnowledgeBase` that is on (`auto`) or off."""

    name: str
    option: str
    rows: Mapping[str, Subject]
    limit: float = 30.0
    """Seconds after which a system is not asked again, and has fewer runs."""
    longest: float = 120.0
    """Seconds after which a single measurement is given up: rows that are slow on purpose, with it off, are worth few."""


ROWS: Final[Mapping[str, Subject]] = {
    "dag": Subject(workload("dag").instance, workload("dag").instance, souffle=9.0),
    "dag-billion": Subject(partial(workload("dag").instance, nodes=100_000, edges=830_000), without=False),
    "dag-nonlinear": Subject(workload("dag-nonlinear").instance, workload("dag-nonlinear").instance, souffle=3.8),
    "stc": Subject(modular.components, modular.components_linear, souffle=5.5),
    "seq": Subject(lambda: modular.sequence(2000)),
    "seq-large": Subject(lambda: modular.sequence(100_000), without=False),
    "chains": Subject(modular.example_29, options={"stratification": "single"}),
    "chains-short": Subject(modular.short_chains),
    "crdt": Subject(lambda: workload("crdt").instance(edits=80_000, jumps=80, run=1_000)),
    "lubm-extended": Subject(workload("lubm-extended").instance),
    "claros-cliques": Subject(workload("claros-extended").instance),
    "cliques": Subject(modular.cliques),
}


def _pc(n: int, k: int) -> Instance:
    """The same rule at several sizes shows whether its time is linear in `n·k`, the size of the result."""
    return workload("pc").instance(n=n, k=k)


_PC_PEERS: Final = {"Soufflé, compiled": 9.0, "Soufflé on the rule split by hand": 0.43, "Nemo": 47.0}

COMPLEX_ROWS: Final[Mapping[str, Subject]] = {
    "pc": Subject(partial(_pc, 1000, 300), partial(_pc, 1000, 300), recorded=_PC_PEERS, size=300_000),
    **{
        f"pc-{n * k // 1000}k": Subject(partial(_pc, n, k), without=False, size=n * k)
        for n, k in ((500, 150), (1000, 600), (2000, 600))
    },
    "exp": Subject(lambda: wide.expressions(50, 1_200)),
    "lubm-c": Subject(lambda: wide.campus(13)),
    "lubm": Subject(lambda: wide.campus(13, complex_rules=False)),
    **{
        name: Subject(partial(wide.pattern, name, *size), partial(wide.pattern, name, *size))
        for name, size in wide.SIZES.items()
    },
}
BENCHES: Final = {
    bench.name: bench
    for bench in (
        Bench("modules", "modules", ROWS, limit=20.0, longest=15.0),
        Bench("complex", "hypertree", COMPLEX_ROWS),
    )
}


@dataclass(frozen=True)
class Request:
    bench: str = "modules"
    rows: Sequence[str] = ()
    """None for all."""
    systems: Sequence[str] = SYSTEMS
    repeat: int = 3
    timeout: float = 3600.0
    """Seconds for the process of a system."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of `KnowledgeBase`."""

    @property
    def subjects(self) -> Mapping[str, Subject]:
        rows = BENCHES[self.bench].rows
        return {name: rows[name] for name in self.rows} if self.rows else rows

    def check(self) -> None:
        rows = BENCHES[self.bench].rows
        for what, chosen, known in (("row", self.rows or rows, rows), ("system", self.systems, SYSTEMS)):
            unknown = [name for name in chosen if name not in known]
            if unknown or not chosen:
                raise BenchmarkMistake(f"{self.bench} has no {what} {', '.join(unknown)}; there are {', '.join(known)}")
        if self.repeat < 1:
            raise BenchmarkMistake("a run is repeated at least once: --repeat 1")


@dataclass(frozen=True)
class Measured:
    """One system on one row; seconds of every run."""

    system: str
    status: str = "ok"
    materialise: Sequence[float] = ()
    updates: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """By what was done: `delete 1000`, `add 1000`, and so on."""
    over: Mapping[str, float] = field(default_factory=dict)
    """What was given up, and after how many seconds; nothing was measured after that."""
    facts: int = 0
    """How many facts the rules' heads have, in all."""
    changed: Mapping[str, int] = field(default_factory=dict)
    """By what was done, by how many facts the materialisation changed."""
    explicit: int = 0
    modules: Sequence[str] = ()
    state_bytes: int = 0
    """What is kept besides the facts."""
    peak_bytes: int = 0

    @property
    def seconds(self) -> float:
        return median(self.materialise)


@dataclass(frozen=True)
class Row:
    name: str
    measured: Sequence[Measured]
    duckdb_dag: float | None = None
    """DuckDB's time for `dag` in this run, which Soufflé's recorded times are scaled by."""

    def of(self, system: str) -> Measured | None:
        return next((one for one in self.measured if one.system == system and one.status == "ok"), None)

    def disagreements(self) -> list[str]:
        found = []
        done = [one for one in self.measured if one.status == "ok"]
        if len({one.facts for one in done}) > 1:
            found.append(f"{self.name}: facts { ({one.system: one.facts for one in done}) }")
        for what in dict.fromkeys(what for one in done for what in one.changed):
            said = {one.system: one.changed[what] for one in done if what in one.changed}
            if len(set(said.values())) > 1:
                found.append(f"{self.name}, {what}: {said}")
        return found


def run_modules(request: Request, show: Callable[[Row], None]) -> list[Row]:
    """All rows, each shown as soon as it is measured."""
    request.check()
    rows: list[Row] = []
    duckdb_dag = None
    for name, subject in request.subjects.items():
        measured = []
        for system in subject.systems():
            if system in request.systems:
                progress(f"{request.bench}: {name}, {system}")
                measured.append(_measured(name, system, request))
        progress("")
        row = Row(name, measured, duckdb_dag)
        if name == "dag" and (duckdb := row.of(DUCKDB)) is not None:
            duckdb_dag = duckdb.seconds
            row = Row(name, measured, duckdb_dag)
        rows.append(row)
        show(row)
    return rows


def _measured(name: str, system: str, request: Request) -> Measured:
    bench = BENCHES[request.bench]
    asked = json.dumps(
        {
            "repeat": request.repeat,
            "limit": bench.limit,
            "longest": bench.longest,
            "option": bench.option,
            "options": {**bench.rows[name].options, **request.options},
        }
    )
    ended = run_module("benchmarks.modules_worker", [request.bench, name, system, asked], timeout=request.timeout)
    if ended.timed_out:
        return Measured(system, f"stopped after {request.timeout:g} s", peak_bytes=ended.peak_bytes)
    lines = ended.errors.strip().splitlines() or ["no message"]
    if ended.code == 2:
        raise BenchmarkMistake(f"{request.bench}: {name}: {lines[-1]}")
    if ended.code:
        return Measured(system, f"failed: {lines[-1]}", peak_bytes=ended.peak_bytes)
    content: dict[str, Any] = json.loads(ended.output.splitlines()[-1])
    return Measured(system, **content, peak_bytes=ended.peak_bytes)

"""`script/bench run datalog`: what others chose to measure Datalog engines by, at three sizes, each system by itself.

A row is a workload with three sizes. Each system works on each size in a process of its own, with a limit of time and
memory, and nobody is waited for who takes ten times as long as Everlog; one that fails at a size is not asked about larger
ones. All rows are run at one size before the next, until time is up, if that is bounded. Times of a row are shown if all
systems that came to an end count the same facts, and if two peers at least confirm the smallest size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final

from benchmarks.peers import PEERS
from benchmarks.runner import Patience, Request, Result, run
from benchmarks.workload import BenchmarkMistake, Parameters

SIZES: Final = ("small", "medium", "large")
OWN: Final = ("everlog", "generic")
SYSTEMS: Final = (*OWN, "duckdb", "duckdb-rounds", "clingo", "nemo", "souffle")
MEMORY: Final = 5 * 2**30
PATIENCE: Final = Patience(times=10.0, seconds=10.0)


@dataclass(frozen=True)
class Row:
    """A workload, and its parameters at three sizes."""

    workload: str
    sizes: tuple[Parameters, Parameters, Parameters]


def _graph(workload: str, *sizes: tuple[int, int]) -> Row:
    small, medium, large = ({"nodes": nodes, "edges": edges} for nodes, edges in sizes)
    return Row(workload, (small, medium, large))


def _scaled(workload: str, name: str, *values: int, **others: int) -> Row:
    small, medium, large = ({name: value, **others} for value in values)
    return Row(workload, (small, medium, large))


_WIDE: Final = ((10_000, 100_000), (40_000, 400_000), (160_000, 1_600_000))
_DENSE: Final = ((500, 5_000), (1_000, 10_000), (2_000, 20_000))
_PAIRS: Final = ((250, 1_250), (500, 2_500), (1_000, 5_000))
_BRACKETS: Final = ((500, 1_000), (1_000, 2_000), (2_000, 4_000))

ROWS: Final[Mapping[str, Row]] = {
    "tc": _graph("tc", *_DENSE),
    "tc-rmat": _graph("tc-rmat", *_DENSE),
    "sg": _graph("sg", *_PAIRS),
    "sg-rmat": _graph("sg-rmat", *_PAIRS),
    **{name: _graph(name, *_WIDE) for stem in ("reach", "bipartite", "cc", "sssp") for name in (stem, f"{stem}-rmat")},
    "attend": Row(
        "attend",
        (
            {"people": 2_000, "friends": 20_000, "organizers": 200},
            {"people": 8_000, "friends": 80_000, "organizers": 800},
            {"people": 32_000, "friends": 320_000, "organizers": 3_200},
        ),
    ),
    "attend-rmat": Row(
        "attend-rmat",
        (
            {"people": 1_000, "friends": 5_000, "organizers": 50},
            {"people": 4_000, "friends": 20_000, "organizers": 100},
            {"people": 16_000, "friends": 80_000, "organizers": 400},
        ),
    ),
    "dyck": _graph("dyck", *_BRACKETS),
    "dyck-rmat": _graph("dyck-rmat", *_BRACKETS),
    "andersen": _scaled("andersen", "groups", 12, 50, 200),
    "cspa": _scaled("cspa", "functions", 25, 100, 400),
    "csda": _scaled("csda", "functions", 25, 100, 400, nulls=1_000),
    "polonius": _scaled("polonius", "functions", 10, 40, 160),
    "polonius-opt": _scaled("polonius-opt", "functions", 10, 40, 160),
    "doop": _scaled("doop", "classes", 96, 192, 384),
    "galen": _scaled("galen", "parts", 4, 16, 64),
    "crdt": Row(
        "crdt",
        (
            {"edits": 5_000, "jumps": 20, "run": 250},
            {"edits": 20_000, "jumps": 40, "run": 500},
            {"edits": 80_000, "jumps": 80, "run": 1_000},
        ),
    ),
    "lubm": _scaled("lubm", "k", 1, 4, 16),
    "lubm-extended": _scaled("lubm-extended", "k", 1, 4, 13),
    "uobm": _scaled("uobm", "universities", 1, 2, 4),
    "claros-extended": _scaled("claros-extended", "collections", 10, 25, 100),
}


@dataclass(frozen=True)
class DatalogRequest:
    rows: Sequence[str] = tuple(ROWS)
    sizes: Sequence[str] = SIZES
    systems: Sequence[str] = SYSTEMS
    repeat: int = 3
    timeout: float = 60.0
    minutes: float = math.inf
    """No row is begun after so many."""

    def check(self) -> None:
        for what, chosen, known in (
            ("row", self.rows, ROWS),
            ("size", self.sizes, SIZES),
            ("system", self.systems, PEERS),
        ):
            unknown = [name for name in chosen if name not in known]
            if unknown or not chosen:
                raise BenchmarkMistake(f"datalog has no {what} {', '.join(unknown)}; there are {', '.join(known)}")
        if self.repeat < 1:
            raise BenchmarkMistake("a run is repeated at least once: --repeat 1")


@dataclass(frozen=True)
class Measured:
    """One row at one size; systems that failed at a smaller size are in `given_up`, with the reason."""

    row: str
    size: str
    result: Result
    given_up: Mapping[str, str]

    @property
    def confirmed(self) -> tuple[str, ...]:
        """The peers that came to an end."""
        ended = (runs.system for runs in self.result.systems if runs.status == "ok")
        return tuple(system for system in ended if not system.startswith(OWN))


def run_datalog(request: DatalogRequest, say: Callable[[Measured], None] = lambda one: None) -> list[Measured]:
    """All that was measured; each is said as soon as it is known."""
    request.check()
    begun, found = monotonic(), list[Measured]()
    given_up: dict[str, dict[str, str]] = {name: {} for name in request.rows}
    for size in (size for size in SIZES if size in request.sizes):
        for name in request.rows:
            systems = tuple(system for system in request.systems if system not in given_up[name])
            if not systems or monotonic() - begun > 60 * request.minutes:
                continue
            asked = Request(
                ROWS[name].workload,
                ROWS[name].sizes[SIZES.index(size)],
                systems,
                request.repeat,
                request.timeout,
                MEMORY,
                patience=PATIENCE if systems[0] in OWN else None,
            )
            one = Measured(name, size, run(asked), dict(given_up[name]))
            found.append(one)
            say(one)
            for runs in one.result.systems:
                if runs.status in ("timeout", "error"):
                    given_up[name][runs.system] = f"{runs.status} at {size}"
    places = {name: place for place, name in enumerate(request.rows)}
    return sorted(found, key=lambda one: places[one.row])


def left_out(request: DatalogRequest, found: Sequence[Measured]) -> list[str]:
    """What was asked for and is not there, for want of time or of systems that came to an end before."""
    there = {(one.row, one.size) for one in found}
    return [f"{row}, {size}" for row in request.rows for size in request.sizes if (row, size) not in there]


def shown(found: Sequence[Measured]) -> list[Measured]:
    """Those whose times may be shown: nobody disagrees, and two peers confirm the smallest size of the row."""
    sure = {
        one.row
        for one in found
        if len(one.confirmed) >= 2
        and one.size == min((each.size for each in found if each.row == one.row), key=SIZES.index)
    }
    differing = {one.row for one in found if one.result.disagreements}
    return [one for one in found if one.row in sure - differing]

"""`script/bench run updates`: deletions and re-additions of sampled facts, by every algorithm (*Revisited*, section 10.3).

A row is a program with data. In a process of its own it is materialised, once for each set of state that algorithms keep;
then for each of many samples of explicit facts, drawn uniformly from a seed, every algorithm deletes the sample and adds
it again. Starting again is measured in the same process. All algorithms must say that the same number of facts was added
and deleted before any time is shown.

The algorithms of the papers run without modules, which would take work away from them. `auto` and starting again run as
users have them, with modules.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import mean, median, stdev
from typing import Any, Final, TypeAlias

import pyarrow as pa

from benchmarks.data import data_file
from benchmarks.process import run_module
from benchmarks.runner import progress
from benchmarks.workload import BenchmarkMistake, Instance
from benchmarks.workloads import workload
from everlog.errors import Failure

REMAT: Final = "remat"

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "auto": ("auto",),
    "dred": ("dred", "fbf", "bf"),
    "dredc": ("dredc",),
    "bfc": ("bfc",),
    "counting": ("counting",),
    REMAT: (REMAT,),
}
"""The algorithms that share a knowledge base, by the option that keeps what they need.

`auto` has one of its own: where it starts again, indexes are gone that the others would have to make."""

ALGORITHMS: Final = tuple(name for group in GROUPS.values() for name in group)

_ANCESTORS: Final = """
above(?child, ?parent) :- edge(?child, ?kind, ?parent) .
above(?child, ?ancestor) :- above(?child, ?parent), edge(?parent, ?kind, ?ancestor) .
"""


def _gene_ontology() -> Instance:
    lines = gzip.decompress(data_file("go/trixie_mf_edges.tsv.gz").read_bytes()).decode().splitlines()
    columns = zip(*(line.split("\t") for line in lines), strict=True)
    return Instance(_ANCESTORS, {"edge": pa.table({f"a{place}": list(column) for place, column in enumerate(columns)})})


ROWS: Final[Mapping[str, Callable[[], Instance]]] = {
    "lubm": lambda: workload("lubm").instance(k=13),
    "lubm-large": workload("lubm").instance,
    "lubm-extended": workload("lubm-extended").instance,
    "uobm": lambda: workload("uobm").instance(),
    "claros-cliques": lambda: workload("claros-extended").instance(),
    "gene-ontology": _gene_ontology,
    "dag": lambda: workload("dag").instance(nodes=5_000, edges=25_000),
}

Numbers: TypeAlias = list[float]


@dataclass(frozen=True)
class Request:
    rows: Sequence[str] = tuple(ROWS)
    algorithms: Sequence[str] = ALGORITHMS
    changed: Sequence[int] = (100, 1000)
    """How many facts are deleted and added again."""
    repeat: int = 30
    limit: float = 40.0
    """Seconds that an algorithm may take for one row and one size; it has fewer samples then."""
    timeout: float = 3600.0
    """Seconds for the process of a row."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of `KnowledgeBase`, for all algorithms."""

    def check(self) -> None:
        for what, chosen, known in (("row", self.rows, ROWS), ("algorithm", self.algorithms, ALGORITHMS)):
            unknown = [name for name in chosen if name not in known]
            if unknown or not chosen:
                raise BenchmarkMistake(f"updates has no {what} {', '.join(unknown)}; there are {', '.join(known)}")
        if self.repeat < 2 or any(size < 1 for size in self.changed):
            raise BenchmarkMistake("updates wants two samples or more (--repeat), of one fact or more (--changed)")


@dataclass(frozen=True)
class Direction:
    """Deletions, or additions: one number for each sample."""

    seconds: Numbers = field(default_factory=list)
    derivations: Numbers = field(default_factory=list)
    facts: list[int] = field(default_factory=list)
    """By how many facts the materialisation changed."""


@dataclass(frozen=True)
class Measured:
    """An algorithm on one row with samples of one size."""

    algorithm: str
    changed: int
    deletion: Direction = field(default_factory=Direction)
    addition: Direction = field(default_factory=Direction)

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Measured:
        parts = {name: Direction(**content[name]) for name in ("deletion", "addition")}
        return cls(content["algorithm"], content["changed"], **parts)


@dataclass(frozen=True)
class Row:
    name: str
    explicit: int
    total: int
    materialise: Mapping[str, float]
    """Seconds to compute everything, by what is kept."""
    state: Mapping[str, int]
    """Bytes that are kept besides the facts."""
    measured: Sequence[Measured]
    peak_bytes: int

    def of(self, algorithm: str, changed: int) -> Measured | None:
        found = (one for one in self.measured if (one.algorithm, one.changed) == (algorithm, changed))
        return next(found, None)

    def disagreements(self) -> list[str]:
        """Samples that two algorithms changed by different numbers of facts."""
        found = []
        for changed in sorted({one.changed for one in self.measured}):
            for way in ("deletion", "addition"):
                directions = {one.algorithm: getattr(one, way).facts for one in self.measured if one.changed == changed}
                for number in range(max(map(len, directions.values()), default=0)):
                    said = {name: facts[number] for name, facts in directions.items() if number < len(facts)}
                    if len(set(said.values())) > 1:
                        found.append(f"{self.name}, {way} {number} of {changed} facts: {said}")
        return found


def run_updates(request: Request, show: Callable[[Row], None]) -> list[Row]:
    """All rows, each shown as soon as it is measured."""
    request.check()
    rows = []
    for name in request.rows:
        progress(f"updates: {name}")
        asked = {
            "algorithms": list(request.algorithms),
            "changed": list(request.changed),
            "repeat": request.repeat,
            "limit": request.limit,
            "options": dict(request.options),
        }
        ended = run_module("benchmarks.updates_worker", [name, json.dumps(asked)], timeout=request.timeout)
        progress("")
        if ended.timed_out:
            raise Failure(f"updates: {name} took more than {request.timeout:g} s; lower --repeat or raise --timeout")
        if ended.code:
            lines = ended.errors.strip().splitlines() or ["no message"]
            raise (BenchmarkMistake if ended.code == 2 else Failure)(f"updates: {name}: {lines[-1]}")
        content = json.loads(ended.output.splitlines()[-1])
        measured = [Measured.of(one) for one in content.pop("measured")]
        rows.append(Row(**content, measured=measured, peak_bytes=ended.peak_bytes))
        show(rows[-1])
    return rows


def interval(numbers: Sequence[float]) -> float:
    """Half of the 95% z-confidence interval for the average (165)."""
    return 1.96 / sqrt(len(numbers)) * stdev(numbers) if len(numbers) > 1 else 0.0


def summary(numbers: Sequence[float]) -> dict[str, float]:
    return {"median": median(numbers), "mean": mean(numbers), "interval": interval(numbers), "samples": len(numbers)}

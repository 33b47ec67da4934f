"""How time grows with the data: each workload at four sizes, each in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from benchmarks.experiments.clock import WORKERS, materialising
from benchmarks.experiments.records import Record
from benchmarks.workloads import workload

_SIZES: Final[Mapping[str, Mapping[str, list[dict[str, int]]]]] = {
    "tiny": {"dag": [{"nodes": 30, "edges": 60}, {"nodes": 60, "edges": 120}]},
    "small": {
        "dag": [{"nodes": nodes, "edges": 10 * nodes} for nodes in (500, 1_000, 2_000, 4_000)],
        "lubm": [{"k": k} for k in (1, 2, 4, 8)],
        "andersen": [{"groups": groups} for groups in (10, 20, 40, 80)],
        "pc": [{"n": n, "k": 60} for n in (50, 100, 200, 400)],
    },
    "medium": {
        "dag": [{"nodes": nodes, "edges": 10 * nodes} for nodes in (1_250, 2_500, 5_000, 10_000)],
        "lubm": [{"k": k} for k in (6, 12, 25, 50)],
        "uobm": [{"universities": count} for count in (1, 2, 4, 8)],
        "claros-extended": [{"collections": count} for count in (25, 50, 100, 200)],
        "andersen": [{"groups": groups} for groups in (50, 100, 200, 400)],
        "same-generation": [{"people": people, "edges": 4 * people // 3} for people in (2_250, 4_500, 9_000, 18_000)],
        "pc": [{"n": n, "k": 200} for n in (100, 200, 400, 800)],
    },
}
_REPEAT: Final = {"tiny": 1, "small": 3, "medium": 3}


@dataclass(frozen=True)
class Sized:
    """A workload at one size."""

    workload: str
    parameters: Mapping[str, int]

    @property
    def name(self) -> str:
        return f"{self.workload} {dict(self.parameters)}"


def sizes(scale: str) -> list[Sized]:
    """What the experiment runs on."""
    return [Sized(name, parameters) for name, many in _SIZES[scale].items() for parameters in many]


def growth(sized: Sized, scale: str, repeat: int | None = None) -> Iterator[Record]:
    """One record: the seconds of some materialisations, modules and all, after one that is not counted."""
    from everlog import KnowledgeBase, parse_program

    instance = workload(sized.workload).instance(**sized.parameters)
    program = parse_program(instance.program)
    seconds = []
    for _ in range(1 + (repeat or _REPEAT[scale])):
        report, taken = materialising(KnowledgeBase(program, engine="memory", workers=WORKERS), instance.facts)
        seconds.append(taken)
    yield {
        "workload": sized.workload,
        "parameters": dict(sized.parameters),
        "explicit": report.facts["explicit"],
        "total": report.facts["total"],
        "seconds": seconds[1:],
    }

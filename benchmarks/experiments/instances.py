"""The programs and data that experiments run on, by scale.

`tiny` is for tests; `small` is meant for twenty minutes on two cores; `medium` for about an hour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.data import data_file
from benchmarks.workload import BenchmarkMistake, Instance
from benchmarks.workloads import workload

SCALES: Final = ("tiny", "small", "medium")


@dataclass(frozen=True)
class Named:
    """An instance with the name that tables show; `program` is another one for the workload's data."""

    name: str
    workload: str
    parameters: Mapping[str, int]
    program: str | None = None

    def build(self) -> Instance:
        made = workload(self.workload).instance(**self.parameters)
        if self.program is None:
            return made
        return Instance(data_file(f"programs/{self.program}.dlog").read_text(encoding="utf-8"), made.facts)

    def described(self) -> dict[str, Any]:
        return {"instance": self.name, "workload": self.workload, "parameters": dict(self.parameters)}


_LUBM: Final = {"tiny": 1, "small": 3, "medium": 6}
_EXTENDED: Final = {"small": 1, "medium": 3}
_UOBM: Final = {"tiny": 1, "small": 1, "medium": 2}
_COLLECTIONS: Final = {"tiny": 4, "small": 25, "medium": 50}
_DAG: Final = {"tiny": (60, 120), "small": (1_000, 3_000), "medium": (2_000, 8_000)}
_LARGE_UPDATES: Final = {"small": (1, 8, 1_000, 3_000), "medium": (3, 25, 1_500, 5_000)}


def enlarged(scale: str) -> list[Named]:
    """What the scalability experiments of *Revisited* run on; they try large updates many times over."""
    if scale not in _LARGE_UPDATES:
        return maintained(scale)
    k, collections, nodes, edges = _LARGE_UPDATES[scale]
    return [
        Named("LUBM_L", "lubm", {"k": k}),
        Named("Claros_LE", "claros-extended", {"collections": collections}),
        Named("DAG", "dag", {"nodes": nodes, "edges": edges}),
    ]


def maintained(scale: str) -> list[Named]:
    """What the robustness experiments of *Revisited* run on."""
    if scale not in SCALES:
        raise BenchmarkMistake(f"no scale {scale!r}; there are {', '.join(SCALES)}")
    nodes, edges = _DAG[scale]
    dag = Named("DAG", "dag", {"nodes": nodes, "edges": edges})
    if scale == "tiny":
        return [dag]
    return [
        Named("LUBM_L", "lubm", {"k": _LUBM[scale]}),
        Named("LUBM_LE", "lubm", {"k": _EXTENDED[scale]}, "LUBM_LE"),
        Named("UOBM_L", "uobm", {"universities": _UOBM[scale]}),
        Named("Claros_LE", "claros-extended", {"collections": _COLLECTIONS[scale]}),
        dag,
    ]

"""The workloads by name, one file per family."""

from __future__ import annotations

from everlog.bench.workload import BenchmarkMistake, Workload
from everlog.bench.workloads.andersen import ANDERSEN
from everlog.bench.workloads.claros import CLAROS, CLAROS_EXTENDED
from everlog.bench.workloads.collaborators import PC
from everlog.bench.workloads.concepts import SKOS
from everlog.bench.workloads.family import FAMILY
from everlog.bench.workloads.generations import SAME_GENERATION
from everlog.bench.workloads.graphs import DAG, DAG_NONLINEAR, DAG_SPARSE
from everlog.bench.workloads.lubm import LUBM
from everlog.bench.workloads.relations import RELATIONS, RELATIONS_MADE
from everlog.bench.workloads.uobm import UOBM

GENERATED: tuple[Workload, ...] = (UOBM, CLAROS, CLAROS_EXTENDED, RELATIONS)
"""Generated data under a program or an ontology of the data folder."""

KNOWLEDGE: tuple[Workload, ...] = (FAMILY, SKOS, RELATIONS_MADE)
"""Programs with several modules, which peers have no part in."""

WORKLOADS: tuple[Workload, ...] = (
    DAG,
    DAG_SPARSE,
    DAG_NONLINEAR,
    LUBM,
    *GENERATED,
    ANDERSEN,
    SAME_GENERATION,
    PC,
    *KNOWLEDGE,
)


def workload(name: str) -> Workload:
    """The workload of that name, or `BenchmarkMistake` with the names there are."""
    for candidate in WORKLOADS:
        if candidate.name == name:
            return candidate
    raise BenchmarkMistake(f"no workload {name}; there are {', '.join(each.name for each in WORKLOADS)}")

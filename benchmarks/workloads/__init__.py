"""The workloads by name, one file per family."""

from __future__ import annotations

from benchmarks.workload import BenchmarkMistake, Workload
from benchmarks.workloads.andersen import ANDERSEN
from benchmarks.workloads.borrows import POLONIUS
from benchmarks.workloads.claros import CLAROS, CLAROS_EXTENDED
from benchmarks.workloads.collaborators import PC
from benchmarks.workloads.completion import GALEN
from benchmarks.workloads.concepts import SKOS
from benchmarks.workloads.edits import CRDT
from benchmarks.workloads.family import FAMILY
from benchmarks.workloads.flows import CSDA, CSPA
from benchmarks.workloads.generations import SAME_GENERATION
from benchmarks.workloads.graphs import DAG, DAG_NONLINEAR, DAG_SPARSE
from benchmarks.workloads.linked import LINKED
from benchmarks.workloads.lubm import LUBM, LUBM_EXTENDED
from benchmarks.workloads.objects import DOOP
from benchmarks.workloads.relations import RELATIONS, RELATIONS_MADE
from benchmarks.workloads.uobm import UOBM

GENERATED: tuple[Workload, ...] = (UOBM, CLAROS, CLAROS_EXTENDED, RELATIONS)
"""Generated data under a program or an ontology of the data folder."""

KNOWLEDGE: tuple[Workload, ...] = (FAMILY, SKOS, RELATIONS_MADE)
"""Programs with several modules, which peers have no part in."""

PAPERS: tuple[Workload, ...] = (*LINKED, CSPA, CSDA, *POLONIUS, DOOP, GALEN, CRDT)
"""What others chose to measure Datalog engines by."""

WORKLOADS: tuple[Workload, ...] = (
    DAG,
    DAG_SPARSE,
    DAG_NONLINEAR,
    LUBM,
    LUBM_EXTENDED,
    *GENERATED,
    ANDERSEN,
    SAME_GENERATION,
    PC,
    *KNOWLEDGE,
    *PAPERS,
)


def workload(name: str) -> Workload:
    """The workload of that name, or `BenchmarkMistake` with the names there are."""
    for candidate in WORKLOADS:
        if candidate.name == name:
            return candidate
    raise BenchmarkMistake(f"no workload {name}; there are {', '.join(each.name for each in WORKLOADS)}")

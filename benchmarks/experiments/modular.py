"""Modules against plain rules (*Modular*, section 11).

Of Seq 50 and 500 of 2,000 items are changed. The paper's program has the order as 1,999,000 facts; with those no module is
found here, since a relation is not known to be an order: the module is that of a rule which compares numbers. Relations run
twice with modules, as in the paper: chains as others, or only transitive and symmetric-transitive ones (STD).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from benchmarks.data import DataAbsent
from benchmarks.experiments.tasks import Data, Subject
from benchmarks.workload import Instance
from benchmarks.workloads import modular as made
from benchmarks.workloads import workload

SYSTEMS: Final[Mapping[str, Mapping[str, str]]] = {
    "M-DRed^c": {"modules": "auto", "hypertree": "off", "algorithm": "dredc"},
    "DRed^c": {"modules": "off", "hypertree": "off", "algorithm": "dredc"},
    "B/F^c": {"modules": "off", "hypertree": "off", "algorithm": "bfc"},
}


STD: Final[Mapping[str, Mapping[str, str]]] = {"M-DRed^c, STD": {**SYSTEMS["M-DRed^c"], "modules": "tc,stc"}}


def modular(scale: str) -> list[Subject]:
    """What the experiment runs on."""
    return [
        Subject(data, system, options)
        for data in _data(scale)
        for system, options in {**SYSTEMS, **(STD if data.instance == "Relations" else {})}.items()
    ]


def _data(scale: str) -> list[Data]:
    if scale == "tiny":
        tiny = {"properties": 36, "groups": 2, "individuals": 6, "facts": 16}
        return [
            Data("DAG-R", lambda: instance("dag-nonlinear", nodes=40, edges=80), 5),
            Data("Relations", lambda: instance("relations-made", **tiny), 5),
        ]
    small = scale == "small"
    k, collections = (3, 25) if small else (10, 50)
    nodes = 600 if small else 10_000
    family = {"branches": 4, "width": 24} if small else {}
    items = 400 if small else 2_000
    dag, seq = (None, None) if small else ("DAG-R", "Seq")
    groups = 2 if small else 8
    return [
        Data("Claros-LE", lambda: instance("claros-extended", collections=collections)),
        Data("LUBM-LE", lambda: workload("lubm-extended").instance(k=k)),
        Data("SKOS", lambda: instance("skos", concepts=5_000 if small else 20_000)),
        Data("DAG-R", lambda: instance("dag-nonlinear", nodes=nodes, edges=10 * nodes), paper=dag),
        Data("Family", lambda: instance("family", **family), 100 if small else 1_000),
        Data("Relations", lambda: _relations(groups), 100 if small else 1_000),
        Data("Seq", lambda: made.sequence(items), items // 40),
        Data("Seq, < stored", lambda: made.stored_sequence(items), items // 40, seq, updated="item"),
    ]


def _relations(groups: int) -> Instance:
    """With the axioms of the Relations Ontology, or generated ones where it is absent; dense, as the paper's data is."""
    sizes = {"groups": groups, "individuals": 100, "facts": 2_400}
    try:
        return instance("relations", **sizes)
    except DataAbsent:
        return instance("relations-made", **sizes)


def instance(name: str, **parameters: int) -> Instance:
    return workload(name).instance(**parameters)

"""Modules against plain rules (*Modular*, section 11). Of the sequence 50 and 500 of 2,000 items are changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from everlog.bench.experiments.tasks import Data, Subject
from everlog.bench.updates import lubm
from everlog.bench.workload import Instance
from everlog.bench.workloads import modular as made
from everlog.bench.workloads import workload

SYSTEMS: Final[Mapping[str, Mapping[str, str]]] = {
    "M-DRed^c": {"modules": "auto", "hypertree": "off", "algorithm": "dredc"},
    "DRed^c": {"modules": "off", "hypertree": "off", "algorithm": "dredc"},
    "B/F^c": {"modules": "off", "hypertree": "off", "algorithm": "bfc"},
}


def modular(scale: str) -> list[Subject]:
    """What the experiment runs on."""
    return [Subject(data, system, options) for data in _data(scale) for system, options in SYSTEMS.items()]


def _data(scale: str) -> list[Data]:
    if scale == "tiny":
        return [Data("DAG-R", lambda: instance("dag-nonlinear", nodes=40, edges=80), 5)]
    k, collections = (3, 25) if scale == "small" else (13, 100)
    nodes = 600 if scale == "small" else 10_000
    family = {"branches": 4, "width": 40} if scale == "small" else {}
    items = 400 if scale == "small" else 2_000
    dag, seq = (None, None) if scale == "small" else ("DAG-R", "Seq")
    return [
        Data("Claros-LE", lambda: instance("claros-extended", collections=collections)),
        Data("LUBM-LE", lambda: lubm("LUBM_LE", k)),
        Data("SKOS", lambda: instance("skos", concepts=5_000 if scale == "small" else 20_000)),
        Data("DAG-R", lambda: instance("dag-nonlinear", nodes=nodes, edges=10 * nodes), paper=dag),
        Data("Family", lambda: instance("family", **family)),
        Data("Seq", lambda: made.sequence(items), items // 40, paper=seq),
    ]


def instance(name: str, **parameters: int) -> Instance:
    return workload(name).instance(**parameters)

"""Decomposed rules against plain ones (*Hypertree*, section 5): the standard approach, HD, and both combined."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from benchmarks.experiments.modular import instance
from benchmarks.experiments.tasks import Data, Subject
from benchmarks.workloads import wide

SYSTEMS: Final[Mapping[str, Mapping[str, str]]] = {
    "standard": {"hypertree": "off", "modules": "off", "algorithm": "dredc"},
    "HD": {"hypertree": "all", "modules": "off", "algorithm": "dredc"},
    "combined": {"hypertree": "cyclic", "modules": "off", "algorithm": "dredc"},
    "auto": {"hypertree": "auto", "modules": "off", "algorithm": "dredc"},
}


def hypertree(scale: str) -> list[Subject]:
    """What the experiment runs on."""
    return [Subject(data, system, options) for data in _data(scale) for system, options in SYSTEMS.items()]


def _data(scale: str) -> list[Data]:
    if scale == "tiny":
        return [Data("PC", lambda: instance("pc", n=6, k=4), 3)]
    small = scale == "small"
    n, k = (200, 60) if small else (1_000, 300)
    expressions, values = (50, 200) if small else (50, 500)
    copies = 2 if small else 10
    patterns = {} if small else {f"graph, {name}": partial(wide.pattern, name) for name in ("cycle", "petal")}
    return [
        Data("L+C", lambda: wide.campus(copies)),
        Data("L", lambda: wide.campus(copies, complex_rules=False)),
        Data("Exp", lambda: wide.expressions(expressions, values)),
        Data("PC", lambda: instance("pc", n=n, k=k)),
        *(Data(name, build) for name, build in patterns.items()),
    ]

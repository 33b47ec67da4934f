"""The papers' tables, made from records alone."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.experiments.records import Record
from benchmarks.experiments.tables.equality import equality
from benchmarks.experiments.tables.hypertree import hypertree
from benchmarks.experiments.tables.modular import modular
from benchmarks.experiments.tables.revisited import break_even, largest, robustness
from benchmarks.experiments.tables.systems import cluster, growth, peers
from benchmarks.experiments.tables.table import Table


def tables(records: Sequence[Record]) -> list[Table]:
    """All tables that there are records for."""
    found: list[Table] = []
    for way in ("deletion", "addition"):
        for sampling in ("uniform", "walk"):
            found += robustness(records, way, sampling)
    found += break_even(records)
    for part in ("deletion", "addition"):
        found += largest(records, part)
    found += [*modular(records), *hypertree(records), *equality(records)]
    return [*found, *peers(records), *growth(records), *cluster(records)]

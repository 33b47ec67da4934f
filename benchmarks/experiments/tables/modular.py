"""Tables 3 and 4 of *Modular*."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.experiments.records import Record
from benchmarks.experiments.tables.table import NONE, Table, agree, names, of, seconds


def modular(records: Sequence[Record]) -> list[Table]:
    """Tables 3 and 4 of *Modular*, with the paper's figures below ours where the data is the same."""
    chosen = of(records, experiment="modular")
    if not chosen:
        return []
    kinds = ("tc", "stc", "reach", "rch", "seq")
    statistics, times = [], []
    for instance in names(chosen, "instance"):
        here = {one["system"]: one for one in of(chosen, instance=instance)}
        off, agreed = here["DRed^c"], agree(list(here.values()))
        for on in (one for name, one in here.items() if name.startswith("M-DRed^c")):
            label = instance + on["system"].removeprefix("M-DRed^c")
            if "total" in on:
                sizes = [f"{on[key] / 1e3:,.1f}" for key in ("explicit", "total")]
                rules = [str(on[key]) for key in ("nonrecursive_rules", "recursive_rules", "strata")]
                statistics.append([label, *sizes, *rules, *(str(on["modules"].get(kind, 0)) for kind in kinds)])
            columns = [(off, "materialisation"), (on, "materialisation")]
            columns += [(one, "small deletion") for one in (off, here["B/F^c"], on)]
            columns += [(one, "small addition") for one in (off, on)]
            columns += [(one, "large deletion") for one in (off, here["B/F^c"], on)]
            shown = [seconds(one["seconds"][task]) if task in one["seconds"] else NONE for one, task in columns]
            times.append([label, *(shown if agreed else ["they disagree"] * len(columns))])
        if off["paper"] is not None:
            times.append([f"{instance}, in the paper", *_MODULAR[off["paper"]]])
    header = ["Benchmark", "Mat", "M-Mat"]
    header += [f"small deletion {name}" for name in ("DRed^c", "B/F^c", "M-DRed^c")]
    header += [f"small addition {name}" for name in ("DRed^c", "M-DRed^c")]
    header += [f"large deletion {name}" for name in ("DRed^c", "B/F^c", "M-DRed^c")]
    note = "Seconds. A dash: not asked any more, since what came before took too long. All but DAG-R and Seq are generated "
    note += "otherwise than the paper's data, and smaller; the paper's machine was another."
    return [
        Table(
            "Modules: statistics",
            ["Benchmark", "E (k)", "I (k)", "nonrecursive", "recursive", "strata", *kinds],
            statistics,
        ),
        Table("Modules: seconds", header, times, note),
    ]


_MODULAR: Final = {
    "DAG-R": ("3,799", "35", "3,262", "1,302", "104", "137", "17", "4,595", "10,580", "139"),
    "Seq": ("8,393", "0", "27", "27", "0", "27", "0", "254", "251", "0"),
}
"""Rows of Table 4."""

"""Tables 1 and 2 of *Hypertree*, and those of its memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from benchmarks.experiments.records import Record
from benchmarks.experiments.tables.table import NONE, Table, agree, names, of, seconds


def hypertree(records: Sequence[Record]) -> list[Table]:
    """Tables 1 and 2 of *Hypertree*, and those of its memory."""
    chosen = of(records, experiment="hypertree")
    if not chosen:
        return []
    instances, systems = names(chosen, "instance"), names(chosen, "system")
    statistics, times, memory = [], [], []
    for instance in instances:
        first = next(one for one in of(chosen, instance=instance) if "total" in one)
        rules = first["nonrecursive_rules"] + first["recursive_rules"]
        statistics.append([instance, f"{first['explicit']:,}", f"{first['total']:,}", f"{rules:,}"])
    for system in systems:
        line, sizes = [system], [system]
        for task in _TASKS:
            for instance in instances:
                (one,) = of(chosen, instance=instance, system=system)
                agreed = agree(of(chosen, instance=instance))
                shown = seconds(one["seconds"][task]) if task in one["seconds"] else NONE
                line.append(shown if agreed else "they disagree")
        for instance in instances:
            (one,) = of(chosen, instance=instance, system=system)
            kept = f"{one['state_bytes'] / 1e6:,.1f}" if "state_bytes" in one else NONE
            sizes.append(f"{one['peak_bytes'] / 1e6:,.0f} ({kept})")
        times.append(line)
        memory.append(sizes)
    if any(instance in _PAPER["standard"] for instance in instances):
        for system, cells in _PAPER.items():
            line = [cells[one][_TASKS.index(task)] if one in cells else NONE for task in _TASKS for one in instances]
            times.append([f"{system}, in the paper", *line])
    header = ["Method", *(f"{task}, {instance}" for task in _TASKS for instance in instances)]
    note = (
        "A dash: it took too long. YAGO's data cannot be had here. auto decides by cost what combined decides by the "
    )
    note += (
        "width of a rule. The paper has 500 universities, other rules about them and other expressions: compare ratios."
    )
    return [
        Table("Decomposed rules: statistics", ["Benchmark", "E", "I", "rules"], statistics),
        Table("Decomposed rules: seconds", header, times, note),
        Table("Decomposed rules: peak memory in MB (of it state besides facts)", ["Method", *instances], memory),
    ]


_TASKS: Final = ("materialisation", "small deletion", "large deletion", "small addition")
_PAPER: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "standard": {
        "L+C": ("29,577.90", "0.92", "15,193.70", "0.97"),
        "L": ("95.73", "0.03", "27.09", "0.02"),
        "Exp": ("7,039.87", "37.60", "4,006.44", "40.23"),
    },
    "HD": {
        "L+C": ("1,168.83", "4.00", "812.32", "1.04"),
        "L": ("740.81", "3.70", "558.90", "0.45"),
        "Exp": ("56.83", "0.47", "30.93", "0.57"),
    },
    "combined": {
        "L+C": ("554.00", "1.06", "195.51", "0.73"),
        "L": ("75.50", "0.04", "21.71", "0.06"),
        "Exp": ("57.01", "0.45", "28.62", "0.53"),
    },
}
"""Table 2, in seconds."""

"""Tables 1 and 2 of *Hypertree*, and those of its memory."""

from __future__ import annotations

from collections.abc import Sequence

from everlog.bench.experiments.records import Record
from everlog.bench.experiments.tables.table import NONE, Table, agree, names, of, seconds


def hypertree(records: Sequence[Record]) -> list[Table]:
    """Tables 1 and 2 of *Hypertree*, and those of its memory."""
    chosen = of(records, experiment="hypertree")
    if not chosen:
        return []
    instances, systems = names(chosen, "instance"), names(chosen, "system")
    statistics, times, memory = [], [], []
    for instance in instances:
        first = of(chosen, instance=instance)[0]
        rules = first["nonrecursive_rules"] + first["recursive_rules"]
        statistics.append([instance, f"{first['explicit']:,}", f"{first['total']:,}", f"{rules:,}"])
    tasks = ("materialisation", "small deletion", "large deletion", "small addition")
    for system in systems:
        line, sizes = [system], [system]
        for task in tasks:
            for instance in instances:
                (one,) = of(chosen, instance=instance, system=system)
                agreed = agree(of(chosen, instance=instance))
                shown = seconds(one["seconds"][task]) if task in one["seconds"] else NONE
                line.append(shown if agreed else "they disagree")
        for instance in instances:
            (one,) = of(chosen, instance=instance, system=system)
            sizes.append(f"{one['peak_bytes'] / 1e6:,.0f} ({one['state_bytes'] / 1e6:,.1f})")
        times.append(line)
        memory.append(sizes)
    header = ["Method", *(f"{task}, {instance}" for task in tasks for instance in instances)]
    note = "YAGO's data cannot be had here. auto decides by cost what combined decides by the width of a rule."
    return [
        Table("Decomposed rules: statistics", ["Benchmark", "E", "I", "rules"], statistics),
        Table("Decomposed rules: seconds", header, times, note),
        Table("Decomposed rules: peak memory in MB (of it state besides facts)", ["Method", *instances], memory),
    ]

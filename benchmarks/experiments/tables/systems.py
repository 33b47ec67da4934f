"""Everlog beside other systems, how its time grows, and what a cluster would take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from statistics import linear_regression, median
from typing import Final

from benchmarks.experiments.records import Record
from benchmarks.experiments.tables.table import NONE, Table, names, of, seconds


def peers(records: Sequence[Record]) -> list[Table]:
    chosen = of(records, experiment="peers")
    if not chosen:
        return []
    rows = []
    for one in chosen:
        everlog = next((each for each in _same(chosen, one) if each["system"] == "everlog"), None)
        line = [one["workload"], _sizes(one["parameters"]), one["system"]]
        if one["status"] != "ok" or not one["agrees"]:
            rows.append([*line, NONE, NONE, NONE, NONE, one.get("reason", "") or "the systems disagree"])
            continue
        both = median(map(sum, zip(one["load_seconds"], one["seconds"], strict=True)))
        ratio = NONE
        if everlog is not None and everlog["status"] == "ok" and not one["loads_while_reasoning"]:
            ratio = f"{median(one['seconds']) / median(everlog['seconds']):.2f}"
        reasoning = NONE if one["loads_while_reasoning"] else seconds(median(one["seconds"]))
        rows.append([*line, reasoning, seconds(both), f"{one['peak_bytes'] / 1e6:,.0f}", ratio, ""])
    header = ["Workload", "Size", "System", "Reasoning s", "With loading s", "Peak MB", "Times Everlog", "Remark"]
    return [Table("Everlog and other systems", header, rows, "Medians. Above 1, Everlog's reasoning is faster.")]


def _same(records: Sequence[Record], one: Record) -> list[Record]:
    return of(records, workload=one["workload"], parameters=one["parameters"])


def _sizes(parameters: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={value:,}" for name, value in parameters.items() if name != "seed")


def growth(records: Sequence[Record]) -> list[Table]:
    chosen = of(records, experiment="growth")
    if not chosen:
        return []
    rows = []
    for workload in names(chosen, "workload"):
        here = sorted(of(chosen, workload=workload), key=lambda one: one["explicit"])
        for one in here:
            per = median(one["seconds"]) / one["total"] * 1e9
            rows.append(
                [
                    workload,
                    f"{one['explicit']:,}",
                    f"{one['total']:,}",
                    seconds(median(one["seconds"])),
                    f"{per:,.0f}",
                    "",
                ]
            )
        rows[-1][-1] = f"{exponent(here):.2f}"
    header = ["Workload", "Explicit facts", "Facts in the end", "Reasoning s", "ns per fact", "Exponent"]
    note = "Exponent: of facts in the end, in the time that fits best on logarithmic axes."
    return [Table("How time grows", header, rows, note)]


def cluster(records: Sequence[Record]) -> list[Table]:
    """What rounds took on Spark, and an estimate for a billion facts on a cluster."""
    chosen = of(records, experiment="cluster")
    if not chosen:
        return []
    rows = []
    for one in chosen:
        rounds = [each["seconds"] for each in one["rounds"] if each["round"]]
        derived = one["total"] - one["explicit"]
        rows.append(
            [
                f"{one['universities']:,}",
                f"{one['explicit']:,}",
                f"{derived:,}",
                str(len(rounds)),
                seconds(one["seconds"]),
                seconds(median(rounds)),
                f"{one['seconds'] / derived * 1e6:.2f}",
                f"{one['shuffled_bytes'] / one['total']:.1f}",
            ]
        )
    header = [
        "Universities",
        "Explicit",
        "Derived",
        "Rounds",
        "s",
        "s a round",
        "s a million derived",
        "bytes shuffled a fact",
    ]
    last = chosen[-1]
    cores = last["environment"]["machine"]["cores"]
    work = (last["seconds"] * cores) / last["total"]
    moved = last["shuffled_bytes"] / last["total"]
    hours = work * _BILLION / _CORES / 3600
    network = moved * _BILLION / _NETWORK / 60
    note = (
        f"At a billion facts, {_CORES} cores with this machine's speed would be at work for {hours:.1f} hours, and "
        f"{moved * _BILLION / 1e9:,.0f} GB would be shuffled, which takes {network:.1f} minutes at "
        f"{_NETWORK / 1e9:.0f} GB/s over all links; rounds stay as many. "
        "This takes the cost of a fact at the largest size here, and no account of skew."
    )
    return [Table("Spark, and a cluster", header, rows, note)]


_BILLION: Final = 1e9
_CORES: Final = 100
_NETWORK: Final = 10e9
"""A cluster of a hundred cores, whose machines take in ten gigabytes a second together."""


def exponent(records: Sequence[Record]) -> float:
    """The slope of time over derived facts on logarithmic axes."""
    if len({one["total"] for one in records}) < 2:
        return float("nan")
    sizes, times = ([log(value) for value in values] for values in zip(*_points(records), strict=True))
    return linear_regression(sizes, times).slope


def _points(records: Sequence[Record]) -> list[tuple[float, float]]:
    return [(one["total"], median(one["seconds"])) for one in records]

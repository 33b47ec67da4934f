"""The papers' tables, made from records alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import correlation, linear_regression, mean, median
from typing import Any, Final

from everlog.bench.experiments.records import Record
from everlog.bench.experiments.robustness import ALGORITHMS
from everlog.bench.updates import interval

NONE: Final = "–"
NAMES: Final = {**ALGORITHMS, "Remat": "Remat", "CRemat": "CRemat"}
PAPER: Final = ("counting", "dred", "bf")
"""The three that *Revisited* compares; its scores and averages are over these."""


@dataclass(frozen=True)
class Table:
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def short(number: float) -> str:
    """As the papers write numbers: 2.22 k, 5.93 M."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(number) >= size:
            return f"{number / size:.2f}{unit}"
    return f"{number:.2f}" if number != int(number) else f"{int(number)}"


def seconds(number: float) -> str:
    return f"{number:.3f}" if number < 10 else f"{number:.1f}"


def with_interval(numbers: Sequence[float], show: Callable[[float], str]) -> str:
    return f"{show(mean(numbers))} ± {show(interval(numbers))}"


def of(records: Iterable[Record], **wanted: Any) -> list[Record]:
    return [one for one in records if all(one.get(name) == value for name, value in wanted.items())]


def names(records: Iterable[Record], key: str) -> list[Any]:
    """The values that records have, in the order of their first occurrence."""
    return list(dict.fromkeys(one[key] for one in records if key in one))


# ------------------------------------------------------------------------------------------------ robustness


def robustness(records: Sequence[Record], way: str, sampling: str) -> list[Table]:
    """Tables 3 and 4 for deletions, 5 and 6 for additions."""
    chosen = of(records, experiment="robustness", sampling=sampling)
    if not chosen:
        return []
    changed = short(chosen[0]["changed"])
    algorithms = [name for name in NAMES if of(chosen, algorithm=name)]
    header = ["Instance", "Strat", *(f"{NAMES[name]} s" for name in algorithms)]
    header += [f"{NAMES[name]} derivations" for name in algorithms]
    rows: list[list[str]] = []
    for instance in names(chosen, "instance"):
        for letter in ("N", "Y"):
            line = [instance, letter]
            for key, show in (("seconds", seconds), ("derivations", short)):
                for name in algorithms:
                    found = of(chosen, instance=instance, stratification=letter, algorithm=name)
                    line.append(with_interval(found[0][way][key], show) if found else NONE)
            rows.append(line)
    rows += _summary(chosen, way, algorithms)
    title = f"Robustness, {way} of {changed} facts, {_SAMPLING[sampling]}"
    note = "Mean, and half of the 95% z-confidence interval. Scores: how many times the best of CNT, DRed and FBF."
    return [Table(title, header, rows, note), _phases(chosen, way, algorithms, title)]


_SAMPLING: Final = {"uniform": "sampled uniformly", "walk": "sampled by random walks"}


def _summary(chosen: Sequence[Record], way: str, algorithms: Sequence[str]) -> list[list[str]]:
    """The bottom of Table 3: averages, ratios, scores and correlations."""
    rows = []
    for label, letters in (("Average N", "N"), ("Average Y", "Y"), ("Average all", "NY")):
        line = [label, letters if len(letters) == 1 else ""]
        for key, show in (("seconds", seconds), ("derivations", short)):
            for name in algorithms:
                line.append(_average([_mean(one, way, key) for one in chosen if _is(one, name, letters)], show))
        rows.append(line)
    ratio = ["Average ratio N/Y", ""]
    for key in ("seconds", "derivations"):
        for name in algorithms:
            pairs = [
                (_mean(one, way, key), _mean(two, way, key))
                for one in chosen
                for two in chosen
                if _is(one, name, "N") and _is(two, name, "Y") and one["instance"] == two["instance"]
            ]
            ratio.append(_average([n / y for n, y in pairs if y], lambda number: f"{number:.2f}"))
    rows.append(ratio)
    for label, middle in (("Average score", mean), ("Median score", median)):
        line = [label, ""]
        for key in ("seconds", "derivations"):
            scores = _scores(chosen, lambda one, key=key: _mean(one, way, key))  # type: ignore[misc]
            line += [f"{middle(scores[name]):.2f}" if scores.get(name) else NONE for name in algorithms]
        rows.append(line)
    for label, other in (
        ("Correlation, time and derivations", lambda one: _mean(one, way, "derivations")),
        ("Correlation, time and size", lambda one: one["total"]),
    ):
        line = [label, ""]
        for name in algorithms:
            mine = [one for one in chosen if one["algorithm"] == name]
            line.append(_correlated([_mean(one, way, "seconds") for one in mine], list(map(other, mine))))
        rows.append([*line, *[""] * len(algorithms)])
    return rows


def _is(one: Record, algorithm: str, letters: str) -> bool:
    return one["algorithm"] == algorithm and one["stratification"] in letters


def _mean(one: Record, way: str, key: str) -> float:
    return float(mean(one[way][key]))


def _average(numbers: Sequence[float], show: Callable[[float], str]) -> str:
    return show(mean(numbers)) if numbers else NONE


def _correlated(some: Sequence[float], others: Sequence[float]) -> str:
    if len(some) < 2 or len(set(some)) < 2 or len(set(others)) < 2:
        return NONE
    return f"{correlation(some, others):.2f}"


def _scores(records: Sequence[Record], measure: Callable[[Record], float]) -> dict[str, list[float]]:
    """Of each algorithm on each instance and stratification: how many times the best of the paper's three."""
    found: dict[str, list[float]] = {}
    for instance in names(records, "instance"):
        for letter in ("N", "Y"):
            here = {one["algorithm"]: measure(one) for one in of(records, instance=instance, stratification=letter)}
            best = min((value for name, value in here.items() if name in PAPER), default=0)
            for name, value in here.items():
                found.setdefault(name, []).append(value / best if best else 1.0)
    return found


def _phases(chosen: Sequence[Record], way: str, algorithms: Sequence[str], title: str) -> Table:
    columns: list[tuple[str, str]] = []
    for name in algorithms:
        phases = dict.fromkeys(
            phase for one in of(chosen, algorithm=name) for each in one[way]["phases"] for phase in each
        )
        columns += [(name, phase) for phase in phases]
    rows = []
    for instance in names(chosen, "instance"):
        for letter in ("N", "Y"):
            line = [instance, letter]
            for name, phase in columns:
                found = of(chosen, instance=instance, stratification=letter, algorithm=name)
                means = [mean(each.get(phase, 0) for each in one[way]["phases"]) for one in found]
                line.append(short(means[0]) if means else NONE)
            rows.append(line)
    header = ["Instance", "Strat", *(f"{NAMES[name]}: {phase.replace('_', ' ')}" for name, phase in columns)]
    return Table(f"{title}: derivations by phase", header, rows)


# ------------------------------------------------------------------------------------------------ scalability


def break_even(records: Sequence[Record]) -> list[Table]:
    """Table 7."""
    chosen = of(records, experiment="scalability", part="break-even")
    if not chosen:
        return []
    algorithms = [name for name in NAMES if of(chosen, algorithm=name)]
    rows = []
    for instance in names(chosen, "instance"):
        line = [instance]
        for letter in ("N", "Y"):
            for name in algorithms:
                found = of(chosen, instance=instance, stratification=letter, algorithm=name)
                line.append(
                    f"{short(found[0]['point'])} ({found[0]['point'] / found[0]['explicit']:.0%})" if found else NONE
                )
        rows.append(line)
    for label, middle in (("Average score", mean), ("Median score", median), ("Max. score", max)):
        line = [label]
        for letter in ("N", "Y"):
            scores: dict[str, list[float]] = {}
            for instance in names(chosen, "instance"):
                here = {one["algorithm"]: one["point"] for one in of(chosen, instance=instance, stratification=letter)}
                best = max((point for name, point in here.items() if name in PAPER), default=0)
                for name, point in here.items():
                    scores.setdefault(name, []).append(best / max(1, point))
            line += [f"{middle(scores[name]):.2f}" if scores.get(name) else NONE for name in algorithms]
        rows.append(line)
    header = ["Instance", *(f"{NAMES[name]}, {letter}" for letter in ("N", "Y") for name in algorithms)]
    note = "How many explicit facts, deleted at once, take as long as starting again; N without stratification."
    return [Table("Break-even points", header, rows, note)]


def largest(records: Sequence[Record], part: str) -> list[Table]:
    """Tables 8 and 9: times and derivations of the largest break-even point."""
    chosen = of(records, experiment="scalability", part=part)
    if not chosen:
        return []
    algorithms = [name for name in NAMES if of(chosen, algorithm=name)]
    rows = []
    for instance in names(chosen, "instance"):
        for letter in ("N", "Y"):
            here = of(chosen, instance=instance, stratification=letter)
            if not here:
                continue
            size = max(one["changed"] for one in here)
            found = {one["algorithm"]: one for one in here if one["changed"] == size}
            line = [instance, letter, short(size)]
            for key, show in (("seconds", seconds), ("derivations", short)):
                line += [show(found[name][key]) if name in found else NONE for name in algorithms]
            rows.append(line)
    header = ["Instance", "Strat", "Facts", *(f"{NAMES[name]} s" for name in algorithms)]
    header += [f"{NAMES[name]} derivations" for name in algorithms]
    return [Table(f"Scalability, {part} of the largest break-even point", header, rows)]


# ------------------------------------------------------------------------------------------------ modules


def modular(records: Sequence[Record]) -> list[Table]:
    """Tables 3 and 4 of *Modular*, with the paper's figures below ours where the data is the same."""
    chosen = of(records, experiment="modular")
    if not chosen:
        return []
    kinds = ("tc", "stc", "reach", "rch", "seq")
    statistics, times = [], []
    for instance in names(chosen, "instance"):
        here = {one["system"]: one for one in of(chosen, instance=instance)}
        on, off = here["M-DRed^c"], here["DRed^c"]
        sizes = [f"{on[key] / 1e3:,.1f}" for key in ("explicit", "total")]
        rules = [str(on[key]) for key in ("nonrecursive_rules", "recursive_rules", "strata")]
        statistics.append([instance, *sizes, *rules, *(str(on["modules"].get(kind, 0)) for kind in kinds)])
        agreed = _agree(list(here.values()))
        columns = [(off, "materialisation"), (on, "materialisation")]
        columns += [(here[name], "small deletion") for name in ("DRed^c", "B/F^c", "M-DRed^c")]
        columns += [(here[name], "small addition") for name in ("DRed^c", "M-DRed^c")]
        columns += [(here[name], "large deletion") for name in ("DRed^c", "B/F^c", "M-DRed^c")]
        shown = [seconds(one["seconds"][task]) if task in one["seconds"] else NONE for one, task in columns]
        times.append([instance, *(shown if agreed else ["they disagree"] * len(columns))])
        if on["paper"] is not None:
            times.append([f"{instance}, in the paper", *_MODULAR[on["paper"]]])
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


def _agree(records: Sequence[Record]) -> bool:
    """Whether all systems have the same facts, after the materialisation and after each update."""
    said: dict[str, set[int]] = {"": {one["total"] for one in records}}
    for one in records:
        for task, change in one["changed"].items():
            said.setdefault(task, set()).add(change)
    return all(len(values) == 1 for values in said.values())


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
                agreed = _agree(of(chosen, instance=instance))
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


_MODULAR: Final = {
    "DAG-R": ("3,799", "35", "3,262", "1,302", "104", "137", "17", "4,595", "10,580", "139"),
    "Seq": ("8,393", "0", "27", "27", "0", "27", "0", "254", "251", "0"),
}
"""Rows of Table 4."""


# ------------------------------------------------------------------------------------------------ systems


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
    chosen = [one for one in of(records, experiment="growth", system="everlog") if one["status"] == "ok"]
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
    header = ["Workload", "Explicit facts", "Derived facts", "Reasoning s", "ns per derived fact", "Exponent"]
    note = "Exponent: of derived facts, in the time that fits best on logarithmic axes."
    return [Table("How time grows", header, rows, note)]


def exponent(records: Sequence[Record]) -> float:
    """The slope of time over derived facts on logarithmic axes."""
    if len({one["total"] for one in records}) < 2:
        return float("nan")
    sizes, times = ([log(value) for value in values] for values in zip(*_points(records), strict=True))
    return linear_regression(sizes, times).slope


def _points(records: Sequence[Record]) -> list[tuple[float, float]]:
    return [(one["total"], median(one["seconds"])) for one in records]


def tables(records: Sequence[Record]) -> list[Table]:
    """All tables that there are records for."""
    found: list[Table] = []
    for way in ("deletion", "addition"):
        for sampling in ("uniform", "walk"):
            found += robustness(records, way, sampling)
    found += break_even(records)
    for part in ("deletion", "addition"):
        found += largest(records, part)
    return [*found, *modular(records), *hypertree(records), *peers(records), *growth(records)]

"""The tables of *Revisited*: robustness (3–6), break-even points (7), large updates (8 and 9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import correlation, mean, median
from typing import Final

from benchmarks.experiments.records import Record
from benchmarks.experiments.tables import reported
from benchmarks.experiments.tables.table import NAMES, NONE, PAPER, Table, names, of, seconds, short, with_interval


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
        if sampling == "uniform" and instance in reported.NAMES:
            rows += _reported(instance, way, algorithms)
    rows += _summary(chosen, way, algorithms)
    title = f"Robustness, {way} of {changed} facts, {_SAMPLING[sampling]}"
    note = "Mean, and half of the 95% z-confidence interval. Scores: how many times the best of CNT, DRed and FBF. "
    note += "The paper's rows have the same program over other and far larger data, on another machine."
    return [Table(title, header, rows, note), _phases(chosen, way, algorithms, title)]


def _reported(instance: str, way: str, algorithms: Sequence[str]) -> list[list[str]]:
    """The paper's rows for an instance."""
    rows = []
    for letter in ("N", "Y"):
        cells = (reported.DELETION if way == "deletion" else reported.ADDITION)[instance, letter]
        line = [f"{reported.NAMES[instance]}, in the paper", letter]
        for key in ("seconds", "derivations"):
            line += [_of_paper(cells[key], name) for name in algorithms]
        rows.append(line)
    return rows


def _of_paper(cells: Sequence[str], algorithm: str) -> str:
    return cells[PAPER.index(algorithm)] if algorithm in PAPER else NONE


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
        if instance in reported.NAMES:
            cells = [_of_paper(reported.BREAK_EVEN[instance, letter], name) for letter in "NY" for name in algorithms]
            rows.append([f"{reported.NAMES[instance]}, in the paper", *cells])
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

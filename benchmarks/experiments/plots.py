"""The experiments as pictures: SVG, made from records alone."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import TYPE_CHECKING, Any, Final

from benchmarks.experiments.records import Record
from benchmarks.experiments.tables.table import NAMES, names, of
from benchmarks.updates import interval
from benchmarks.workload import BenchmarkMistake

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKS: Final = "osD^vPX*"
_WIDTH: Final = 7.5


@dataclass(frozen=True)
class Plot:
    title: str
    svg: str


def plots(records: Sequence[Record]) -> list[Plot]:
    """All that there are records for."""
    found = [*_robustness(records), *_scalability(records), *_break_even(records)]
    found += _speed_ups(records, "modular", "M-DRed^c", "DRed^c", "Modules: how many times as fast as without")
    found += _speed_ups(
        records, "hypertree", "combined", "standard", "Decomposed rules: how many times as fast as whole"
    )
    return [*found, *_equality(records), *_peers(records), *_growth(records)]


def _figure(height: float) -> tuple[Any, Axes]:
    try:
        import matplotlib
    except ImportError:
        raise BenchmarkMistake("plots want matplotlib: pip install 'everlog[bench]'") from None
    matplotlib.use("svg")
    # Text stays text, so that it can be found; ids do not depend on the run.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "everlog", "font.size": 9})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(_WIDTH, height), layout="constrained")
    return figure, axes


def _drawn(title: str, figure: Any, axes: Axes, legend: bool = True) -> Plot:
    from matplotlib import pyplot

    axes.set_title(title)
    for axis, limits, span in ((axes.xaxis, axes.get_xlim(), 10), (axes.yaxis, axes.get_ylim(), 50)):
        if axis.get_scale() == "log":
            _labelled(axis, limits[1] / limits[0] < span)
    if legend:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    text = re.sub(r"<metadata>.*?</metadata>", "", out.getvalue(), flags=re.DOTALL)
    return Plot(title, text[text.index("<svg") :])


def _labelled(axis: Any, between: bool) -> None:
    """Numbers as one reads them, at powers of ten; on a short axis also at twice and five times these."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    number = FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    axis.set_major_formatter(number)
    axis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
    axis.set_minor_formatter(number if between else NullFormatter())


def _bars(axes: Axes, groups: Sequence[str], series: dict[str, list[tuple[float, float] | None]]) -> None:
    """Bars with intervals, side by side in groups."""
    width = 0.8 / max(1, len(series))
    for number, (name, values) in enumerate(series.items()):
        there = [(place, value) for place, value in enumerate(values) if value is not None]
        at = [place - 0.4 + width * (number + 0.5) for place, _ in there]
        heights, errors = [value[0] for _, value in there], [value[1] for _, value in there]
        low = [min(error, 0.99 * height) for error, height in zip(errors, heights, strict=True)]
        axes.bar(at, heights, width, yerr=[low, errors], label=name, capsize=2)
    axes.set_xticks(range(len(groups)), groups, rotation=20, ha="right")
    axes.set_yscale("log")
    axes.grid(axis="y", alpha=0.3)


def _robustness(records: Sequence[Record]) -> Iterator[Plot]:
    for sampling in ("uniform", "walk"):
        chosen = of(records, experiment="robustness", sampling=sampling, stratification="Y")
        if not chosen:
            continue
        groups = names(chosen, "instance")
        figure, axes = _figure(3.6)
        series: dict[str, list[tuple[float, float] | None]] = {}
        for algorithm in names(chosen, "algorithm"):
            values: list[tuple[float, float] | None] = []
            for instance in groups:
                found = of(chosen, instance=instance, algorithm=algorithm)
                times = found[0]["deletion"]["seconds"] if found else []
                speed = _materialised(chosen, found[0]) / mean(times) if times else 0.0
                values.append((speed, speed * interval(times) / mean(times)) if times else None)
            series[NAMES[algorithm]] = values
        _bars(axes, groups, series)
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set_ylabel("times as fast as materialising")
        yield _drawn(f"Deleting {chosen[0]['changed']:,} facts ({sampling}), with 95% intervals", figure, axes)


def _materialised(chosen: Sequence[Record], one: Record) -> float:
    """The seconds of a materialisation, the least of all that keep the same: each was measured but once."""
    alike = of(chosen, instance=one["instance"], state_bytes=one["state_bytes"])
    return float(min(each["materialise_seconds"] for each in alike))


def _scalability(records: Sequence[Record]) -> Iterator[Plot]:
    chosen = of(records, experiment="scalability", part="deletion", stratification="Y")
    for instance in names(chosen, "instance"):
        figure, axes = _figure(3.4)
        here = of(chosen, instance=instance)
        for mark, algorithm in zip(_MARKS, names(here, "algorithm"), strict=False):
            points = sorted((one["changed"], one["seconds"]) for one in of(here, algorithm=algorithm))
            axes.plot(*zip(*points, strict=True), marker=mark, markersize=4, label=NAMES[algorithm])
        _log_log(axes, "facts deleted", "seconds")
        yield _drawn(f"{instance}: time against the size of the deletion", figure, axes)


def _log_log(axes: Axes, x: str, y: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(which="major", alpha=0.3)


def _break_even(records: Sequence[Record]) -> Iterator[Plot]:
    chosen = of(records, experiment="scalability", part="break-even")
    if not chosen:
        return
    groups = names(chosen, "instance")
    figure, axes = _figure(3.4)
    series: dict[str, list[tuple[float, float] | None]] = {}
    for algorithm in names(chosen, "algorithm"):
        for letter in ("N", "Y"):
            found = [of(chosen, instance=one, algorithm=algorithm, stratification=letter) for one in groups]
            series[f"{NAMES[algorithm]}, {letter}"] = [
                (100 * max(1, one[0]["point"]) / one[0]["explicit"], 0.0) if one else None for one in found
            ]
    _bars(axes, groups, series)
    axes.set_ylabel("% of the explicit facts")
    yield _drawn("Break-even points (N without stratification)", figure, axes)


def _speed_ups(records: Sequence[Record], experiment: str, new: str, old: str, title: str) -> Iterator[Plot]:
    chosen = of(records, experiment=experiment)
    if not chosen:
        return
    groups = names(chosen, "instance")
    figure, axes = _figure(3.4)
    series: dict[str, list[tuple[float, float] | None]] = {}
    for task in ("materialisation", "small deletion", "small addition", "large deletion"):
        series[task] = []
        for instance in groups:
            times = [of(chosen, instance=instance, system=system)[0]["seconds"].get(task) for system in (new, old)]
            series[task].append(None if None in times else (times[1] / times[0], 0.0))
    _bars(axes, groups, series)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylabel("times as fast")
    yield _drawn(title, figure, axes)


def _equality(records: Sequence[Record]) -> Iterator[Plot]:
    chosen = of(records, experiment="equality", part="deletion")
    for instance in names(chosen, "instance"):
        figure, axes = _figure(3.4)
        marks = iter(_MARKS)
        for way, letter in (("rewrite", "≈"), ("axioms", "^A")):
            here = sorted(of(chosen, instance=instance, way=way), key=lambda one: one["changed"])
            for by, name in (("update", "B/F"), ("again", "Remat")):
                points = [(one["changed"], one[by]["seconds"]) for one in here]
                if points:
                    axes.plot(*zip(*points, strict=True), marker=next(marks), markersize=4, label=name + letter)
        _log_log(axes, "facts deleted", "seconds")
        yield _drawn(f"Equality, {instance}: rewriting (≈) and rules (^A)", figure, axes)


def _peers(records: Sequence[Record]) -> Iterator[Plot]:
    chosen = [one for one in of(records, experiment="peers") if one["status"] == "ok" and one["agrees"]]
    if not chosen:
        return
    groups = names(chosen, "workload")
    measures: dict[str, Callable[[Record], float]] = {
        "Loading and reasoning, in seconds": lambda one: median(one["load_seconds"]) + median(one["seconds"]),
        "Peak memory, in MB": lambda one: one["peak_bytes"] / 1e6,
    }
    for title, measure in measures.items():
        figure, axes = _figure(3.4)
        series: dict[str, list[tuple[float, float] | None]] = {}
        for system in names(chosen, "system"):
            found = [of(chosen, workload=one, system=system) for one in groups]
            series[system] = [(measure(one[0]), 0.0) if one else None for one in found]
        _bars(axes, groups, series)
        axes.set_ylabel(title.rpartition(" ")[2])
        yield _drawn(title, figure, axes)


def _growth(records: Sequence[Record]) -> Iterator[Plot]:
    chosen = of(records, experiment="growth")
    if not chosen:
        return
    figure, axes = _figure(3.6)
    for mark, workload in zip(_MARKS, names(chosen, "workload"), strict=False):
        points = sorted((one["total"], median(one["seconds"])) for one in of(chosen, workload=workload))
        axes.plot(*zip(*points, strict=True), marker=mark, markersize=4, label=workload)
    _log_log(axes, "facts in the end", "seconds of reasoning")
    yield _drawn("How time grows with the result", figure, axes)

"""A table, and how the papers write numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any, Final

from benchmarks.experiments.records import Record
from benchmarks.experiments.robustness import ALGORITHMS
from benchmarks.updates import interval

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


def agree(records: Sequence[Record]) -> bool:
    """Whether all systems have the same facts, after the materialisation and after each update."""
    said: dict[str, set[int]] = {"": {one["total"] for one in records if "total" in one}}
    for one in records:
        for task, change in one["changed"].items():
            said.setdefault(task, set()).add(change)
    return all(len(values) == 1 for values in said.values())

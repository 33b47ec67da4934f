"""Materialisation, small deletions and additions, and large deletions, by one system (*Modular*, section 11).

Small is a thousand facts and large a quarter of all, sampled uniformly. Every system has a process of its own, so that
their memory can be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from benchmarks.experiments.clock import WORKERS, materialising, timed
from benchmarks.experiments.records import Record
from benchmarks.updates_worker import Samples
from benchmarks.workload import Instance

if TYPE_CHECKING:
    from everlog import KnowledgeBase

_LIMIT: Final = {"tiny": 20.0, "small": 15.0, "medium": 25.0}
"""Seconds after which an update is given up, and what is left is not asked of a system any more."""
_FEW: Final = 400


@dataclass(frozen=True)
class Data:
    """An instance, how many of its facts are a small update, and the paper's row if it is the paper's data.

    If only facts of one predicate are changed, it is `updated`.
    """

    instance: str
    build: Callable[[], Instance]
    small: int = 1000
    paper: str | None = None
    updated: str | None = None

    def changing(self, facts: Mapping[str, pa.Table]) -> Mapping[str, pa.Table]:
        return facts if self.updated is None else {self.updated: facts[self.updated]}


@dataclass(frozen=True)
class Subject:
    """An instance and a system: the options of a `KnowledgeBase`."""

    data: Data
    system: str
    options: Mapping[str, str]

    @property
    def name(self) -> str:
        return f"{self.data.instance}, {self.system}"


def tasks(subject: Subject, scale: str) -> Iterator[Record]:
    """One record: seconds by task, and facts, so that results can be compared."""
    instance = subject.data.build()
    changing = subject.data.changing(instance.facts)
    samples, large = Samples(changing), sum(table.num_rows for table in changing.values()) // 4
    small = min(subject.data.small, large)
    wanted = {
        "small deletion": ("delete", small),
        "small addition": ("add", small),
        "large deletion": ("delete", large),
    }
    if scale != "tiny":
        _warm_up(instance, subject.options)
    end = process_time() + _LIMIT[scale]

    def patient(*_: int) -> None:
        if process_time() > end:
            raise _TooSlow

    kb, content = _materialised(instance, subject.options)
    times = {"materialisation": content.pop("seconds")}
    changed = {}
    try:
        for task, (way, size) in wanted.items():
            change: dict[str, Any] = {way: samples.of(size, seed=1), "progress": patient}
            patient()
            report, times[task] = timed(partial(kb.update, **change))
            changed[task] = report.added - report.deleted
    except _TooSlow:
        pass
    yield {**_described(subject), "small": small, **content, "seconds": times, "changed": changed}


def unfinished(subject: Subject) -> Record:
    """The record of a subject whose process was ended."""
    return {**_described(subject), "seconds": {}, "changed": {}}


def _described(subject: Subject) -> Record:
    return {
        "instance": subject.data.instance,
        "paper": subject.data.paper,
        "system": subject.system,
        "options": dict(subject.options),
    }


class _TooSlow(Exception):
    """An update took too long."""


def _warm_up(instance: Instance, options: Mapping[str, str]) -> None:
    """All tasks with a few facts: what the first ones in a process load, later ones find."""
    samples = Samples(instance.facts)
    kb, _ = _materialised(Instance(instance.program, samples.of(_FEW, seed=2)), options)
    for way in ("delete", "add"):
        kb.update(**{way: samples.of(_FEW // 4, seed=2)})  # type: ignore[arg-type]


def _materialised(instance: Instance, options: Mapping[str, str]) -> tuple[KnowledgeBase, dict[str, Any]]:
    from everlog import KnowledgeBase, parse_program
    from everlog.datalog.stratify import stratify

    program = parse_program(instance.program)
    kb = KnowledgeBase(program, engine="memory", workers=WORKERS, **options)  # type: ignore[arg-type]
    report, seconds = materialising(kb, instance.facts)
    strata = stratify(program.rules)
    recursive = sum(len(stratum.recursive) for stratum in strata)
    return kb, {
        "explicit": report.facts["explicit"],
        "total": report.facts["total"],
        "nonrecursive_rules": len(program.rules) - recursive,
        "recursive_rules": recursive,
        "strata": len(strata),
        "modules": dict(Counter(module["kind"] for module in report.modules)),
        "seconds": seconds,
        "state_bytes": report.state_bytes,
    }

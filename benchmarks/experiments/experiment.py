"""The experiments by name, and how one is run: instance by instance, each in a process of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.experiments.cluster import cluster
from benchmarks.experiments.equality import equality
from benchmarks.experiments.instances import enlarged, maintained
from benchmarks.experiments.peers import peers
from benchmarks.experiments.records import Record
from benchmarks.process import Limits, run_module
from benchmarks.runner import progress
from benchmarks.workload import BenchmarkMistake
from everlog.errors import Failure

_TIMEOUT: Final = 3600.0
_PATIENCE: Final = {"medium": 60}
"""Seconds of the processor for a process that need not end."""


@dataclass(frozen=True)
class Experiment:
    name: str
    about: str
    run: Callable[[str, int | None], Iterator[Record]]
    """Takes a scale, and how often to repeat what is repeated, if that is to be other than the scale's."""


@dataclass(frozen=True)
class _Kind:
    """An experiment that is run on one subject after the other."""

    subjects: Callable[[str], Sequence[Any]]
    """By scale; each has a name."""
    run: Callable[..., Iterator[Record]]
    """Takes a subject and a scale; and the repetitions, if it repeats."""
    repeats: bool = False
    unfinished: Callable[[Any], Record] | None = None
    """What to write down of a subject that takes too long; None if all of them end."""


def _kinds() -> dict[str, _Kind]:
    from benchmarks.experiments.growth import growth, sizes
    from benchmarks.experiments.hypertree import hypertree
    from benchmarks.experiments.modular import modular
    from benchmarks.experiments.robustness import robustness
    from benchmarks.experiments.scalability import scalability
    from benchmarks.experiments.tasks import tasks, unfinished

    return {
        "robustness": _Kind(maintained, robustness, repeats=True),
        "scalability": _Kind(enlarged, scalability),
        "modular": _Kind(modular, tasks, unfinished=unfinished),
        "hypertree": _Kind(hypertree, tasks, unfinished=unfinished),
        "growth": _Kind(sizes, growth, repeats=True),
    }


def _one_by_one(name: str) -> Callable[[str, int | None], Iterator[Record]]:
    def run(scale: str, repeat: int | None) -> Iterator[Record]:
        kind = _kinds()[name]
        subjects = kind.subjects(scale)
        patience = None if kind.unfinished is None else _PATIENCE.get(scale)
        # What is tiny is there to be tested: its memory means nothing, and one process is soon started.
        together = [range(len(subjects))] if scale == "tiny" else [[number] for number in range(len(subjects))]
        for numbers in together:
            subject = subjects[numbers[0]]
            progress(f"{name}: {subject.name}")
            asked = [name, scale, str(repeat or 0), *map(str, numbers)]
            ended = run_module("benchmarks.experiments.experiment", asked, _TIMEOUT, Limits(patience))
            if ended.timed_out and kind.unfinished is not None:
                yield {**kind.unfinished(subject), "gave_up_after": patience, "peak_bytes": ended.peak_bytes}
                continue
            if ended.timed_out or ended.code:
                lines = ended.errors.strip().splitlines() or ["no message"]
                why = f"took more than {_TIMEOUT:g} s" if ended.timed_out else lines[-1]
                raise Failure(f"{name}: {subject.name}: {why}")
            for line in ended.output.splitlines():
                if line.startswith("{"):
                    yield {**json.loads(line), "peak_bytes": ended.peak_bytes}
        progress("")

    return run


EXPERIMENTS: Final = (
    Experiment("robustness", "small updates of many samples (Revisited, Tables 3-6)", _one_by_one("robustness")),
    Experiment(
        "scalability", "break-even points and large updates (Revisited, Tables 7-9)", _one_by_one("scalability")
    ),
    Experiment("modular", "modules against plain rules (Modular, Tables 3 and 4)", _one_by_one("modular")),
    Experiment("hypertree", "decomposed rules (Hypertree, Tables 1 and 2, and memory)", _one_by_one("hypertree")),
    Experiment(
        "equality", "rewriting against rules for owl:sameAs (Equality, Table 1)", lambda scale, _: equality(scale)
    ),
    Experiment("peers", "Everlog beside other systems", peers),
    Experiment("growth", "how time grows with the data", _one_by_one("growth")),
    Experiment(
        "cluster", "the Spark engine, round by round, and what a cluster would take", lambda scale, _: cluster(scale)
    ),
)


def experiment(name: str) -> Experiment:
    found = next((each for each in EXPERIMENTS if each.name == name), None)
    if found is None:
        raise BenchmarkMistake(f"no experiment {name}; there are {', '.join(each.name for each in EXPERIMENTS)}")
    return found


def main(argv: list[str]) -> int:
    """`python -m benchmarks.experiments.experiment NAME SCALE REPEAT NUMBER…`: some subjects, a record a line."""
    name, scale, repeat, *numbers = argv
    kind = _kinds()[name]
    subjects = kind.subjects(scale)
    for number in map(int, numbers):
        more = (int(repeat) or None,) if kind.repeats else ()
        for record in kind.run(subjects[number], scale, *more):
            print(json.dumps(record), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Table 1 of *Equality*: deletions with equality by rewriting and by rules, each by an update and by starting again.

It is found first where B/F≈ takes as long as a new r-materialisation; 100 and 5,000 facts, and parts of that number, go.
Rewriting and rules have a process each. What rules do not finish in time has no record; the paper has none either.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.equality import one_class
from benchmarks.experiments.clock import WORKERS, materialising, timed
from benchmarks.experiments.equilibrium import SHARES, Order, break_even
from benchmarks.experiments.modular import instance
from benchmarks.experiments.records import Record
from benchmarks.process import Limits, run_module
from benchmarks.runner import progress
from benchmarks.workload import Instance
from everlog.errors import Failure

WAYS: Final = ("rewrite", "axioms")
_SMALL: Final = (100, 5_000)
_LIMIT: Final = {"tiny": 30, "small": 60, "medium": 180}
"""Seconds of the processor for each process."""
_TIMEOUT: Final = 7200.0


@dataclass(frozen=True)
class Data:
    name: str
    build: Callable[[], Instance]
    paper: str | None = None
    """The paper's row, if its data is the same at another scale."""


def subjects(scale: str) -> list[Data]:
    """What the experiment runs on."""
    if scale == "tiny":
        return [Data("One class", lambda: one_class(names=6, facts=400))]
    universities, collections = (1, 25) if scale == "small" else (2, 50)
    names, facts = (50, 20_000) if scale == "small" else (150, 60_000)
    return [
        Data("UOBM-L", lambda: instance("uobm", universities=universities), "UOBM-100-L"),
        Data("Claros-L", lambda: instance("claros", collections=collections)),
        Data(f"One class of {names}", lambda: one_class(names, facts)),
    ]


def equality(scale: str) -> Iterator[Record]:
    """Of each instance and way: its materialisation, and each deletion."""
    for number, data in enumerate(subjects(scale)):
        sizes: Sequence[int] = ()
        for way in WAYS:
            progress(f"equality: {data.name}, {way}")
            asked = [str(number), scale, way, json.dumps(sizes)]
            ended = run_module("benchmarks.experiments.equality", asked, _TIMEOUT, Limits(_LIMIT[scale]))
            if ended.code and not (ended.timed_out and way == "axioms"):
                lines = ended.errors.strip().splitlines() or [f"took more than {_LIMIT[scale]} s"]
                raise Failure(f"equality: {data.name}, {way}: {lines[-1]}")
            found = [json.loads(line) for line in ended.output.splitlines() if line.startswith("{")]
            sizes = [one["changed"] for one in found if one["part"] == "deletion"]
            for one in found:
                yield {"instance": data.name, "paper": data.paper, "way": way, **one, "peak_bytes": ended.peak_bytes}
    progress("")


def measure(made: Instance, way: str, sizes: Sequence[int]) -> Iterator[Record]:
    """One way on one instance; without sizes, they are found."""
    order = Order(made)
    _materialised(order.rest(made.size - min(made.size, 2_000)), way)  # what the first one in a process loads
    kb, report, seconds = _materialised(made, way)
    stored = _stored(report)
    yield {
        "part": "materialisation",
        "explicit": report.facts["explicit"],
        "rules": _rules(made),
        "stored": stored,
        "total": report.facts["total"],
        "seconds": seconds,
        "derivations": sum(report.derivations.values()),
    }

    def delete(size: int) -> tuple[Any, float]:
        found = timed(lambda: kb.update(delete=order.sample(size)))
        kb.update(add=order.sample(size))
        return found

    delete(1)  # what the first update makes, later ones find
    if not sizes:
        point, steps = break_even(
            made.size, lambda size: delete(size)[1], lambda size: _materialised(order.rest(size), way)[2]
        )
        yield {"part": "equilibrium", "point": point, "explicit": report.facts["explicit"], "steps": steps}
        wanted = {min(size, made.size // 2) for size in _SMALL} | {max(1, int(share * point)) for share in SHARES}
        sizes = sorted(wanted)
    for size in sizes:
        update, taken = delete(size)
        _, again, anew = _materialised(order.rest(size), way)
        yield {
            "part": "deletion",
            "changed": size,
            "lost": stored - _stored(update),
            "lost_total": update.deleted - update.added,
            "agrees": _stored(update) == _stored(again) and update.facts["total"] == again.facts["total"],
            "update": {"seconds": taken, "derivations": sum(update.derivations.values())},
            "again": {"seconds": anew, "derivations": sum(again.derivations.values())},
        }


def _materialised(made: Instance, way: str) -> tuple[Any, Any, float]:
    """A knowledge base that deletes by backward and forward chaining alone, its report, and what it took."""
    from everlog import KnowledgeBase, parse_program

    options: dict[str, Any] = {
        "equality": way,
        "engine": "memory",
        "modules": "off",
        "hypertree": "off",
        "workers": WORKERS,
    }
    program = parse_program(made.program)
    kb = KnowledgeBase(program, algorithm="bf", **options)
    return kb, *materialising(kb, made.facts)


def _stored(report: Any) -> int:
    """The facts of the r-materialisation, or all where nothing is rewritten."""
    return int(report.facts.get("representatives", report.facts["total"]))


def _rules(made: Instance) -> int:
    from everlog import parse_program

    return len(parse_program(made.program).rules)


def main(argv: Sequence[str]) -> int:
    """`python -m benchmarks.experiments.equality NUMBER SCALE WAY SIZES`: one way, a record a line."""
    number, scale, way, sizes = argv
    for record in measure(subjects(scale)[int(number)].build(), way, json.loads(sizes)):
        print(json.dumps(record), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

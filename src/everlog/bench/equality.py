"""`everlog bench run equality`: rewriting with B/F≈ against rules for owl:sameAs, as in Table 1 of *Equality*.

A row is a program with data, measured in one process for each way of handling equality: materialisation, then the deletion
of samples of explicit facts, by the update and by starting again. All ways must count the same facts before any time is
shown; a way that does not end in time is said to be stopped.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any, Final

import pyarrow as pa

from everlog.bench.process import run_module
from everlog.bench.runner import progress
from everlog.bench.workload import BenchmarkMistake, Instance
from everlog.bench.workloads import workload
from everlog.bench.workloads.triples import triple_table

WAYS: Final = ("rewrite", "axioms", "off")
DELETED: Final = (100, 1000, 5000)


def one_class(names: int = 500, facts: int = 200_000) -> Instance:
    """People with one mailbox, of whom `names` are one; and what people know of things, and like of what they know."""
    program = """
        @prefix ex: <http://example.org/> .
        [?x, owl:sameAs, ?y] :- [?x, ex:mbox, ?m], [?y, ex:mbox, ?m] .
        [?x, ex:knows, ?z] :- [?x, ex:likes, ?z] .
        [?x, ex:together, ?y] :- [?x, ex:likes, ?z], [?y, ex:first, ?z] .
    """
    iri = "<http://example.org/{}>".format

    def triples() -> Any:
        for number in range(facts // 4):
            person = iri(f"p{number}")
            yield person, iri("mbox"), iri("m0" if number < names else f"m{number}")
            yield person, iri("likes"), iri(f"t{number * 7919 % (facts // 8)}")
            yield person, iri("likes"), iri(f"t{number * 104_729 % (facts // 8)}")
            yield person, iri("first"), iri(f"t{number * 15_485_863 % (facts // 8)}")

    return Instance(program, {"triple": triple_table(dict.fromkeys(triples()))})


ROWS: Final[Mapping[str, Callable[[], Instance]]] = {
    "uobm": lambda: workload("uobm").instance(universities=4),
    "claros": lambda: workload("claros").instance(collections=200),
    "one-class": lambda: one_class(facts=1_000_000),
    "no-class": lambda: one_class(names=1, facts=1_000_000),
}


@dataclass(frozen=True)
class Request:
    rows: Sequence[str] = ()
    """None for all."""
    repeat: int = 3
    timeout: float = 600.0
    """Seconds for each process."""

    def check(self) -> None:
        unknown = [name for name in self.rows if name not in ROWS]
        if unknown:
            raise BenchmarkMistake(f"equality has no row {', '.join(unknown)}; there are {', '.join(ROWS)}")


@dataclass(frozen=True)
class Measured:
    """One way on one row; seconds of every run."""

    way: str
    status: str = "ok"
    materialise: Sequence[float] = ()
    derivations: int = 0
    facts: Mapping[str, int] = field(default_factory=dict)
    update: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """By the number of facts that were deleted."""
    again: Mapping[str, float] = field(default_factory=dict)
    considered: Mapping[str, int] = field(default_factory=dict)
    deleted: Mapping[str, int] = field(default_factory=dict)
    peak_bytes: int = 0


def run_equality(request: Request, show: Callable[[str, Sequence[Measured]], None]) -> dict[str, list[Measured]]:
    """All rows, each shown as soon as it is measured."""
    request.check()
    found = {}
    for name in request.rows or ROWS:
        measured = []
        for way in WAYS:
            progress(f"equality: {name}, {way}")
            measured.append(_measured(name, way, request))
        progress("")
        found[name] = measured
        show(name, measured)
    return found


def _measured(name: str, way: str, request: Request) -> Measured:
    ended = run_module("everlog.bench.equality", [name, way, str(request.repeat)], timeout=request.timeout)
    if ended.timed_out:
        return Measured(way, f"stopped after {request.timeout:g} s", peak_bytes=ended.peak_bytes)
    if ended.code:
        lines = ended.errors.strip().splitlines() or ["no message"]
        return Measured(way, f"failed: {lines[-1]}", peak_bytes=ended.peak_bytes)
    content: dict[str, Any] = json.loads(ended.output.splitlines()[-1])
    return Measured(way, **content, peak_bytes=ended.peak_bytes)


def measure(instance: Instance, way: str, repeat: int) -> dict[str, Any]:
    """What `Measured` has but for the process's memory."""
    from everlog import KnowledgeBase, parse_program
    from everlog.bench.updates_worker import Samples

    program, samples = parse_program(instance.program), Samples(instance.facts)
    content: dict[str, Any] = {"materialise": [], "update": {}, "again": {}, "considered": {}, "deleted": {}}
    for _ in range(repeat):
        kb: Any = KnowledgeBase(program, engine="memory", equality=way)
        kb.add(instance.facts)
        began = perf_counter()
        report = kb.materialise()
        content["materialise"].append(perf_counter() - began)
    content |= {"facts": report.facts, "derivations": report.derivations["materialise"]}
    for size in DELETED:
        seconds = []
        for seed in range(repeat):
            sample: Mapping[str, pa.Table] = samples.of(size, seed)
            began = perf_counter()
            report = kb.update(delete=sample)
            seconds.append(perf_counter() - began)
            content["considered"][str(size)] = sum(report.derivations.values())
            content["deleted"][str(size)] = report.deleted - report.added
            kb.update(add=sample)
        content["update"][str(size)] = seconds
        began = perf_counter()
        kb.update(delete=sample, algorithm="remat")
        content["again"][str(size)] = perf_counter() - began
        kb.update(add=sample)
    return content


def row_text(name: str, measured: Sequence[Measured]) -> str:
    """One row; times are shown only where rewriting and rules count the same."""
    lines = [name]
    done = [one for one in measured if one.status == "ok" and one.way != "off"]
    if len({one.facts["total"] for one in done}) > 1 or len({tuple(one.deleted.items()) for one in done}) > 1:
        return f"{name}: THE WAYS DISAGREE: {[(one.way, one.facts, one.deleted) for one in done]}"
    for one in measured:
        if one.status != "ok":
            lines.append(f"  {one.way}: {one.status}")
            continue
        stored = one.facts.get("representatives", one.facts["total"])
        lines.append(
            f"  {one.way}: {one.facts['explicit']:,} explicit, {stored:,} stored, {one.facts['total']:,} in all names; "
            f"materialised in {median(one.materialise):.3f} s, {one.derivations:,} instances; "
            f"{one.peak_bytes / 1e6:,.0f} MB"
        )
        for size, seconds in one.update.items():
            again = one.again[size]
            lines.append(
                f"    delete {int(size):,}: {median(seconds):.4f} s, {one.considered[size]:,} instances; starting again "
                f"{again:.3f} s, {again / median(seconds):,.1f} times as long"
            )
    return "\n".join(lines)


def main(argv: Sequence[str]) -> int:
    name, way, repeat = argv
    print(json.dumps(measure(ROWS[name](), way, int(repeat))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

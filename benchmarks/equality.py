"""`script/bench run equality`: rewriting with B/F≈ against rules for owl:sameAs, as in Table 1 of *Equality*.

A row is a program with data, measured in one process for each way of handling equality: materialisation, then the deletion
of samples of explicit facts, by the update and by starting again. The first update also makes indexes, and is shown apart.
All ways must count the same facts before any time is shown. Every process has a time limit; of one that is stopped, what it
had measured until then is shown, and a materialisation that did not end took more than the limit.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any, Final

import pyarrow as pa

from benchmarks.process import run_module
from benchmarks.runner import progress
from benchmarks.workload import BenchmarkMistake, Instance
from benchmarks.workloads import workload
from benchmarks.workloads.triples import triple_table

WAYS: Final = ("rewrite", "axioms", "off")
DELETED: Final = (100, 1000, 5000)
LONG: Final = 10.0
"""A materialisation that took so many seconds is not repeated."""
SHORT: Final = 1.0
"""What took less than so many seconds in all is repeated up to five times as often."""


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


def large_class(names: int = 5000, facts: int = 100) -> Instance:
    """People who are all one, each with many facts."""
    program = """
        @prefix ex: <http://example.org/> .
        [?x, owl:sameAs, ?y] :- [?x, ex:mbox, ?m], [?y, ex:mbox, ?m] .
        [?x, ex:knows, ?z] :- [?x, ex:likes, ?z] .
    """
    iri = "<http://example.org/{}>".format

    def triples() -> Any:
        for number in range(names):
            yield iri(f"p{number}"), iri("mbox"), iri("m0")
            for place in range(facts):
                yield iri(f"p{number}"), iri("likes"), iri(f"t{(number * facts + place) % 50_000}")

    return Instance(program, {"triple": triple_table(dict.fromkeys(triples()))})


ROWS: Final[Mapping[str, Callable[[], Instance]]] = {
    "uobm": lambda: workload("uobm").instance(universities=4),
    "claros": lambda: workload("claros").instance(collections=200),
    "one-class": lambda: one_class(facts=1_000_000),
    "no-class": lambda: one_class(names=1, facts=1_000_000),
    "large-class": large_class,
}
_ONLY: Final[Mapping[str, Sequence[str]]] = {"large-class": ("rewrite",)}
"""The rows that not every way is for: with the others there are all pairs of the class, and rules derive far more."""


@dataclass(frozen=True)
class Request:
    rows: Sequence[str] = ()
    """None for all."""
    repeat: int = 3
    timeout: float = 90.0
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
    limit: float = 0.0
    """Seconds after which it was stopped, if it was."""
    first: float = 0.0
    """The first deletion."""
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
        for way in _ONLY.get(name, WAYS):
            progress(f"equality: {name}, {way}")
            measured.append(_measured(name, way, request))
        progress("")
        found[name] = measured
        show(name, measured)
    return found


def _measured(name: str, way: str, request: Request) -> Measured:
    ended = run_module("benchmarks.equality", [name, way, str(request.repeat)], timeout=request.timeout)
    lines = ended.output.splitlines()
    content: dict[str, Any]
    if ended.timed_out:
        content = json.loads(lines[-1]) if lines else {}
        status = f"stopped after {request.timeout:g} s"
        return Measured(way, status, request.timeout, **content, peak_bytes=ended.peak_bytes)
    if ended.code:
        messages = ended.errors.strip().splitlines() or ["no message"]
        return Measured(way, f"failed: {messages[-1]}", peak_bytes=ended.peak_bytes)
    content = json.loads(lines[-1])
    return Measured(way, **content, peak_bytes=ended.peak_bytes)


def measure(instance: Instance, way: str, repeat: int) -> dict[str, Any]:
    """What `Measured` has of one way."""
    *_, content = measuring(instance, way, repeat)
    return content


def measuring(instance: Instance, way: str, repeat: int) -> Iterator[dict[str, Any]]:
    """The same, as far as it is known, again and again."""
    from benchmarks.updates_worker import Samples
    from everlog import KnowledgeBase, parse_program

    program, samples = parse_program(instance.program), Samples(instance.facts)
    content: dict[str, Any] = {"materialise": [], "update": {}, "again": {}, "considered": {}, "deleted": {}}
    options: dict[str, Any] = {"engine": "memory", "equality": way}
    while _goes_on(content["materialise"], repeat):
        kb: Any = KnowledgeBase(program, **options)
        kb.add(instance.facts)
        gc.collect()  # the one before has gone
        began = perf_counter()
        report = kb.materialise()
        content["materialise"].append(perf_counter() - began)
        content |= {"facts": report.facts, "derivations": report.derivations["materialise"]}
        yield content
        if content["materialise"][-1] > LONG:
            break
    sample: Mapping[str, pa.Table] = samples.of(DELETED[0], repeat)
    began = perf_counter()
    kb.update(delete=sample)
    content["first"] = perf_counter() - began
    kb.update(add=sample)
    for size in DELETED:
        seconds: list[float] = []
        while _goes_on(seconds, repeat):
            sample = samples.of(size, len(seconds))
            began = perf_counter()
            report = kb.update(delete=sample)
            seconds.append(perf_counter() - began)
            if len(seconds) <= repeat:  # every way has so many
                content["considered"][str(size)] = sum(report.derivations.values())
                content["deleted"][str(size)] = report.deleted - report.added
            kb.update(add=sample)
        began = perf_counter()
        kb.update(delete=sample, algorithm="remat")
        content["again"][str(size)] = perf_counter() - began
        content["update"][str(size)] = seconds
        yield content
        kb.update(add=sample)


def _goes_on(seconds: Sequence[float], repeat: int) -> bool:
    """Whether there is to be another run after some."""
    return len(seconds) < repeat or (sum(seconds) < SHORT and len(seconds) < 5 * repeat)


def row_text(name: str, measured: Sequence[Measured]) -> str:
    """One row; times are shown only where rewriting and rules count the same."""
    lines = [name]
    done = [one for one in measured if one.facts and one.way != "off"]
    deleted = {(size, one.deleted[size]) for one in done for size in one.update}
    if len({one.facts["total"] for one in done}) > 1 or len(deleted) > len(dict(deleted)):
        return f"{name}: THE WAYS DISAGREE: {[(one.way, one.facts, one.deleted) for one in done]}"
    for one in measured:
        if one.status != "ok":
            lines.append(f"  {one.way}: {one.status}")
        if not one.facts:
            continue
        stored = one.facts.get("representatives", one.facts["total"])
        lines.append(
            f"  {one.way}: {one.facts['explicit']:,} explicit, {stored:,} stored, {one.facts['total']:,} in all names; "
            f"materialised in {median(one.materialise):.3f} s ({min(one.materialise):.3f}–{max(one.materialise):.3f}), "
            f"{one.derivations:,} instances; "
            f"{one.peak_bytes / 1e6:,.0f} MB"
        )
        if one.first:
            lines.append(f"    the first deletion, of {DELETED[0]}: {one.first:.4f} s")
        for size, seconds in one.update.items():
            again = one.again[size]
            lines.append(
                f"    delete {int(size):,}: {median(seconds):.4f} s ({min(seconds):.4f}–{max(seconds):.4f}), "
                f"{one.considered[size]:,} instances; starting again {again:.3f} s, {again / median(seconds):,.1f} times "
                "as long"
            )
    lines += _ratios({one.way: one for one in measured})
    return "\n".join(lines)


def _ratios(ways: Mapping[str, Measured]) -> Iterator[str]:
    """Rewriting against the other ways: their times of a materialisation over its own."""
    rewrite = ways.get("rewrite")
    for way in ("axioms", "off"):
        other = ways.get(way)
        if rewrite is None or not rewrite.materialise or other is None:
            continue
        if other.materialise:
            yield f"  {way} / rewrite: {median(other.materialise) / median(rewrite.materialise):,.2f}"
        elif other.limit:
            yield f"  {way} / rewrite: more than {other.limit / median(rewrite.materialise):,.1f}"


def main(argv: Sequence[str]) -> int:
    name, way, repeat = argv
    for content in measuring(ROWS[name](), way, int(repeat)):
        print(json.dumps(content), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

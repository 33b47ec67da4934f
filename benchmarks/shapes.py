"""`script/bench run shapes`: fifty shapes of SHACL over the materialisation of k copies of a university.

Some triples are left out of the data, so that not everything conforms. Beside pySHACL, on fewer copies, both validate the
same triples, those that follow included, from the open graph to all results, and the results are compared before times are
shown. Then, on all copies, shapes are part of the program: what is measured is an update that deletes triples, or adds them
again, until its results are known, and the results are compared with those of starting again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, Final

import numpy as np
import pyarrow as pa

import everlog
from benchmarks.workload import BenchmarkMistake
from benchmarks.workloads.lubm import LUBM
from everlog import KnowledgeBase
from everlog.datalog.ntriples import write_term
from everlog.errors import Failure

SHAPES: Final = Path(__file__).parent / "lubm_shapes.ttl"
ROWS: Final = ("pyshacl", "updates")

Say = Callable[[str], None]
Results = set[tuple[str, str, str, str]]


@dataclass(frozen=True)
class Request:
    """What to measure, over how many copies, beside pySHACL and with updates, of how many triples, how often."""

    rows: tuple[str, ...] = ROWS
    beside: int = 13
    copies: int = 100
    changed: int = 1_000
    repeat: int = 15


def run_shapes(request: Request, say: Say) -> None:
    """Measures, and says each line as soon as it is known."""
    least = min(request.beside, request.copies, request.changed, request.repeat)
    if set(request.rows) - set(ROWS) or least < 1:
        raise BenchmarkMistake(f"rows are some of {', '.join(ROWS)}; there are a copy, a triple and a run at the least")
    if "pyshacl" in request.rows:
        say(_beside_pyshacl(request))
    if "updates" in request.rows:
        for line in _with_updates(request):
            say(line)


def _beside_pyshacl(request: Request) -> str:
    kb, _ = _materialised(LUBM.build(request.beside).program, request.beside, request.changed)
    report, seconds, work = kb.validate(SHAPES), list[float](), list[float]()
    for _ in range(3):
        begun, worked = perf_counter(), process_time()
        report = kb.validate(SHAPES)
        seconds.append(perf_counter() - begun)
        work.append(process_time() - worked)
    mine = results_of(report)
    graph = kb.sparql("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }")
    theirs, spent, their_work = by_pyshacl(graph.serialize("nt"))
    if mine != theirs:
        both = len(mine & theirs)
        raise Failure(f"Everlog has {len(mine):,} results, pySHACL {len(theirs):,}, and {both:,} are the same")
    return (
        f"{len(graph):,} triples, {len(mine):,} results: Everlog {median(seconds):.2f} s, pySHACL {spent:.1f} s, "
        f"{spent / median(seconds):,.0f} times; in processor seconds {median(work):.2f} and {their_work:.1f}, "
        f"{their_work / median(work):,.0f} times"
    )


def by_pyshacl(text: str) -> tuple[Results, float, float]:
    """The results that pySHACL finds in triples, and the seconds that it takes, by the clock and of the processor."""
    import pyshacl
    import rdflib

    sh = rdflib.Namespace("http://www.w3.org/ns/shacl#")
    data = rdflib.Graph().parse(data=text, format="nt")
    shapes = rdflib.Graph().parse(SHAPES)
    begun, worked = perf_counter(), process_time()
    _, found, _ = pyshacl.validate(data, shacl_graph=shapes, inference="none", advanced=False)
    spent, work = perf_counter() - begun, process_time() - worked
    names = sh.focusNode, sh.value, sh.sourceShape, sh.sourceConstraintComponent
    results: Results = set()
    for one in found.objects(None, sh.result):
        focus, value, shape, component = (found.value(one, name) for name in names)
        results.add((focus.n3(), "" if value is None else value.n3(), shape.n3(), str(component)))
    return results, spent, work


def _with_updates(request: Request) -> list[str]:
    instance = LUBM.build(request.copies)
    plain, _ = _materialised(instance.program, request.copies, request.changed)
    begun = perf_counter()
    first = len(plain.validate(SHAPES).results)
    lines = [f"{plain.size('triple'):,} triples: first validation {perf_counter() - begun:.2f} s, {first:,} results"]
    del plain
    program = everlog.union(everlog.parse_program(instance.program), everlog.shapes(SHAPES))
    kb, table = _materialised(program, request.copies, request.changed)
    random, spent = np.random.default_rng(2), dict[str, list[tuple[float, float]]](delete=[], add=[])
    for _ in range(request.repeat + 3):  # the first ones count derivations, and make indexes
        chosen = {"triple": table.take(np.sort(random.choice(len(table), request.changed, replace=False)))}
        for what in ("delete", "add"):
            begun, worked = perf_counter(), process_time()
            kb.update(add=chosen if what == "add" else None, delete=chosen if what == "delete" else None)
            found = len(kb.validate().results)
            spent[what].append((1_000 * (perf_counter() - begun), 1_000 * (process_time() - worked)))
        if found != first:
            raise Failure(f"there are {found:,} results after an update and its contrary, and {first:,} before it")
    for what, times in spent.items():
        clock, work = zip(*times[3:], strict=True)
        lines.append(
            f"{what} {request.changed:,} triples and report: median {median(clock):.0f} ms, most {max(clock):.0f} ms; "
            f"of the processor, median {median(work):.0f} ms"
        )
    return lines


def _materialised(program: Any, copies: int, missing: int) -> tuple[KnowledgeBase, pa.Table]:
    """A knowledge base over copies of a university, from which some triples are missing."""
    table = LUBM.build(copies).facts["triple"]
    left_out = np.random.default_rng(1).choice(len(table), missing, replace=False)
    kept = np.ones(len(table), bool)
    kept[left_out] = False
    table = table.filter(pa.array(kept))
    kb = KnowledgeBase(program, engine="memory")
    kb.add({"triple": table})
    kb.materialise()
    return kb, table


def results_of(report: Any) -> Results:
    """Focus node, value, shape and component of each result."""
    return {
        (write_term(one.focus), "" if one.value is None else write_term(one.value), str(one.shape), one.component)
        for one in report.results
    }

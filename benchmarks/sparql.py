"""`script/bench run sparql`: queries over the materialisation of k copies of a university, with pyoxigraph beside them.

Both have the same triples, those that follow included; loading is said apart. An answer is measured from the text of the
query to all of its terms as CSV. Numbers of rows are compared before times are shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any, Final

from benchmarks.sparql_queries import ANALYTICAL, LUBM, PROLOGUE
from benchmarks.workload import BenchmarkMistake
from benchmarks.workloads.lubm import materialised_lubm
from everlog import KnowledgeBase

QUERIES: Final = {**LUBM, **ANALYTICAL}

_FIRST: Final = 10
"""So many runs may make indexes: one is made once rows were looked at often enough."""
_LONG: Final = 5.0

Say = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """Which queries to measure, over how many copies, and how often."""

    rows: Sequence[str] = tuple(QUERIES)
    copies: int = 100
    repeat: int = 3


def run_sparql(request: Request, say: Say) -> None:
    """Measures, and says a line for each query as soon as it is known."""
    unknown = set(request.rows) - set(QUERIES)
    if unknown or request.copies < 1 or request.repeat < 1:
        raise BenchmarkMistake(f"queries are some of {', '.join(QUERIES)}; there are a copy and a run at the least")
    begun = perf_counter()
    kb = materialised_lubm(request.copies)
    loaded = perf_counter()
    store, number = _stored(kb)
    say(
        f"{number:,} triples; loading and reasoning {loaded - begun:.1f} s, pyoxigraph's loading "
        f"{perf_counter() - loaded:.1f} s"
    )
    ratios = []
    for name in request.rows:
        text = PROLOGUE + QUERIES[name]
        mine, mine_rows = _measured(request, partial(_by_everlog, kb, text))
        theirs, their_rows = _measured(request, partial(_by_pyoxigraph, store, text))
        if mine_rows != their_rows:
            raise BenchmarkMistake(f"{name} has {mine_rows:,} rows, and of pyoxigraph {their_rows:,}")
        ratios.append(theirs / mine)
        say(
            f"{name}: {mine_rows:,} rows, {1000 * mine:,.1f} ms; pyoxigraph {1000 * theirs:,.1f} ms, "
            f"{theirs / mine:.1f} times"
        )
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    say(f"geometric mean: {mean:.1f} times as fast as pyoxigraph; at worst {min(ratios):.2f} times")


def _stored(kb: KnowledgeBase) -> tuple[Any, int]:
    from pyoxigraph import RdfFormat, Store

    store = Store()
    graph = kb.sparql("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }")
    store.bulk_load(graph.serialize("nt").encode(), format=RdfFormat.N_TRIPLES)
    store.optimize()
    return store, len(graph)


def _by_everlog(kb: KnowledgeBase, text: str) -> str:
    return kb.sparql(text).serialize("csv")


def _by_pyoxigraph(store: Any, text: str) -> str:
    from pyoxigraph import QueryResultsFormat

    return str(store.query(text).serialize(format=QueryResultsFormat.CSV).decode())


def _measured(request: Request, work: Callable[[], str]) -> tuple[float, int]:
    """The median of some runs, after some that make indexes, and the rows that were found; what takes long runs once."""
    seconds: list[float] = []
    while len(seconds) < _FIRST + request.repeat and (not seconds or seconds[-1] < _LONG):
        begun = perf_counter()
        text = work()
        seconds.append(perf_counter() - begun)
    return median(seconds[-request.repeat :]), text.count("\n") - 1

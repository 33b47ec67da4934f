"""`script/bench run sparql`: queries over the materialisation of k copies of a university, with a peer beside them.

That is pyoxigraph, or rdflib (`--set peer=rdflib`). Both have the same triples, those that follow included; loading is
said apart. An answer is measured from the text of the query to all of its terms as CSV. Numbers of rows are compared before
times are shown. What a peer written in Python does not answer within a minute counts as a minute.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
_LONGEST: Final = 60

Say = Callable[[str], None]
Ask = Callable[[str], str]


@dataclass(frozen=True)
class Request:
    """Which queries to measure, over how many copies, how often, and beside whom."""

    rows: Sequence[str] = tuple(QUERIES)
    copies: int = 73
    repeat: int = 3
    peer: str = "pyoxigraph"


def run_sparql(request: Request, say: Say) -> None:
    """Measures, and says a line for each query as soon as it is known."""
    unknown = set(request.rows) - set(QUERIES)
    if unknown or request.copies < 1 or request.repeat < 1:
        raise BenchmarkMistake(f"queries are some of {', '.join(QUERIES)}; there are a copy and a run at the least")
    if request.peer not in _PEERS:
        raise BenchmarkMistake(f"peer={request.peer}: it is one of {', '.join(_PEERS)}")
    begun = perf_counter()
    kb = materialised_lubm(request.copies)
    loaded = perf_counter()
    graph = kb.sparql("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }")
    number, ask = len(graph), _PEERS[request.peer](graph.serialize("nt"))
    del graph
    say(
        f"{number:,} triples; loading and reasoning {loaded - begun:.1f} s, {request.peer}'s loading "
        f"{perf_counter() - loaded:.1f} s"
    )
    ratios = []
    for name in request.rows:
        text = PROLOGUE + QUERIES[name]
        mine, mine_rows = _measured(request, partial(_by_everlog, kb, text))
        theirs, their_rows = _measured(request, partial(ask, text))
        if their_rows not in (mine_rows, None):
            raise BenchmarkMistake(f"{name} has {mine_rows:,} rows, and of {request.peer} {their_rows:,}")
        ratios.append(theirs / mine)
        more = "more than " if their_rows is None else ""
        say(
            f"{name}: {mine_rows:,} rows, {1000 * mine:,.2f} ms; {request.peer} {more}{1000 * theirs:,.2f} ms, "
            f"{theirs / mine:.1f} times"
        )
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    say(f"geometric mean: {mean:.1f} times as fast as {request.peer}; at worst {min(ratios):.2f} times")


def _pyoxigraph(triples: str) -> Ask:
    from pyoxigraph import QueryResultsFormat, RdfFormat, Store

    store = Store()
    store.bulk_load(triples.encode(), format=RdfFormat.N_TRIPLES)
    store.optimize()
    return lambda text: _text(store.query(text).serialize(format=QueryResultsFormat.CSV))


def _rdflib(triples: str) -> Ask:
    from rdflib import Graph

    graph = Graph()
    graph.parse(data=triples, format="nt")
    return lambda text: _text(graph.query(text).serialize(format="csv"))


_PEERS: Final[dict[str, Callable[[str], Ask]]] = {"pyoxigraph": _pyoxigraph, "rdflib": _rdflib}


def _text(data: Any) -> str:
    return str(data.decode())


def _by_everlog(kb: KnowledgeBase, text: str) -> str:
    return kb.sparql(text).serialize("csv")


def _measured(request: Request, work: Callable[[], str]) -> tuple[float, int | None]:
    """The median of some runs, after some that make indexes, and the rows that were found; what takes long runs once."""
    seconds: list[float] = []
    text = ""
    try:
        while len(seconds) < _FIRST + request.repeat and (not seconds or seconds[-1] < _LONG):
            begun = perf_counter()
            with _at_most(_LONGEST):
                text = work()
            seconds.append(perf_counter() - begun)
    except TimeoutError:
        return float(_LONGEST), None
    return median(seconds[-request.repeat :]), text.count("\n") - 1


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """Gives up what Python does when it took so long; what C does ends first."""

    def give_up(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)

"""`script/bench run sparql`: queries over the materialisation of k copies of a university, with a peer beside them.

That is pyoxigraph, or rdflib (`--set peer=rdflib`). Both have the same triples, those that follow included; loading is
said apart. An answer is measured from the text of the query to all of its terms as CSV. Numbers of rows are compared before
times are shown. What a peer written in Python does not answer within a minute counts as a minute.
"""

from __future__ import annotations

import gc
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
_SHORT: Final = 0.01
_MANY: Final = 51
"""What is short is measured so many times."""
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
    gc.collect()
    gc.freeze()  # a peer in Python has millions of objects, which are not to be looked at while Everlog answers
    say(
        f"{number:,} triples; loading and reasoning {loaded - begun:.1f} s, {request.peer}'s loading "
        f"{perf_counter() - loaded:.1f} s"
    )
    ratios = []
    for name in request.rows:
        text = PROLOGUE + QUERIES[name]
        mine, theirs = _measured(request, partial(_by_everlog, kb, text), partial(ask, text))
        if theirs.rows not in (mine.rows, None):
            raise BenchmarkMistake(f"{name} has {mine.rows:,} rows, and of {request.peer} {theirs.rows:,}")
        ratios.append(theirs.typical() / mine.typical())
        more = "more than " if theirs.rows is None else ""
        say(
            f"{name}: {mine.rows:,} rows, {1000 * mine.typical():,.2f} ms; {request.peer} {more}"
            f"{1000 * theirs.typical():,.2f} ms, {ratios[-1]:.2f} times"
        )
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    say(f"geometric mean: {mean:.1f} times as fast as {request.peer}; at worst {min(ratios):.2f} times")


def _pyoxigraph(triples: str) -> Ask:
    from pyoxigraph import QueryResultsFormat, RdfFormat, Store

    store: Any = Store()
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


class _Asked:
    """One side of a comparison: how long its runs took, and how many rows it has found."""

    def __init__(self, ask: Callable[[], str]) -> None:
        self._ask = ask
        self.seconds: list[float] = []
        self.rows: int | None = None
        """None if there was no answer in time."""

    def run(self) -> None:
        """Asks once more; what takes long is asked once."""
        if self.seconds and self.seconds[-1] >= _LONG:
            return
        begun = perf_counter()
        try:
            with _at_most(_LONGEST):
                self.rows = self._ask().count("\n") - 1
            self.seconds.append(perf_counter() - begun)
        except TimeoutError:
            self.seconds.append(float(_LONGEST))

    def typical(self) -> float:
        return median(self.seconds[_FIRST:] or self.seconds)


def _measured(request: Request, mine: Callable[[], str], theirs: Callable[[], str]) -> tuple[_Asked, _Asked]:
    """Both sides, in turns, after some runs that make indexes: so both meet the same of what else the machine does."""
    both = _Asked(mine), _Asked(theirs)
    for side in both:
        for _ in range(_FIRST):
            side.run()
    runs = request.repeat if max(side.seconds[-1] for side in both) > _SHORT else max(request.repeat, _MANY)
    for _ in range(runs):
        for side in both:
            side.run()
    return both


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

"""`script/bench run sparql`: queries over the materialisation of k copies of a university, with a peer beside them.

That is pyoxigraph, or rdflib (`--set peer=rdflib`). Both have the same triples, those that follow included; loading is
said apart. An answer is measured from the text of the query to all of its terms as CSV. Numbers of rows are compared before
times are shown. Who does not answer within a limit (`--set limit=60`) counts with the limit. What takes long is asked
seldom, so that all queries take little more than loading, and than the limits that are reached.
"""

from __future__ import annotations

import gc
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

from benchmarks.driver_memory import resident_bytes
from benchmarks.sparql_peer import PEERS, PeerProcess, Took, timed
from benchmarks.sparql_queries import ANALYTICAL, LUBM, PROLOGUE
from benchmarks.workload import BenchmarkMistake
from benchmarks.workloads.lubm import materialised_lubm
from everlog import KnowledgeBase
from everlog.sparql.query_limits import QueryTooLarge

QUERIES: Final = {**LUBM, **ANALYTICAL}

_FIRST: Final = 10
"""So many runs may make indexes: one is made once rows were looked at often enough."""
_FIRST_SECONDS: Final = 2.0
"""They end sooner if they took so long."""
_SHORT: Final = 0.01
_MANY: Final = 11
_IN_A_ROW: Final = 20
"""What is short is measured so many times, each so many runs in a row: the first after the other's turn finds a processor
that has forgotten everything."""
_LONG: Final = 5.0
"""What took so long is not asked again."""
_PEER_BYTES: Final = {"pyoxigraph": 700, "rdflib": 1700}
"""What a peer needs for a triple, about."""
_GIB: Final = 2**30

Say = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """Which queries to measure, over how many copies, how often, beside whom, and after how many seconds to give up."""

    rows: Sequence[str] = tuple(QUERIES)
    copies: int = 73
    repeat: int = 3
    peer: str = "pyoxigraph"
    limit: int = 60


def run_sparql(request: Request, say: Say) -> None:
    """Measures, and says a line for each query as soon as it is known."""
    unknown = set(request.rows) - set(QUERIES)
    if unknown or min(request.copies, request.repeat, request.limit) < 1:
        raise BenchmarkMistake(
            f"queries are some of {', '.join(QUERIES)}; there are a copy, a run and a second at the least"
        )
    if request.peer not in PEERS:
        raise BenchmarkMistake(f"peer={request.peer}: it is one of {', '.join(PEERS)}")
    begun = perf_counter()
    kb = materialised_lubm(request.copies)
    loading = perf_counter() - begun
    with tempfile.TemporaryDirectory(prefix="everlog-sparql-") as folder:
        file = Path(folder, "triples.nt")
        number = _written(kb, file)
        _check_memory(request.peer, number)
        peer = PeerProcess(request.peer, file)
    try:
        say(
            f"{number:,} triples; loading and reasoning {loading:.1f} s, {resident_bytes() / _GIB:.1f} GiB; "
            f"{request.peer}'s loading {peer.loading:.1f} s, {peer.memory / _GIB:.1f} GiB"
        )
        gc.collect()
        gc.freeze()
        _measure_all(request, kb, peer, say)
    finally:
        peer.close()


def _written(kb: KnowledgeBase, file: Path) -> int:
    """Writes all triples as N-Triples; gives their number."""
    graph = kb.sparql("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }")
    with file.open("w", encoding="utf-8") as out:
        out.writelines(graph.pieces("nt", 100_000))
    return len(graph)


def _check_memory(peer: str, triples: int) -> None:
    lines = (line.split() for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
    free = next(1024 * int(words[1]) for words in lines if words[0] == "MemAvailable:")
    needed = triples * _PEER_BYTES[peer]
    if needed > free:
        raise BenchmarkMistake(
            f"{peer} would need about {needed / _GIB:.0f} GiB for {triples:,} triples, and {free / _GIB:.0f} are free: "
            "take fewer copies (--set k=…)"
        )


def _measure_all(request: Request, kb: KnowledgeBase, peer: PeerProcess, say: Say) -> None:
    ratios, processor = [], []
    for name in request.rows:
        text = PROLOGUE + QUERIES[name]
        mine = _Asked(partial(_first_of_everlog, kb, text, request.limit), partial(_by_everlog, kb, text))
        theirs = _Asked(partial(peer.first, text, request.limit), partial(peer.again, text))
        _measure(request, mine, theirs)
        if None not in (mine.rows, theirs.rows) and mine.rows != theirs.rows:
            raise BenchmarkMistake(f"{name} has {mine.rows:,} rows, and of {request.peer} {theirs.rows:,}")
        ratios.append(theirs.typical() / mine.typical())
        processor.append(theirs.processor() / mine.processor())
        rows = "no answer" if mine.rows is None else f"{mine.rows:,} rows"
        say(
            f"{name}: {rows}, {mine.shown()}; {request.peer} {theirs.shown()}, "
            f"{ratios[-1]:.2f} times, of the processor {processor[-1]:.2f}"
        )
    say(
        f"geometric mean: {_mean(ratios):.1f} times as fast as {request.peer}, of the processor {_mean(processor):.1f}; "
        f"at worst {min(ratios):.2f} and {min(processor):.2f} times"
    )


def _mean(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def _by_everlog(kb: KnowledgeBase, text: str, times: int) -> Took:
    return timed(lambda: kb.sparql(text).serialize("csv"), times)


def _first_of_everlog(kb: KnowledgeBase, text: str, limit: int) -> Took:
    try:
        return timed(lambda: kb.sparql(text, seconds=limit).serialize("csv"))
    except QueryTooLarge:
        return Took(limit, limit, None)


class _Asked:
    """One side of a comparison: what its runs took, and how many rows it has found."""

    def __init__(self, first: Callable[[], Took], again: Callable[[int], Took]) -> None:
        self._again = again
        self.last = first()
        self.rows = self.last.rows
        """None if there was no answer in time."""
        self.runs: list[Took] = []

    def run(self, times: int = 1) -> None:
        """Asks again; what takes long is asked once."""
        if self.rows is not None and self.last.seconds < _LONG:
            self.last = self._again(times)
            self.runs.append(self.last)

    def typical(self) -> float:
        return median(run.seconds for run in self.runs or [self.last])

    def processor(self) -> float:
        return median(run.processor for run in self.runs or [self.last])

    def shown(self) -> str:
        return f"more than {self.last.seconds:g} s" if self.rows is None else f"{1000 * self.typical():,.2f} ms"


def _measure(request: Request, mine: _Asked, theirs: _Asked) -> None:
    """Both sides, in turns, after some runs that make indexes: so both meet the same of what else the machine does."""
    for side in (mine, theirs):
        begun = perf_counter()
        for _ in range(_FIRST):
            if perf_counter() - begun < _FIRST_SECONDS:
                side.run()
        side.runs.clear()
    short = max(mine.last.seconds, theirs.last.seconds) <= _SHORT
    for _ in range(max(request.repeat, _MANY) if short else request.repeat):
        for side in (mine, theirs):
            side.run(_IN_A_ROW if short else 1)

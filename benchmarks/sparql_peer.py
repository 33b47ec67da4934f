"""A store of somebody else, in a process of its own that answers queries one at a time.

Nobody can interrupt a query inside of a library that is not written in Python. So the first run of each query is made by a
copy of the process, which is killed when its time is over; the store stays loaded, and nobody has to load it again.

    python -m benchmarks.sparql_peer NAME FILE      loads a file of N-Triples; then a line of JSON for each question
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import IO, Any, Final

from benchmarks.driver_memory import resident_bytes
from benchmarks.workload import BenchmarkMistake

Ask = Callable[[str], str]


@dataclass(frozen=True)
class Took:
    """One run of a query: seconds by the clock and of the processor, and rows; None if there was no answer in time."""

    seconds: float
    processor: float
    rows: int | None


def timed(ask: Callable[[], str], times: int = 1) -> Took:
    """Asks, perhaps several times in a row, for the mean of these; the answer is CSV."""
    began, used, text = perf_counter(), process_time(), ""
    for _ in range(times):
        text = ask()
    return Took((perf_counter() - began) / times, (process_time() - used) / times, text.count("\n") - 1)


class PeerProcess:
    """A peer that has loaded some triples."""

    def __init__(self, name: str, triples: Path) -> None:
        begun = perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.sparql_peer", name, str(triples)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.memory = int(self._answer())
        """Its bytes after loading."""
        self.loading = perf_counter() - begun

    def first(self, query: str, limit: float) -> Took:
        """The first run of a query, given up after some seconds."""
        return self._asked(query, limit, 1)

    def again(self, query: str, times: int) -> Took:
        """Further runs, which are not given up."""
        return self._asked(query, None, times)

    def _asked(self, query: str, limit: float | None, times: int) -> Took:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([query, limit, times]) + "\n")
        self._process.stdin.flush()
        return Took(**json.loads(self._answer()))

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise BenchmarkMistake("the peer's process ended before it answered: is there memory enough?")
        return line

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


# ---------------------------------------------------------------------------------------- in that process


def _pyoxigraph(triples: Path) -> Ask:
    from pyoxigraph import QueryResultsFormat, RdfFormat, Store

    store: Any = Store()
    store.bulk_load(path=str(triples), format=RdfFormat.N_TRIPLES)
    store.optimize()
    return lambda text: _text(store.query(text).serialize(format=QueryResultsFormat.CSV))


def _rdflib(triples: Path) -> Ask:
    import gc

    from rdflib import Graph

    graph = Graph()
    graph.parse(str(triples), format="nt")
    gc.freeze()  # millions of objects are not to be looked at for every answer
    return lambda text: _text(graph.query(text).serialize(format="csv"))


def _text(data: Any) -> str:
    return str(data.decode())


PEERS: Final[dict[str, Callable[[Path], Ask]]] = {"pyoxigraph": _pyoxigraph, "rdflib": _rdflib}


def _in_a_copy(ask: Ask, query: str, limit: float) -> Took:
    """The run of a copy of this process, which is killed if it takes longer."""
    reading, writing = os.pipe()
    copy = os.fork()
    if copy == 0:
        try:
            os.write(writing, json.dumps(asdict(timed(partial(ask, query)))).encode())
        finally:
            os._exit(0)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], limit)
    if not ready:
        os.kill(copy, signal.SIGKILL)
    data = os.read(reading, 1000)
    os.close(reading)
    os.waitpid(copy, 0)
    if ready and not data:
        raise BenchmarkMistake("the peer has no answer: is there memory enough?")
    return Took(**json.loads(data)) if data else Took(limit, limit, None)


def _answer_all(ask: Ask, questions: IO[str]) -> None:
    for line in questions:
        query, limit, times = json.loads(line)
        found = timed(partial(ask, query), times) if limit is None else _in_a_copy(ask, query, limit)
        print(json.dumps(asdict(found)), flush=True)


if __name__ == "__main__":
    answering = PEERS[sys.argv[1]](Path(sys.argv[2]))
    print(resident_bytes(), flush=True)
    _answer_all(answering, sys.stdin)

"""`script/bench run server`: a served store of k copies of a university, changed and asked over HTTP.

`updates` are changes of ten facts each, one after the other, every one durable when it is answered: two students come, and
with every fifth update two go. `reads` are four clients that ask at once, first alone, and then while updates go on. What
the store has in the end is compared with what was sent.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import perf_counter
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from benchmarks.sparql_queries import LUBM, PROLOGUE
from benchmarks.workload import BenchmarkMistake
from benchmarks.workloads.lubm import materialised_lubm

ROWS: Final = ("updates", "reads")
_UB: Final = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
_TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_DEPARTMENT: Final = "http://www.Department0.University0.edu"
_READERS: Final = 4
_ASKED: Final = ("lubm1", "lubm3", "lubm4", "lubm7", "lubm11", "lubm13")

Say = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What to measure, over how many copies, and how many updates, and queries of each reader."""

    rows: Sequence[str] = ROWS
    copies: int = 13
    number: int = 1000


def run_server(request: Request, say: Say) -> None:
    """Makes a store, serves it, and says a line for everything that was measured."""
    unknown = set(request.rows) - set(ROWS)
    if unknown or request.copies < 1 or request.number < 1:
        raise BenchmarkMistake(
            f"what is measured is some of {', '.join(ROWS)}; there are a copy and an update at the least"
        )
    with TemporaryDirectory(prefix="everlog-bench-") as folder:
        store = Path(folder) / "universities.store"
        kb = materialised_lubm(request.copies)
        kb.save(store)
        say(f"{kb.size('triple'):,} triples, {kb.size('triple', 'explicit'):,} of them explicit")
        del kb
        with _serving(store) as address:
            if "updates" in request.rows:
                _updates(address, request.number, say)
            if "reads" in request.rows:
                _reads(address, request.number, say)


@contextmanager
def _serving(store: Path) -> Iterator[str]:
    """A server in a process of its own; gives its host and port."""
    command = [sys.executable, "-m", "everlog", "serve", str(store), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield urlsplit(process.stdout.readline().split()[-1]).netloc
    finally:
        process.terminate()
        process.wait(30)


# ------------------------------------------------------------------------------------ updates


def _updates(address: str, number: int, say: Say) -> None:
    with closing(HTTPConnection(address, timeout=600)) as connection:
        before = _answered(connection, "/health")["version"]
        seconds = _changed(connection, range(number))
        version, students = _answered(connection, "/health")["version"], _students(connection)
    kept = 2 * number - 4 * (number // 5)
    if version != before + number or students != kept:
        raise BenchmarkMistake(f"{number} updates: {version - before} versions, {students} of {kept} students")
    say(f"updates: {number:,} of 10 facts, {_shown(seconds)}")


def _changed(connection: HTTPConnection, numbers: Iterator[int] | range, ended: Event | None = None) -> list[float]:
    """Seconds of some updates, one after the other, until somebody says that it is enough."""
    seconds = []
    for number in numbers:
        if ended is not None and ended.is_set():
            break
        leaving = number % 5 == 4
        students = {"triple": _of_students(number - 2 if leaving else number)}
        change = {"delete" if leaving else "add": students}
        body, begun = json.dumps(change), perf_counter()
        _answered(connection, "/update", body, "application/json")
        seconds.append(perf_counter() - begun)
    return seconds


def _of_students(number: int) -> list[list[Any]]:
    """The ten facts of two new students."""
    found = []
    for name in (f"{_DEPARTMENT}/NewStudent{number}a", f"{_DEPARTMENT}/NewStudent{number}b"):
        facts = [
            (_TYPE, _iri(f"{_UB}GraduateStudent")),
            (f"{_UB}memberOf", _iri(_DEPARTMENT)),
            (f"{_UB}takesCourse", _iri(f"{_DEPARTMENT}/GraduateCourse{number % 10}")),
            (f"{_UB}advisor", _iri(f"{_DEPARTMENT}/FullProfessor{number % 5}")),
            (f"{_UB}name", f"NewStudent{number}"),
        ]
        found += [[_iri(name), _iri(verb), value] for verb, value in facts]
    return found


def _iri(text: str) -> dict[str, str]:
    return {"type": "uri", "value": text}


def _students(connection: HTTPConnection) -> int:
    """How many of the new students are students: that is derived."""
    query = f"SELECT ?x {{ ?x a <{_UB}Student> FILTER(STRSTARTS(STR(?x), '{_DEPARTMENT}/NewStudent')) }}"
    return len(_queried(connection, query)["results"]["bindings"])


# ------------------------------------------------------------------------------------ reads


def _reads(address: str, number: int, say: Say) -> None:
    say(f"reads: {_READERS} clients, {_read(address, number)}")
    ended, numbers = Event(), count(1_000_000)
    with closing(HTTPConnection(address, timeout=600)) as connection, ThreadPoolExecutor(1) as beside:
        changing = beside.submit(_changed, connection, numbers, ended)
        try:
            said = _read(address, number)
        finally:
            ended.set()
        seconds = changing.result()
    say(f"reads during updates: {_READERS} clients, {said}; {len(seconds):,} updates, {_shown(seconds)}")


def _read(address: str, number: int) -> str:
    begun = perf_counter()
    with ThreadPoolExecutor(_READERS) as readers:
        found = [one for some in readers.map(lambda _: _asked(address, number), range(_READERS)) for one in some]
    return f"{len(found):,} queries, {len(found) / (perf_counter() - begun):,.0f} a second, {_shown(found)}"


def _asked(address: str, number: int) -> list[float]:
    """Seconds of the queries of one client."""
    seconds = []
    with closing(HTTPConnection(address, timeout=600)) as connection:
        for at in range(number):
            begun = perf_counter()
            _queried(connection, PROLOGUE + LUBM[_ASKED[at % len(_ASKED)]])
            seconds.append(perf_counter() - begun)
    return seconds


def _queried(connection: HTTPConnection, query: str) -> Any:
    return _answered(connection, "/sparql", urlencode({"query": query}), "application/x-www-form-urlencoded")


def _answered(connection: HTTPConnection, path: str, body: str | None = None, kind: str = "") -> Any:
    method, headers = ("GET", {}) if body is None else ("POST", {"Content-Type": kind})
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    data = response.read()
    if response.status != 200:
        raise BenchmarkMistake(f"{path} was answered with {response.status}: {data.decode()[:300]}")
    return json.loads(data)


def _shown(seconds: Sequence[float]) -> str:
    """The median, and what is enough for 99 of 100."""
    ordered = sorted(seconds)
    middle, high = (ordered[min(len(ordered) - 1, int(part * len(ordered)))] for part in (0.5, 0.99))
    return f"median {1000 * middle:,.1f} ms, 99 of 100 within {1000 * high:,.1f} ms"

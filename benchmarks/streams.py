"""`script/bench run streams`: files of changes that arrive one after the other, into a store of k copies of a university.

Rows are sizes of batches, in changed facts: half of them come, and from the third batch on half of them go. For each
there is the floor beside, the same files into a query whose `foreachBatch` does nothing, for a fifth of the time. With
`--set seconds=300` each row goes on for five minutes. The row `versions` applies a thousand batches of ten facts without
Spark, to see whether versions slow down. What the store has in the end is compared with what was sent.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

import everlog
from benchmarks.driver_memory import heap_bytes, resident_bytes
from benchmarks.workload import BenchmarkMistake
from benchmarks.workloads.lubm import materialised_lubm
from everlog.store.manifest import current_version
from everlog.streaming.micro_batches import MicroBatches
from everlog.streaming.stream_sources import SOURCE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.streaming.batch_metrics import BatchMetrics

ROWS: Final = ("10", "1000", "100000", "versions")
_UB: Final = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
_TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_DEPARTMENT: Final = "http://www.Department0.University0.edu"
_FACTS: Final = 5
"""Of a student."""
_WARM: Final = 3
"""Batches that are not counted, in which Java and kernels are readied."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What to measure, over how many copies, for how many seconds a row, and how many batches at the most."""

    rows: Sequence[str] = ROWS
    copies: int = 13
    seconds: float = 60.0
    batches: int = 1000


def run_streams(request: Request, say: Say) -> None:
    """Makes a store, follows files into it, and says a line for everything that was measured."""
    unknown = [row for row in request.rows if row != "versions" and not (row.isdigit() and int(row) >= 10)]
    if unknown or request.copies < 1 or request.batches < 1:
        raise BenchmarkMistake("what is measured are batches of 10 facts or more, such as 10,1000, and versions")
    from everlog.spark.session import start_session

    with TemporaryDirectory(prefix="everlog-bench-") as name:
        folder = Path(name)
        kb = materialised_lubm(request.copies)
        kb.save(folder / "universities.store")
        say(f"{kb.size('triple'):,} triples, {kb.size('triple', 'explicit'):,} of them explicit")
        del kb
        sizes = [int(row) for row in request.rows if row != "versions"]
        spark = start_session() if sizes else None
        for size in sizes:
            assert spark is not None
            _Row(folder, size, spark, request).run(say)
        if "versions" in request.rows:
            _versions(folder, request.batches, say)


class _Row:
    """Batches of one size."""

    def __init__(self, folder: Path, size: int, spark: SparkSession, request: Request) -> None:
        self._store, self._place = folder / "universities.store", folder / f"files-{size}"
        self._size, self._spark, self._request = size, spark, request

    def run(self, say: Say) -> None:
        floor = self._followed(self._doing_nothing, self._request.seconds / 5)
        before = current_version(self._store)
        memory = resident_bytes(), heap_bytes(self._spark)
        batches: list[BatchMetrics] = []

        @contextmanager
        def streaming(arriving: Path) -> Iterator[Callable[[], None]]:
            source = everlog.Source("triple", arriving)
            checkpoint = self._place / "checkpoint"
            stream = everlog.stream(self._store, source, spark=self._spark, checkpoint=checkpoint, keep=100)
            try:

                def done() -> None:
                    stream.process_available()
                    batches.append(stream.batches[-1])

                yield done
            finally:
                stream.stop()

        seconds = self._followed(streaming, self._request.seconds)
        after = resident_bytes(), heap_bytes(self._spark)
        sent = len(seconds) + _WARM
        if current_version(self._store) != before + sent:
            raise BenchmarkMistake(f"{sent} batches became {current_version(self._store) - before} versions")
        _check(self._store, self._size, sent)
        counted = batches[_WARM:]
        parts = {name: [getattr(batch, name) for batch in counted] for name in ("read", "reasoning", "committing")}
        shown = (f"{name} {1000 * median(times):,.1f} ({_growth(times):.2f})" for name, times in parts.items())
        share = sum(batch.reasoning for batch in counted) / sum(seconds)
        lags = [batch.lag for batch in counted if batch.lag is not None]
        say(
            f"{self._size:,} facts: {len(seconds):,} batches, {_shown(seconds)}; durable after {_shown(lags)}; "
            f"floor {_shown(floor)}; {self._size * len(seconds) / sum(seconds):,.0f} changes a second; reasoning is "
            f"{100 * share:.0f} % of the time; the last tenth takes {_growth(seconds):.2f} times the first, of the floor "
            f"{_growth(floor):.2f}; medians in ms (and that): {', '.join(shown)}; "
            f"memory {_mib(memory)} at the start, {_mib(after)} at the end (Python, Java's heap)"
        )

    def _followed(self, following: Callable[[Path], Any], limit: float) -> list[float]:
        """Seconds from the arrival of a file until everything about it is done, for some files."""
        arriving = self._place / f"in-{len(list(self._place.glob('in-*')))}"
        arriving.mkdir(parents=True)
        seconds: list[float] = []
        with following(arriving) as done:
            end, number = perf_counter() + limit, 0
            while number < _WARM + 1 or (perf_counter() < end and number < _WARM + self._request.batches):
                new = arriving / f".{number}.parquet"
                pq.write_table(_changes(self._size, number), new)
                begun = perf_counter()
                os.utime(new)
                new.rename(arriving / f"{number:06}.parquet")
                done()
                seconds.append(perf_counter() - begun)
                number += 1
        return seconds[_WARM:]

    @contextmanager
    def _doing_nothing(self, arriving: Path) -> Iterator[Callable[[], None]]:
        """The same files into a query that does nothing with them."""
        schema = "path string, modificationTime timestamp, length bigint, content binary"
        files = self._spark.readStream.format("binaryFile").schema(schema).load(str(arriving))
        writer = files.writeStream.foreachBatch(lambda frame, number: None)
        query = writer.option("checkpointLocation", str(self._place / "floor")).start()
        try:
            yield query.processAllAvailable
        finally:
            query.stop()


def _versions(folder: Path, number: int, say: Say) -> None:
    """So many batches of ten facts, one after the other, and nothing of them forgotten."""
    store = folder / "universities.store"
    source = everlog.Source("triple", folder)
    batches = MicroBatches(store, [source], [()], folder / "checkpoint")
    seconds = []
    for place in range(number + _WARM):
        sink = pa.BufferOutputStream()
        pq.write_table(_changes(10, place), sink)
        file = {"path": "file:/1.parquet", "modificationTime": None, "content": sink.getvalue().to_pybytes()}
        type = pa.struct({"path": pa.string(), "modificationTime": pa.timestamp("us", "UTC"), "content": pa.binary()})
        table = pa.table({SOURCE: [0], "rows0": pa.array([file], type)})
        begun = perf_counter()
        batches.apply("versions", place, partial(_same, table))
        seconds.append(perf_counter() - begun)
    _check(store, 10, number + _WARM)
    say(
        f"versions: {number:,} batches of 10 facts without Spark, {_shown(seconds[_WARM:])}; the last tenth takes "
        f"{_growth(seconds[_WARM:]):.2f} times the first"
    )


def _same(table: pa.Table) -> pa.Table:
    return table


def _changes(size: int, number: int) -> pa.Table:
    """The rows of a batch: students of this batch come, and those of the batch before the last one go."""
    students = size // (2 * _FACTS)
    rows = [("insert", *fact) for student in range(students) for fact in _student(size, number, student)]
    if number < 2:
        more = range(students, 2 * students)
        rows += [("insert", *fact) for student in more for fact in _student(size, number, student)]
    else:
        rows += [("delete", *fact) for student in range(students) for fact in _student(size, number - 2, student)]
    ops, *columns = zip(*rows, strict=True)
    fields = [pa.field(name, pa.string(), metadata={b"everlog": b"ntriples"}) for name in "spo"]
    arrays = [pa.array(column, pa.string()) for column in (*columns, ops)]
    return pa.Table.from_arrays(arrays, schema=pa.schema([*fields, pa.field("op", pa.string())]))


def _student(size: int, number: int, student: int) -> list[tuple[str, str, str]]:
    name = f"<{_DEPARTMENT}/Student{size}/{number}/{student}>"
    return [
        (name, _TYPE, f"<{_UB}GraduateStudent>"),
        (name, f"<{_UB}memberOf>", f"<{_DEPARTMENT}>"),
        (name, f"<{_UB}takesCourse>", f"<{_DEPARTMENT}/GraduateCourse{student % 10}>"),
        (name, f"<{_UB}advisor>", f"<{_DEPARTMENT}/FullProfessor{student % 5}>"),
        (name, f"<{_UB}name>", f'"Student {number} {student}"'),
    ]


def _check(store: Path, size: int, sent: int) -> None:
    """That what is in the store is what was sent: of the students, and of what follows from them."""
    students = size // (2 * _FACTS)
    expected = 2 * students if sent == 1 else students * (min(sent, 2) + 2)
    begin = f"{_DEPARTMENT}/Student{size}/"
    query = f"SELECT ?x {{ ?x a <{_UB}Student> FILTER(STRSTARTS(STR(?x), '{begin}')) }}"
    found = len(list(everlog.open(store).sparql(query)))
    if found != expected:
        raise BenchmarkMistake(f"after {sent} batches of {size}: {found:,} of {expected:,} students")


def _shown(seconds: Sequence[float]) -> str:
    """The median, and what is enough for 99 of 100."""
    ordered = sorted(seconds)
    middle, high = (ordered[min(len(ordered) - 1, int(part * len(ordered)))] for part in (0.5, 0.99))
    return f"median {1000 * middle:,.1f} ms, 99 of 100 within {1000 * high:,.1f} ms"


def _growth(seconds: Sequence[float]) -> float:
    """Whether it slows down: what the last tenth takes, as a multiple of the first."""
    part = max(1, len(seconds) // 10)
    return median(seconds[-part:]) / median(seconds[:part])


def _mib(memory: tuple[int, int]) -> str:
    return " and ".join(f"{size / 2**20:,.0f} MiB" for size in memory)

"""The row `files` of `script/bench run spark`: universities from N-Triples files, by jobs, whatever their number.

    script/bench run spark --rows files --set universities=77,770 --set heap=2g --set data=/tmp/lubm

Sets of more than some facts lie in Spark, as they would if they were too many for the driver. What is measured is loading,
materialising, and three times the deletion of a thousand other triples, which then come back: by the clock, in brackets by
the processors of all processes, with the jobs, the heap of Java, and the bytes of Spark's own folder on disk.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from benchmarks.data import data_file
from benchmarks.driver_memory import heap_bytes, resident_bytes
from benchmarks.lubm_data import measured, write_lubm
from benchmarks.process_tree import processor_seconds
from benchmarks.workloads.lubm import NTRIPLES
from everlog import KnowledgeBase
from everlog.engine.spark import tuning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

CHANGED: Final = 1_000
ON_THE_DRIVER: Final = 200_000
"""The facts that a set on the driver may have here."""

Line = Callable[[str], None]


@dataclass(frozen=True)
class Files:
    """Numbers of universities, of some 134,000 triples each, and where their files are, or will be written and stay."""

    universities: Sequence[int] = (10,)
    data: Path | None = None


def run_files(files: Files, spark: SparkSession, repeat: int, say: Line) -> None:
    """Says a line for each step at each size."""
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch, _little_on_the_driver():
        for number in files.universities:
            folder = (files.data or Path(scratch)) / f"universities-{number}"
            if not any(folder.glob("*.nt")):
                write_lubm(number, 0, folder)
            _told(spark, folder, number, repeat, say)


@contextmanager
def _little_on_the_driver() -> Iterator[None]:
    before, tuning.DRIVER_FACTS = tuning.DRIVER_FACTS, ON_THE_DRIVER
    try:
        yield
    finally:
        tuning.DRIVER_FACTS = before


def _told(spark: SparkSession, folder: Path, number: int, repeat: int, say: Line) -> None:
    triples, size = measured(folder)
    say(f"files: {number} universities, {triples:,} triples, {size / 1e9:.1f} GB")

    def told(what: str, work: Callable[[], Any]) -> Any:
        begun, processors = perf_counter(), processor_seconds()
        found = work()
        taken = f"{perf_counter() - begun:.2f} s ({processor_seconds() - processors:.2f})"
        jobs = "" if found is None else f", {found.spark['jobs']} jobs, {found.facts['total']:,} facts"
        memory = f"heap {heap_bytes(spark) / 2**20:,.0f} MiB, driver {resident_bytes() / 2**20:,.0f} MiB"
        say(f"  {what}: {taken}{jobs}; {memory}, on disk {_on_disk(spark) / 1e9:.1f} GB")
        return found

    kb = KnowledgeBase(data_file("programs/LUBM_L.dlog").read_text(encoding="utf-8"), engine="spark", spark=spark)
    told("loaded", lambda: kb.load(folder))
    told("materialised", kb.materialise)
    random = Random(1)
    for _ in range(repeat):
        some = _some_triples(folder, random)
        told(f"{len(some):,} others deleted", partial(kb.update, delete={"triple": some}))
        told(f"{len(some):,} added", partial(kb.update, add={"triple": some}))


def _some_triples(folder: Path, random: Random) -> pa.Table:
    """Triples from places all over the files, each once."""
    from pyoxigraph import RdfFormat, parse

    files = sorted(folder.glob("*.nt"))
    lines = set[bytes]()
    while len(lines) < CHANGED:
        file = random.choice(files)
        with file.open("rb") as source:
            source.seek(random.randrange(file.stat().st_size))
            source.readline()  # the rest of a line
            if line := source.readline():
                lines.add(line)
    parsed = [(one.subject, one.predicate, one.object) for one in parse(b"".join(sorted(lines)), RdfFormat.N_TRIPLES)]
    columns = [[str(term) for term in column] for column in zip(*parsed, strict=True)]
    fields = [pa.field(f"a{place}", pa.string(), metadata=NTRIPLES) for place in range(3)]
    return pa.Table.from_arrays(list(map(pa.array, columns)), schema=pa.schema(fields))


def _on_disk(spark: SparkSession) -> int:
    """The bytes in the folder that this session has for blocks and shuffles."""
    size = 0
    for place, _, names in os.walk(spark.conf.get("spark.local.dir") or ""):
        for name in names:
            with suppress(FileNotFoundError):  # Spark has removed it
                size += Path(place, name).stat().st_size
    return size

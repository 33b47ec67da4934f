"""`script/bench lubm-store`: the pipeline around the reasoning, on generated universities.

Two questions. How fast are N-Triples read, parsed and encoded, and does the speed hold when there are more of them? And
what does a small update of a large store cost apart from reasoning: in seconds, from the shell and with the start of
Spark, and in bytes written?
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Final

from benchmarks.generators.universities import VOCABULARY
from benchmarks.lubm_data import measured
from benchmarks.workload import BenchmarkMistake
from everlog.errors import Failure
from everlog.knowledge.report import peak_rss_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM: Final = f"""
@prefix ub: <{VOCABULARY}> .
ub:Student[?x] :- ub:UndergraduateStudent[?x] .
ub:Student[?x] :- ub:GraduateStudent[?x] .
ub:Person[?x] :- ub:Student[?x] .
ub:subOrganizationOf[?x, ?z] :- ub:subOrganizationOf[?x, ?y], ub:subOrganizationOf[?y, ?z] .
ub:memberOf[?x, ?z] :- ub:memberOf[?x, ?y], ub:subOrganizationOf[?y, ?z] .
"""
_TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


@dataclass(frozen=True)
class Reading:
    """N-Triples read, parsed and encoded, several times."""

    universities: int
    triples: int
    terms: int
    size: int
    seconds: list[float]

    @property
    def rate(self) -> float:
        return self.triples / median(self.seconds)


@dataclass(frozen=True)
class Updating:
    """One update of a large store, from the shell."""

    facts: int
    changed: int
    wall: float
    reasoning: float
    written: int


def run_lubm_store(
    sizes: Sequence[int], store_universities: int, changed: int, repeat: int, master: str | None, data: Path | None
) -> str:
    """Runs the benchmark and gives its tables."""
    if not sizes or min(sizes) < 1 or repeat < 1 or store_universities < 0 or changed < 2:
        raise BenchmarkMistake("lubm-store wants --universities, --repeat ≥ 1, --store-universities ≥ 0, --changed ≥ 2")
    from everlog.spark.session import start_session

    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
        place = Path(scratch)
        spark = start_session(master=master)
        cores = spark.conf.get("spark.sql.shuffle.partitions")
        readings = [_reading(spark, size, repeat, _data(spark, size, data or place), place) for size in sizes]
        updating = None
        if store_universities:
            made = _make_store(spark, _data(spark, store_universities, data or place), place)
            spark.stop()  # the update has the machine for itself
            updating = _updating(place, made, changed, master)
    return _text(readings, updating, cores)


def _data(spark: SparkSession, universities: int, place: Path) -> Path:
    """The data of so many universities, generated unless it is there already."""
    from benchmarks.generators.universities import write_universities
    from everlog.store.whole_folder import new_folder

    folder = place / f"lubm-{universities}"
    if not folder.exists():
        with new_folder(folder) as beside:
            beside.rmdir()  # Spark makes it
            write_universities(spark, universities, beside)
    return folder


def _reading(spark: SparkSession, universities: int, repeat: int, data: Path, place: Path) -> Reading:
    triples, size = measured(data)
    seconds, terms = [], 0
    for number in range(repeat):
        started = perf_counter()
        terms = _encode(spark, data, place / f"encoded-{universities}-{number}")
        seconds.append(perf_counter() - started)
    return Reading(universities, triples, terms, size, seconds)


def _encode(spark: SparkSession, data: Path, place: Path) -> int:
    """Reads, parses and encodes, and writes ids and terms as a store does; gives the number of terms."""
    from everlog.sources.read_facts import read_paths
    from everlog.store.term_dictionary import StoredDictionary

    read = read_paths(spark, [data])
    encoded = StoredDictionary(spark, [], 0).encode(read.facts, place / "terms")
    encoded.together.write.parquet(str(place / "facts"))
    read.release()
    return encoded.size


def _make_store(spark: SparkSession, data: Path, place: Path) -> int:
    from everlog.datalog.reader import parse_program
    from everlog.knowledge.stores import init_store
    from everlog.sources.read_facts import read_paths

    read = read_paths(spark, [data])
    report = init_store(place / "store", parse_program(PROGRAM), read, spark=spark)
    read.release()
    return report.facts["total"]


def _updating(place: Path, facts: int, changed: int, master: str | None) -> Updating:
    store, stats = place / "store", place / "stats.json"
    department = "http://www.Department0.University0.edu"
    student = f"<{VOCABULARY}UndergraduateStudent>"
    fresh = [f"<{department}/NewStudent{number}> {_TYPE} {student} .\n" for number in range(changed // 2)]
    gone = [
        f"<{department}/UndergraduateStudent{number}> {_TYPE} {student} .\n" for number in range(changed - len(fresh))
    ]
    (place / "add.nt").write_text("".join(fresh))
    (place / "delete.nt").write_text("".join(gone))
    before = _sizes(store)
    command = [sys.executable, "-m", "everlog", "update", str(store), "--stats", str(stats)]
    command += ["--add", str(place / "add.nt"), "--delete", str(place / "delete.nt")]
    command += ["--master", master] if master else []
    started = perf_counter()
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    wall = perf_counter() - started
    if ended.returncode:
        raise Failure(f"the update failed: {ended.stderr.strip()}")
    after = _sizes(store)
    written = sum(size for file, size in after.items() if before.get(file) != size)
    reasoning = json.loads(stats.read_text())["seconds"]["reasoning"]
    return Updating(facts, changed, wall, reasoning, written)


def _sizes(folder: Path) -> dict[Path, int]:
    return {file: file.stat().st_size for file in folder.rglob("*") if file.is_file()}


def _text(readings: Sequence[Reading], updating: Updating | None, cores: str | None) -> str:
    lines = [
        f"N-Triples read, parsed and encoded by Spark ({cores} shuffle partitions), median of {len(readings[0].seconds)}",
        f"{'universities':>12} {'triples':>12} {'terms':>12} {'MB':>8} {'seconds':>8} {'triples/s':>10} {'growth':>7}",
    ]
    first = readings[0]
    for each in readings:
        # 1.00 is linear: as much more time as there are more triples.
        growth = (median(each.seconds) / median(first.seconds)) / (each.triples / first.triples)
        lines.append(
            f"{each.universities:>12,} {each.triples:>12,} {each.terms:>12,} {each.size / 1e6:>8,.1f} "
            f"{median(each.seconds):>8.2f} {each.rate:>10,.0f} {growth:>7.2f}"
        )
    lines.append("growth: time per triple, as a multiple of the first line's")
    if updating is not None:
        lines += [
            "",
            f"An update of {updating.changed:,} facts in a store of {updating.facts:,}, from the shell",
            f"{'seconds':>10} {'reasoning':>10} {'pipeline':>10} {'MB written':>11}",
            f"{updating.wall:>10.1f} {updating.reasoning:>10.2f} {updating.wall - updating.reasoning:>10.1f} "
            f"{updating.written / 1e6:>11.2f}",
        ]
    lines.append(f"peak memory of this process, without the JVM: {peak_rss_bytes() / 1e6:,.0f} MB")
    return "\n".join(lines)

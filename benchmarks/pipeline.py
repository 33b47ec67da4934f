"""`script/bench run pipeline`: from files to answers and back, on generated universities, with a floor beside each figure.

The floor is a bare PySpark session with one `mapInArrow` job, in a process of its own. Whole commands run in processes of
their own, too; reading, parsing and encoding are measured in a session that is warm.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Final

from benchmarks.generators.universities import VOCABULARY, write_universities
from benchmarks.lubm_data import measured
from benchmarks.workload import BenchmarkMistake
from everlog.errors import Failure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.sources.read_facts import Read

PROGRAM: Final = f"""
@prefix ub: <{VOCABULARY}> .
ub:Student[?x] :- ub:UndergraduateStudent[?x] .
ub:Student[?x] :- ub:GraduateStudent[?x] .
ub:Person[?x] :- ub:Student[?x] .
ub:subOrganizationOf[?x, ?z] :- ub:subOrganizationOf[?x, ?y], ub:subOrganizationOf[?y, ?z] .
ub:memberOf[?x, ?z] :- ub:memberOf[?x, ?y], ub:subOrganizationOf[?y, ?z] .
"""
CHAIN: Final = "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."
ROWS: Final = ("start", "read", "store", "nemo")
FORMS: Final = ("nt", "csv", "parquet")

_TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_FLOOR: Final = """
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[*]").config("spark.ui.showConsoleProgress", "false").getOrCreate()
session.range(10).mapInArrow(lambda batches: batches, "id bigint").collect()
"""
_OPEN: Final = """
import sys, time, everlog
begun = time.perf_counter()
everlog.open(sys.argv[1])
print(time.perf_counter() - begun)
"""
_NEMO: Final = """
import sys, nmo_python
engine = nmo_python.NemoEngine(nmo_python.load_string(open(sys.argv[1]).read()))
engine.reason()
print(sum(1 for _ in engine.result("out")))
"""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What to measure: rows of the table, universities (of some 134,000 triples) to read, and how often."""

    rows: Sequence[str] = ROWS
    universities: Sequence[int] = (10, 50)
    repeat: int = 3
    data: Path | None = None


def run_pipeline(request: Request, say: Say) -> None:
    """Measures, and says a line for each figure as soon as it is known."""
    unknown = set(request.rows) - set(ROWS)
    if unknown or not request.universities or request.repeat < 1:
        raise BenchmarkMistake(
            f"pipeline has the rows {', '.join(ROWS)}, sizes of 1 or more, and --repeat of 1 or more"
        )
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
        place = Path(scratch)
        floor = median(_seconds([sys.executable, "-c", _FLOOR]) for _ in range(request.repeat))
        say(f"floor: a bare PySpark session with one job                      {floor:8.2f} s")
        if "start" in request.rows:
            _start(place, request.repeat, floor, say)
        if set(request.rows) != {"start"}:
            with _session() as spark:
                folders = [_data(spark, count, request.data or place) for count in request.universities]
                if "read" in request.rows:
                    _read(spark, folders, place, request.repeat, say)
            if "store" in request.rows:
                for folder in folders:
                    _store(folder, place, request.repeat, floor, say)
            if "nemo" in request.rows:
                _nemo(folders[0], place, say)


# ---------------------------------------------------------------------------------------- rows


def _start(place: Path, repeat: int, floor: float, say: Say) -> None:
    """A command on next to nothing."""
    (place / "chain.dlog").write_text(CHAIN)
    (place / "edge.csv").write_text("".join(f"{number},{number + 1}\n" for number in range(10)))
    command = _everlog("run", place / "chain.dlog", "--facts", place / "edge.csv", "--out", place / "out")
    taken = []
    for _ in range(repeat):
        shutil.rmtree(place / "out", ignore_errors=True)
        taken.append(_seconds(command))
    say(f"everlog run on ten facts                                      {median(taken):8.2f} s, {_ratio(taken, floor)}")


def _read(spark: SparkSession, folders: Sequence[Path], place: Path, repeat: int, say: Say) -> None:
    """Reading, parsing and encoding into the memory engine's dictionary; the first time warms up."""
    from everlog.sources.read_facts import read_paths

    for form in FORMS:
        first = 0.0
        for folder in folders:
            triples, size = measured(folder)
            source = folder if form == "nt" else _converted(spark, folder, place / folder.name, form)
            taken = []
            for number in range(repeat + 1):
                begun = perf_counter()
                read = read_paths(spark, [source])
                _encoded(read)
                taken += [perf_counter() - begun] if number else []
                read.release()
            each = median(taken) / triples
            first = first or each
            say(
                f"read {form:7} {triples:12,} triples, {size / 1e6:7,.0f} MB as N-Triples     {median(taken):8.2f} s, "
                f"{1 / each:12,.0f} a second, {each / first:.2f} times the first size's time a triple"
            )


def _store(data: Path, place: Path, repeat: int, floor: float, say: Say) -> None:
    """A store: made, updated, opened, exported."""
    triples, _ = measured(data)
    store, out = place / f"{data.name}.store", place / "export"
    (place / "program.dlog").write_text(PROGRAM)
    taken = []
    for _ in range(repeat):
        shutil.rmtree(store, ignore_errors=True)
        taken.append(_seconds(_everlog("init", store, place / "program.dlog", "--facts", data)))
    say(f"init    {triples:12,} triples                                {median(taken):8.2f} s, {_less(taken, floor)}")
    added = place / "add.nt"
    student = f"{_TYPE} <{VOCABULARY}UndergraduateStudent> ."
    taken = []
    for number in range(repeat):
        added.write_text("".join(f"<http://www.Department0.edu/New{number}-{one}> {student}\n" for one in range(1000)))
        taken.append(_seconds(_everlog("update", store, "--add", added)))
    say(f"update of 1,000 facts                                         {median(taken):8.2f} s, {_ratio(taken, floor)}")
    opening = (
        "import sys, time, everlog; t = time.perf_counter(); everlog.open(sys.argv[1]); print(time.perf_counter() - t)"
    )
    opened = [float(_output([sys.executable, "-c", opening, str(store)])) for _ in range(repeat)]
    say(f"open, without Spark                                           {median(opened):8.2f} s")
    for form in ("nt", "csv"):
        taken = []
        for _ in range(repeat):
            shutil.rmtree(out, ignore_errors=True)
            taken.append(_seconds(_everlog("export", store, "--format", form, "--out", out)))
        lines = sum(file.read_bytes().count(b"\n") for file in out.iterdir())
        rate = lines / max(median(taken) - floor, 0.01)
        say(
            f"export --format {form:3} {lines:12,} facts                       {median(taken):8.2f} s, "
            f"{_less(taken, floor)}: {rate:,.0f} a second"
        )


def _nemo(data: Path, place: Path, say: Say) -> None:
    """The same rules over the same file, read and reasoned by Nemo."""
    whole = place / "all.nt"
    with whole.open("wb") as out:
        for file in sorted(data.glob("*.nt")):
            out.write(file.read_bytes())
    ub = VOCABULARY
    rules = f"""
@import t :- ntriples{{resource="{whole}"}} .
kind(?x, <{ub}Student>) :- t(?x, {_TYPE}, <{ub}UndergraduateStudent>) .
kind(?x, <{ub}Student>) :- t(?x, {_TYPE}, <{ub}GraduateStudent>) .
kind(?x, <{ub}Person>) :- kind(?x, <{ub}Student>) .
part(?x, ?y) :- t(?x, <{ub}subOrganizationOf>, ?y) .
part(?x, ?z) :- part(?x, ?y), part(?y, ?z) .
out(?x, ?y) :- t(?x, <{ub}memberOf>, ?y) .
out(?x, ?z) :- out(?x, ?y), part(?y, ?z) .
"""
    (place / "nemo.rls").write_text(rules)
    begun = perf_counter()
    found = int(_output([sys.executable, "-c", _NEMO, str(place / "nemo.rls")]))
    say(f"Nemo, reading and reasoning ({found:,} memberships)           {perf_counter() - begun:8.2f} s")


# ---------------------------------------------------------------------------------------- how


def _encoded(read: Read) -> None:
    from everlog.engine.memory.memory_backend import MemoryBackend

    MemoryBackend().encoded({}, read)


def _converted(spark: SparkSession, folder: Path, place: Path, form: str) -> Path:
    """The triples of N-Triples files as a table of three columns."""
    from everlog.sources.csv_fields import csv_field
    from everlog.sources.read_facts import read_paths

    place.mkdir(parents=True, exist_ok=True)
    path = place / f"triple.{form}"
    if path.exists():
        return path
    columns: list[list[str]] = [[], [], []]
    for _, block in read_paths(spark, [folder]).blocks():
        for piece in block.columns():
            for column, more in zip(columns, piece[:3], strict=True):
                column.extend(more.to_pylist())
    if form == "csv":
        known: dict[str, str] = {}
        with path.open("w", encoding="utf-8") as out:
            for row in zip(*columns, strict=True):
                out.write(",".join(known.get(text) or known.setdefault(text, csv_field(text)) for text in row) + "\n")
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        fields = [pa.field(f"a{n}", pa.string(), metadata={"everlog": "ntriples"}) for n in range(3)]
        arrays = [pa.array(column, pa.string()) for column in columns]
        pq.write_table(pa.table(arrays, schema=pa.schema(fields)), path, row_group_size=1 << 18)
    return path


@contextmanager
def _session() -> Iterator[SparkSession]:
    from everlog.spark.session import start_session

    spark = start_session()
    try:
        yield spark
    finally:
        spark.stop()  # commands have the machine for themselves


def _data(spark: SparkSession, universities: int, place: Path) -> Path:
    """The data of so many universities, generated unless it is there already."""
    from everlog.store.whole_folder import new_folder

    folder = place / f"lubm-{universities}"
    if not folder.exists():
        with new_folder(folder) as beside:
            beside.rmdir()  # Spark makes it
            write_universities(spark, universities, beside)
    return folder


def _everlog(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "everlog", *map(str, arguments)]


def _seconds(command: Sequence[str]) -> float:
    begun = perf_counter()
    _output(command)
    return perf_counter() - begun


def _output(command: Sequence[str]) -> str:
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if ended.returncode:
        raise Failure(f"{' '.join(command[:5])} … failed: {ended.stderr.strip()[-500:]}")
    return ended.stdout


def _ratio(taken: Sequence[float], floor: float) -> str:
    return f"{median(taken) / floor:.2f} times the floor"


def _less(taken: Sequence[float], floor: float) -> str:
    return f"{median(taken) - floor:.2f} s more than the floor"

"""`script/bench run pipeline`: from files to answers and back, on generated universities, with a floor beside each figure.

The floor is a bare PySpark session with one `mapInArrow` job, in a process of its own. Whole commands run in processes of
their own, too; reading, parsing and encoding are measured in a session that is warm. Beside seconds by the clock there are
those of processors, all processes together: they say more on a machine that others use.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Final

import everlog
from benchmarks.generators.universities import VOCABULARY, write_universities
from benchmarks.lubm_data import measured
from benchmarks.process_tree import Cost, processor_seconds, run_tree
from benchmarks.workload import BenchmarkMistake

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
ROWS: Final = ("start", "notebook", "read", "shuffle", "store", "nemo")
FORMS: Final = ("nt", "csv", "parquet")

_TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_FLOOR: Final = """
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[*]").config("spark.ui.showConsoleProgress", "false").getOrCreate()
session.range(10).mapInArrow(lambda batches: batches, "id bigint").collect()
"""
_OPEN: Final = """
import sys, time, everlog
begun = time.perf_counter(), time.process_time()
everlog.open(sys.argv[1])
print(time.perf_counter() - begun[0], time.process_time() - begun[1])
"""
_TEN: Final = f"""
import sys
sys.modules["scipy"] = None  # which Everlog's users need not have, and Numba imports where it is
import everlog, time
begun = time.perf_counter(), time.process_time()
kb = everlog.KnowledgeBase({CHAIN!r})
kb.add({{"edge": [(f"n{{n}}", f"n{{n + 1}}") for n in range(10)]}})
kb.materialise()
print(time.perf_counter() - begun[0], time.process_time() - begun[1])
"""
_SAVE: Final = f"""
import everlog, sys, time
kb = everlog.KnowledgeBase({CHAIN!r})
kb.add({{"edge": [(f"n{{n}}", f"m{{n % 100}}") for n in range(20_000)]}})
kb.materialise()
begun = time.perf_counter(), time.process_time()
kb.save(sys.argv[1])
everlog.open(sys.argv[1])
print(time.perf_counter() - begun[0], time.process_time() - begun[1])
assert "pyspark" not in sys.modules
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
        floor = _middle(run_tree([sys.executable, "-c", _FLOOR]) for _ in range(request.repeat))
        say(f"floor: a bare PySpark session with one job                    {_shown(floor)}")
        if {"start", "store"} & set(request.rows):
            start = _start(place, request.repeat, floor, say)
        if "notebook" in request.rows:
            _notebook(place, request.repeat, say)
        if set(request.rows) - {"start", "notebook"}:
            with _session() as spark:
                folders = [_data(spark, count, request.data or place) for count in request.universities]
                if "read" in request.rows:
                    _read(spark, folders, place, request.repeat, say)
            if "shuffle" in request.rows:
                _shuffle(folders[0], say)
            if "store" in request.rows:
                for folder in folders:
                    _store(folder, place, request.repeat, (floor, start), say)
            if "nemo" in request.rows:
                _nemo(folders, place, say)


# ---------------------------------------------------------------------------------------- rows


def _start(place: Path, repeat: int, floor: Cost, say: Say) -> Cost:
    """A command on next to nothing. Spark's classes are archived by its second start, which is not measured."""
    (place / "chain.dlog").write_text(CHAIN)
    (place / "edge.csv").write_text("".join(f"{number},{number + 1}\n" for number in range(10)))
    command = _everlog("run", place / "chain.dlog", "--facts", place / "edge.csv", "--out", place / "out")
    taken = []
    for _ in range(repeat + 2):
        shutil.rmtree(place / "out", ignore_errors=True)
        taken.append(run_tree(command))
    cost = _middle(taken[2:])
    say(f"everlog run on ten facts                                      {_shown(cost)}, {_ratio(cost, floor)}")
    return cost


def _notebook(place: Path, repeat: int, say: Say) -> None:
    """Without Spark: ten facts on a new installation, ten facts later, and 20,000 facts saved and opened."""
    fresh = place / "fresh"
    package = Path(everlog.__file__).parent
    shutil.copytree(package, fresh / "everlog", ignore=shutil.ignore_patterns("__pycache__"))
    try:
        for what, times in (("first", 1), ("later", repeat)):
            cost = _middle(_told(_TEN, at=fresh) for _ in range(times))
            say(f"ten facts materialised, {what} on this installation            {_shown(cost)}")
        cost = _middle(_told(_SAVE, str(place / f"{number}.store"), at=fresh) for number in range(repeat))
        say(f"20,000 facts and what follows saved and opened, no Spark      {_shown(cost)}")
    finally:
        shutil.rmtree(fresh)


def _read(spark: SparkSession, folders: Sequence[Path], place: Path, repeat: int, say: Say) -> None:
    """Reading, parsing and encoding into the memory engine's dictionary; the first time warms up."""
    from everlog.sources.read_facts import read_paths

    for form in FORMS:
        first = 0.0
        for folder in folders:
            triples, size = measured(folder)
            source = folder if form == "nt" else _converted(spark, folder, place / folder.name, form)
            taken = []
            for _ in range(repeat + 1):
                begun, used = perf_counter(), processor_seconds()
                read = read_paths(spark, [source])
                _encoded(read)
                taken.append(Cost(perf_counter() - begun, processor_seconds() - used))
                read.release()
            cost = _middle(taken[1:])
            first = first or cost.processor / triples
            say(
                f"read {form:7} {triples:12,} triples, {size / 1e6:7,.0f} MB as N-Triples   {_shown(cost)}: "
                f"{_rate(cost, triples)}, {cost.processor / triples / first:.2f} times the first size's a triple"
            )


def _shuffle(data: Path, say: Say) -> None:
    """The bytes that the Spark engine shuffles to encode triples, and those of their texts."""
    from everlog.engine.spark.spark_backend import SparkBackend
    from everlog.engine.spark.terms import SparkTerms
    from everlog.sources.read_facts import read_paths
    from everlog.spark.metrics import event_log, works

    _, size = measured(data)
    with _session(events=True) as spark, tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
        numbers = iter(range(1000))

        def folder() -> Path:
            return Path(scratch, str(next(numbers)))

        backend = SparkBackend(spark, SparkTerms(spark, [], 0, folder), folder)
        begun, used = perf_counter(), processor_seconds()
        facts = backend.entered(backend.encoded({}, read_paths(spark, [data])))
        found = len(facts)
        cost = Cost(perf_counter() - begun, processor_seconds() - used)
        log = event_log(spark)
        assert log is not None, "the session is ours"
        jobs = works(spark, log)
        shuffled = sum(work["shuffled_bytes"] for _, work in jobs)
        say(
            f"Spark engine, {found:,} distinct triples encoded              {_shown(cost)}, {len(jobs)} jobs, "
            f"{shuffled / 1e6:,.1f} MB shuffled of {size / 1e6:,.0f} MB of N-Triples"
        )


def _store(data: Path, place: Path, repeat: int, least: tuple[Cost, Cost], say: Say) -> None:
    """A store: made, updated, opened, exported. What is least are the floor, and a command that does next to nothing.

    Java of a command that does little is told to compile little, so that such a command ends before the floor does: rates
    are what a command does beyond that.
    """
    floor, start = least
    triples, size = measured(data)
    store, out = place / f"{data.name}.store", place / "export"
    (place / "program.dlog").write_text(PROGRAM)
    taken = []
    for number in range(repeat + 1):
        shutil.rmtree(store, ignore_errors=True)
        # Looking at the memory of large processes makes them wait: it is done apart, in the first run.
        taken.append(run_tree(_everlog("init", store, place / "program.dlog", "--facts", data), memory=not number))
    peak, cost = taken[0].peak_bytes, _middle(taken[1:])
    say(
        f"init    {triples:12,} triples                              {_shown(cost)}, {_less(cost, floor)}, "
        f"{_rate(_beyond(cost, start), triples)}"
    )
    say(
        f"    memory of all its processes, {size / 1e6:,.0f} MB of N-Triples, store {_bytes(store) / 1e6:,.0f} MB:"
        f" {peak / 1e6:8,.0f} MB"
    )
    added = place / "add.nt"
    student = f"{_TYPE} <{VOCABULARY}UndergraduateStudent> ."
    taken = []
    for number in range(repeat):
        added.write_text("".join(f"<http://www.Department0.edu/New{number}-{one}> {student}\n" for one in range(1000)))
        taken.append(run_tree(_everlog("update", store, "--add", added)))
    cost = _middle(taken)
    say(f"update of 1,000 facts                                         {_shown(cost)}, {_ratio(cost, floor)}")
    opened = _middle(_told(_OPEN, str(store)) for _ in range(repeat))
    say(f"open, without Spark                                           {_shown(opened)}")
    for form in ("nt", "csv"):
        taken = []
        for _ in range(repeat):
            shutil.rmtree(out, ignore_errors=True)
            taken.append(run_tree(_everlog("export", store, "--format", form, "--out", out)))
        lines = sum(file.read_bytes().count(b"\n") for file in out.iterdir())
        cost = _middle(taken)
        say(
            f"export --format {form:3} {lines:12,} facts                     {_shown(cost)}, "
            f"{_less(cost, floor)}: {_rate(_beyond(cost, start), lines)}"
        )


def _nemo(folders: Sequence[Path], place: Path, say: Say) -> None:
    """The same rules over the same triples, read and reasoned by Nemo."""
    ub = VOCABULARY
    for data in folders:
        whole = place / "all.nt"
        with whole.open("wb") as out:
            for file in sorted(data.glob("*.nt")):
                out.write(file.read_bytes())
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
        cost = run_tree([sys.executable, "-c", _NEMO, str(place / "nemo.rls")])
        say(f"Nemo, reading and reasoning ({int(cost.output):,} memberships)         {_shown(cost)}")


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
def _session(events: bool = False) -> Iterator[SparkSession]:
    from everlog.spark.session import start_session

    spark = start_session(events=events)
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


def _told(program: str, *arguments: str, at: Path | None = None) -> Cost:
    """A program in a process of its own that prints its seconds, by the clock and of the processor."""
    path = {} if at is None else {"PYTHONPATH": str(at)}
    seconds, processor = map(float, run_tree([sys.executable, "-c", program, *arguments], path).output.split())
    return Cost(seconds, processor)


def _middle(costs: Iterable[Cost]) -> Cost:
    """The medians."""
    found = list(costs)
    return Cost(
        median(cost.seconds for cost in found),
        median(cost.processor for cost in found),
        max(cost.peak_bytes for cost in found),
    )


def _beyond(cost: Cost, start: Cost) -> Cost:
    return Cost(cost.seconds - start.seconds, cost.processor - start.processor)


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _shown(cost: Cost) -> str:
    return f"{cost.seconds:8.2f} s, {cost.processor:7.2f} of processors"


def _ratio(cost: Cost, floor: Cost) -> str:
    return f"{cost.seconds / floor.seconds:.2f} and {cost.processor / floor.processor:.2f} times the floor"


def _less(cost: Cost, floor: Cost) -> str:
    return f"{cost.seconds - floor.seconds:.2f} and {cost.processor - floor.processor:.2f} more than the floor"


def _rate(cost: Cost, facts: int) -> str:
    """By the clock; and where two cores would be busy with nothing else, if all of it were done on both."""
    alone = 2 * facts / max(cost.processor, 0.01)
    return f"{facts / max(cost.seconds, 0.01):,.0f} a second, {alone:,.0f} by processors of two"

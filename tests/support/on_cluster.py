"""A standalone cluster on this machine, and reasoning on it, with an executor killed in the middle of a round.

    python tests/support/on_cluster.py [--width N] [--local]

A master and a worker, which has two executors with a core each, are PySpark's own. What a knowledge base on the cluster
derives, after a materialisation and after an update, is compared with what the memory engine derives or, as asked, local
mode. An executor is killed with SIGKILL while a round is being computed, which must not change the result. Before that,
facts are read by tasks of which some fail and are run again: they and their ids are what they are without that.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from threading import Thread

import pyspark
from pyspark.sql import SparkSession

import everlog
from everlog.engine.spark import tuning
from everlog.sources.blocks import Part
from everlog.sources.csv_lines import CsvLines
from everlog.sources.line_blocks import Lines
from everlog.sources.parsed_rows import Parsed
from everlog.sources.read_facts import Read, _Rows
from everlog.sources.text_lines import LineFile, LineParser, read_lines
from everlog.spark.class_archive import archive_options
from everlog.spark.java import _write_shim, find_java
from everlog.spark.session import BRIEF_JAVA, start_session
from everlog.store.term_dictionary import StoredDictionary

PROGRAM = everlog.parse_program(
    """
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    """
)
SOURCE = Path(everlog.__file__).resolve().parent.parent
EXECUTOR = "CoarseGrainedExecutorBackend"
Result = tuple[dict[str, int], dict[str, list[tuple[object, ...]]]]


class Cluster:
    """Its address, and the processes that make it up."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        port = _free_port()
        self.address = f"spark://127.0.0.1:{port}"
        self._start("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        _wait(lambda: _listens(port), "the master does not answer")
        self._start("worker.Worker", "--cores", "2", "--memory", "2g", "--webui-port", "0", self.address)

    def _start(self, name: str, *arguments: str) -> None:
        command = Path(pyspark.__file__).parent / "bin" / "spark-class"
        home = self._folder / f"java-{len(self._processes)}"
        environment = {
            **os.environ,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(self._folder / "work"),
            "SPARK_LOCAL_DIRS": str(self._folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": BRIEF_JAVA,
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": str(SOURCE),
            "JAVA_HOME": str(_java_home(home)),
        }
        with open(self._folder / f"{name}-{len(self._processes)}.log", "wb") as log:
            process = subprocess.Popen(
                [command, f"org.apache.spark.deploy.{name}", *arguments],
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._processes.append(process)

    def executors(self) -> list[int]:
        """The processes that run tasks: children of the worker."""
        workers = {process.pid for process in self._processes}
        return [pid for pid, parent, command in _processes() if parent in workers and EXECUTOR in command]

    def stop(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def cluster() -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="everlog-cluster-"))
    started = Cluster(folder)
    try:
        yield started
    finally:
        started.stop()
        shutil.rmtree(folder, ignore_errors=True)


def reasoned(
    spark: SparkSession | None, scratch: Path | None, width: int, kill: Cluster | None = None
) -> tuple[Result, list[int]]:
    """How many facts a materialisation gives, what there is after an update, and who was killed meanwhile.

    It is on Spark if there is a session. Who is to be killed is, as soon as a job runs after the first round.
    """
    killed: list[int] = []
    killers: list[Thread] = []

    def end_executor() -> None:
        assert kill is not None and spark is not None
        _wait(spark.sparkContext.statusTracker().getActiveJobsIds, "no job runs after the first round")
        victim = kill.executors()[0]
        os.kill(victim, signal.SIGKILL)
        killed.append(victim)

    def progress(stratum: int, number: int, new: int) -> None:
        if kill is not None and not killers:
            killers.append(Thread(target=end_executor))
            killers[0].start()

    engine = "memory" if spark is None else "spark"
    kb = everlog.KnowledgeBase(PROGRAM, engine=engine, spark=spark, scratch=scratch, modules="off")
    # Every node of a layer has an edge to every node of the next: few rounds, each with thousands of facts.
    layers = [[100 * layer + node for node in range(width)] for layer in range(3)]
    kb.add({"edge": [pair for one, next in pairwise(layers) for pair in product(one, next)]})
    derived = kb.materialise(progress).facts
    gone = [(0, node) for node in layers[1][1:]]
    kb.update(add={"edge": [(-1, 0)]}, delete={"edge": gone}, algorithm="dred")
    found = {predicate: sorted(kb.rows(predicate)) for predicate in kb.predicates()}  # type: ignore[type-var]
    for killer in killers:
        killer.join()
    return (derived, found), killed


@dataclass(frozen=True)
class FailsOnce:
    """Parses lines, but not at the first time."""

    parser: CsvLines
    folder: str

    @property
    def width(self) -> int:
        return self.parser.width

    def __call__(self, lines: Lines, mark: str) -> Parsed:
        tried = Path(self.folder, hashlib.sha256(lines.data).hexdigest())
        if not tried.exists():
            tried.touch()
            raise RuntimeError("the first attempt fails")
        return self.parser(lines, mark)


def check_tasks_that_are_run_again(spark: SparkSession, folder: Path) -> None:
    """Encodes some files, once undisturbed, and once by tasks that fail at first."""
    files = [folder / f"{number}.csv" for number in range(4)]
    for number, file in enumerate(files):
        file.write_text("".join(f"a{number * 50 + row},b{row}\n" for row in range(100)))
    attempts = folder / "attempts"
    attempts.mkdir()
    parser, found = CsvLines(",", 2), []
    ways: list[LineParser] = [parser, FailsOnce(parser, str(attempts))]
    for way in ways:
        lines = {str(file): [LineFile(0, way, "")] for file in files}
        rows = _Rows.of(spark, read_lines(spark, lines, None), None)
        read = Read({"p": 2}, [], 0, "", {}, {}, {}, [Part("p", 0, 2)], rows)
        encoded = StoredDictionary(spark, [], 0).encode(read, folder / f"terms-{len(found)}")
        terms = {row["term"]: row["id"] for row in encoded.new_terms.collect()}
        found.append((terms, sorted(map(tuple, encoded.facts["p"].collect()))))
        encoded.release()
        read.release()
    assert len(list(attempts.iterdir())) == len(files), "no task was run again"
    assert found[0] == found[1], "tasks that are run again give other facts or ids"
    assert len(found[0][1]) == 400


def compared(width: int, with_local: bool) -> str:
    """Runs everything, and says what was done; an `AssertionError` if results differ."""
    tuning.DRIVER_FACTS = 500  # else all of the facts would stay on the driver
    begun = time.perf_counter()
    expected, _ = reasoned(None, None, width)
    if with_local:
        local = start_session(master="local[2]", conf={"spark.sql.shuffle.partitions": "2"}, brief=True)
        assert reasoned(local, None, width)[0] == expected, "local mode derives something else than the memory engine"
        local.stop()
    here = time.perf_counter() - begun
    with cluster() as machines:
        conf = {
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.enabled": "false",
            "spark.driver.extraJavaOptions": BRIEF_JAVA,
            "spark.executor.extraJavaOptions": BRIEF_JAVA,
        }
        spark = start_session(master=machines.address, conf=conf)
        scratch = Path(tempfile.mkdtemp(prefix="everlog-scratch-"))
        try:
            _wait(lambda: len(machines.executors()) == 2, "there are not two executors")
            with tempfile.TemporaryDirectory(prefix="everlog-") as files:
                check_tasks_that_are_run_again(spark, Path(files))
            found, killed = reasoned(spark, scratch, width, kill=machines)
            assert found == expected, "the cluster derives something else"
            assert len(killed) == 1, "no executor was killed"
            assert killed[0] not in machines.executors()
        finally:
            gc.collect()  # a knowledge base takes its files with it
            spark.stop()
            left = list(scratch.iterdir())
            shutil.rmtree(scratch, ignore_errors=True)
        assert not left, f"files are left in the scratch folder: {left}"
    facts = sum(map(len, found[1].values()))
    there = time.perf_counter() - begun - here
    return (
        f"{facts:,} facts after a materialisation and an update are the same on a cluster, one of whose two executors was "
        f"killed, as in {'local mode' if with_local else 'memory'} ({there:.0f} s and {here:.0f} s)"
    )


def _java_home(home: Path) -> Path:
    """A folder with the Java that Everlog finds, which maps the archive of Spark's classes if there is one."""
    java = find_java()
    _write_shim(home / "bin" / "java", java, None, archive_options(java.program, Path(pyspark.__file__).parent, False))
    return home


def _processes() -> Iterator[tuple[int, int, str]]:
    """All processes, with their parents and commands."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:  # it has ended
                continue
            yield int(folder.name), int(parent), command


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _wait(condition: object, complaint: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        if time.monotonic() > end:
            raise TimeoutError(complaint)
        time.sleep(0.05)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compares a standalone cluster with the memory engine.")
    parser.add_argument("--local", action="store_true", help="compare it with local mode, too")
    parser.add_argument("--width", type=int, default=32, help="nodes in each layer of the graph that is closed")
    asked = parser.parse_args()
    print(compared(asked.width, asked.local))

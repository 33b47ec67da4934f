"""The one place that makes a Spark session.

A session that is active is taken as it is; then `--master`; then `SPARK_REMOTE` (Spark Connect); else `local[*]`. Local
sessions get defaults for one machine, and all sessions what the pipeline relies on (Arrow, UTC); `conf` goes over both.
Only the public DataFrame API is used, here as elsewhere, so that a Connect session will do.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from everlog import interrupts
from everlog.errors import EverlogError
from everlog.spark.cancelling import Home
from everlog.spark.java import java_for_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_GIB = 2**30
_NONE: Mapping[str, str] = {}

EVERYWHERE = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
"""What the pipeline relies on, settable in a running session."""

ENGINES_OWN: Final = "spark.everlog.engine"
"""Set in the sessions that engines make beside the one they were given. Whose query ran last is active, theirs too."""


BRIEF_JAVA: Final = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
"""Java spends more time on compiling Spark than Spark on a job of seconds: the quick compiler, and no threads beside it.

By itself this compiler has a fifth of the room for code that both have together, which Spark fills within a minute; from
then on Java would throw code away and compile it again.
"""

_BRIEF: Final = {
    "spark.driver.extraJavaOptions": BRIEF_JAVA,
    # By itself PySpark notes for each column of a query which line of Python has named it, asking Java several times.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}


class NoSession(EverlogError):
    """A Spark session that cannot be had."""


def start_session(
    *,
    master: str | None = None,
    conf: Mapping[str, str] = _NONE,
    verbose: bool = False,
    brief: bool = False,
    events: bool = False,
) -> SparkSession:
    """The active Spark session, or a new one.

    `master` is a Spark master (`local[4]`, `spark://host:7077`) or a Connect address (`sc://host`). A session that is to
    be `brief`, for little work on this machine, is ready sooner and slower in the long run. With `events` it logs what it
    does, for `metrics.py`.
    """
    from pyspark.sql import SparkSession

    from everlog.spark.metrics import event_log_settings

    # Advice about pandas, which the pipeline does not use: tables go by Arrow.
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    if _home:
        _home[0].check()
    active = SparkSession.getActiveSession()
    if active is not None and active.conf.get(ENGINES_OWN, None) is not None:
        active = SparkSession.builder.getOrCreate()  # an engine has worked beside that one
    if active is not None:
        _home[:] = [Home()]
        for key, value in conf.items():
            _change(active, key, value)
        return active
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit runs us: its settings hold
        return _made(SparkSession.builder.appName("everlog"), {**EVERYWHERE, **conf}, None)
    remote = _remote_address(master)
    with _environment(remote, conf.get("spark.pyspark.python", sys.executable)):
        if remote is not None and not remote.startswith("local"):
            return _made(SparkSession.builder.remote(remote), {**EVERYWHERE, **conf}, None)
        place = remote or master or "local[*]"
        settings = {
            **EVERYWHERE,
            **(local_settings(place, brief) if place.startswith("local") else {}),
            **(event_log_settings() if events else {}),
            **conf,
        }
        builder = SparkSession.builder.appName("everlog")
        builder = builder.remote(place) if remote else builder.master(place)
        with java_for_spark(verbose=verbose, brief=brief) as said:
            return _made(builder, settings, said)


_home: list[Home] = []
"""Where the session is that was started, or found, last."""


def local_settings(master: str, brief: bool = False) -> dict[str, str]:
    """Defaults for work on this machine alone.

    >>> local_settings("local[3]")["spark.sql.shuffle.partitions"]
    '3'
    """
    cores = _cores(master)
    return {
        "spark.sql.shuffle.partitions": str(cores),
        "spark.default.parallelism": str(cores),
        # The knowledge base lives in the Python process beside it and needs the larger part.
        "spark.driver.memory": f"{min(max(machine_bytes() // 4, _GIB), 16 * _GIB) // 2**20}m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Spark describes every plan for a page that nobody sees, by itself at length.
        "spark.sql.ui.explainMode": "simple",
        # Blocks of local checkpoints are freed by the JVM's garbage collector, which has no reason to hurry.
        "spark.cleaner.periodicGC.interval": "1min",
        # Rows that are kept are read once or twice: compressing them takes longer than that.
        "spark.sql.inMemoryColumnarStorage.compressed": "false",
        # What a task writes for more partitions than this, it sorts; for each of fewer it opens a file. Spark's is 200.
        "spark.shuffle.sort.bypassMergeThreshold": "8",
        # A hash table begins with a page, however few rows it gets; by itself Spark takes up to 64 MiB.
        "spark.buffer.pageSize": "2m",
        **(_BRIEF if brief else {}),
    }


def _remote_address(master: str | None) -> str | None:
    if master is not None:
        return master if master.startswith("sc://") else None
    return os.environ.get("SPARK_REMOTE") or None


def _cores(master: str) -> int:
    match = re.match(r"local\[(\d+|\*)", master)
    if match is None:
        return 1
    return len(os.sched_getaffinity(0)) if match[1] == "*" else max(1, int(match[1]))


@contextmanager
def _environment(remote: str | None, python: str) -> Iterator[None]:
    """Workers run a Python, unless somebody has said which; `SPARK_REMOTE` does not outvote a master that was asked for."""
    os.environ.setdefault("PYSPARK_PYTHON", python)
    outvoted = os.environ.pop("SPARK_REMOTE", None) if remote is None else None
    try:
        yield
    finally:
        if outvoted is not None:
            os.environ["SPARK_REMOTE"] = outvoted


def _made(builder: SparkSession.Builder, settings: Mapping[str, str], said: Path | None) -> SparkSession:
    from pyspark.errors import PySparkException

    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        with warnings.catch_warnings():
            # A local Connect server is started with these settings, and then asked to set them once more.
            warnings.filterwarnings("ignore", message="Failed to set spark")
            session = builder.getOrCreate()
        _home[:] = [Home()]
        interrupts.renew()  # PySpark has taken the signal over
        return session
    except ImportError as failure:
        why = " ".join(str(failure).split())
        raise NoSession(
            f"Spark Connect needs packages that are missing: pip install 'everlog[connect]' ({why})"
        ) from failure
    except (PySparkException, OSError, ValueError, RuntimeError) as failure:
        reason = " ".join(str(failure).split())
        raise NoSession(f"Spark did not start: {reason}{_last_words(said)}") from failure
    except Exception as failure:
        # What py4j reports is no PySparkException, and gRPC's errors are of its own family.
        if type(failure).__module__.partition(".")[0] not in ("py4j", "grpc"):
            raise
        lines = str(failure).strip().splitlines()
        causes = [line for line in lines if "Exception" in line] or lines or ["no reason given"]
        raise NoSession(f"Spark did not start: {causes[0].strip()}{_last_words(said)}") from failure


def _last_words(said: Path | None) -> str:
    if said is None or not said.exists():
        return ""
    lines = [line for line in said.read_text(errors="replace").splitlines() if line.strip()]
    return "".join(f"\n  {line}" for line in lines[-15:])


def _change(session: SparkSession, key: str, value: str) -> None:
    from pyspark.errors import PySparkException

    try:
        session.conf.set(key, value)
    except PySparkException as failure:
        raise NoSession(
            f"{key} cannot be set: a Spark session is running already, and this setting is fixed when one starts"
        ) from failure


def machine_bytes() -> int:
    """The bytes of memory of this machine, or of the container around us."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(machine, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # no such file, or "max"
        return machine

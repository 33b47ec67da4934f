"""What Spark did in each round of reasoning: facts and seconds always; jobs, tasks and shuffled bytes where they are known.

They are read from Spark's event log, which sessions that Everlog starts for its Spark engine write to a folder of their
own. A session that was handed over is left as it is, so that there they are unknown.
"""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import sleep, time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PREFIX: Final = "everlog-events-"
_FOLDER: Final = "spark.eventLog.dir"
UNKNOWN: Final = "jobs, tasks and shuffled bytes are unknown, since Spark's session was not started by Everlog"


def event_log_settings() -> dict[str, str]:
    """Settings of a session whose jobs are to be known; the folder goes away with this process."""
    folder = tempfile.mkdtemp(prefix=_PREFIX)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        _FOLDER: folder,
    }


def _work(jobs: int = 0) -> Counter[str]:
    """What Spark did in some time."""
    return Counter(jobs=jobs, tasks=0, shuffled_bytes=0)


@dataclass
class Round:
    """One round of reasoning."""

    stratum: int
    round: int
    facts: int
    began: float
    ended: float
    work: Counter[str] = field(default_factory=_work)

    def as_dict(self, known: bool) -> dict[str, object]:
        seen = {"stratum": self.stratum, "round": self.round, "facts": self.facts, "seconds": self.ended - self.began}
        return {**seen, **self.work} if known else {**seen}


class Rounds:
    """Notes rounds on their way to whoever wants to see progress."""

    def __init__(self, progress: Callable[[int, int, int], None]) -> None:
        self._progress = progress
        self._began = self._last = time()
        self._rounds: list[Round] = []

    def __call__(self, stratum: int, number: int, new: int) -> None:
        now = time()
        self._rounds.append(Round(stratum, number, new, self._last, now))
        self._last = now
        self._progress(stratum, number, new)

    def summary(self, spark: SparkSession) -> dict[str, Any]:
        """The rounds, and all of Spark's work since the first began."""
        ended, file = time(), event_log(spark)
        if file is None:
            return {"unknown": UNKNOWN, "rounds": [one.as_dict(known=False) for one in self._rounds]}
        total = _work()
        for at, work in works(spark, file):
            if self._began <= at <= ended:
                total.update(work)
                for one in self._rounds:
                    if one.began <= at < one.ended:
                        one.work.update(work)
        return {**total, "rounds": [one.as_dict(known=True) for one in self._rounds]}


def event_log(spark: SparkSession) -> Path | None:
    """The event log of a session that we made with one."""
    folder = Path(str(spark.conf.get(_FOLDER, "")).removeprefix("file:"))
    if not folder.name.startswith(_PREFIX):
        return None
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    return files[-1] if files else None


def works(spark: SparkSession, file: Path) -> list[tuple[float, Counter[str]]]:
    """The jobs in the event log of a session, each with the time of its start."""
    _all_written(spark)
    jobs: dict[int, tuple[float, Counter[str]]] = {}
    stages: dict[int, int] = {}
    for event in _events(file):
        kind = event.get("Event")
        if kind == "SparkListenerJobStart":
            jobs[event["Job ID"]] = event["Submission Time"] / 1000, _work(jobs=1)
            stages.update((stage, event["Job ID"]) for stage in event["Stage IDs"])
        elif kind == "SparkListenerTaskEnd" and event["Stage ID"] in stages:
            work = jobs[stages[event["Stage ID"]]][1]
            work["tasks"] += 1
            written = (event.get("Task Metrics") or {}).get("Shuffle Write Metrics") or {}
            work["shuffled_bytes"] += written.get("Shuffle Bytes Written", 0)
    return list(jobs.values())


def _events(file: Path) -> Iterator[dict[str, Any]]:
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            # Plans are long, and of no interest here; the last line may be half written.
            if line.startswith(_WANTED):
                try:
                    yield json.loads(line)
                except ValueError:
                    return


def _all_written(spark: SparkSession) -> None:
    """Waits until the log has what happened so far: Spark writes it a moment later.

    Where that takes seconds, what is there by then is enough. A session of Connect has no JVM here to be asked.
    """
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

    if not hasattr(spark, "_jsparkSession"):
        sleep(_LAG)
        return
    with suppress(Py4JJavaError):
        spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()


_WANTED: Final = ('{"Event":"SparkListenerJobStart"', '{"Event":"SparkListenerTaskEnd"')
_LAG: Final = 0.1
"""Seconds after which the log of a session that nobody can ask has what Spark tells about."""

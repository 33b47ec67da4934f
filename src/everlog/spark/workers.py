"""Spark's Python workers: whether those of a session can run Everlog, which the tasks that read and encode are part of.

A session that Everlog starts has workers of this very Python. One that a user made has those of `python3` on the PATH,
unless told otherwise, and that may be another Python, without Everlog. On this machine it can be set right; elsewhere a
little job finds out, before any other, and the message says what to do.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

from everlog.errors import EverlogError
from everlog.spark.failures import is_sparks

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_seen: Final[WeakSet[SparkSession]] = WeakSet()
"""The sessions that were looked at."""


class UnfitWorkers(EverlogError):
    """Python workers that cannot run Everlog."""


def prepare_workers(session: SparkSession) -> None:
    """Sees to it that workers can run Everlog, or raises `UnfitWorkers`; a session is looked at once."""
    if session in _seen:
        return
    if not _are_ours(session):
        check_workers(session)
    _seen.add(session)


def _are_ours(session: SparkSession) -> bool:
    """Whether workers run this Python; on this machine they do from now on, if nobody has chosen another."""
    from pyspark.errors import PySparkException

    try:
        context = session.sparkContext
    except (AttributeError, PySparkException):  # over Connect there is none
        return False
    if not str(context.master).startswith("local"):
        return False
    if "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = context.getConf().get("spark.pyspark.python") or sys.executable
    return bool(context.pythonExec == sys.executable)


def check_workers(session: SparkSession) -> None:
    """Runs a job that needs Everlog and does nothing else."""
    try:
        session.range(1).mapInArrow(_unchanged, "id long").collect()
    except Exception as failure:
        if not is_sparks(failure):
            raise
        lines = [line.strip() for line in str(failure).splitlines() if "Error: " in line or "Cannot run" in line]
        reason = f" ({lines[-1]})" if lines else ""
        raise UnfitWorkers(
            f"the Python workers of this Spark session cannot run Everlog{reason}: they need the packages that this "
            f"Python has ({sys.executable}). Set PYSPARK_PYTHON, or spark.pyspark.python, to it before the session starts, "
            "or bring Everlog to the workers by spark.archives (docs/clusters.md)"
        ) from failure


def _unchanged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches

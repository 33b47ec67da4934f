"""Spark's jobs end when somebody asks for an interrupt.

This process waits for a job in Java, and could look for a request (`interrupts.py`) only when that is done. So another
thread looks meanwhile, and cancels the jobs of the block: those that carry its tag, and nobody else's. What Spark throws
then unwinds the block, and the request is answered at its end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from everlog import interrupts
from everlog.errors import EverlogError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OFTEN: Final = 0.2
"""Seconds between looks."""

_watching = False


@contextmanager
def cancellable(spark: SparkSession) -> Iterator[None]:
    """Cancels the jobs that this thread starts inside, if they are to be given up."""
    global _watching
    if _watching or current_thread() is not main_thread() or not interrupts.is_watched():
        yield
        return
    tag = f"everlog-{uuid4().hex}"
    add, remove, cancel = _tags(spark)
    add(tag)
    ended = Event()

    def watch() -> None:
        # Again and again: the request may come just before a job starts.
        while not ended.wait(_OFTEN):
            if interrupts.is_wanted():
                with suppress(Exception):
                    cancel(tag)

    thread = Thread(target=watch, name="everlog-cancelling", daemon=True)
    thread.start()
    _watching = True
    try:
        yield
    finally:
        _watching = False
        ended.set()
        thread.join()
        with suppress(Exception):  # Spark may be gone
            remove(tag)


def _tags(spark: SparkSession) -> tuple[Callable[[str], None], Callable[[str], None], Callable[[str], object]]:
    """How to tag the jobs of this thread, in whatever session, and how to cancel those with a tag.

    A classic session cancels none but the calling thread's by a tag, so that its context is asked.
    """
    from pyspark.errors import PySparkException

    try:
        context = spark.sparkContext
    except (PySparkException, AttributeError):  # Spark Connect
        return spark.addTag, spark.removeTag, spark.interruptTag
    return context.addJobTag, context.removeJobTag, context.cancelJobsWithTag


class Home:
    """The process that a Spark session belongs to: a forked one cannot talk to Java over the same connection."""

    def __init__(self) -> None:
        self._process = os.getpid()

    def check(self) -> None:
        """Refuses to go on in another process."""
        if os.getpid() != self._process:
            raise EverlogError(
                "Spark belongs to the process that this one was forked from; use it there, or start this process anew "
                '(multiprocessing.get_context("spawn")) and open the knowledge base in it'
            )

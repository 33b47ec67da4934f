"""A Python module run as a process of its own, with a time limit, and what it cost.

Peak memory is the child's, as the operating system counted it, its own children included. Linux starts that count at
what the parent has in memory, so whoever calls this keeps small (numbers below some tens of megabytes mean nothing).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    output: str
    errors: str
    code: int
    seconds: float
    peak_bytes: int
    timed_out: bool
    processor: float = 0.0
    """Seconds of processors, those of its children included."""


@dataclass(frozen=True)
class Limits:
    """What the operating system is asked to see to, where it can (Linux); none for what is None."""

    processor_seconds: int | None = None
    """Unlike a timeout, this does not count what others took of a busy machine."""
    memory_bytes: int | None = None
    """Of each process: what it may write to, so that mappings of files and reserved addresses do not count."""

    def set(self, process: int) -> None:
        if sys.platform != "linux":
            return
        import resource

        wanted = ((resource.RLIMIT_CPU, self.processor_seconds), (resource.RLIMIT_DATA, self.memory_bytes))
        for which, value in wanted:
            if value is not None:
                with contextlib.suppress(ProcessLookupError):  # it ended by itself just now
                    resource.prlimit(process, which, (value, value))


def run_module(module: str, arguments: Sequence[str], timeout: float, limits: Limits | None = None) -> Ended:
    """Runs `python -m module arguments…`; after `timeout` seconds it and its children are killed."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        child = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,  # a group of its own, so that what it started ends with it
        )
        if limits is not None:
            limits.set(child.pid)
        late = threading.Event()

        def end() -> None:
            late.set()
            with contextlib.suppress(ProcessLookupError):  # it ended by itself just now
                os.killpg(child.pid, signal.SIGKILL)

        timer = threading.Timer(timeout, end)
        timer.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:  # the user gave up: so must the child
            end()
            child.wait()
            raise
        finally:
            timer.cancel()
        seconds = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)  # it has been waited for: Popen must not try again
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
        unit = 1 if sys.platform == "darwin" else 1024
        used = usage.ru_utime + usage.ru_stime
        out_of_time = late.is_set() or _ran_out(limits, child.returncode, used)
        return Ended(texts[0], texts[1], child.returncode, seconds, usage.ru_maxrss * unit, out_of_time, used)


def _ran_out(limits: Limits | None, code: int, used: float) -> bool:
    """Whether a process was ended because of the processor time that it used."""
    allowed = limits.processor_seconds if limits is not None else None
    # The clock that ends it counts ticks, and may run ahead of the one of its usage.
    return allowed is not None and code in (-signal.SIGXCPU, -signal.SIGKILL) and used >= (allowed - 1) / 2

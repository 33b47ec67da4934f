"""A command with everything that it starts: seconds by the clock, of processors, and the memory of all processes together.

Processor seconds are those that a busy machine adds little to. A Java that outlives the command counts, since this process
becomes its parent (Linux); memory is the sum of proportional sizes, in which pages that processes share count once.

    python -m benchmarks.process_tree FILE memory COMMAND …      writes what a command cost; "" instead of memory: not that
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Final

from everlog.errors import Failure

_ADOPT_ORPHANS: Final = 36  # PR_SET_CHILD_SUBREAPER
_PAUSE: Final = 0.25


@dataclass(frozen=True)
class Cost:
    """Seconds until a command ended, processor seconds of all that it started, and the most bytes that all had at once."""

    seconds: float
    processor: float
    peak_bytes: int = 0
    output: str = ""


def run_tree(command: Sequence[str], variables: Mapping[str, str] = MappingProxyType({}), memory: bool = False) -> Cost:
    """Runs a command with some variables, and waits for all that it starts; memory is looked at if that is asked for."""
    # As users have it: Python compiles what it imports once.
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONDONTWRITEBYTECODE": ""}
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
        file = Path(scratch, "cost")
        given = [f"{name}={value}" for name, value in variables.items()]
        if given:
            command = ["env", *given, *command]
        watcher = [sys.executable, "-m", "benchmarks.process_tree", str(file), "memory" if memory else "", *command]
        ended = subprocess.run(watcher, capture_output=True, text=True, check=False, env=environment)
        if ended.returncode:
            raise Failure(f"{' '.join(command[:5])} … failed: {ended.stderr.strip()[-500:]}")
        return Cost(**json.loads(file.read_text()), output=ended.stdout)


def processor_seconds() -> float:
    """Those of this process and of its descendants so far, of which none may have ended unseen by its parent."""
    tick = os.sysconf("SC_CLK_TCK")
    return sum(sum(map(int, _stat(process)[11:15])) for process in (os.getpid(), *_descendants(os.getpid()))) / tick


def _stat(process: int) -> list[str]:
    """The fields of /proc/PID/stat from the third on; zeros for one that has ended."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return ["0"] * 20


def _descendants(process: int) -> Iterator[int]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            children.setdefault(int(_stat(int(folder.name))[1]), []).append(int(folder.name))
    waiting = [process]
    while waiting:
        found = children.get(waiting.pop(), [])
        yield from found
        waiting += found


def _bytes(process: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def _watched(command: Sequence[str], memory: bool) -> tuple[int, dict[str, float]]:
    """The command's exit code, and what it cost."""
    ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)
    over, peak = threading.Event(), 0

    def look() -> None:
        nonlocal peak
        while not over.wait(_PAUSE):
            peak = max(peak, sum(map(_bytes, _descendants(os.getpid()))))

    watch = threading.Thread(target=look, daemon=True)
    if memory:
        watch.start()
    begun = perf_counter()
    code = subprocess.run(command, check=False).returncode
    seconds = perf_counter() - begun
    with suppress(ChildProcessError):
        while True:
            os.wait()
    over.set()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return code, {"seconds": seconds, "processor": used.ru_utime + used.ru_stime, "peak_bytes": peak}


if __name__ == "__main__":
    code, cost = _watched(sys.argv[3:], sys.argv[2] == "memory")
    Path(sys.argv[1]).write_text(json.dumps(cost))
    sys.exit(code)

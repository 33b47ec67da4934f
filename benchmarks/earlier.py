"""`script/bench run earlier --set commit=REV`: the workloads of the peers' table by this Everlog and by that of a commit.

The commit is checked out in a temporary folder (`git worktree`), and stays there, with its compiled kernels, until somebody
removes it. Facts are made once, by this Everlog. Each version then materialises them in a process of its own, in turns, so
that a slow minute of the machine falls on both; what counts are the runs of a process after its first, which loads kernels.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.peers import PEERS
from benchmarks.prepare import prepare
from benchmarks.workload import BenchmarkMistake, Parameters
from benchmarks.workloads import workload

ROWS: Final = ("dag", "dag-sparse", "dag-nonlinear", "lubm", "andersen", "same-generation", "pc")
_WORKER: Final = Path(__file__).with_name("earlier_worker.py")
_HERE: Final = Path(__file__).parent.parent

Say = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """Which commit, which rows with which parameters, how many turns of both versions, and how many runs in each."""

    commit: str
    rows: Sequence[str] = ROWS
    repeat: int = 5
    runs: int = 5
    parameters: Mapping[str, Parameters] | None = None


def run_earlier(request: Request, say: Say) -> None:
    """Measures, and says a line for each row as soon as it is known."""
    unknown = set(request.rows) - set(ROWS)
    if unknown or request.repeat < 1 or request.runs < 2:
        raise BenchmarkMistake(f"rows are some of {', '.join(ROWS)}; there are a turn and two runs at the least")
    versions = {"earlier": _checked_out(request.commit) / "src", "now": _HERE / "src"}
    for name in request.rows:
        with tempfile.TemporaryDirectory(prefix="everlog-bench-") as folder:
            chosen = workload(name)
            parameters = chosen.parameters(dict((request.parameters or {}).get(name, {})))
            prepare(Path(folder), name, parameters, [PEERS["everlog"]])
            for source in versions.values():
                _run(source, folder, 1)  # kernels are compiled
            say(f"{name}: {_compared(versions, folder, request)}")


def _compared(versions: Mapping[str, Path], folder: str, request: Request) -> str:
    seconds: dict[str, list[float]] = {version: [] for version in versions}
    facts: set[str] = set()
    for _ in range(request.repeat):
        for version, source in versions.items():
            found = _run(source, folder, request.runs)
            seconds[version] += found["processor"][1:]
            facts.add(json.dumps(found["facts"], sort_keys=True))
    if len(facts) > 1:
        raise BenchmarkMistake(f"the two versions do not find the same facts: {' and '.join(sorted(facts))}")
    before, now = (median(seconds[version]) for version in ("earlier", "now"))
    least = min(seconds["now"]) / min(seconds["earlier"])
    return (
        f"{before:.4f} s of the processor before, {now:.4f} s now: {now / before:.3f} times by medians of "
        f"{len(seconds['now'])} runs, {least:.3f} by the best ones"
    )


def _run(source: Path, folder: str, runs: int) -> dict[str, Any]:
    ended = subprocess.run(
        [sys.executable, str(_WORKER), folder, str(runs)],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        lines = ended.stderr.strip().splitlines() or ["no message"]
        raise BenchmarkMistake(f"{source} cannot be run: {lines[-1]}")
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    if not Path(found["source"]).is_relative_to(source):
        raise BenchmarkMistake(f"Everlog was to be that of {source} and is {found['source']}")
    return found


def _checked_out(commit: str) -> Path:
    """The files of a commit."""
    named = subprocess.run(
        ["git", "-C", str(_HERE), "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if named.returncode:
        raise BenchmarkMistake(f"{commit!r} is no commit: --set commit=REV")
    folder = Path(tempfile.gettempdir()) / f"everlog-{named.stdout[:12]}"
    if not folder.exists():
        worktree = ["git", "-C", str(_HERE), "worktree", "add", "--detach", str(folder), named.stdout.strip()]
        subprocess.run(worktree, check=True, capture_output=True)
    return folder

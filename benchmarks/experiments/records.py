"""What experiments measured, as lines of JSON in a folder; the page is made from nothing else.

A line says what was measured, with which settings, when, on which machine and with which versions.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, TypeAlias

from benchmarks.workload import BenchmarkMistake

Record: TypeAlias = Mapping[str, Any]

_PACKAGES: Final = ("everlog", "numba", "numpy", "pyarrow", "pyspark", "duckdb", "clingo", "nemo-python", "reasonable")


@cache
def environment() -> dict[str, Any]:
    """The machine and the versions of what runs on it."""
    return {
        "machine": {
            "cores": os.cpu_count(),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "processor": _processor(),
            "system": f"{platform.system()} {platform.release()}",
        },
        "versions": {"python": platform.python_version(), **dict(_versions())},
        "commit": _commit(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def _versions() -> Iterator[tuple[str, str]]:
    for name in _PACKAGES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue


def _commit() -> str | None:
    """The commit that is checked out, if this is a checkout; with a `+` if something differs from it."""
    here = Path(__file__).parent

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        return git("rev-parse", "--short=12", "HEAD") + ("+" if git("status", "--porcelain", "--", ".") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


class Results:
    """A folder with a file of lines for each experiment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, experiment: str, scale: str, records: Iterable[Record]) -> Iterator[Record]:
        """Replaces what an experiment has measured, line by line as it comes; gives the lines."""
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f".{experiment}.part"
        with part.open("w", encoding="utf-8") as file:
            for content in records:
                at = datetime.now(UTC).isoformat(timespec="seconds")
                record = {"experiment": experiment, "scale": scale, "at": at, **content, "environment": environment()}
                file.write(json.dumps(record) + "\n")
                file.flush()
                yield record
        part.replace(self.folder / f"{experiment}.jsonl")

    def read(self) -> list[Record]:
        """All lines of all experiments."""
        files = sorted(self.folder.glob("*.jsonl")) if self.folder.is_dir() else []
        if not files:
            raise BenchmarkMistake(f"{self.folder} has no results; make some with: script/bench run all --scale small")
        found: list[Record] = []
        for file in files:
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
                try:
                    found.append(json.loads(line))
                except json.JSONDecodeError as mistake:
                    raise BenchmarkMistake(f"{file}, line {number} is no JSON: {mistake}") from None
        return found

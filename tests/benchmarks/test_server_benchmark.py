"""The benchmark of the server at a tiny size: what was sent is there in the end, and every line is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.server import Request, run_server
from benchmarks.workload import BenchmarkMistake


def test_updates_and_reads_are_measured(data: Path) -> None:
    lines: list[str] = []
    run_server(Request(copies=1, number=12), lines.append)
    assert [line.partition(":")[0] for line in lines[1:]] == ["updates", "reads", "reads during updates"]
    assert "12 of 10 facts" in lines[1] and "48 queries" in lines[2]


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(BenchmarkMistake, match="some of updates, reads"):
        run_server(Request(["writes"]), print)

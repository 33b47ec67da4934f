"""The benchmark of queries at a tiny size: it says every line, and what it compares is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.sparql import Request, run_sparql
from benchmarks.workload import BenchmarkMistake


def test_queries_agree_and_are_measured(data: Path) -> None:
    lines: list[str] = []
    run_sparql(Request(["lubm4", "organisation", "papers"], 1, 1), lines.append)
    assert [line.partition(":")[0] for line in lines[1:]] == ["lubm4", "organisation", "papers", "geometric mean"]
    assert "34 rows" in lines[1]


def test_queries_that_there_are_not_are_refused() -> None:
    with pytest.raises(BenchmarkMistake, match="queries are some of lubm1, lubm2"):
        run_sparql(Request(["lubm15"]), print)

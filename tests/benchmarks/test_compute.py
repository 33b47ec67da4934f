"""The benchmark of rules that compute says a line for each figure."""

from __future__ import annotations

from benchmarks.compute import Request, run_compute


def test_lines_of_few_rows() -> None:
    """Those that need no peer."""
    said: list[str] = []
    run_compute(Request(("updates", "hub"), size=4_000, groups=20, repeat=1), said.append)
    assert [line.partition(":")[0] for line in said] == ["updates", "hub, a group with half of the rows"]

"""The benchmark of streams at a tiny size: what was sent is there in the end, and every line is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.streams import Request, run_streams
from benchmarks.workload import BenchmarkMistake


@pytest.mark.usefixtures("spark")
def test_batches_are_measured_beside_the_floor(data: Path) -> None:
    lines: list[str] = []
    run_streams(Request(["10", "versions"], copies=1, seconds=0.1, batches=2), lines.append)
    assert [line.partition(":")[0] for line in lines[1:]] == ["10 facts", "versions"]
    assert "floor median" in lines[1] and "2 batches of 10 facts" in lines[2]


def test_sizes_are_those_of_batches() -> None:
    with pytest.raises(BenchmarkMistake, match="batches of 10 facts or more"):
        run_streams(Request(["few"]), print)

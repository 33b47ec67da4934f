"""The benchmark of small rounds counts its facts, says what it measured, and refuses what it does not know."""

from __future__ import annotations

import pytest

from benchmarks.rounds import ROWS, run_rounds
from benchmarks.workload import BenchmarkMistake


def test_a_line_for_each_row() -> None:
    said: list[str] = []
    run_rounds(tuple(ROWS), 2, said.append, scale=200)
    assert [line.partition(":")[0] for line in said] == ["one", "many", "beside"]
    assert all("µs of the processor for a round" in line for line in said)


def test_unknown_rows_are_refused() -> None:
    with pytest.raises(BenchmarkMistake, match="beside"):
        run_rounds(("nothing",), 1, print)

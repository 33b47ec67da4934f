"""Two versions of Everlog are compared in turns: here one with itself, on little data."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import earlier
from benchmarks.earlier import Request, run_earlier
from benchmarks.workload import BenchmarkMistake


def test_a_line_for_each_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(earlier, "_checked_out", lambda commit: Path(earlier.__file__).parent.parent)
    said: list[str] = []
    sizes = {"dag-sparse": {"nodes": 40, "edges": 60}}
    run_earlier(Request("this", ("dag-sparse",), repeat=1, runs=2, parameters=sizes), said.append)
    assert len(said) == 1 and said[0].startswith("dag-sparse: ") and "times by medians of 1 runs" in said[0]


def test_what_is_unknown_is_refused() -> None:
    with pytest.raises(BenchmarkMistake, match="dag-sparse"):
        run_earlier(Request("HEAD", ("nothing",)), print)
    with pytest.raises(BenchmarkMistake, match="no commit"):
        run_earlier(Request("no such commit"), print)

"""The benchmark of rules that come and go says what it measured, and refuses what it does not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.rule_changes import Request, run_rules
from benchmarks.workload import BenchmarkMistake


def test_lines_of_few_facts(data: Path) -> None:
    said: list[str] = []
    run_rules(Request(("relations",), repeat=2, scale=200), said.append)
    (text,) = said
    head, *lines = text.splitlines()
    assert head.startswith("relations: 1,637 rules") and "computing everything anew takes" in head
    whats = [line.strip().partition(":")[0] for line in lines]
    assert whats == ["rule deleted", "rule added", "facts deleted", "facts added"]
    assert all("of 2 computed anew" in line for line in lines)


def test_unknown_rows_are_refused() -> None:
    with pytest.raises(BenchmarkMistake, match="lubm-extended"):
        run_rules(Request(("nothing",)), print)

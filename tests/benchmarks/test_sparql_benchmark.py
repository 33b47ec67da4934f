"""The benchmark of queries at a tiny size: it says every line, and what it compares is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.sparql import Request, run_sparql
from benchmarks.sparql_peer import PeerProcess
from benchmarks.workload import BenchmarkMistake


def test_queries_agree_and_are_measured(data: Path) -> None:
    lines: list[str] = []
    run_sparql(Request(["lubm4", "organisation", "papers"], 1, 1), lines.append)
    assert [line.partition(":")[0] for line in lines[1:]] == ["lubm4", "organisation", "papers", "geometric mean"]
    assert "34 rows" in lines[1]


def test_queries_that_there_are_not_are_refused() -> None:
    with pytest.raises(BenchmarkMistake, match="queries are some of lubm1, lubm2"):
        run_sparql(Request(["lubm15"]), print)


def test_a_peer_that_takes_too_long_is_given_up_and_answers_again(tmp_path: Path) -> None:
    file = tmp_path / "triples.nt"
    file.write_text("".join(f"<urn:{n}> <urn:p> <urn:o> .\n" for n in range(60)), encoding="utf-8")
    peer = PeerProcess("pyoxigraph", file)
    try:
        endless = " . ".join(f"?s{n} ?p{n} ?o{n}" for n in range(8))
        assert peer.first(f"SELECT (COUNT(*) AS ?n) {{ {endless} }}", 0.2).rows is None
        assert peer.again("SELECT ?s { ?s ?p ?o }", 3).rows == 60
    finally:
        peer.close()

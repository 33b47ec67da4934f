"""`script/bench run compute`: groups and expressions over generated rows in memory, with DuckDB beside them.

The rows are sales with a group, a quantity and a price. DuckDB has the same columns in memory; its results stay there.
Everlog's times are of `materialise` and of `update`, with the rows encoded already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any, Final

import numpy as np
import pyarrow as pa

from benchmarks.workload import BenchmarkMistake
from everlog import KnowledgeBase

ROWS: Final = ("groups", "updates", "hub", "bind")
GROUPED: Final = "seen(?g, ?n, ?s) :- AGGREGATE(sale(?i, ?g, ?q, ?p) ON ?g BIND COUNT(*) AS ?n BIND SUM(?q) AS ?s) ."
COMPUTED: Final = "cost(?i, ?c) :- sale(?i, ?g, ?q, ?p), BIND(?q * ?p AS ?c) ."
_CHANGED: Final = 1_000

Say = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What to measure, of how many rows in how many groups, and how often."""

    rows: Sequence[str] = ROWS
    size: int = 10_000_000
    groups: int = 100_000
    repeat: int = 3


def run_compute(request: Request, say: Say) -> None:
    """Measures, and says a line for each figure as soon as it is known."""
    unknown = set(request.rows) - set(ROWS)
    if unknown or request.size < 2 * _CHANGED or request.groups < 1 or request.repeat < 1:
        raise BenchmarkMistake(
            f"rows are some of {', '.join(ROWS)}; there are {2 * _CHANGED} rows, a group and a run at the least"
        )
    for row in request.rows:
        {"groups": _groups, "updates": _updates, "hub": _hub, "bind": _bind}[row](request, say)


def sales(size: int, groups: int, hub: int = 0, doubles: bool = False) -> pa.Table:
    """Rows of the relation `sale`; the first `hub` of them are of one group."""
    random = np.random.default_rng(0)
    group = random.integers(0, groups, size)
    group[:hub] = groups
    price = random.integers(1, 10_000, size)
    return pa.table(
        {
            "i": np.arange(size),
            "g": group,
            "q": random.integers(1, 100, size),
            "p": price / 4 if doubles else price,
        }
    )


def _groups(request: Request, say: Say) -> None:
    table = sales(request.size, request.groups)
    mine = _medians(request, lambda: _materialised(GROUPED, table)[0])
    theirs = _medians(request, lambda: _by_duckdb("SELECT g, count(*), sum(q) FROM sale GROUP BY g", table))
    say(
        f"groups: COUNT and SUM of {request.size:,} rows in {request.groups:,} groups: {mine:.2f} s; DuckDB {theirs:.2f} s"
    )


def _updates(request: Request, say: Say, hub: int = 0, name: str = "updates") -> None:
    table = sales(request.size, request.groups, hub)
    _, kb = _materialised(GROUPED, table)
    new = sales(request.size + _CHANGED, request.groups, hub).slice(request.size)
    if hub:
        new = new.set_column(1, "g", pa.array([request.groups] * _CHANGED))
    added, deleted = [], []
    for _ in range(request.repeat + 1):  # the first one makes indexes
        added.append(_seconds(lambda: kb.update(add={"sale": new})))
        deleted.append(_seconds(lambda: kb.update(delete={"sale": new})))
    shown = " and ".join(f"{1000 * median(some[1:]):.0f}" for some in (added, deleted))
    say(f"{name}: {_CHANGED:,} rows added and deleted: {shown} ms; the first time {added[0]:.2f} s")


def _hub(request: Request, say: Say) -> None:
    _updates(request, say, request.size // 2, "hub, a group with half of the rows")


def _bind(request: Request, say: Say) -> None:
    for kind, doubles in (("integers", False), ("doubles", True)):
        table = sales(request.size, request.groups, doubles=doubles)
        mine = _medians(request, partial(_computed, table))
        theirs = _medians(request, partial(_by_duckdb, "SELECT i, q * p FROM sale", table))
        rate = request.size / mine / 1e6
        say(f"bind: products of {kind}: {mine:.2f} s, {rate:.1f} M rows/s; DuckDB {theirs:.2f} s")


def _computed(table: pa.Table) -> float:
    return _materialised(COMPUTED, table)[0]


def _materialised(program: str, table: pa.Table) -> tuple[float, KnowledgeBase]:
    kb = KnowledgeBase(program, engine="memory")
    kb.add({"sale": table})
    assert kb.reasoner is not None, "which has encoded the rows"
    return _seconds(kb.materialise), kb


def _by_duckdb(query: str, table: pa.Table) -> float:
    import duckdb

    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute("CREATE TABLE sale AS SELECT * FROM given")
    return _seconds(lambda: connection.execute(f"CREATE TABLE found AS {query}"))


def _medians(request: Request, measure: Callable[[], float]) -> float:
    return median(measure() for _ in range(request.repeat))


def _seconds(work: Callable[[], Any]) -> float:
    begun = perf_counter()
    work()
    return perf_counter() - begun

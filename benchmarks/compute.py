"""`script/bench run compute`: groups, expressions and paths over generated rows in memory, with DuckDB beside them.

With `--set engine=spark` the same work is done on Spark, beside the memory engine (`compute_spark.py`).

The rows are sales with a group, a quantity and a price. DuckDB has the same columns in memory; its results stay there.
Everlog's times are of `materialise` and of `update`, with the rows encoded already. With `--set clock=processor` all times
are the processor's, of all threads together, for a machine that has other work to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.workload import BenchmarkMistake
from everlog import KnowledgeBase

ROWS: Final = ("groups", "updates", "hub", "bind", "paths", "labels")
GROUPED: Final = "seen(?g, ?n, ?s) :- AGGREGATE(sale(?i, ?g, ?q, ?p) ON ?g BIND COUNT(*) AS ?n BIND SUM(?q) AS ?s) ."
COMPUTED: Final = "cost(?i, ?c) :- sale(?i, ?g, ?q, ?p), BIND(?q * ?p AS ?c) ."
PATHS: Final = """
    dist(?x, MIN(0)) :- source(?x) .
    dist(?y, MIN(?d + ?w)) :- dist(?x, ?d), edge(?x, ?y, ?w) .
"""
LABELS: Final = """
    label(?x, MIN(?x)) :- edge(?x, _, _) .
    label(?y, MIN(?y)) :- edge(_, ?y, _) .
    label(?y, MIN(?l)) :- label(?x, ?l), edge(?x, ?y, _) .
    label(?x, MIN(?l)) :- label(?y, ?l), edge(?x, ?y, _) .
"""
_PATHS: Final = """
    WITH RECURSIVE dist(node, d) USING KEY (node) AS (
        SELECT 0::BIGINT, 0::BIGINT
        UNION
        SELECT edge.y, min(now.d + edge.w) FROM dist now JOIN edge ON edge.x = now.node
            LEFT JOIN recurring.dist before ON before.node = edge.y
            WHERE before.d IS NULL OR now.d + edge.w < before.d GROUP BY edge.y
    ) SELECT * FROM dist
"""
_LABELS: Final = """
    WITH RECURSIVE label(node, l) USING KEY (node) AS (
        SELECT x, x FROM (SELECT x FROM edge UNION SELECT y FROM edge)
        UNION
        SELECT step.y, min(now.l) FROM label now JOIN step ON step.x = now.node
            JOIN recurring.label before ON before.node = step.y WHERE now.l < before.l GROUP BY step.y
    ) SELECT * FROM label
"""
_DEGREE: Final = 10
_CHANGED: Final = 1_000

_clock: list[Callable[[], float]] = [perf_counter]
"""What seconds are measured by."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What to measure, of how many rows in how many groups, and how often."""

    rows: Sequence[str] = ROWS
    size: int = 10_000_000
    groups: int = 100_000
    repeat: int = 3
    on_spark: bool = False
    master: str | None = None
    of_processor: bool = False


def run_compute(request: Request, say: Say) -> None:
    """Measures, and says a line for each figure as soon as it is known."""
    unknown = set(request.rows) - set(ROWS)
    if unknown or request.size < 2 * _CHANGED or request.groups < 1 or request.repeat < 1:
        raise BenchmarkMistake(
            f"rows are some of {', '.join(ROWS)}; there are {2 * _CHANGED} rows, a group and a run at the least"
        )
    _clock[0] = process_time if request.of_processor else perf_counter
    if request.on_spark:
        return _on_spark(request, say)
    for row in request.rows:
        measures = {
            "groups": _groups,
            "updates": _updates,
            "hub": _hub,
            "bind": _bind,
            "paths": _paths,
            "labels": _labels,
        }
        measures[row](request, say)


def _on_spark(request: Request, say: Say) -> None:
    """The same programs and facts; what is added and deleted is measured with each of them."""
    from benchmarks.compute_spark import run_on_spark

    size, groups = request.size, request.groups
    edges = graph(size)
    works: dict[str, tuple[str, str, dict[str, Any]]] = {
        "groups": (GROUPED, "seen", {"sale": sales(size, groups)}),
        "hub": (GROUPED, "seen", {"sale": sales(size, groups, size // 2)}),
        "bind": (COMPUTED, "cost", {"sale": sales(size, groups)}),
        "paths": (PATHS, "dist", {"edge": edges, "source": [(0,)]}),
        "labels": (LABELS, "label", {"edge": edges}),
    }
    chosen = {row: works[row] for row in request.rows if row in works}
    run_on_spark(chosen, request.repeat, request.master, say)


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


def graph(size: int) -> pa.Table:
    """Random edges of the relation `edge`, ten for each node, with weights."""
    random = np.random.default_rng(0)
    ends = random.integers(0, max(1, size // _DEGREE), (2, size))
    return pa.table({"x": ends[0], "y": ends[1], "w": random.integers(1, 1_000, size)})


def _paths(request: Request, say: Say) -> None:
    edges = graph(request.size)
    facts = {"edge": edges, "source": [(0,)]}
    _load_kernels(PATHS)
    mine = [_settled(PATHS, facts) for _ in range(request.repeat)]
    theirs, found = _walked_by_duckdb(_PATHS, edges)
    kb = mine[-1][1]
    _agree("shortest paths", kb.facts("dist"), found)
    gone = edges.take(np.random.default_rng(1).choice(edges.num_rows, _CHANGED, replace=False))
    deleted, first = _deleted(request, kb, gone)
    seconds = median(one for one, _ in mine)
    say(
        f"paths: shortest ones from one of {request.size // _DEGREE:,} nodes over {request.size:,} edges: {seconds:.2f} s; "
        f"DuckDB {theirs:.2f} s; {_CHANGED:,} edges deleted: {1000 * deleted:.0f} ms, the first time {first:.2f} s"
    )


def _labels(request: Request, say: Say) -> None:
    edges = graph(request.size)
    _load_kernels(LABELS)
    mine = [_settled(LABELS, {"edge": edges}) for _ in range(request.repeat)]
    theirs, found = _walked_by_duckdb(_LABELS, edges)
    _agree("labels", mine[-1][1].facts("label"), found)
    deleted, first = _deleted(request, mine[-1][1], edges.slice(0, _CHANGED))
    seconds = median(one for one, _ in mine)
    say(
        f"labels: components of {request.size:,} edges by their least nodes: {seconds:.2f} s; DuckDB {theirs:.2f} s; "
        f"{_CHANGED:,} edges deleted: {1000 * deleted:.0f} ms, the first time {first:.2f} s"
    )


def _load_kernels(program: str) -> None:
    """Has a process load what it needs of compiled loops, which is no part of what it then does."""
    _, kb = _settled(program, {"edge": graph(2 * _CHANGED), "source": [(0,)]})
    for _ in range(2):
        kb.update(delete={"edge": graph(2 * _CHANGED).slice(0, 10)})
        kb.update(add={"edge": graph(2 * _CHANGED).slice(0, 10)})


def _settled(program: str, facts: dict[str, Any]) -> tuple[float, KnowledgeBase]:
    kb = KnowledgeBase(program, engine="memory")
    kb.add(facts)
    assert kb.reasoner is not None, "which has encoded the rows"
    return _seconds(kb.materialise), kb


def _deleted(request: Request, kb: KnowledgeBase, edges: pa.Table) -> tuple[float, float]:
    """What it takes to delete some edges, and the first time after everything was computed; they come back in between."""
    found = []
    for _ in range(request.repeat + 1):
        found.append(_seconds(lambda: kb.update(delete={"edge": edges})))
        kb.update(add={"edge": edges})
    return median(found[1:]), found[0]


def _agree(what: str, facts: pa.Table, theirs: tuple[int, int]) -> None:
    mine = facts.num_rows, pc.sum(facts.column("a1")).as_py()
    if mine != theirs:
        raise BenchmarkMistake(f"{what}: facts and the sum of their values are {mine} here and {theirs} in DuckDB")


def _walked_by_duckdb(query: str, edges: pa.Table) -> tuple[float, tuple[int, int]]:
    """The seconds that DuckDB takes, how many rows it finds, and the sum of their values."""
    import duckdb

    connection = duckdb.connect()
    connection.register("given", edges)
    connection.execute("CREATE TABLE edge AS SELECT * FROM given")
    connection.execute("CREATE TABLE step AS SELECT x, y FROM edge UNION ALL SELECT y, x FROM edge")
    seconds = _seconds(lambda: connection.execute(f"CREATE TABLE found AS {query}"))
    (row,) = connection.execute("SELECT count(*), sum(COLUMNS('^(d|l)$')) FROM found").fetchall()
    return seconds, row


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
    begun = _clock[0]()
    work()
    return _clock[0]() - begun

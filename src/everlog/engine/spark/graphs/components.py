"""Connected components by large-star and small-star (Kiveris et al., Connected Components in MapReduce and Beyond).

An edge leads from a larger node to a smaller one. A large star leads all larger neighbours of a node to its least one, a
small star leads the smaller ones there; both together are a round, which is one job. When a round changes nothing, every
edge leads from a node to the least one of its component. A chain of n nodes takes about log n rounds.

The rows of a round are runs like those of facts, with 1 in the place of the relation where an edge is not what it was:
whether there is such a row is then known without another job.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from everlog.engine.spark import tuning
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.fact_schema import RELATION
from everlog.engine.spark.facts.runs import Run, class_of
from everlog.engine.spark.facts.sql_text import Table, select
from everlog.engine.spark.graphs import small_graphs
from everlog.engine.spark.joins.hubs import hubs_of, least

_CHANGED: Final = 1


def components(engine: SparkEngine, pairs: Table, at_most: int) -> Run:
    """Each node of some pairs `x`, `y` as `a0`, and the least one that it is connected with as `a1`."""
    if at_most <= tuning.DRIVER_FACTS:
        table = engine.fetched(f"SELECT x, y FROM {pairs}", ("x", "y"), at_most)
        ends = np.stack([table.column(name).to_numpy() for name in ("x", "y")], axis=1)
        return engine.few(["a0", "a1"], list(small_graphs.components(ends)))
    columns = ["DISTINCT bigint(1) AS p", "greatest(x, y) AS a0", "least(x, y) AS a1"]
    edges = engine.run(select(columns, f"{pairs} l", ["x != y"]))
    while edges.rows and edges.classes[RELATION] & class_of(_CHANGED):
        edges = engine.run(_round(engine, edges))
    joined = f"{nodes_of(pairs)} n LEFT JOIN {edges.view()} e ON e.a0 = n.node"
    return engine.run(select(["n.node AS a0", "coalesce(e.a1, n.node) AS a1"], joined))


def nodes_of(pairs: Table) -> Table:
    """The nodes of some pairs, each once."""
    return f"(SELECT x AS node FROM {pairs} UNION SELECT y AS node FROM {pairs})"


def _round(engine: SparkEngine, edges: Run) -> Table:
    """A large star, and a small star of what it gives."""
    found = hubs_of(engine, edges) if edges.rows > tuning.BROADCAST_JOIN_FACTS else frozenset()
    smaller_end, larger_end = (frozenset(id for _, one, id in found if one == column) for column in ("a1", "a0"))
    rows = edges.view()
    both = f"(SELECT a0 AS u, a1 AS v FROM {rows} UNION ALL SELECT a1 AS u, a0 AS v FROM {rows})"
    large = select(["u", "v", "least(u, m) AS m"], least(both, smaller_end | larger_end))
    # Each edge is seen from both ends; from its smaller one it is led to the least neighbour there.
    led = select(["v AS u", "m AS v", "int(m != u) AS changed"], large, ["v > u"])
    small = least(led, larger_end)
    stars = select(["if(v = m, u, v) AS a0", "m AS a1", f"if(v = m, changed, {_CHANGED}) AS changed"], small)
    return f"(SELECT bigint(max(changed)) AS {RELATION}, a0, a1 FROM {stars} GROUP BY a0, a1)"

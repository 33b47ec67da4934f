"""A node that a great many edges meet in does not give a round to one task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from everlog.datalog.syntax import Atom, Constant, Variable
from everlog.engine.algebra import Labelled
from everlog.engine.spark import tuning
from everlog.engine.spark.facts.sets import as_spark_facts
from everlog.engine.spark.graphs import small_graphs
from everlog.engine.spark.graphs.components import components
from everlog.engine.spark.graphs.graphs import SparkGraphs
from everlog.engine.spark.joins.hubs import least
from everlog.engine.spark.joins.matcher import SparkMatcher
from support.spark_sets import Facts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

X, Y, Z = (Variable(name) for name in "xyz")
EDGES, PARTS = 4_000, 8


@pytest.fixture
def facts(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Facts:
    """An engine to which hundreds of facts are many, with eight partitions."""
    for name, value in {
        "DRIVER_FACTS": 0,
        "BROADCAST_LOOK_UP_FACTS": 10,
        "BROADCAST_JOIN_FACTS": 100,
        "FACTS_PER_PARTITION": 100,
        "HUB_SAMPLE_FACTS": 1_000,
    }.items():
        monkeypatch.setattr(tuning, name, value)
    wide = spark.newSession()
    wide.conf.set("spark.sql.shuffle.partitions", str(PARTS))
    return Facts(wide, range(10))


def edges(facts: Facts, meeting: int) -> DataFrame:
    """Edges into some nodes, a few out of these, and others elsewhere."""
    into = facts.spark.range(EDGES).selectExpr("id + 10000 AS a0", f"id % {meeting} AS a1")
    out = facts.spark.range(3 * meeting).selectExpr(f"id % {meeting} AS a0", "20000 + id AS a1")
    return into.unionAll(out).unionAll(facts.spark.range(200).selectExpr("id + 30000 AS a0", "id + 40000 AS a1"))


def largest_share(facts: Facts, table: str) -> float:
    """The part of some rows that the task with the most of them has."""
    rows = facts.rows(f"(SELECT spark_partition_id() AS part, count(*) AS n FROM {table} GROUP BY 1)")
    return float(max(row["n"] for row in rows) / sum(row["n"] for row in rows))


@pytest.mark.parametrize("hub", ["first", "second"])
def test_a_hub_is_shared_out(facts: Facts, hub: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever side of the join has it."""
    I = facts.engine.facts({"edge": edges(facts, meeting=1)})
    one, other = (X, Y), (Y, Z)
    if hub == "second":
        one, other = (Y, Z), (X, Y)
    literals = [Labelled(Atom("edge", one), I), Labelled(Atom("edge", other), I)]
    matcher, answer = SparkMatcher(facts.engine), Atom("two", (X, Z))
    found = matcher.match(literals)
    assert len(found.facts(answer)) == 3 * EDGES
    assert found._found.table is not None
    assert largest_share(facts, found._found.table) < 2.5 / PARTS
    # Were no value a hub, one task would have them all: this test can fail.
    monkeypatch.setattr(tuning, "HUB_SHARE", 2.0)
    for run in as_spark_facts(I).computed().runs:
        run.hubs = None
    alone = matcher.match(literals)
    assert alone._found.table is not None
    assert largest_share(facts, alone._found.table) > 0.9


def test_hubs_on_both_sides(facts: Facts) -> None:
    """Each pair once, wherever the hubs are; constants and further conditions stay what they are."""
    I = facts.engine.facts({"edge": edges(facts, meeting=1)})
    T = facts.engine.facts({"edge": edges(facts, meeting=40).selectExpr("a1 AS a0", "a0 AS a1")})
    matcher = SparkMatcher(facts.engine)
    found = matcher.match([Labelled(Atom("edge", (X, Y)), I), Labelled(Atom("edge", (Y, Z)), T)])
    turned = edges(facts, 40).selectExpr("a1 AS s0", "a0 AS s1")
    expected = edges(facts, 1).crossJoin(turned).where("a1 = s0")
    assert len(found.facts(Atom("¬steps", (X, Y, Z)))) == expected.count() > EDGES
    fixed = matcher.match([Labelled(Atom("edge", (X, Constant(0))), I), Labelled(Atom("edge", (X, Y)), I)])
    assert len(fixed.facts(Atom("¬from", (X, Y)))) == EDGES


def test_paths_through_a_hub(facts: Facts) -> None:
    """A step of all paths is a join, too."""
    I = facts.engine.facts({"edge": edges(facts, meeting=1)})
    edge = Atom("edge", (X, Y))
    graphs = SparkGraphs(facts.engine)
    assert len(graphs.paths(edge, edge).facts(I, I, I)) == 3 * EDGES


def test_components_around_a_hub(facts: Facts) -> None:
    """The edges of a hub stay where they are when its least neighbour is sought, and components are what they are."""
    engine = facts.engine
    shown = edges(facts, meeting=1)
    I = engine.facts({"edge": shown})
    rows = f"(SELECT a1 AS u, a0 AS v FROM {as_spark_facts(I).computed().table()})"
    for among, alone in ((frozenset[int](), True), (frozenset({0}), False)):
        # What nobody reads is not computed, so the least neighbour is read.
        table = f"(SELECT *, spark_partition_id() + 0 * m AS place FROM {least(rows, among)})"
        shares = facts.rows(f"(SELECT place, count(*) AS n FROM {table} GROUP BY place)")
        share = max(row["n"] for row in shares) / sum(row["n"] for row in shares)
        assert share > 0.9 if alone else share < 2.5 / PARTS
        assert [row["m"] for row in facts.rows(f"(SELECT DISTINCT m FROM {table} WHERE u = 0)")] == [10_000]
    found = components(engine, f"(SELECT a0 AS x, a1 AS y FROM {as_spark_facts(I).computed().table()})", len(I))
    labels = {row["a0"]: row["a1"] for row in facts.rows(found.view())}
    nodes, least_ones = small_graphs.components(np.array([(row["a0"], row["a1"]) for row in shown.collect()]))
    assert labels == dict(zip(nodes.tolist(), least_ones.tolist(), strict=True))

"""What has changed of that which is kept for updates, since a store had it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everlog.engine.kept_kinds import BACKBONE, HIDDEN_FACTS
from everlog.engine.spark.kept_changes import KeptSnapshot, changes
from oracles import naive
from support.spark_sets import Facts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_backbones_of_modules_that_are_no_more(spark: SparkSession) -> None:
    """Nothing is deleted of a kind that is no longer kept: a store forgets it as a whole."""
    facts = Facts(spark, range(3))
    edges, nothing = facts.stored([naive.fact("e", 0, 1), naive.fact("e", 1, 2)]), facts.engine.empty()
    then, now = KeptSnapshot({}, nothing, [edges], {}), KeptSnapshot({}, nothing, [], {})
    found = changes(facts.engine, then, now, frozenset([HIDDEN_FACTS]))
    assert found == ({}, {})
    found = changes(facts.engine, then, now, frozenset([HIDDEN_FACTS, BACKBONE]))
    assert found is not None and found[0] == {} and found[1]["backbones:e"].shape == (3, 2)

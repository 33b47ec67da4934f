"""What has changed of that which is kept for updates, since a store had it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from everlog.engine.kept_kinds import BACKBONE, HIDDEN_FACTS
from everlog.engine.spark import tuning
from everlog.engine.spark.facts.annotations import AnnotationSnapshot, differences
from everlog.engine.spark.facts.driver_facts import DriverFacts
from everlog.engine.spark.facts.runs import local_run
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


@pytest.mark.parametrize("most", [1, 100], ids=["many for the driver", "few"])
def test_values_that_were_fetched_for_another_reason_differ_too(
    spark: SparkSession, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is on the driver may have more facts than are compared there: then that is said, and nothing is lost."""
    engine = Facts(spark, range(3)).engine
    monkeypatch.setattr(tuning, "DRIVER_FACTS", most)
    values = DriverFacts(np.array([[0, 1, 2], [0, 2, 1], [0, 2, 2]]), np.ones(3, np.int64))
    then, now = AnnotationSnapshot((), None), AnnotationSnapshot((local_run(values, counted=True),), None)
    found = differences(engine, then, now)
    assert found is None if most == 1 else found is not None and (len(found[0]), len(found[1])) == (0, 3)

"""Spark's estimates of sizes stay numbers of some digits, however often runs are made of runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from everlog.engine.spark import tuning
from everlog.engine.spark.facts.lineage import CutName
from support.spark_sets import Facts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.engine.spark.facts.runs import Run

_STEPS = 10


def squared(facts: Facts, steps: int) -> tuple[Run, int]:
    """A run that is joined with itself some times, which squares the estimate; and how many digits that has."""
    engine = facts.engine
    engine.relation("edge", 2)
    (run,) = engine.facts({"edge": facts.spark.createDataFrame([(0, 0), (1, 1)], "a0 bigint, a1 bigint")}).runs
    for _ in range(steps):
        name = run.view()
        run = engine.run(f"(SELECT l.p, l.a0, r.a1 FROM {name} l CROSS JOIN {name} r WHERE l.a1 = r.a0)")
    ((text,),) = engine.spark.sql(f"EXPLAIN COST SELECT * FROM {run.view()}").collect()
    return run, max((int(power) for power in re.findall(r"E\+(\d+)", text)), default=0)


@pytest.mark.parametrize("cut", ["local_checkpoint", "persist"])
def test_estimates_do_not_grow(spark: SparkSession, cut: CutName, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "ASKED_DIGITS", 100)
    monkeypatch.setattr(tuning, "SETTLED_DIGITS", 50)
    run, digits = squared(Facts(spark, range(2), cut=cut), _STEPS)
    assert run.rows == 2
    assert digits <= 50
    if cut == "local_checkpoint":
        # Were no run settled, there would be thousands: this test can fail.
        monkeypatch.setattr(tuning, "SETTLED_DIGITS", 10**6)
        assert squared(Facts(spark, range(2), cut=cut), _STEPS)[1] > 1_000

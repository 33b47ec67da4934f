"""A share of the long lives that `script/fuzz --long` lives for as long as one likes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from long_sequences.following import Follower, Tally
from long_sequences.scenarios import Interests, Storing, life

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IN_MEMORY = Interests(updates=40, failures=0.05, interrupts=0.05)


@pytest.mark.parametrize("block", range(6))
def test_lives_in_memory(block: int) -> None:
    tally = Tally()
    for number in range(3 * block, 3 * block + 3):
        one = life(number, IN_MEMORY)
        try:
            Follower(one, tally).live()
        except Exception as found:
            raise AssertionError(f"life {number}: {found}\n{one}") from found
    assert tally.lives == 3 and tally.updates == 120


@pytest.mark.parametrize(("number", "kind"), [(3, "language"), (5, "modules")])
def test_rules_change_on_spark(spark: SparkSession, tmp_path: Path, number: int, kind: str) -> None:
    """The Spark engine goes on with a store; rules and facts come and go there."""
    one = life(number, Interests(updates=2, failures=0.0, kinds=(kind,), rules=1.0))
    one = replace(one, events=(Storing("spark"), *one.events, Storing("memory")))
    tally = Tally()
    Follower(one, tally, spark, tmp_path).live()
    assert tally.rules == 2


def test_a_life_with_stores(spark: SparkSession, tmp_path: Path) -> None:
    """Stores are opened by the other engine, too; a life is short where Spark takes part."""
    kinds = ("complex equality",)
    one = life(18, Interests(updates=2, stores=0.9, engines=("memory", "spark"), failures=0.0, kinds=kinds))
    tally = Tally()
    Follower(one, tally, spark, tmp_path).live()
    assert tally.stores >= 2

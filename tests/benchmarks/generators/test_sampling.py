"""Samples: of the size asked for, decided by the seed, stable, uniform; walks follow the facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial, reduce
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.functions import array, lit

from benchmarks.generators.sampling import random_walks, uniform_sample, walk_sample
from everlog.errors import EverlogError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Fact = tuple[str | None, ...]
Sample = Callable[..., "dict[str, DataFrame]"]

# A ring with chords, a chain that ends, people of a town, one fact that stands alone, and one without arguments.
EDGES = [*((f"r{n}", f"r{(n + 1) % 8}") for n in range(8)), *((f"r{n}", f"r{(n + 3) % 8}") for n in range(8))]
CHAIN = [(f"c{n}", f"kind{n % 2}", f"c{n + 1}") for n in range(12)]
ADULTS = [(f"r{n}",) for n in range(0, 8, 2)]
FACTS: dict[str, list[tuple[str, ...]]] = {"edge": EDGES, "link": CHAIN, "adult": ADULTS, "alone": [("x", "y")]}
ALL = {(predicate, *row) for predicate, rows in FACTS.items() for row in rows}


def frames(spark: SparkSession, given: dict[str, list[tuple[str, ...]]]) -> dict[str, DataFrame]:
    return {
        predicate: spark.createDataFrame(rows, [f"a{n}" for n in range(len(rows[0]))])
        for predicate, rows in given.items()
    }


@pytest.fixture(scope="module")
def facts(spark: SparkSession) -> dict[str, DataFrame]:
    return frames(spark, FACTS)


def rows(sample: dict[str, DataFrame]) -> list[Fact]:
    if len(sample) == 1:
        return [(predicate, *row) for predicate, frame in sample.items() for row in frame.collect()]
    # One job for all predicates, whose arguments are texts.
    frames = [frame.select(array(lit(predicate), *frame.columns)) for predicate, frame in sample.items()]
    return [tuple(row[0]) for row in reduce(union_all, frames).collect()]


def union_all(one: DataFrame, other: DataFrame) -> DataFrame:
    return one.unionAll(other)


SAMPLES = [uniform_sample, partial(walk_sample, longest=2)]


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_facts_as_a_set_and_the_seed_decide(
    spark: SparkSession, facts: dict[str, DataFrame], sample: Sample
) -> None:
    """A larger sample contains the smaller, also of the same facts in another order."""
    shuffled = frames(spark, {predicate: [*rows[::-1], *rows] for predicate, rows in reversed(FACTS.items())})
    again = {predicate: frame.repartition(3) for predicate, frame in shuffled.items()}
    found = rows(sample(facts, 9, seed=2))
    assert len(found) == len(set(found)) == 9
    larger = rows(sample(again, 20, seed=2))
    assert len(larger) == len(set(larger)) == 20
    assert set(found) < set(larger) < ALL
    if sample is uniform_sample:  # walks draw by the same numbers
        assert sorted(found) != sorted(rows(sample(facts, 9, seed=3)))


def test_all_facts_are_the_largest_sample(facts: dict[str, DataFrame]) -> None:
    for sample in SAMPLES:
        assert sorted(rows(sample(facts, 100, seed=5))) == sorted(ALL)


def test_every_fact_is_equally_likely(spark: SparkSession) -> None:
    """A sample of a tenth: blocks of a thousand facts have a hundred each on average, with a deviation of nine."""
    pairs = {"p": spark.range(20_000).selectExpr("id AS a0", "id % 7 AS a1")}
    taken = Counter(row[1] // 1000 for row in rows(uniform_sample(pairs, 2_000, seed=11)))
    assert taken.total() == 2_000
    assert len(taken) == 20 and min(taken.values()) > 60 and max(taken.values()) < 140


def test_walks_follow_the_facts(facts: dict[str, DataFrame]) -> None:
    walks: dict[int, list[Fact]] = {}
    longest = 4
    found = random_walks(facts, 30, seed=4, longest=longest).orderBy("walk", "step").collect()
    for walk, step, predicate, *arguments in found:
        walks.setdefault(walk, []).append((predicate, *(one for one in arguments if one is not None)))
        assert step == len(walks[walk]) - 1
    assert sorted(walks) == list(range(30))
    assert len({walk[0] for walk in walks.values()}) == 30  # walks start at different facts
    leaves = {fact[1] for fact in ALL}
    for walk in walks.values():
        assert set(walk) <= ALL
        assert all(one[-1] == other[1] for one, other in pairwise(walk))
        assert len(walk) == longest or walk[-1][-1] not in leaves
    assert any(len(walk) == longest for walk in walks.values())
    assert any(len(walk) < longest for walk in walks.values())


def test_the_next_fact_is_drawn_among_all_that_leave(spark: SparkSession) -> None:
    """One hundred walks come to a place that four facts leave."""
    ways = {"to": [(f"s{n}", "hub") for n in range(100)], "on": [("hub", f"t{n}") for n in range(4)]}
    found = random_walks(frames(spark, ways), 104, seed=1).where("step = 1").collect()
    counts = Counter(row["a1"] for row in found)
    assert counts.total() == 100
    assert len(counts) == 4 and min(counts.values()) >= 10


def test_a_sample_of_walks_is_what_the_first_walks_meet(facts: dict[str, DataFrame]) -> None:
    met: dict[Fact, None] = {}
    for _, _, predicate, *arguments in random_walks(facts, 10, seed=6, longest=2).orderBy("walk", "step").collect():
        met.setdefault((predicate, *(one for one in arguments if one is not None)))
    assert set(rows(walk_sample(facts, 10, seed=6, longest=2))) == set(list(met)[:10])


def test_what_is_no_sample(facts: dict[str, DataFrame]) -> None:
    for sample in SAMPLES:
        with pytest.raises(EverlogError, match="ask for none or more"):
            sample(facts, -1, seed=0)
        with pytest.raises(EverlogError, match="at least one predicate"):
            sample({}, 1, seed=0)


def test_facts_without_arguments(spark: SparkSession) -> None:
    on = {"on": spark.createDataFrame([()], "struct<>")}
    for sample in SAMPLES:
        assert rows(sample(on, 3, seed=1)) == [("on",)]

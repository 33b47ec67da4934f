"""Samples of explicit facts for experiments (*Revisited*, section 10.1), as Spark jobs.

*Uniform* sampling takes facts in the order of a hash of (seed, fact). It tends to take facts that have nothing to do with
each other.

*Random walk* sampling takes the facts as the edges of a graph: a fact leads from its first argument to its last. A walk
starts at a fact, goes on with a fact that leaves the place where it arrived, each of them equally likely, and ends where
no fact leaves, or after `longest` facts; then the next walk starts at the next fact of the uniform order. It tends to take
facts about the same things. Walks are independent of each other, so many of them advance by one join with the facts.

Both depend on nothing but the facts as a set and the seed, and both are stable: with one seed a larger sample contains
the smaller. Facts are given by predicate, in columns `a0`, `a1`, … of one type; nothing of their number is collected.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING, Final

from everlog.errors import EverlogError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_PREDICATE: Final = "predicate"
_KEY: Final = "key"

_WALKS_AT_ONCE: Final = 64
"""So many walks begin together, however few facts are wanted: one more round of walks takes longer than all of these."""


def uniform_sample(facts: Mapping[str, DataFrame], size: int, seed: int) -> dict[str, DataFrame]:
    """`size` facts, each equally likely, or all of them if there are fewer."""
    _check(facts, size)
    return _by_predicate(_shuffled(_together(facts), seed).limit(size), facts)


def walk_sample(facts: Mapping[str, DataFrame], size: int, seed: int, longest: int = 25) -> dict[str, DataFrame]:
    """The first `size` facts that random walks meet, or all facts if there are fewer."""
    from pyspark.sql.functions import min as least
    from pyspark.sql.functions import struct

    _check(facts, size)
    together = _together(facts).persist()
    columns = together.columns
    target = _target(facts)
    number = min(size, max(_WALKS_AT_ONCE, 1 + size // 5))
    met = _walks(together, target, 0, number, seed, longest)
    # A walk is at least one fact, a new one since walks start at different facts: `size` walks are always enough.
    while number < size and met.select(*columns).distinct().count() < size:
        more = min(size, 2 * number)
        met = met.unionByName(_walks(together, target, number, more, seed, longest))
        number = more
    first = met.groupBy(*columns).agg(least(struct("walk", "step")).alias(_KEY))
    sample = _by_predicate(first.orderBy(_KEY).limit(size), facts)
    together.unpersist()
    return sample


def random_walks(facts: Mapping[str, DataFrame], count: int, seed: int, longest: int = 25) -> DataFrame:
    """The first `count` walks: columns `walk`, `step`, `predicate`, `a0`, `a1`, …"""
    _check(facts, count)
    return _walks(_together(facts), _target(facts), 0, count, seed, longest)


def _walks(together: DataFrame, target: Column, start: int, stop: int, seed: int, longest: int) -> DataFrame:
    """The walks with the numbers `start … stop - 1`, which are as short as their facts."""
    from pyspark.sql import Window
    from pyspark.sql.functions import broadcast, col, lit, min_by, row_number, struct, xxhash64

    columns = together.columns
    number = row_number().over(Window.orderBy(_KEY, *columns)) - 1
    starts = _shuffled(together, seed).limit(stop).withColumn("walk", number).where(col("walk") >= start)
    here = starts.select("walk", lit(0).alias("step"), *columns).localCheckpoint()
    met = here
    leaving = together.select(col("a0").alias("source"), struct(*columns).alias("fact"))
    for step in range(1, longest):
        arrived = here.select("walk", target.alias("source"))
        chance = xxhash64(lit(seed), "walk", lit(step), "fact")
        here = (
            leaving.join(broadcast(arrived), "source")
            .groupBy("walk")
            .agg(min_by("fact", struct(chance, "fact")).alias("fact"))
            .select("walk", lit(step).alias("step"), "fact.*")
            .localCheckpoint()
        )
        if here.isEmpty():
            break
        met = met.unionByName(here)
    return met


def _check(facts: Mapping[str, DataFrame], size: int) -> None:
    if not facts:
        raise EverlogError("a sample needs facts of at least one predicate")
    if size < 0:
        raise EverlogError(f"there is no sample of {size} facts; ask for none or more")


def _together(facts: Mapping[str, DataFrame]) -> DataFrame:
    """All facts, each once: `predicate` and as many columns as the widest predicate has, at least one."""
    from pyspark.sql.functions import lit

    frames = [frame.select(lit(predicate).alias(_PREDICATE), "*") for predicate, frame in facts.items()]
    together = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)
    if "a0" not in together.columns:
        together = together.withColumn("a0", lit(None).cast("string"))
    return together.distinct()


def _shuffled(together: DataFrame, seed: int) -> DataFrame:
    """The facts with a `key` that the seed decides, in the order of it."""
    from pyspark.sql.functions import lit, xxhash64

    columns = together.columns
    return together.withColumn(_KEY, xxhash64(lit(seed), *columns)).orderBy(_KEY, *columns)


def _target(facts: Mapping[str, DataFrame]) -> Column:
    """The last argument of a fact; that of a predicate without arguments is null, which nothing leaves."""
    from pyspark.sql.functions import col, lit, when

    target = lit(None)
    for predicate, frame in facts.items():
        if frame.columns:
            target = when(col(_PREDICATE) == predicate, col(frame.columns[-1])).otherwise(target)
    return target


def _by_predicate(chosen: DataFrame, facts: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    """A sample in the form of the facts that it is from; it is drawn once."""
    from pyspark.sql.functions import col

    kept = chosen.localCheckpoint()
    return {
        predicate: kept.where(col(_PREDICATE) == predicate).select(*frame.columns) for predicate, frame in facts.items()
    }

"""Small operations on DataFrames of facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from everlog.engine.spark import naming
from everlog.engine.spark.naming import PADDING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def fact_row(relation: Column, terms: Sequence[Column], names: Sequence[str]) -> list[Column]:
    """The columns of a fact under given names, padded."""
    from pyspark.sql.functions import lit

    padded = [relation, *terms, *(lit(PADDING) for _ in range(len(terms) + 1, len(names)))]
    return [column.cast("bigint").alias(name) for name, column in zip(names, padded, strict=True)]


def widened(frame: DataFrame, width: int) -> DataFrame:
    """The same facts with places for more arguments."""
    from pyspark.sql.functions import col, lit

    present = set(frame.columns)
    if present.issuperset(naming.arguments(width)):
        return frame
    padding = lit(PADDING).cast("bigint")
    further = [col(name) for name in frame.columns if name not in naming.columns(width)]
    return frame.select(
        *(col(name) if name in present else padding.alias(name) for name in naming.columns(width)), *further
    )


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """All rows of some frames with the same columns."""
    joint = frames[0]
    for frame in frames[1:]:
        joint = joint.unionAll(frame)
    return joint


def opaque(frame: DataFrame) -> DataFrame:
    """The same rows, with columns whose constants the optimiser does not see through.

    Where it does, it drops the column from the keys of a join, and the other side is no longer partitioned as the join
    wants it. It looks through everything but an observation.
    """
    from pyspark.sql import Observation
    from pyspark.sql.functions import count, lit

    return frame.observe(Observation(), count(lit(1)).alias("rows"))

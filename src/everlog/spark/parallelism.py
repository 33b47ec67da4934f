"""How much of a session works at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def tasks_at_once(spark: SparkSession) -> int:
    """How many tasks run at once, as far as the session says."""
    return int(spark.conf.get("spark.default.parallelism", None) or spark.conf.get("spark.sql.shuffle.partitions") or 1)

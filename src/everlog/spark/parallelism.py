"""How much of a session works at once, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everlog.spark.hadoop_files import has_hadoop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def tasks_at_once(spark: SparkSession) -> int:
    """How many tasks run at once, as far as the session says."""
    return int(spark.conf.get("spark.default.parallelism", None) or spark.conf.get("spark.sql.shuffle.partitions") or 1)


def runs_here(spark: SparkSession) -> bool:
    """Whether tasks run on this machine, so that they see its files."""
    return has_hadoop(spark) and (spark.conf.get("spark.master", None) or "").startswith("local")

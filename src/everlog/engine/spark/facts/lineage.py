"""Cutting lineage: a DataFrame is computed, and what is left of its plan is a leaf.

* `local_checkpoint` keeps rows in the executors. It is the fastest, and an executor that dies takes its rows with it. Where
  facts are many, it does as `persist`: rows as objects fill the heap, and Java looks through all of them again and again.
* `persist` keeps rows on the executors' disks, and columns beside them, which are read several times as fast. It is no
  safer: Spark would have to remember how rows were made, and as rounds build on rounds, their plans would double each time.
* `parquet` writes files to a scratch folder that the caller gives, and keeps what is read from there as columns: whatever
  dies, the files are still there.

Rows come out partitioned as they went in, and Spark knows it: joins of sets on all their columns move nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Literal
from uuid import uuid4
from weakref import WeakSet

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Observation, SparkSession

from everlog.errors import EverlogError

CutName = Literal["local_checkpoint", "persist", "parquet"]


class Cut(ABC):
    """A way to compute a DataFrame and to drop the plan that it was computed by."""

    def __call__(self, frame: DataFrame, statistics: Sequence[Column]) -> tuple[DataFrame, dict[str, Any]]:
        """A frame with the same rows and no past, and some aggregates of it, by their names."""
        seen = Observation()
        kept = self._kept(frame.observe(seen, *statistics))
        return kept, seen.get or kept.agg(*statistics).collect()[0].asDict()

    @abstractmethod
    def _kept(self, frame: DataFrame) -> DataFrame:
        """The rows of a frame, computed."""

    def settled(self, frame: DataFrame) -> DataFrame:
        """The frame after Spark has learned how large it really is; see `estimates.py`."""
        frame.count()
        return frame

    def forget(self, frame: DataFrame) -> None:
        """Gives back what is kept of a frame that nobody will use again."""
        frame.unpersist()


def cut_named(
    spark: SparkSession, name: str, scratch: str | None, partitions: Callable[[], int], many: Callable[[], bool]
) -> Cut:
    """A way by its name; `partitions` tells how many there are, and `many` whether the engine has many facts."""
    if name == "local_checkpoint":
        return LocalCheckpoint(many)
    if name == "persist":
        return Persist()
    if name != "parquet":
        raise EverlogError(f"cut={name!r} is not supported; choose one of: local_checkpoint, persist, parquet")
    if scratch is None:
        raise EverlogError('cut="parquet" needs a scratch folder that all executors can reach')
    return Parquet(spark, scratch, partitions)


class LocalCheckpoint(Cut):
    """Rows in the executors; Spark frees them when the JVM has noticed that nobody refers to them.

    Those that are settled are there a second time, as columns: Spark has no other way to learn the size of a checkpoint.
    """

    def __init__(self, many: Callable[[], bool]) -> None:
        self._many = many
        self._in_columns: WeakSet[DataFrame] = WeakSet()

    def _kept(self, frame: DataFrame) -> DataFrame:
        if not self._many():
            return frame.localCheckpoint()
        kept = _on_disk(frame)
        self._in_columns.add(kept)
        return kept

    def settled(self, frame: DataFrame) -> DataFrame:
        self._in_columns.add(frame.persist())
        return super().settled(frame)

    def forget(self, frame: DataFrame) -> None:
        if frame in self._in_columns:
            super().forget(frame)


class Persist(Cut):
    """Rows and columns on the executors' disks."""

    def _kept(self, frame: DataFrame) -> DataFrame:
        return _on_disk(frame)


def _on_disk(frame: DataFrame) -> DataFrame:
    """The rows of a frame on the disks of executors, from where they come as columns, once they are wanted."""
    return frame.localCheckpoint(storageLevel=StorageLevel.DISK_ONLY).persist(StorageLevel.DISK_ONLY)


class Parquet(Cut):
    """Files in a folder, and columns in the executors."""

    def __init__(self, spark: SparkSession, scratch: str, partitions: Callable[[], int]) -> None:
        self._spark, self._scratch, self._partitions = spark, scratch, partitions

    def _kept(self, frame: DataFrame) -> DataFrame:
        folder = f"{self._scratch}/{uuid4().hex}"
        frame.write.parquet(folder)
        read = self._spark.read.schema(frame.schema).parquet(folder)
        return read.repartition(self._partitions(), *read.columns).persist()

    def settled(self, frame: DataFrame) -> DataFrame:
        return frame

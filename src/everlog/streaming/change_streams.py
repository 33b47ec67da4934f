"""`everlog.changes`: what each version of a store changes, as a streaming DataFrame."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from everlog.store.local_place import local_place
from everlog.store.versions import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def register(spark: SparkSession) -> None:
    """Has a session know `format("everlog")`, for `spark.read` and `spark.readStream`."""
    from everlog.streaming.store_source import register as registered

    registered(spark)


def changes(
    spark: SparkSession,
    store: str | Path,
    predicate: str | None = None,
    *,
    from_version: int | None = None,
    terms: Literal["typed", "ntriples"] = "typed",
    max_versions: int | None = None,
    on_forgotten: Literal["fail", "snapshot"] = "fail",
) -> DataFrame:
    """What each version changes in the materialisation, as a streaming DataFrame.

    Its columns are those of the predicate, `op` (`insert`, `delete`, or `snapshot`) and `version`. Without a predicate
    there are changes of all of them: `predicate`, `arguments` (N-Triples terms), `op` and `version`.

    Args:
        spark: the session.
        store: the folder of the store.
        predicate: whose facts.
        from_version: the version after which changes are wanted; by default all facts of the newest one come first, with
            `snapshot` as their `op`.
        terms: `typed` has columns of the types that their values share in the version where it begins; `ntriples` has text
            of N-Triples, which any value fits into.
        max_versions: how many versions a batch has at most.
        on_forgotten: whether it is an error if the store has forgotten the version that was read last, or a snapshot
            begins again.
    """
    register(spark)
    place = local_place(store, "the store")
    Store.open(place, from_version)  # says what is wrong before Spark does
    reader = spark.readStream.format("everlog").option("changes", "true").option("terms", terms)
    reader = reader.option("onForgotten", on_forgotten)
    for name, value in (("predicate", predicate), ("fromVersion", from_version), ("maxVersions", max_versions)):
        if value is not None:
            reader = reader.option(name, value)
    if from_version is not None and predicate is not None:
        reader = reader.option("version", from_version)  # which has the types
    return reader.load(str(place))

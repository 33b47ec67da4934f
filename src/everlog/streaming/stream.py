"""`everlog.stream`: a streaming query that keeps a store fresh.

All sources of a stream are one query, so that a batch has rows of all of them: a union of rows, each in the column of its
source. Where the query is, Spark keeps in a checkpoint beside the store; what of it is in the store, the store says itself
(`micro_batches.py`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everlog.datalog.syntax import TRIPLE
from everlog.errors import EverlogError
from everlog.knowledge.stores import open_store
from everlog.spark.failures import as_everlog_error, is_sparks, spark_failures
from everlog.spark.hadoop_files import has_hadoop
from everlog.store.local_place import local_place
from everlog.store.versions import Store
from everlog.streaming.stream_sources import SOURCE, Source, sources_of, streaming_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from everlog.streaming.batch_metrics import BatchMetrics
    from everlog.streaming.micro_batches import MicroBatches


class Stream:
    """A stream of changes into a store that is running, or has ended."""

    def __init__(self, query: StreamingQuery, batches: MicroBatches, store: Path) -> None:
        self.query = query
        """Spark's own handle on it."""
        self.store = store
        self._batches = batches

    def __repr__(self) -> str:
        state = "running" if self.is_active else "ended"
        return f"<Stream into {self.store}, {state}, {len(self.batches)} batches of late>"

    @property
    def is_active(self) -> bool:
        """Whether it goes on."""
        return bool(self.query.isActive)

    @property
    def batches(self) -> list[BatchMetrics]:
        """What the last hundred batches of this process brought and took, the newest last."""
        return list(self._batches.recent)

    @property
    def progress(self) -> dict[str, Any] | None:
        """Spark's last progress of the query, with what Everlog has to say of that batch in `everlog`; None before one."""
        last = self.query.lastProgress
        if last is None:
            return None
        found: dict[str, Any] = json.loads(last.json)
        ours = next((one for one in reversed(self.batches) if one.batch == found["batchId"]), None)
        return {**found, "everlog": None if ours is None else ours.as_json()}

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until it ends, or for some seconds; says whether it has. If it failed, that is raised."""
        try:
            ended = self.query.awaitTermination(None if seconds is None else max(1, round(seconds)))
        except Exception as failure:
            if self._batches.is_ending and self._batches.failure is None:
                return True  # by the refusal of a batch that was handed over while it was being stopped
            raise self._spoken(failure) from failure
        return ended is not False

    def process_available(self) -> None:
        """Waits until everything is in the store that the sources have by now."""
        try:
            self.query.processAllAvailable()
        except Exception as failure:
            raise self._spoken(failure) from failure

    def stop(self) -> None:
        """Ends it, after the batch that is being applied."""
        with self._batches.turn:
            self._batches.is_ending = True
        self.query.stop()  # it waits for a batch that was handed over meanwhile, and which is refused

    def _spoken(self, failure: Exception) -> BaseException:
        """What a batch failed of, rather than what Spark says about it."""
        if self._batches.failure is not None:
            return self._batches.failure
        return as_everlog_error(failure, f"the stream into {self.store}") if is_sparks(failure) else failure


def stream(
    store: str | Path,
    sources: Mapping[str, Any] | Sequence[Source] | Source,
    *,
    spark: SparkSession | None = None,
    every: float | None = None,
    once: bool = False,
    checkpoint: str | Path | None = None,
    quarantine: str | Path | None = None,
    changes: str | Path | None = None,
    metrics: str | Path | None = None,
    keep: int | None = None,
    remember: int = 0,
    engine: str | None = None,
    memory: str | None = None,
    workers: int | None = None,
    wait: float = 60.0,
) -> Stream:
    """Keeps a store fresh: changes of explicit facts come as streams, and each batch is an update and a version.

    Args:
        store: the folder of the store, which is there.
        sources: by predicate a streaming DataFrame with a column for each argument, the path of a folder that files
            arrive in, or a `Source`, which says more; or a list of `Source`.
        spark: the session to use; by default one is found or started.
        every: seconds between the beginnings of two batches; by default the next begins when one ends.
        once: whether to end when everything is in the store that is there now.
        checkpoint: where Spark keeps how far it has come; by default beside the store, in `<store>.stream`.
        quarantine: the folder for malformed rows; by default `<store>.quarantine`.
        changes: a folder for what each version changes, as JSON lines.
        metrics: a file for a line of JSON about each batch; by default `batches.jsonl` in the checkpoint.
        keep: how many versions are kept, about; by default all. Those that somebody reads stay.
        remember: for how many batches it is remembered what was last said about a fact, by the column `order`, so that
            a row of a later batch which comes before that does not count; by default for none.
        engine: where to reason; by default as the store was made.
        memory: what reasoning in this process may use, such as `4g`, if the engine is to be chosen.
        workers: how many threads the memory engine may use.
        wait: for how many seconds to wait for somebody else who writes to the store.
    """
    from everlog.spark.session import start_session
    from everlog.spark.workers import prepare_workers
    from everlog.streaming.change_files import ChangeFiles
    from everlog.streaming.micro_batches import MicroBatches

    given = sources_of(sources)
    if keep is not None and keep < 1:
        raise EverlogError("at least the newest version stays: keep 1 or more")
    if remember and not all(source.has_order for source in given):
        raise EverlogError("to know which rows come late (remember), every source needs a column order=…")
    if every is not None and once:
        raise EverlogError("batches come again and again (every), or until there are no more rows (once), not both")
    opened = Store.open(store)
    place, manifest = opened.path, opened.manifest
    spark = start_session() if spark is None else spark
    prepare_workers(spark)
    if not has_hadoop(spark):
        raise EverlogError(
            "a stream needs a classic session: over Spark Connect, batches are not handed to this process"
        )
    beside = local_place(checkpoint or f"{place}.stream", "the checkpoint")
    beside.mkdir(parents=True, exist_ok=True)
    with spark_failures(f"the sources of {place}"):
        arities = {**manifest.arities, TRIPLE: 3}
        frames = [streaming_frame(spark, source, arities.get(source.predicate)) for source in given]
        union = _union(frames)
    batches = MicroBatches(
        place,
        given,
        [_ntriples(source, frame) for source, frame in zip(given, frames, strict=True)],
        beside,
        opened=partial(open_store, place, spark=spark, engine=engine, memory=memory, workers=workers),
        keep=keep,
        quarantine=local_place(quarantine or f"{place}.quarantine", "the quarantine"),
        changes=None if changes is None else ChangeFiles(local_place(changes, "the folder of changes"), place),
        metrics=local_place(metrics or beside / "batches.jsonl", "the file of metrics"),
        remember=remember,
        wait=wait,
    )
    batches.open()
    writer = union.writeStream.foreachBatch(batches).option("checkpointLocation", str(beside))
    if once:
        writer = writer.trigger(availableNow=True)
    elif every is not None:
        writer = writer.trigger(processingTime=f"{max(1, round(every * 1000))} milliseconds")
    with spark_failures(f"the stream into {place}"):
        return Stream(writer.start(), batches, place)


def _union(frames: Sequence[DataFrame]) -> DataFrame:
    """The rows of all sources, each in a column of its own, with the number of the source."""
    from pyspark.sql import DataFrame
    from pyspark.sql.functions import col, lit, struct

    numbered = [
        frame.select(
            lit(number).alias(SOURCE), struct(*(col(f"`{name}`") for name in frame.columns)).alias(f"rows{number}")
        )
        for number, frame in enumerate(frames)
    ]
    return reduce(partial(DataFrame.unionByName, allowMissingColumns=True), numbered)


def _ntriples(source: Source, frame: DataFrame) -> list[str]:
    """The columns that hold N-Triples terms."""
    fields = frame.schema.fields
    if source.feed == "debezium":
        fields = next(field.dataType.fields for field in fields if field.name == "after")  # type: ignore[attr-defined]
    return [field.name for field in fields if (field.metadata or {}).get("everlog") == "ntriples"]

"""Streams of Spark into a store: folders and other sources, restarts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

import everlog
from everlog import EverlogError, Source
from everlog.store.cleanup import committed_versions
from everlog.streaming.micro_batches import MicroBatches, StreamStopped
from everlog.streaming.stream import Stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULES = "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."


def made(store: Path) -> Path:
    kb = everlog.KnowledgeBase(RULES)
    kb.add({"edge": [("a", "b")]})
    kb.materialise()
    kb.save(store)
    return store


def arrive(folder: Path, name: str, text: str) -> None:
    """A file arrives whole, as files do that are moved into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / f".{name}").write_text(text)
    (folder / f".{name}").rename(folder / name)


def test_a_folder_is_followed_over_restarts(spark: SparkSession, tmp_path: Path) -> None:
    store, folder = made(tmp_path / "s.store"), tmp_path / "in"
    arrive(folder, "1.csv", "from,to,op\nb,c,insert\na,b,delete\na,b,insert\nbroken\n")
    source = Source("edge", folder, header=True, options={"maxFilesPerTrigger": 1})
    stream = everlog.stream(store, source, spark=spark, changes=tmp_path / "changes")
    try:
        stream.process_available()
        reader = everlog.open(store)  # anybody may read meanwhile
        arrive(folder, "2.csv", "from,to,op\nc,d,insert\n")
        stream.process_available()
        assert reader.query("reach(a, ?y)") == [("b",), ("c",)]
        progress = stream.progress
        assert progress is not None and progress["everlog"]["version"] == 3
        assert progress["everlog"]["lag"] > 0 and stream.batches[0].counts["malformed"] == 1
    finally:
        stream.stop()
    assert not stream.is_active
    for name in ("3", "4"):
        arrive(folder, f"{name}.csv", f"from,to,op\nd,{name},insert\nb,c,delete\n")
        os.utime(folder / f"{name}.csv", (2e9 + int(name), 2e9 + int(name)))
    again = everlog.stream(store, source, spark=spark, once=True, changes=tmp_path / "changes")
    assert again.wait(120)
    assert committed_versions(store) == [1, 2, 3, 4, 5]
    assert set(everlog.open(store).rows("edge")) == {("a", "b"), ("c", "d"), ("d", 3), ("d", 4)}
    (file,) = tmp_path.glob("s.store.quarantine/*.jsonl")
    assert json.loads(file.read_text())["line"] == 5
    assert len(list((tmp_path / "changes").iterdir())) == 4
    assert len((tmp_path / "s.store.stream" / "batches.jsonl").read_text().splitlines()) == 4


def test_several_sources_are_one_stream(spark: SparkSession, tmp_path: Path) -> None:
    store, folder = made(tmp_path / "s.store"), tmp_path / "in"
    arrive(folder, "1.csv", "a,b\n")
    ticks = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
    edges = ticks.selectExpr("concat('n', value) AS x", "concat('n', value + 1) AS y")
    sources = [Source("edge", edges), Source("edge", folder, deletes=True)]
    stream = everlog.stream(store, sources, spark=spark)
    try:
        while not any(batch.counts["inserted"] for batch in stream.batches):
            assert not stream.wait(1)
    finally:
        stream.stop()
    count = sum(batch.counts["inserted"] for batch in stream.batches)
    kb = everlog.open(store)
    assert set(kb.rows("edge")) == {(f"n{n}", f"n{n + 1}") for n in range(count)}
    assert set(kb.rows("reach")) == {(f"n{n}", f"n{m}") for n in range(count) for m in range(n + 1, count + 1)}


class HandsOver:
    """A query that has a batch to hand over when it is stopped, and ends when that has been taken or refused."""

    def __init__(self, batches: MicroBatches) -> None:
        self._batches = batches
        self.refusals: list[Exception] = []

    def stop(self) -> None:
        handing = Thread(target=self._hand_over, daemon=True)
        handing.start()
        handing.join(10)
        assert not handing.is_alive(), "whoever stops the query keeps the batch from its turn"

    def _hand_over(self) -> None:
        try:
            self._batches(None, 0)  # type: ignore[arg-type]
        except StreamStopped as refusal:
            self.refusals.append(refusal)

    def awaitTermination(self, seconds: int | None) -> bool:
        raise self.refusals[0]


def test_a_batch_that_is_handed_over_while_a_stream_is_stopped_is_refused(tmp_path: Path) -> None:
    """And that is no failure to whoever waits for the end."""
    batches = MicroBatches(made(tmp_path / "s.store"), [Source("edge", tmp_path)], [[]], tmp_path / "checkpoint")
    query = HandsOver(batches)
    stream = Stream(query, batches, tmp_path)  # type: ignore[arg-type]
    stream.stop()
    assert len(query.refusals) == 1 and stream.wait()


def test_what_is_no_source_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    store = made(tmp_path / "s.store")
    ticks = spark.readStream.format("rate").load()
    for sources, message in (
        ({"edge": ticks.limit(1).selectExpr("value")}, "1 column .value., where edge has 2 arguments"),
        ({"edge": spark.range(3)}, "is no streaming DataFrame"),
        ({"edge": tmp_path / "nowhere"}, "no such folder"),
        ({}, "give the sources of a stream by predicate"),
        ({"p": ticks.selectExpr("array(value) AS x")}, "the column x is of type array<bigint>"),
        (Source("p", ticks, feed="debezium"), "here is no column before; it has timestamp, value"),
        ([Source("p", ticks, order="value"), Source("p", ticks)], "either all of them have a column order"),
        (Source("p", ticks, columns=["when"]), "there is no column when; it has timestamp, value"),
    ):
        with pytest.raises(EverlogError, match=message):
            everlog.stream(store, sources, spark=spark)  # type: ignore[arg-type]
    with pytest.raises(EverlogError, match="not both"):
        everlog.stream(store, {"p": ticks}, spark=spark, every=1, once=True)

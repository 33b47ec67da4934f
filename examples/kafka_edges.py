"""Edges that come from Apache Kafka, into a store that knows what is reachable.

    python examples/kafka_edges.py graph.store --bootstrap localhost:9092 --topic edges

A message is JSON, with the edge as its key, so that all messages about an edge are in one partition and have an order:

    {"source": "a", "target": "b", "op": "insert"}

The connector is no part of PySpark: it comes from Maven when the session starts, by `spark.jars.packages` below, or as a
file by `spark.jars`. `script/kafka` runs this against a broker.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import everlog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RULES = """
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
"""


def connected(version: str | None = None) -> SparkSession:
    """A session with Kafka's connector, which is that of Spark's own version."""
    import pyspark
    from pyspark.sql import SparkSession

    package = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version or pyspark.__version__}"
    return SparkSession.builder.config("spark.jars.packages", package).getOrCreate()


def messages(spark: SparkSession, bootstrap: str, topic: str, most: int) -> DataFrame:
    """The messages of a topic, from its beginning on, so many at once at the most."""
    options = {
        "kafka.bootstrap.servers": bootstrap,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": str(most),
    }
    return spark.readStream.format("kafka").options(**options).load()


def edges(messages: DataFrame) -> DataFrame:
    """What messages say. One that is no JSON has nulls, and goes to quarantine."""
    said = "from_json(CAST(value AS string), 'source string, target string, op string')"
    return messages.selectExpr(f"{said} AS said", "offset").selectExpr(
        "said.source", "said.target", "said.op", "offset"
    )


def follow(store: Path, rows: DataFrame, once: bool = False) -> everlog.Stream:
    """The stream into a store, which is made if it is not there."""
    if not store.exists():
        kb = everlog.KnowledgeBase(RULES)
        kb.materialise()
        kb.save(store)
    source = everlog.Source("edge", rows, order="offset")
    return everlog.stream(store, source, spark=rows.sparkSession, keep=100, once=once)


def main() -> None:
    parser = argparse.ArgumentParser(description="Follow edges of a topic of Kafka into a store.")
    parser.add_argument("store", type=Path)
    parser.add_argument("--bootstrap", default="localhost:9092", help="brokers (localhost:9092)")
    parser.add_argument("--topic", default="edges", help="the topic (edges)")
    parser.add_argument("--most", type=int, default=100_000, help="messages of a batch at the most (100000)")
    parser.add_argument("--once", action="store_true", help="end when everything is in the store that is there now")
    given = parser.parse_args()
    rows = edges(messages(connected(), given.bootstrap, given.topic, given.most))
    stream = follow(given.store, rows, given.once)
    try:
        stream.wait()
    except KeyboardInterrupt:
        stream.stop()
    for batch in stream.batches:
        print(batch.as_json())


if __name__ == "__main__":
    main()

"""The example with Kafka, but for Kafka: messages in the form in which its connector gives them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING

import everlog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "kafka_edges.py"


def test_messages_become_versions(spark: SparkSession, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("kafka_edges", EXAMPLE)
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    said = [("a", "b", "insert"), ("b", "c", "insert"), ("b", "d", "delete"), ("b", "d", "insert")]
    values = [json.dumps(dict(zip(("source", "target", "op"), one, strict=True))) for one in said]
    offsets = [0, 1, 3, 2]  # of a batch, in any order
    lines = [
        {"value": value, "offset": offset} for value, offset in zip([*values, "no JSON"], [*offsets, 4], strict=True)
    ]
    (tmp_path / "topic").mkdir()
    (tmp_path / "topic" / "0.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    messages = spark.readStream.schema("value string, offset bigint").json(str(tmp_path / "topic"))
    stream = example.follow(tmp_path / "graph.store", example.edges(messages), once=True)
    assert stream.wait(120)
    assert everlog.open(tmp_path / "graph.store").query("reach(a, ?y)") == [("b",), ("c",)]
    (problem,) = (tmp_path / "graph.store.quarantine").iterdir()
    assert "the column source is null" in problem.read_text()

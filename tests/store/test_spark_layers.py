"""Sections that Spark writes and merges: whatever changes came before, they read as what Python's sets have."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from everlog.store import spark_layers
from everlog.store.commit import Writing
from everlog.store.layers import facts_table
from everlog.store.manifest import Layer
from everlog.store.spark_layers import Rows, section_counts, write_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ARITIES = {"e": 2, "u": 1, "on": 0}
NAMES = list(ARITIES)
Fact = tuple[str, tuple[int, ...]]
EVERYTHING: list[Fact] = [
    ("on", ()),
    *(("u", (x,)) for x in range(6)),
    *(("e", (x, y)) for x in range(5) for y in range(4)),
]


def rows(spark: SparkSession, facts: set[Fact]) -> Rows | None:
    """Facts as the Spark engine hands them over: with padding, and 0 for a nullary one."""
    if not facts:
        return None
    table = [(NAMES.index(name), *ids, *[0 if not ids else -1] * (2 - len(ids))) for name, ids in sorted(facts)]
    return Rows(spark.createDataFrame(table, "predicate int, a0 bigint, a1 bigint"), NAMES, len(facts))


def read(store: Path, layers: tuple[Layer, ...]) -> set[Fact]:
    found: set[Fact] = set()
    for name, arity in ARITIES.items():
        table = facts_table(store, layers, name, arity)
        columns = [table.column(f"a{place}").to_pylist() for place in range(max(arity, 1))]
        listed = [(name, row[:arity]) for row in zip(*columns, strict=True)]
        assert len(listed) == len(set(listed)), "a fact occurs twice"
        found.update(listed)
    return found


def test_changes_are_merged_by_spark(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large first layer and small changes: later layers are merged with each other, and at last with the first."""
    monkeypatch.setattr(spark_layers, "FEW", 0)  # no change is so small that this process would merge it
    random, writer = Random(1), Writing(tmp_path, None, 1)
    facts = {one for one in EVERYTHING if random.random() < 0.8}
    layers: tuple[Layer, ...] = write_rows(spark, writer, "explicit", (), rows(spark, facts), None, ARITIES)
    merged = 0
    for _ in range(4):
        gone = set(random.sample(sorted(facts), 2))
        new = set(random.sample(sorted(set(EVERYTHING) - facts), min(2, len(EVERYTHING) - len(facts))))
        facts = (facts - gone) | new
        before = layers
        layers = write_rows(spark, writer, "explicit", layers, rows(spark, new), rows(spark, gone), ARITIES)
        assert read(tmp_path, layers) == facts
        assert sum(section_counts(layers).values()) == len(facts)
        sizes = [layer.rows() for layer in layers]
        assert all(older >= newer for older, newer in pairwise(sizes))
        merged += len(layers) <= len(before) and len(layers) > 1
    assert merged, "no layers were merged on top of others"
    # What the layers take back is no change: nothing of it is written.
    (one,) = random.sample(sorted(facts), 1)
    again = layers
    for added, deleted in ((None, {one}), ({one}, None)):
        again = write_rows(
            spark, writer, "explicit", again, rows(spark, added or set()), rows(spark, deleted or set()), ARITIES
        )
    assert read(tmp_path, again) == facts
    assert sum(section_counts(again).values()) == len(facts)

"""Parquet files that tasks read themselves hold what Arrow says they hold, however they are laid out."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from everlog.datalog.ntriples import write_term
from everlog.datalog.values import normalise
from everlog.sources.parquet_groups import look_at
from everlog.sources.read_facts import SourceMistake, read_paths
from support.reads import rows_of_read as rows

STRINGS = ["", "a", "é", 'a "b"\n', "\\", "\x00\x7f", "1", "<http://x>", "_:b", "\ufffe", "x" * 300]
NUMBERS = [0, -1, 7, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.5, float("nan"), float("inf"), 1e300]
TERMS = [
    "<http://a/b?c#d>",
    "<a:b>",
    '"x"@en',
    '"x"@EN',
    '"5"^^<http://www.w3.org/2001/XMLSchema#integer>',
    '"\\u0041"',
]


def test_tables_of_any_layout_hold_what_arrow_says(spark: SparkSession, tmp_path: Path) -> None:
    expected: dict[str, list[Any]] = {}
    for seed in range(8):
        random = Random(seed)
        size = random.choice([1, 3, 40, 400])
        table = pa.table(
            {
                "text": random.choices(STRINGS, k=size),
                "la.rge": pa.array(random.choices(STRINGS, k=size), pa.large_string()),
                "coded": pa.array(random.choices(STRINGS, k=size)).dictionary_encode(),
                "number": random.choices(NUMBERS, k=size),
                "small": pa.array(random.choices([-128, 0, 127], k=size), pa.int8()),
                "float": random.choices(FLOATS, k=size),
                "single": pa.array(random.choices([0.5, -2.0], k=size), pa.float32()),
                "flag": random.choices([True, False], k=size),
            }
        )
        layout = {"use_dictionary": random.random() < 0.7, "dictionary_pagesize_limit": random.choice([64, 1 << 20])}
        layout |= {"row_group_size": random.choice([2, 100, 1000]), "data_page_size": random.choice([64, 1 << 20])}
        pq.write_table(table, tmp_path / f"t{seed}.parquet", **layout)
        assert look_at([str(tmp_path / f"t{seed}.parquet")]).are_plain
        expected[f"t{seed}"] = sorted(
            tuple(write_term(normalise(value)) for value in row.values()) for row in table.to_pylist()
        )
    read = read_paths(spark, [tmp_path])
    assert {name: rows(read, name) for name in expected} == expected


def test_terms_nulls_chosen_columns_and_partitions_go_together(spark: SparkSession, tmp_path: Path) -> None:
    field = pa.field("term", pa.string(), metadata={"everlog": "ntriples"})
    for day in (1, 2):
        place = tmp_path / f"edge/day={day}"
        place.mkdir(parents=True)
        table = pa.table({"term": [*TERMS, None, "oops"], "n": range(8)}, schema=pa.schema([field, ("n", pa.int64())]))
        pq.write_table(table, place / "0.parquet", row_group_size=3)
    with pytest.raises(SourceMistake, match=r"day=1/0\.parquet: the column term: 'oops' is not an N-Triples term"):
        read_paths(spark, [tmp_path], nulls="skip")
    read = read_paths(spark, [tmp_path], on_error="skip", nulls="empty")
    texts = ["<http://a/b?c#d>", "<a:b>", '"x"@en', '"x"@en', write_term(5), '"A"', '""']
    assert rows(read, "edge") == sorted(
        (text, write_term(n), write_term(day)) for n, text in enumerate(texts) for day in (1, 2)
    )
    assert read.skipped == 2


def test_types_that_spark_and_arrow_may_see_differently_are_left_to_spark(tmp_path: Path) -> None:
    file = str(tmp_path / "p.parquet")
    for column in ([[1]], pa.array([0], pa.timestamp("us")), pa.array([0], pa.date32()), pa.array([1], pa.uint64())):
        pq.write_table(pa.table({"a": ["x"], "b": column}), file)
        assert not look_at([file]).are_plain
    pq.write_table(pa.table([["x"], ["y"]], names=["a", "A"]), file)
    assert not look_at([file]).are_plain


def test_a_damaged_page_is_said_of_its_file_and_can_be_skipped(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"a": [f"{n}-{n * n}" for n in range(5000)]}), tmp_path / "bad.parquet", row_group_size=1000
    )
    content = bytearray((tmp_path / "bad.parquet").read_bytes())
    content[4:60] = b"\xff" * 56  # where the first page begins
    (tmp_path / "bad.parquet").write_bytes(content)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "good.parquet")
    with pytest.raises(SourceMistake, match=r"/bad\.parquet: cannot be read: "):
        read_paths(spark, [tmp_path])
    read = read_paths(spark, [tmp_path], on_error="skip")
    assert rows(read, "good") == [(write_term(1),)]
    assert read.skipped == 1
    assert "bad" not in read.arities

"""Nulls: errors with their place, rows that are left out and counted, or empty strings, in every form of facts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everlog import EverlogError, KnowledgeBase, parse_program
from everlog.sources.csv_lines import CsvLines
from everlog.sources.line_blocks import Lines
from everlog.sources.read_facts import SourceMistake, read_paths
from support.reads import rows_of_read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REMEDY = r'; fill it in, or leave such rows out with --nulls skip \(nulls="skip"\), or have the empty string'

GIVEN: dict[str, tuple[Callable[[], Any], str]] = {
    "rows": (lambda: [("a", 1), ("b", None), (None, 3)], "row 2 of p: argument 2 is None, and a fact holds no nulls"),
    "arrow": (
        lambda: pa.table({"x": ["a", "b", None], "y": [1, None, 3]}),
        "p, argument 1: the column x holds 1 null, the first in row 3, and a fact holds no nulls",
    ),
    "dictionary": (
        lambda: pa.table(
            {
                "x": pa.DictionaryArray.from_arrays([0, 1, 2], ["a", "b", None]),
                "y": pa.array([1, None, 3]).dictionary_encode(),
            }
        ),
        "p, argument 1: the column x holds 1 null, the first in row 3, and a fact holds no nulls",
    ),
    "pandas": (
        lambda: pd.DataFrame({"x": ["a", "b", None], "y": pd.array([1, pd.NA, 3], "Int64")}),
        "p, argument 1: the column x holds 1 null, the first in row 3, and a fact holds no nulls",
    ),
    "pandas in rows": (
        lambda: [("a", 1), ("b", pd.NA), (pd.NaT, 3)],
        "row 2 of p: argument 2 is <NA>, and a fact holds no nulls",
    ),
}


@pytest.mark.parametrize("form", GIVEN)
def test_nulls_that_are_given(form: str) -> None:
    make, message = GIVEN[form]
    kb = KnowledgeBase(parse_program(""))
    with pytest.raises(EverlogError, match=f"^{message}{REMEDY}"):
        kb.add({"p": make()})
    kb.add({"p": make()}, nulls="skip")
    assert kb.rows("p") == [("a", 1)]
    assert "p: 2 rows were left out for a null" in kb.materialise().warnings
    report = kb.update(add={"p": make()}, delete={"p": [("a", None)]}, nulls="empty")
    assert sorted(kb.rows("p"), key=str) == [("", 3), ("a", 1), ("b", "")]
    assert report.warnings == []
    report = kb.update(delete={"p": make()}, nulls="skip")
    assert sorted(kb.rows("p"), key=str) == [("", 3), ("b", "")]
    assert report.warnings == ["p: 2 rows were left out for a null"]


def test_a_policy_that_is_none() -> None:
    with pytest.raises(EverlogError, match="nulls='drop' is not supported; choose one of: error, skip, empty"):
        KnowledgeBase(parse_program("")).add({"p": [(1,)]}, nulls="drop")  # type: ignore[arg-type]


def test_empty_fields() -> None:
    lines = Lines(b'a,b\nc,\n"",d\n,""\n,\n')
    columns, mistakes = CsvLines(",", 2)(lines, "")
    assert [column.to_pylist() for column in columns] == [['"a"', '""'], ['"b"', '"d"']]
    assert [(row, reason.partition(",")[0]) for row, reason in sorted(mistakes)] == [
        (1, "field 2 is empty"),
        (3, "field 1 is empty"),
        (4, "field 1 is empty"),
    ]
    columns, mistakes = CsvLines(",", 2, nulls="empty")(lines, "")
    assert sorted(zip(*(column.to_pylist() for column in columns), strict=True)) == sorted(
        [('"a"', '"b"'), ('"c"', '""'), ('""', '"d"'), ('""', '""'), ('""', '""')]
    )
    assert mistakes == []


def test_nulls_in_files(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text('a,b\nc,\n"",d\n"e\nf",\n', encoding="utf-8")
    (tmp_path / "plain.tsv").write_text("a\tb\nc\t\n", encoding="utf-8")
    (tmp_path / "node.csv").write_text('a\n\n""\n', encoding="utf-8")
    (tmp_path / "json.jsonl").write_text('["a", 1]\n["b", null]\n', encoding="utf-8")
    pq.write_table(pa.table({"x": ["a", None], "y": [1, 2]}), tmp_path / "table.parquet")
    for name, place in {
        "edge.csv": "edge.csv:2: field 2 is empty, which is a null",
        "plain.tsv": "plain.tsv:2: field 2 is empty, which is a null",
        "node.csv": "node.csv:2: field 1 is empty, which is a null",
        "json.jsonl": "json.jsonl:2: value 2 is null",
        "table.parquet": "table.parquet: the column x is null",
    }.items():
        with pytest.raises(SourceMistake, match=place):
            read_paths(spark, [tmp_path / name])
    (tmp_path / "plain.tsv").write_text("a\tb\nc\t\nd\n", encoding="utf-8")
    read = read_paths(spark, [tmp_path], nulls="skip", on_error="skip")
    assert read.sizes == {
        "edge": 2,
        "plain": 1,
        "node": 2,
        "json": 1,
        "table": 1,
    }
    malformed, *left_out = read.warnings
    assert malformed.startswith("skipped 1 malformed piece of input, the first being ")
    assert "plain.tsv:3: 1 field" in malformed
    assert sorted(left_out) == [
        "edge: 2 rows were left out for a null",
        "json: 1 row was left out for a null",
        "node: 1 row was left out for a null",
        "plain: 1 row was left out for a null",
        "table: 1 row was left out for a null",
    ]
    empty = read_paths(spark, [tmp_path / "edge.csv", tmp_path / "table.parquet"], nulls="empty")
    assert empty.warnings == []
    assert rows_of_read(empty, "edge")[0] == ('""', '"d"')
    assert '""' in [row[0] for row in rows_of_read(empty, "table")]


def test_nulls_in_dataframes(spark: SparkSession) -> None:
    frame = spark.sql("SELECT * FROM VALUES ('a', 1), ('b', NULL), (NULL, 3), ('c', double('NaN')) AS (x, y)")
    kb = KnowledgeBase(parse_program(""), spark=spark)
    with pytest.raises(EverlogError, match=r"the DataFrame for p: the column y is null.*--nulls skip.*\(and 1 more\)"):
        kb.add({"p": frame})
    kb.add({"p": frame}, nulls="skip")
    assert kb.size("p") == 2
    assert kb.materialise().warnings[0] == "p: 2 rows were left out for a null"
    kb.update(add={"p": frame}, nulls="empty")
    assert kb.size("p") == 4
    assert ("", 3.0) in kb.rows("p")

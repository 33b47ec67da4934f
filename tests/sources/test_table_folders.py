"""Folders of parts, partitions and patterns: which files they mean, and what is read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everlog import EverlogError
from everlog.cli.options import check_paths
from everlog.datalog.values import XSD
from everlog.sources.read_facts import read_paths
from everlog.sources.source_files import find_sources
from everlog.sources.table_folders import partition_terms
from support.reads import rows_of_read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def found(folder: Path, *paths: str) -> dict[str | None, tuple[str, list[str], tuple[str, ...]]]:
    """What paths below a folder mean: by predicate the format, the files and the partition columns."""
    nobody: Any = None  # no Spark is needed on this machine
    sources, _ = find_sources(nobody, [folder / path if path else folder for path in paths])
    return {
        source.predicate: (source.format, [os.path.relpath(file, folder) for file in source.files], source.partitions)
        for source in sources
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "edge/part-0.parquet",
        "edge/part-00001-c000.parquet",
        "edge/_SUCCESS",
        "edge/.part-0.parquet.crc",
        "likes/one.csv",
        "likes/two.csv.gz",
        "log/dt=2026-01-01/h=7/a.jsonl",
        "log/dt=2026-01-02/h=12/a.jsonl",
        "log/_temporary/0/x",
        "node.csv",
        "all.nt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def test_a_folder_of_parts_is_named_after_the_predicate(folder: Path) -> None:
    edge = ("parquet", ["edge/part-0.parquet", "edge/part-00001-c000.parquet"], ())
    logs = ["log/dt=2026-01-01/h=7/a.jsonl", "log/dt=2026-01-02/h=12/a.jsonl"]
    everything = {
        None: ("nt", ["all.nt"], ()),
        "edge": edge,
        "likes": ("csv", ["likes/one.csv", "likes/two.csv.gz"], ()),
        "log": ("jsonl", logs, ("dt", "h")),
        "node": ("csv", ["node.csv"], ()),
    }
    assert found(folder, "") == everything
    assert found(folder, "edge") == found(folder, "edge/part-*") == {"edge": edge}
    assert found(folder, "log") == {"log": everything["log"]}
    assert found(folder, "likes") == {
        "one": ("csv", ["likes/one.csv"], ()),
        "two": ("csv", ["likes/two.csv.gz"], ()),
    }, "by itself it is a folder of facts like any other"


def test_partitions_and_patterns_mean_parts_of_their_table(folder: Path) -> None:
    second = {"log": ("jsonl", ["log/dt=2026-01-02/h=12/a.jsonl"], ("dt", "h"))}
    for path in ("log/dt=2026-01-02", "log/dt=2026-01-02/h=12/a.jsonl", "log/dt=*-02/", "log/dt=*-02/*/*.jsonl"):
        assert found(folder, path) == second
    assert found(folder, "log/dt=2026-*/") == found(folder, "log/dt=2026-01-01", "log/dt=*") == found(folder, "log")
    assert list(found(folder, "*.nt", "n*.csv")) == [None, "node"]
    with pytest.raises(EverlogError, match=r"/\*\.ttl: no file or folder matches this pattern"):
        found(folder, "*.ttl")


def test_patterns_of_the_command_line(folder: Path) -> None:
    assert check_paths("--facts", [f"{folder}/[ne]*"]) == [f"{folder}/edge", f"{folder}/node.csv"]
    (folder / "[ne]*").touch()
    assert check_paths("--facts", [f"{folder}/[ne]*"]) == [f"{folder}/[ne]*"]
    with pytest.raises(EverlogError, match=r"^--facts .*/x\*: no file or folder matches this pattern"):
        check_paths("--facts", [f"{folder}/x*"])


@pytest.mark.parametrize(
    ("texts", "terms"),
    [
        (["7", "08", None], [f'"7"^^<{XSD}integer>', f'"8"^^<{XSD}integer>', None]),
        (["7", "0.5"], [f'"7.0E0"^^<{XSD}double>', f'"5.0E-1"^^<{XSD}double>']),
        (["2026-01-01"], [f'"2026-01-01"^^<{XSD}date>']),
        (["2026-01-01", "2026-02-30"], ['"2026-01-01"', '"2026-02-30"']),
        (["7", 'a"b'], ['"7"', r'"a\"b"']),
    ],
)
def test_values_of_partitions_are_of_one_kind(texts: list[str | None], terms: list[str | None]) -> None:
    given = {str(number): (text,) for number, text in enumerate(texts)}
    assert [row for (row,) in partition_terms(given).values()] == terms


def test_partitions_are_last_arguments(spark: SparkSession, tmp_path: Path) -> None:
    for name, text in {
        "likes/dt=2026-01-01/lang=en%20gb/a.csv": "a,b\n",
        "likes/dt=2026-01-02/lang=__HIVE_DEFAULT_PARTITION__/a.csv": 'c,d\n"e\nf",g\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    for h in (9, 10):
        (tmp_path / f"edge/h={h:02}").mkdir(parents=True)
        pq.write_table(pa.table({"x": ["a"], "y": [h]}), tmp_path / f"edge/h={h:02}/0.parquet")

    def rows(**options: Any) -> dict[str, list[tuple[str, ...]]]:
        read = read_paths(spark, [tmp_path], **options)
        assert bool(read.warnings) == (options.get("nulls") == "skip")
        return {name: rows_of_read(read, name) for name in read.arities}

    with pytest.raises(EverlogError, match="the partition column lang is null, and a fact holds no nulls"):
        rows()
    nine, ten = (f'"{h}"^^<{XSD}integer>' for h in (9, 10))
    first, second = (f'"2026-01-0{day}"^^<{XSD}date>' for day in (1, 2))
    edges = sorted([('"a"', nine, nine), ('"a"', ten, ten)])
    assert rows(nulls="skip") == {"edge": edges, "likes": [('"a"', '"b"', first, '"en gb"')]}
    assert rows(nulls="empty")["likes"] == [
        ('"a"', '"b"', first, '"en gb"'),
        ('"c"', '"d"', second, '""'),
        (r'"e\nf"', '"g"', second, '""'),
    ]
    assert rows(partition_columns=False)["edge"] == sorted([('"a"', nine), ('"a"', ten)])


def test_partitions_are_arguments_of_many_lines_too(spark: SparkSession, tmp_path: Path) -> None:
    """More than a kernel is loaded for, so that lines come with a dictionary and partitions without."""
    (tmp_path / "edge/h=1").mkdir(parents=True)
    (tmp_path / "edge/h=1/a.csv").write_text("".join(f"{n},{n % 7}\n" for n in range(20_000)), encoding="utf-8")
    read = read_paths(spark, [tmp_path])
    found = rows_of_read(read, "edge")
    assert len(found) == len(set(found)) == 20_000
    assert {row[2] for row in found} == {f'"1"^^<{XSD}integer>'}

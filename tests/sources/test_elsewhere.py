"""Facts from, and results to, a file system that only Hadoop knows: here a mount table over folders of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everlog import EverlogError, KnowledgeBase, parse_program
from everlog.sources.read_facts import read_paths
from everlog.store.remote_folder import new_remote_folder
from support.command import REACH, done, everlog, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = "viewfs://everlog/data"
_MOUNT = "fs.viewfs.mounttable.everlog.link./data"


@pytest.fixture(scope="module")
def place(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of this machine that is at `HERE`."""
    folder = tmp_path_factory.mktemp("elsewhere")
    spark.conf.set(_MOUNT, folder.as_uri())
    yield folder
    spark.conf.unset(_MOUNT)


def shown(folder: Path) -> list[str]:
    """The names in a folder, without the checksums that Hadoop leaves on a local disk."""
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".crc")


def test_sources_elsewhere(spark: SparkSession, place: Path) -> None:
    written(place / "in" / "edge.csv", "a,b\n")
    written(place / "in" / "likes" / "dt=2026-01-01" / "part-0.csv", "a\n")
    written(place / "in" / "a b.ttl", "<http://a> <http://p> <http://b> .")
    pq.write_table(pa.table({"x": [1]}), place / "in" / "table.parquet")
    (place / "in" / "_SUCCESS").touch()
    read = read_paths(spark, [f"{HERE}/in"])
    counts = read.sizes
    assert counts == {"edge": 1, "likes": 1, "table": 1, "triple": 1}
    assert set(read_paths(spark, [f"{HERE}/in/e*.csv", f"{HERE}/in/likes/dt=*/"]).arities) == {"edge", "likes"}
    with pytest.raises(EverlogError, match=r"/in/\*\.orc: no file or folder matches this pattern"):
        read_paths(spark, [f"{HERE}/in/*.orc"])
    with pytest.raises(EverlogError, match="/none: no such file or folder"):
        read_paths(spark, [f"{HERE}/none"])


def test_tables_that_are_more_than_files(spark: SparkSession, place: Path) -> None:
    """A session without the package for them says so, wherever they are; it would read them otherwise."""
    written(place / "lake" / "edge" / "_delta_log" / "0.json", "{}")
    written(place / "lake" / "edge" / "x.parquet", "")
    for path in (f"{HERE}/lake", f"{HERE}/lake/edge", str(place / "lake")):
        with pytest.raises(
            EverlogError, match="/edge: a table of Delta Lake, which the Spark session cannot read: start"
        ):
            read_paths(spark, [path])
    kb = KnowledgeBase(parse_program(""), spark=spark)
    with pytest.raises(EverlogError, match="a table of Delta Lake"):
        kb.load({"p": f"{HERE}/lake/edge:x,y"})


def test_results_elsewhere(spark: SparkSession, place: Path, tmp_path: Path) -> None:
    program = written(tmp_path / "reach.dlog", REACH)
    facts = written(place / "given" / "edge.csv", "a,b\nb,c\n")
    done("run", program, "--facts", f"{HERE}/given", "--out", f"{HERE}/out/reached")
    assert shown(place / "out") == ["reached"] and shown(place / "out" / "reached") == ["reach.csv"]
    assert (place / "out" / "reached" / "reach.csv").read_text() == "a,b\na,c\nb,c\n"
    refused = everlog("run", program, "--facts", facts, "--out", f"{HERE}/out")
    assert refused.code == 2
    assert f"--out {HERE}/out: there is something already" in refused.err
    done("init", tmp_path / "store", program, "--facts", facts)
    (place / "exported").mkdir()
    done("export", tmp_path / "store", "--out", f"{HERE}/exported")
    assert shown(place / "exported") == ["edge.csv", "reach.csv"]
    assert not [name for name in (*shown(place), *shown(place / "out")) if name.startswith(".")]


def test_addresses_that_lead_nowhere(spark: SparkSession, tmp_path: Path) -> None:
    program = written(tmp_path / "reach.dlog", REACH)
    facts = written(tmp_path / "edge.csv", "a,b\n")
    for address, why in (
        ("hdfs://none.invalid/x", "no machine called none.invalid"),
        ("s3a://b/x", "no S3AFileSystem"),
    ):
        refused = everlog("run", program, "--facts", facts, "--out", address)
        assert refused.code == 1 and f"--out {address}: " in refused.err and why in refused.err
        assert not refused.out


def test_a_failure_leaves_nothing_elsewhere(spark: SparkSession, place: Path) -> None:
    with pytest.raises(ZeroDivisionError), new_remote_folder(spark, f"{HERE}/failed") as folder:
        (folder / "x").touch()
        raise ZeroDivisionError
    assert not [path for path in place.iterdir() if "failed" in path.name]

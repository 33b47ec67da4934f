"""Which start of Spark makes an archive of its classes, and which takes it. Java itself is not started here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from everlog.spark import class_archive
from everlog.spark.class_archive import archive_options

NOBODY = 2**22 + 1
"""No process has this number."""


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "java" / "lib" / "server").mkdir(parents=True)
    (tmp_path / "java" / "lib" / "server" / "classes.jsa").touch()
    (tmp_path / "java" / "bin").mkdir()
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    (tmp_path / "kept").mkdir()
    monkeypatch.setattr(class_archive, "_folder", lambda: tmp_path / "kept")
    return tmp_path / "java" / "bin" / "java"


def test_the_second_start_makes_it_and_later_ones_take_it(java: Path, tmp_path: Path) -> None:
    kept, spark = tmp_path / "kept", tmp_path / "spark"
    assert archive_options(java, spark, True) == []
    assert archive_options(java, spark, False) == [], "it takes too long to end for one that has much to do"
    make, _ = archive_options(java, spark, True)
    assert make.startswith("-XX:ArchiveClassesAtExit=") and make.endswith(".$$.new")
    made = Path(make.partition("=")[2].replace("$$", str(os.getpid())))
    made.write_bytes(b"classes")
    assert archive_options(java, spark, True) == [], "whoever makes it is still there"
    made.rename(made.with_name(made.name.replace(str(os.getpid()), str(NOBODY))))
    (take, _) = archive_options(java, spark, True)
    archive = Path(take.removeprefix("-XX:SharedArchiveFile="))
    assert archive.read_bytes() == b"classes"
    os.utime(spark / "jars", ns=(1, 1))
    assert archive_options(java, spark, True) == [], "another Spark begins again"
    assert not archive.exists()
    assert [file.suffix for file in kept.iterdir()] == [".started"] * 2


def test_one_that_was_never_written_is_none(java: Path, tmp_path: Path) -> None:
    archive_options(java, tmp_path / "spark", True)
    make, _ = archive_options(java, tmp_path / "spark", True)
    empty = Path(make.partition("=")[2].replace("$$", str(NOBODY)))
    empty.touch()
    (started,) = (tmp_path / "kept").glob("*.started")
    started.write_text(str(NOBODY))
    assert archive_options(java, tmp_path / "spark", True) == [], "Java may still be writing"
    os.utime(started, (1, 1))
    assert archive_options(java, tmp_path / "spark", True)[0] == make
    assert not empty.exists()


def test_a_java_without_an_archive_of_its_own_makes_none(java: Path, tmp_path: Path) -> None:
    (tmp_path / "java" / "lib" / "server" / "classes.jsa").unlink()
    assert [archive_options(java, tmp_path / "spark", True) for _ in range(3)] == [[], [], []]


def test_where_nothing_can_be_written_there_is_none(
    java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(class_archive, "_folder", lambda: None)
    assert [archive_options(java, tmp_path / "spark", True) for _ in range(3)] == [[], [], []]

"""A user's mistakes: exit code 2, one clear message, no traceback, nothing written, and no waiting for Spark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.command import REACH, everlog, written

MISTAKES = {
    "missing program": ("run no.dlog", "no.dlog: No such file"),
    "binary program": ("run binary", "binary: not UTF-8"),
    "syntax": ("run wrong.dlog", r"wrong.dlog:1:14: expected .*found"),
    "unsafe": ("run unsafe.dlog", r"unsafe.dlog:1:1: .*\?y"),
    "two programs, two arities": ("run reach.dlog other.dlog", "reach"),
    "missing facts": ("run reach.dlog --facts no.csv", "--facts no.csv: no such file or folder"),
    "full output": ("run reach.dlog --facts edge.csv --out full", "--out full: the folder is not empty"),
    "output is a file": ("run reach.dlog --out edge.csv", "--out edge.csv: there is a file"),
    "output in a file": ("run reach.dlog --out edge.csv/out", "is a file, not a folder"),
    "stats in no folder": ("run reach.dlog --stats no/stats.json", "--stats no/stats.json: there is no folder"),
    "stats is a folder": ("run reach.dlog --stats full", "--stats full: this is a folder"),
    "engine": ("run reach.dlog --engine quantum", "engine='quantum' is not supported"),
    "algorithm": ("init s reach.dlog --algorithm magic", "algorithm='magic' is not supported"),
    "modules": ("init s reach.dlog --modules some", "modules='some' is not supported"),
    "hypertree": ("init s reach.dlog --hypertree some", "hypertree='some' is not supported"),
    "stratification": ("init s reach.dlog --stratification none", "stratification='none' is not supported"),
    "equality": ("init s reach.dlog --equality sometimes", "equality='sometimes' is not supported"),
    "on-error": ("run reach.dlog --on-error ignore", "ignore"),
    "conf": ("run reach.dlog --conf spark.x", "--conf spark.x: give KEY=VALUE"),
    "memory": ("run reach.dlog --memory lots", "--memory lots: give a number and a unit"),
    "init over something": ("init full reach.dlog", "full is not empty"),
    "init over a file": ("init edge.csv reach.dlog", "edge.csv is a file"),
    "stats elsewhere": ("run reach.dlog --stats s3a://b/stats", "--stats s3a://b/stats is on another file system"),
    "init elsewhere": ("init s3a://bucket/x.store reach.dlog", "the store s3a://bucket/x.store is on another file"),
    "update elsewhere": ("update hdfs://nn/s --add edge.csv", "the store hdfs://nn/s is on another file system"),
    "query elsewhere": ("query hdfs://nn/s p(?x)", "the store hdfs://nn/s is on another file system"),
    "export elsewhere": ("export hdfs://nn/s --out x", "the store hdfs://nn/s is on another file system"),
    "no store": ("query nowhere p(?x)", "there is no store at"),
    "a folder that is no store": ("info full", "is no store"),
    "nothing to update": ("update nowhere", "give facts with --add or --delete"),
    "missing update": ("update nowhere --add no.csv", "--add no.csv: no such file"),
    "a profile of no ontology": (
        "update nowhere --add edge.csv --profile RL",
        "--profile says how an ontology becomes rules",
    ),
    "all of RL of no ontology": (
        "update nowhere --add edge.csv --complete --no-owl-thing",
        "--owl-thing and --complete say how an ontology becomes rules: give the ontology with --ontology",
    ),
    "a translation of nothing": ("init s reach.dlog --profile L", "--profile says how an ontology becomes rules"),
    "a schema of nothing": ("run reach.dlog --with-schema", "--with-schema says how an ontology becomes rules"),
    "all pairs of half of RL": (
        "run --ontology x.owl --profile RL --all-pairs",
        "give --profile RL and --complete, too",
    ),
    "rows that only go": ("stream nowhere --delete-source edge=full --op op", "--op and --feed are about rows"),
    "two kinds of export": ("export nowhere --out x --all --derived", "exclude each other"),
    "export to nowhere": ("export nowhere", "--out"),
    "format": ("query nowhere p(?x) --format xml", "xml"),
    "no command": ("materialise", "materialise"),
    "no ontology": ("rules x.owl", "x.owl: no such file"),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program and facts. Spark refuses to start."""

    def refuse(**_: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr("everlog.spark.session.start_session", refuse)
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "reach.dlog", REACH)
    written(tmp_path / "other.dlog", "reach(?x) :- node(?x) .")
    written(tmp_path / "wrong.dlog", "reach(?x) :- , .")
    written(tmp_path / "unsafe.dlog", "reach(?x, ?y) :- node(?x) .")
    written(tmp_path / "edge.csv", "a,b\n")
    written(tmp_path / "full" / "something", "")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    return tmp_path


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(place: Path, name: str) -> None:
    before = [path for path in place.rglob("*")]
    arguments, message = MISTAKES[name]
    ended = everlog(*arguments.split())
    assert ended.code == 2
    said = " ".join(re.sub(r"[│╭╮╰╯─]", " ", ended.err).split())
    assert re.search(message, said) or message in said, said
    assert "Traceback" not in ended.err and not ended.out
    assert [path for path in place.rglob("*")] == before


def test_a_failure_is_one_line_and_exit_code_one(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise OSError(28, "No space left on device", "/somewhere")

    monkeypatch.setattr("everlog.spark.session.start_session", fail)
    ended = everlog("run", "reach.dlog", "--facts", "edge.csv", "--out", "out")
    assert ended.code == 1
    assert ended.err == "everlog: the disk is full; nothing was changed\n"
    assert not (place / "out").exists()


def test_an_unexpected_failure_has_a_traceback_with_verbose_only(place: Path) -> None:
    quiet = everlog("run", "reach.dlog")
    assert quiet.code == 1 and quiet.err.startswith("everlog: AssertionError: Spark was started")
    assert "Traceback" in everlog("run", "reach.dlog", "--verbose").err
    assert not (place / "out").exists()

"""`everlog stream`, until there are no more files."""

from __future__ import annotations

from pathlib import Path

import pytest

import everlog
from support.command import done, written
from support.command import everlog as command


@pytest.mark.usefixtures("spark")
def test_folders_are_followed(tmp_path: Path) -> None:
    kb = everlog.KnowledgeBase("reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .")
    kb.add({"edge": [("a", "b"), ("q", "r")]})
    kb.materialise()
    kb.save(tmp_path / "s.store")
    written(tmp_path / "in" / "1.csv", "to,from,what\nc,b,insert\nd,c,insert\nd,c,delete\n")
    written(tmp_path / "gone" / "1.jsonl", '["q", "r"]\n')
    sources = ["--source", f"edge={tmp_path}/in:from,to", "--delete-source", f"edge={tmp_path}/gone"]
    said = done("stream", tmp_path / "s.store", *sources, "--op", "what", "--once", "--changes", tmp_path / "out")
    assert "batch 0: version 2, 4 rows, 3 facts came and 2 went" in said
    assert said.endswith("is at version 2\n")
    assert everlog.open(tmp_path / "s.store").query("reach(?x, ?y)") == [("a", "b"), ("a", "c"), ("b", "c")]
    assert len((tmp_path / "out" / "000002.jsonl").read_text().splitlines()) == 5


def test_mistakes_are_said_before_spark_starts(tmp_path: Path) -> None:
    assert "say where changes come from" in command("stream", tmp_path).err
    assert "give PREDICATE=TABLE" in command("stream", tmp_path, "--source", "edge").err
    assert "there is no store" in command("stream", tmp_path / "no.store", "--source", "edge=x").err

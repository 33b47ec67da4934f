"""Equality by rewriting on the command line: `init`, `update`, `query`, `export` and `info`."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import done, everlog, files, written

pytestmark = pytest.mark.usefixtures("spark")


def test_a_store_shows_all_names_and_keeps_one(tmp_path: Path) -> None:
    program = written(tmp_path / "keys.dlog", "?x = ?y :- key(?x, ?k), key(?y, ?k) .")
    written(tmp_path / "facts" / "key.csv", "a,1\nb,1\nc,2\n")
    written(tmp_path / "facts" / "p.csv", "b,u\nc,u\n")
    store = tmp_path / "store"
    done("init", store, program, "--facts", tmp_path / "facts", "--equality", "rewrite")
    assert done("query", store, "p(?x, u)", "--format", "csv") == "x\na\nb\nc\n"
    sizes = done("info", store).splitlines()
    assert ["predicate", "arity", "explicit", "derived", "total", "representatives"] in [row.split() for row in sizes]
    assert ["p", "2", "2", "1", "3", "2"] in [row.split() for row in sizes]
    written(tmp_path / "add" / "key.csv", "c,1\n")
    done("update", store, "--add", tmp_path / "add")
    assert done("query", store, "key(?x, 2)", "--format", "csv") == "x\na\nb\nc\n"
    done("export", store, "--out", tmp_path / "one", "--representatives")
    found = files(tmp_path / "one")
    assert (found["facts/p.csv"], found["facts/key.csv"]) == ("a,u\n", "a,1\na,2\n")
    assert found["representatives.csv"] == "b,a\nc,a\n"
    ended = everlog("export", store, "--out", tmp_path / "no", "--representatives", "--derived")
    assert ended.code == 2 and "exclude each other" in ended.err

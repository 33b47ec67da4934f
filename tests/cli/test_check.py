"""`everlog check`: what it says and how it ends; and what other commands say about a store that is damaged."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from everlog.store.versions import Store
from support.command import done, everlog, written

pytestmark = pytest.mark.usefixtures("spark")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, spark: object) -> Path:
    place = tmp_path_factory.mktemp("made")
    program = written(place / "two.dlog", "two(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .")
    done("init", place / "s", program, "--facts", written(place / "facts" / "edge.csv", "a,b\nb,c\n"))
    done("update", place / "s", "--add", written(place / "add" / "edge.csv", "c,d\n"))
    return place / "s"


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "s"))


def files_of(store: Path, version: int) -> list[str]:
    return list(Store.open(store, version).manifest.all_files())


def test_a_whole_store(made: Path) -> None:
    ended = everlog("check", made)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "version 1: whole\nversion 2: whole\nthe newest whole version is 2\n"
    assert done("check", made, "--version", 1) == "version 1: whole\n"


def test_a_damaged_version_and_a_whole_one_before_it(store: Path) -> None:
    file = next(file for file in files_of(store, 2) if file not in files_of(store, 1))
    size = (store / file).stat().st_size
    (store / file).write_bytes(b"short")
    ended = everlog("check", store)
    assert ended.code == 1
    assert ended.out == (
        f"version 1: whole\nversion 2: damaged\n  {file}: has 5 bytes instead of {size:,}\nthe newest whole version is 1\n"
    )
    assert ended.err == (
        f"everlog: the store {store} is damaged: bring the files back from a copy, or go on from version 1 with "
        f"`everlog restore {store} --version 1`\n"
    )
    assert everlog("check", store, "--version", 1).code == 0
    ended = everlog("check", store, "--version", 2)
    assert ended.code == 1 and "version 2: damaged\n" in ended.out and "version 2 of the store" in ended.err
    # The other commands name the file, and older versions are there still.
    for command in (("query", store, "two(?x, ?y)"), ("info", store), ("export", store, "--out", store / "out"),
                    ("update", store, "--add", written(store.parent / "edge.csv", "d,e\n"))):  # fmt: skip
        ended = everlog(*command)
        assert ended.code == 1 and not ended.out
        assert ended.err.count("\n") == 1 and f"{file} of version 2 has 5 bytes instead" in ended.err
    done("export", store, "--out", store.parent / "old", "--version", 1)
    assert (store.parent / "old" / "two.csv").read_text() == "a,c\n"


def test_an_older_version_that_is_damaged_can_be_given_up(store: Path) -> None:
    manifest = store / "manifest" / "000001.json"
    manifest.write_text(manifest.read_text()[:-20])
    ended = everlog("check", store)
    assert ended.code == 1
    assert "version 1: damaged\n  manifest/000001.json: cannot be read" in ended.out
    assert "deleting their manifests in the folder manifest; the newest is whole" in ended.err
    add = written(store.parent / "edge.csv", "d,e\n")
    refused = everlog("update", store, "--add", add)
    assert refused.code == 1 and "manifest/000001.json cannot be read" in refused.err
    manifest.unlink()
    done("update", store, "--add", add)
    assert done("check", store) == "version 2: whole\nversion 3: whole\nthe newest whole version is 3\n"


def test_nothing_is_whole(store: Path) -> None:
    for file in files_of(store, 1):
        (store / file).unlink()
    (store / "CURRENT").write_text("?")
    ended = everlog("check", store)
    assert ended.code == 1
    assert ended.out.startswith("CURRENT: names no version\nversion 1: damaged\n")
    assert ended.out.endswith("no version is whole\n")
    for command in (("info", store), ("query", store, "two(?x, ?y)")):
        ended = everlog(*command)
        assert ended.code == 1 and f"the store {store} is damaged: CURRENT names no version" in ended.err


def test_what_is_no_store_or_no_version_is_a_mistake(made: Path, tmp_path: Path) -> None:
    assert everlog("check", tmp_path / "none").code == 2
    ended = everlog("check", made, "--version", 7)
    assert ended.code == 2 and "has no version 7; it has: 1, 2" in ended.err


def test_a_whole_version_of_a_store_that_does_not_know_its_newest(store: Path) -> None:
    (store / "CURRENT").write_text("?")
    ended = everlog("check", store, "--version", 1)
    assert ended.code == 1
    assert ended.out == "CURRENT: names no version\nversion 1: whole\n"
    assert "is whole, but CURRENT is damaged: bring the files back" in ended.err

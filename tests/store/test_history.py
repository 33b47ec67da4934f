"""Versions over time: going back to one, forgetting old ones, and waiting for another writer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Timer

import pytest

from everlog.errors import EverlogError
from everlog.store.commit import writing
from everlog.store.history import forget_versions, history, ranges, restore_version
from everlog.store.lock import StoreLocked, locked
from everlog.store.manifest import DamagedStore, NoStore, manifest_path, write_manifest
from everlog.store.versions import Store
from support.command import done, everlog
from support.tiny_writer import words, write_word


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store"
    for word in ("one", "two", "three", "four"):
        write_word(path, word)
    return path


def test_versions_know_when_they_were_written(store: Path) -> None:
    known = history(store)
    assert [one.number for one in known] == [1, 2, 3, 4]
    assert all(timedelta() <= datetime.now(UTC) - one.written < timedelta(minutes=5) for one in known)
    assert "2 (" not in done("info", store)
    assert f"{known[-1].written:%Y-%m-%d %H:%M:%S} UTC" in done("info", store)


def test_an_older_version_becomes_the_newest_again(store: Path) -> None:
    assert done("restore", store, "--version", 2) == f"restored: version 2 of {store} is version 5 now\n"
    assert words(store) == words(store, 2) == ["one", "two"]
    assert words(store, 4) == ["one", "two", "three", "four"]
    write_word(store, "five")
    assert words(store) == ["one", "two", "five"]


def test_a_damaged_version_can_be_left(store: Path) -> None:
    newest = Store.open(store).manifest
    (store / list(newest.all_files())[-1]).unlink()
    with pytest.raises(DamagedStore), writing(store):
        pass
    assert restore_version(store, 2) == (5, "")
    assert words(store) == ["one", "two"]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_version_whose_manifest_is_damaged_can_be_left(store: Path, is_there: bool) -> None:
    newest = manifest_path(store, 4)
    newest.write_text("{", encoding="utf-8") if is_there else newest.unlink()
    with pytest.raises(DamagedStore), writing(store):
        pass
    ended = everlog("restore", store, "--version", 2)
    assert (ended.code, ended.out) == (0, f"restored: version 2 of {store} is version 5 now\n")
    assert "warning: manifest/000004.json cannot be read, and was removed: its version is given up" in ended.err
    assert Store.open(store).versions() == [1, 2, 3, 5]
    assert words(store) == ["one", "two"]
    write_word(store, "five")
    assert words(store) == ["one", "two", "five"]
    assert words(store, 3) == ["one", "two", "three"]


def test_a_store_that_does_not_know_its_newest_version_can_go_back(store: Path) -> None:
    (store / "CURRENT").write_text("?", encoding="utf-8")
    assert words(store, 3) == ["one", "two", "three"]
    assert restore_version(store, 3) == (5, "")
    write_word(store, "five")
    assert words(store) == ["one", "two", "three", "five"]
    assert Store.open(store).versions() == [1, 2, 3, 4, 5, 6]


def test_no_version_is_given_up_before_there_is_a_newer_one(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newest = manifest_path(store, 4)
    newest.write_text("{", encoding="utf-8")
    before = set(store.rglob("*"))

    def stop(name: str) -> None:
        if name == "current-written":
            raise RuntimeError("out of luck")

    monkeypatch.setattr("everlog.store.commit.step", stop)
    with pytest.raises(RuntimeError, match="out of luck"):
        restore_version(store, 2)
    assert before == set(store.rglob("*"))


def test_an_older_manifest_that_is_damaged_is_not_given_up(store: Path) -> None:
    manifest_path(store, 3).write_text("{", encoding="utf-8")
    with pytest.raises(DamagedStore, match=r"manifest/000003\.json cannot be read"):
        restore_version(store, 2)
    assert manifest_path(store, 3).exists()


def test_a_version_that_is_damaged_is_not_restored(store: Path) -> None:
    file = store / next(Store.open(store, 1).manifest.all_files())
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(DamagedStore, match="bytes instead of"):
        restore_version(store, 1)
    assert history(store)[-1].number == 4


def test_old_versions_are_forgotten(store: Path) -> None:
    files = sum(1 for file in store.rglob("*") if file.is_file())
    assert forget_versions(store, keep=9) == ([], 0)
    (store / "explicit" / "leftover").write_text("", encoding="utf-8")
    assert done("vacuum", store, "--keep", 9) == "removed: 1 file\n"
    said = done("vacuum", store, "--keep", 2)
    assert said.startswith("removed: 2 versions (1–2) with ")
    assert Store.open(store).versions() == [3, 4]
    assert words(store) == ["one", "two", "three", "four"]
    with pytest.raises(NoStore, match="has no version 2; it has versions 3–4"):
        Store.open(store, 2)
    assert sum(1 for file in store.rglob("*") if file.is_file()) < files
    write_word(store, "five")
    assert Store.open(store).versions() == [3, 4, 5]


def test_old_versions_are_forgotten_by_age(store: Path) -> None:
    old = (datetime.now(UTC) - timedelta(days=40)).isoformat(timespec="seconds")
    for version in (1, 2):
        manifest = Store.open(store, version).manifest
        manifest_path(store, version).write_text(write_manifest(replace(manifest, written=old)), encoding="utf-8")
    assert forget_versions(store, days=50) == ([], 0)
    assert forget_versions(store, days=30)[0] == [1, 2]
    assert done("vacuum", store, "--days", 0).startswith("removed: 1 version (3)")
    assert words(store) == ["one", "two", "three", "four"]


def test_nothing_is_forgotten_where_the_newest_version_is_not_whole(store: Path) -> None:
    """Older versions may be all that is left."""
    newest = Store.open(store).manifest
    (store / list(newest.all_files())[-1]).unlink()
    before = sorted(store.rglob("*"))
    for options in ({"keep": 1}, {"days": 0.0}):
        with pytest.raises(DamagedStore, match="is missing"):
            forget_versions(store, **options)  # type: ignore[arg-type]
    manifest_path(store, 4).unlink()
    with pytest.raises(DamagedStore, match="is missing, and CURRENT names version 4"):
        forget_versions(store, days=0.0)
    assert sorted(store.rglob("*")) == [path for path in before if path != manifest_path(store, 4)]


def test_nothing_is_forgotten_while_it_is_not_known_which_files_are_needed(store: Path) -> None:
    manifest_path(store, 3).write_text("{", encoding="utf-8")
    with pytest.raises(DamagedStore):
        forget_versions(store, keep=2)
    assert sorted(words(store, 1)) == ["one"]


def test_a_version_that_comes_while_the_lock_is_waited_for_stays(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = locked

    @contextmanager
    def waiting(path: Path, wait: float) -> Iterator[None]:
        write_word(store, "five")
        with lock(path, wait):
            yield

    monkeypatch.setattr("everlog.store.history.locked", waiting)
    assert forget_versions(store, days=0.0)[0] == [1, 2, 3, 4]
    assert words(store) == ["one", "two", "three", "four", "five"]


@pytest.mark.parametrize(
    "options",
    [{}, {"days": float("nan")}, {"days": float("inf")}, {"keep": 2, "days": 1.0}, {"keep": 0}, {"days": -1.0}],
)
def test_what_stays_must_be_said(store: Path, options: dict[str, float]) -> None:
    with pytest.raises(EverlogError, match="versions"):
        forget_versions(store, **options)  # type: ignore[arg-type]
    assert Store.open(store).versions() == [1, 2, 3, 4]


def test_another_writer_is_waited_for(store: Path) -> None:
    with locked(store):
        ended = everlog("vacuum", store, "--keep", 1)
        assert ended.code == 3 and "is being written by process" in ended.err
        with pytest.raises(StoreLocked):
            restore_version(store, 1, wait=0.01)
    other = locked(store)
    other.__enter__()
    Timer(0.05, lambda: other.__exit__(None, None, None)).start()
    assert restore_version(store, 1, wait=60) == (5, "")


def test_a_writer_on_another_machine_is_waited_for(store: Path) -> None:
    """Nobody holds its lock here, but the text names it."""
    (store / "LOCK").write_text('{"pid": 1, "host": "elsewhere.example", "command": "everlog update", "time": "now"}')
    with pytest.raises(StoreLocked, match=r"process 1 on elsewhere.example .* if that process is gone, delete"):
        restore_version(store, 1, wait=0.01)
    Timer(0.05, (store / "LOCK").unlink).start()
    assert restore_version(store, 1, wait=60) == (5, "")


def test_numbers_in_ranges() -> None:
    assert ranges([1, 2, 3, 5, 7, 8]) == "1–3, 5, 7–8"

"""The store without Spark: versions, the lock, crashes at every step, and what is no store."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from everlog.errors import EverlogError
from everlog.store.commit import STEPS, check_place, making, writing
from everlog.store.lock import LOCK, StoreLocked
from everlog.store.manifest import FORMAT, DamagedStore, Manifest, NewerStore, NoStore
from everlog.store.versions import Store
from support.tiny_writer import words, write_word

WRITER = Path(__file__).resolve().parents[1] / "support" / "tiny_writer.py"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def run_writer(store: Path, word: str, crash_at: str) -> int:
    environment = {**os.environ, "EVERLOG_CRASH_AT": crash_at}
    return subprocess.run([sys.executable, WRITER, store, word], env=environment, check=False).returncode


def files_on_disk(store: Path) -> set[str]:
    kept = {"CURRENT", LOCK}
    return {file.relative_to(store).as_posix() for file in store.rglob("*") if file.is_file()} - kept


def named_files(store: Path) -> set[str]:
    versions = Store.open(store).versions()
    manifests = {f"manifest/{version:06d}.json" for version in versions}
    data = (Store.open(store, version).manifest.files.values() for version in versions)
    return manifests | {file for files in data for names in files for file in names}


# Versions


def test_every_version_can_be_opened(store: Path) -> None:
    for word in ("one", "two", "three"):
        write_word(store, word)
    assert Store.open(store).versions() == [1, 2, 3]
    assert words(store) == ["one", "two", "three"]
    assert words(store, 1) == ["one"]


def test_versions_share_files(store: Path) -> None:
    write_word(store, "one")
    before = files_on_disk(store)
    write_word(store, "two")
    assert before < files_on_disk(store)
    assert len(files_on_disk(store) - before) == 2  # a manifest and a word
    assert files_on_disk(store) == named_files(store)


def test_a_store_can_be_moved(store: Path) -> None:
    write_word(store, "one")
    moved = store.rename(store.with_name("elsewhere"))
    write_word(moved, "two")
    assert words(moved) == ["one", "two"]


# Failures


def test_an_error_leaves_the_old_version_and_no_files(store: Path) -> None:
    write_word(store, "one")
    before = files_on_disk(store)
    with pytest.raises(RuntimeError, match="out of luck"), writing(store) as writer:
        folder = writer.folder("derived")
        folder.mkdir()
        (folder / "part.parquet").touch()
        raise RuntimeError("out of luck")
    assert files_on_disk(store) == before
    assert words(store) == ["one"]


@pytest.mark.parametrize("existed", [False, True])
def test_an_error_leaves_no_new_store(store: Path, existed: bool) -> None:
    if existed:
        store.mkdir()
    with pytest.raises(KeyboardInterrupt), making(store) as writer:
        writer.folder("explicit").mkdir()
        raise KeyboardInterrupt
    assert store.exists() == existed
    assert not existed or not list(store.iterdir())


def test_a_full_disk_is_one_clear_line(store: Path) -> None:
    write_word(store, "one")
    with pytest.raises(EverlogError, match="could not be written: No space left on device"), writing(store):
        raise OSError(28, "No space left on device", "some/file")
    assert words(store) == ["one"]


# Crashes


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_while_updating(store: Path, step: str) -> None:
    write_word(store, "old")
    assert run_writer(store, "new", step) == 9
    finished = step == "current-named"
    kept = ["old", "new"] if finished else ["old"]
    assert words(store) == kept
    assert Store.open(store).versions() == list(range(1, len(kept) + 1))
    write_word(store, "next")
    assert words(store) == [*kept, "next"]
    assert files_on_disk(store) == named_files(store)


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_while_making(store: Path, step: str) -> None:
    assert run_writer(store, "first", step) == 9
    finished = step == "current-named"
    if finished:
        assert words(store) == ["first"]
    else:
        with pytest.raises(NoStore, match="never finished"):
            Store.open(store)
    write_word(store, "next")
    assert words(store) == (["first", "next"] if finished else ["next"])
    assert files_on_disk(store) == named_files(store)


def test_no_step_is_passed_unnoticed(store: Path) -> None:
    """Without this, a step that nothing reaches would make its crash tests pass for the wrong reason."""
    assert run_writer(store, "word", "no such step") == 0


# The lock


def test_the_second_of_two_writers_learns_who_the_first_is(store: Path) -> None:
    write_word(store, "one")
    command = [sys.executable, str(WRITER), str(store), "two", "wait"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdin is not None and first.stdout is not None
        first.stdout.readline()
        with pytest.raises(StoreLocked) as refusal:
            write_word(store, "three")
        message = str(refusal.value)
        assert f"process {first.pid} on {socket.gethostname()}" in message
        assert "tiny_writer.py" in message and " two wait" in message
        assert words(store) == ["one"], "readers do not wait"
        first.stdin.close()
    assert words(store) == ["one", "two"]
    write_word(store, "three")
    assert words(store) == ["one", "two", "three"]


def test_two_makers(store: Path) -> None:
    with making(store) as writer:
        with pytest.raises(StoreLocked), making(store):
            pass
        writer.commit(Manifest(writer.version, "", {}, {}))
    assert Store.open(store).manifest.version == 1


def test_a_lock_of_a_dead_process_is_taken_over(store: Path) -> None:
    write_word(store, "one")
    assert run_writer(store, "two", "locked") == 9
    assert json.loads((store / LOCK).read_text())["host"] == socket.gethostname()
    write_word(store, "three")
    assert words(store) == ["one", "three"]
    assert (store / LOCK).read_text() == ""


def test_a_lock_of_another_machine_is_believed(store: Path) -> None:
    write_word(store, "one")
    owner = {"pid": 7, "host": "elsewhere", "command": "everlog update s", "time": "2030-01-01T00:00:00+00:00"}
    (store / LOCK).write_text(json.dumps(owner))
    with pytest.raises(StoreLocked, match=r"process 7 on elsewhere since 2030.*everlog update s.*delete .*LOCK"):
        write_word(store, "two")
    (store / LOCK).unlink()
    write_word(store, "two")


# What is no store


def test_no_store_at_all(store: Path, tmp_path: Path) -> None:
    with pytest.raises(NoStore, match="there is no store at"):
        Store.open(store)
    (tmp_path / "file").touch()
    with pytest.raises(NoStore, match="is no store: it has no file CURRENT"):
        Store.open(tmp_path / "file")
    with pytest.raises(NoStore, match="is no store: it has no file CURRENT"):
        Store.open(tmp_path)
    with pytest.raises(NoStore, match="there is no store at"), writing(store):
        pass


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("CURRENT", "soon", "CURRENT names no version"),
        ("CURRENT", "", "CURRENT names no version"),
        ("CURRENT", "000000", "CURRENT names no version"),
        ("CURRENT", "-00001", "CURRENT names no version"),
        ("CURRENT", "000002", "manifest/000002.json is missing, and CURRENT names version 2"),
        ("manifest/000001.json", "", "manifest/000001.json cannot be read"),
        ("manifest/000001.json", "{", "manifest/000001.json cannot be read"),
        ("manifest/000001.json", "[" * 100_000, "manifest/000001.json cannot be read"),
        ("manifest/000001.json", "[]", "manifest/000001.json is no manifest"),
        ("manifest/000001.json", '{"everlog": "store", "format": 1}', "manifest/000001.json has no field 'version'"),
    ],
)
def test_a_damaged_store(store: Path, file: str, text: str, message: str) -> None:
    write_word(store, "one")
    (store / file).write_text(text)
    before = files_on_disk(store)
    for action in (lambda: Store.open(store), lambda: write_word(store, "two")):
        with pytest.raises(DamagedStore, match=rf"{message}.*`everlog check \S*` says which versions are whole"):
            action()
    assert files_on_disk(store) == before, "nothing is cleaned up"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"news": 1}, "'news' is not known"),
        ({"version": 2}, "is the manifest of version 2"),
        ({"version": "1"}, "version is '1', which is no int"),
        ({"program": None}, "program is None, which is no str"),
        ({"arities": {"word": True}}, "arities of word is True, which is no int"),
        ({"options": []}, r"options is \[\], which is no dict"),
        ({"explicit": [{"added": {"word": {"files": "part", "rows": 1}}, "deleted": {}}]}, "files is 'part'"),
        ({"explicit": [{"added": {"word": {"files": [], "rows": "1"}}, "deleted": {}}]}, "rows is '1'"),
        ({"explicit": [{"added": {"word": {"files": [], "rows": 1}}, "deleted": {}}]}, "0 files have 1 rows"),
        ({"explicit": [{"added": {}}]}, "has no field 'deleted'"),
        ({"counts": {"word": 1}}, "counts of word is 1, which is no dict"),
        ({"fingerprints": {"part": {"size": 1, "crc32": ""}}}, "has no field 'end'"),
    ],
)
def test_a_manifest_that_says_what_it_cannot(store: Path, changes: dict[str, object], message: str) -> None:
    """Of format 1, which has no checksum; with one, the checksum says so."""
    write_word(store, "one")
    manifest = store / "manifest" / "000001.json"
    data = {**json.loads(manifest.read_text()), **changes}
    manifest.write_text(json.dumps(data))
    with pytest.raises(DamagedStore, match=r"manifest/000001.json is not as it was written: its checksum is another"):
        Store.open(store)
    manifest.write_text(json.dumps({**data, "format": 1}))
    with pytest.raises(DamagedStore, match=rf"manifest/000001.json .*{message}"):
        Store.open(store)


def test_any_other_byte_in_a_manifest_is_noticed(store: Path) -> None:
    write_word(store, "one")
    manifest = store / "manifest" / "000001.json"
    whole = manifest.read_bytes()
    expected = Store.open(store).manifest
    for place in range(len(whole)):
        manifest.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            assert Store.open(store).manifest == expected  # white space
        except (DamagedStore, NewerStore):
            continue
        assert whole[place : place + 1].isspace(), whole[place - 9 : place + 9]


def test_a_store_of_a_newer_format(store: Path) -> None:
    write_word(store, "one")
    manifest = store / "manifest" / "000001.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "format": FORMAT + 1, "news": []}))
    with pytest.raises(NewerStore, match=f"has format {FORMAT + 1}, .* up to {FORMAT}: upgrade Everlog"):
        Store.open(store)
    with pytest.raises(NewerStore):
        write_word(store, "two")


@pytest.mark.parametrize("version", [0, 2, -1])
def test_a_version_that_is_not_there(store: Path, version: int) -> None:
    write_word(store, "one")
    with pytest.raises(NoStore, match=f"has no version {version}; it has version 1"):
        Store.open(store, version)


def test_places_for_a_new_store(store: Path, tmp_path: Path) -> None:
    check_place(store)
    store.mkdir()
    check_place(store)
    write_word(store, "one")
    with pytest.raises(NoStore, match=r"there is a store at .* already, of version 1"):
        check_place(store)
    with pytest.raises(NoStore, match="is not empty and holds no store"):
        check_place(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(NoStore, match="is a file"):
        check_place(tmp_path / "file")

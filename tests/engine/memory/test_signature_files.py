"""Processes that compile the same kernel at the same time keep both, and do not compile the same twice."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

from everlog.engine.memory.kernels import signature_files
from everlog.engine.memory.kernels.signature_files import SignatureFiles, keep_in_signature_files
from everlog.engine.memory.kernels.table_kernels import admit

Calls = Callable[[], object]


class Slow:
    """Something that is written to a file, while something else is going on."""

    def __init__(self, name: str, meanwhile: Calls = lambda: None) -> None:
        self.name = name
        self._meanwhile = meanwhile

    def __repr__(self) -> str:
        return repr(self.name)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        self._meanwhile()
        return str, (self.name,)


def files(folder: Path, stamp: object = "source", how: str = "") -> SignatureFiles:
    return SignatureFiles(str(folder), "kernel", stamp, how)


def test_two_that_compile_for_different_arguments_keep_both(tmp_path: Path) -> None:
    """One is about to write its code when the other, which began before, keeps its own."""
    began, wrote_index, done = Event(), Event(), Event()

    def in_between() -> None:
        began.set()
        wrote_index.wait(0.3)

    def about_to_write() -> None:
        wrote_index.set()
        assert done.wait(10)

    def second() -> None:
        files(tmp_path).save(Slow("integers", in_between), "code for integers")
        done.set()

    other = Thread(target=second)
    other.start()
    began.wait(0.3)
    files(tmp_path).save("doubles", Slow("code for doubles", about_to_write))
    other.join()
    reader = files(tmp_path)
    assert [reader.load(key) for key in ("doubles", "integers")] == ["code for doubles", "code for integers"]


def test_who_needs_what_another_one_compiles_waits_for_it(tmp_path: Path) -> None:
    one, other, found = files(tmp_path), files(tmp_path), list[Any]()
    assert one.load("key") is None
    waiting = Thread(target=lambda: found.append(other.load("key")))
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    one.save("key", "code")
    waiting.join(10)
    assert found == ["code"]
    assert [file.suffix for file in tmp_path.iterdir()] == [".nbc"], "locks are gone"


def test_nobody_waits_for_a_process_that_died(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0 if files(tmp_path).load("key") is None else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert files(tmp_path).load("key") is None


def test_nobody_waits_for_ever_nor_for_itself(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(signature_files, "PATIENCE", 0.0)
    stuck = files(tmp_path)
    assert stuck.load("key") is None
    assert files(tmp_path).load("key") is None, "it compiles by itself"
    assert stuck.load("key") is None, "so does who could not compile it"


def test_what_an_older_source_has_left_is_neither_found_nor_kept(tmp_path: Path) -> None:
    files(tmp_path, "older").save("key", "older code")
    newer = files(tmp_path, "newer")
    assert newer.load("key") is None
    newer.save("key", "newer code")
    assert newer.load("key") == "newer code"
    assert len(list(tmp_path.iterdir())) == 1


def test_what_was_compiled_in_another_way_is_of_an_older_source(tmp_path: Path) -> None:
    files(tmp_path, how="counting").save("key", "slower code")
    assert files(tmp_path, how="counting").load("key") == "slower code"
    assert files(tmp_path, how="without").load("key") is None


def test_kernels_are_kept_so() -> None:
    assert isinstance(admit._cache._cache_file, SignatureFiles)
    keep_in_signature_files(len)  # as where Numba compiles nothing, and kernels are functions

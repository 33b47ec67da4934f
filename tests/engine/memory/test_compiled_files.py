"""Compiled kernels are kept where one can write, also in an installation that is read-only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from everlog.engine.memory.kernels import compiled_files
from everlog.engine.memory.kernels.compiled_files import can_write_to_one_of, place_for_files


def test_numba_finds_a_place_by_itself() -> None:
    assert place_for_files() == ""


def test_where_nothing_can_be_written_a_temporary_folder_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert not can_write_to_one_of([tmp_path / "file" / "folder"])  # root may write to any folder, but not to this
    monkeypatch.setattr(compiled_files, "can_write_to_one_of", lambda folders: False)
    monkeypatch.setattr(compiled_files.tempfile, "tempdir", str(tmp_path))
    place = place_for_files()
    assert place == str(tmp_path / f"everlog-kernels-{os.getuid()}")
    assert f"compiled kernels are kept in {place}; set NUMBA_CACHE_DIR" in capsys.readouterr().err
    assert can_write_to_one_of([Path(place)])

"""`script/bench lubm`: files of universities, or a clear message."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.command import main


@pytest.mark.usefixtures("spark")
def test_universities_are_written_to_a_new_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lubm", "--universities", "1", "--seed", "3", "--out", str(tmp_path / "data")]) == 0
    said = capsys.readouterr().out
    (file,) = (tmp_path / "data").iterdir()
    assert file.name == "universities-00000.nt"
    assert f"{file.read_bytes().count(10):,} triples" in said
    assert main(["lubm", "--out", str(tmp_path / "data")]) == 2
    assert "not empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["lubm", "--universities", "0"], ["run", "pipeline", "--rows", "none"], ["run", "compute", "--rows", "none"]],
)
def test_nonsense_is_a_mistake(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert not list(tmp_path.iterdir())

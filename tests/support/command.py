"""Runs the command in this process, on the session of the tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from everlog.cli.main import app

REACH = "reach(?x, ?y) :- edge(?x, ?y) .\nreach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .\n"


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


def everlog(*arguments: object) -> Ended:
    """Runs `everlog` with arguments."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return Ended(result.exit_code, result.stdout, result.stderr)


def done(*arguments: object) -> str:
    """Runs `everlog`, which succeeds, and gives its output."""
    ended = everlog(*arguments)
    assert ended.code == 0, ended.err + ended.out
    return ended.out


def written(path: Path, text: str) -> Path:
    """The path, with a file there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def files(folder: Path) -> dict[str, str]:
    """The files of a folder with what they hold."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in found}

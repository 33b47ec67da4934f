"""Malformed input: what is wrong, in which file and line; raised, or kept aside in a quarantine folder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from everlog.errors import EverlogError

OPEN_QUOTE = "a quoted field does not end"
"""The reason of a line where a quote opens that a later one may close."""

_LONGEST_TEXT = 10_000
_UNREADABLE = "cannot be read: "


class SourceMistake(EverlogError):
    """Input that cannot be read; the message starts with the file and, where there is one, the line."""

    def __init__(self, message: str, file: str | None = None) -> None:
        super().__init__(message)
        self.file = file


@dataclass(frozen=True)
class Problem:
    """A line, a row or a file that holds no facts. `line` counts from 1; None where the place is not known."""

    file: str
    line: int | None
    reason: str
    text: str = ""

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.reason}"

    @property
    def is_of_file(self) -> bool:
        """Whether it is one of the whole file, which may have given some facts before."""
        return self.line is None and self.reason.startswith(_UNREADABLE)

    def to_json(self) -> str:
        shortened = {**asdict(self), "text": self.text[:_LONGEST_TEXT]}
        return json.dumps(shortened, ensure_ascii=False)


def cannot_be_read(file: str, mistake: BaseException) -> Problem:
    """The problem of a file that the operating system, or what unpacks it, refuses."""
    return Problem(file, None, f"{_UNREADABLE}{getattr(mistake, 'strerror', None) or mistake}")


def problems_to_json(problems: Iterable[Problem]) -> str:
    """Problems as one text of JSON lines."""
    return "\n".join(problem.to_json() for problem in problems)


def problems_from_json(text: str) -> list[Problem]:
    """The other way round."""
    return [Problem(**json.loads(line)) for line in text.split("\n")]


def write_quarantine(folder: Path, problems: Iterable[Problem]) -> Path:
    """Writes problems as JSON lines to a new file of the folder, which is made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        number = 1
        while (file := folder / f"skipped-{number:04}.jsonl").exists():
            number += 1
        with file.open("x", encoding="utf-8", errors="backslashreplace") as out:
            out.writelines(problem.to_json() + "\n" for problem in problems)
    except OSError as failure:
        raise SourceMistake(f"{folder}: what was skipped cannot be written there: {failure.strerror}") from failure
    return file

"""Rule files as one program: the union of what they say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from everlog.datalog.program_union import union
from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Program
from everlog.errors import EverlogError


def read_programs(paths: Sequence[Path]) -> Program:
    """The union of the programs in files."""
    return union(*(parse_program(text_of(path), str(path)) for path in paths))


def text_of(path: Path) -> str:
    """The text of a rule file."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as mistake:
        raise EverlogError(f"{path}: not UTF-8 text (byte {mistake.start}); is this a rule file?") from None
    except OSError as mistake:
        raise EverlogError(f"{path}: {mistake.strerror}") from None

"""The documentation is true: its Python runs, and its commands parse."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from support.command import done

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.usefixtures("spark")
def test_the_worked_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / "spark-sql.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 6
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/spark-sql.md", "exec"), names)


def test_commands_name_options_that_there_are() -> None:
    text = (DOCS / "commands.md").read_text()
    commands = re.findall(r"^(?:\$ )?(everlog (?:run|init|update|query|export|info) .*)$", text, re.MULTILINE)
    assert len(commands) > 8
    for command in commands:
        words = shlex.split(re.sub(r"[\[\]|…]", " ", command).replace("PROGRAM…", "PROGRAM"))
        help_text = done(words[1], "--help")
        for option in (word for word in words if word.startswith("--")):
            assert option in help_text, f"{option} in: {command}"

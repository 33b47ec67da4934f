"""What can be seen without doing anything: help, versions, and a quick start."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.command import done

COMMANDS = ("run", "init", "update", "query", "serve", "explain", "export", "info", "check")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    text = done(command, "--help")
    assert f"Example: everlog {command} " in text


def test_the_commands_are_listed() -> None:
    text = done("--help")
    assert all(f" {command} " in text for command in COMMANDS)


def test_the_version_is_shown() -> None:
    assert done("--version").startswith("everlog ")


def test_starting_imports_nothing_heavy() -> None:
    check = (
        "import sys, everlog.cli.main; print({'pyspark', 'numba', 'pyarrow', 'numpy', 'pydantic'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "set()"

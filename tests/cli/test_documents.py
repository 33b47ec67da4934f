"""The documentation is true: its Python runs, and its commands parse."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from everlog import parse_program
from support.command import done, written

DOCS = Path(__file__).resolve().parents[2] / "docs"


def run_blocks(path: Path) -> int:
    """Runs the Python of a page, one block after the other, and says how many there are."""
    blocks = re.findall(r"^```python\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(path), "exec"), names)
    return len(blocks)


@pytest.mark.usefixtures("spark")
def test_the_worked_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_blocks(DOCS / "spark-sql.md") >= 6


@pytest.mark.usefixtures("spark")
def test_python_in_the_readme_and_about_ontologies_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "data" / "edge.csv", "g,h\n")
    assert run_blocks(DOCS.parent / "README.md") == 3
    ub = "http://ub.org/"
    written(tmp_path / "univ-bench.owl", f"Prefix(:=<{ub}>) Ontology(SubClassOf(:Student :Person))")
    written(tmp_path / "data.nt", f"<{ub}x> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{ub}Student> .\n")
    assert run_blocks(DOCS / "ontologies.md") == 1


@pytest.mark.usefixtures("spark")
def test_the_page_about_streams_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_blocks(DOCS / "streaming.md") == 6


def test_rules_for_those_who_come_from_souffle_are_read() -> None:
    rules = re.findall(r"^\|.*\| `(.*? \.)`.* \|$", (DOCS / "from-souffle.md").read_text(), re.MULTILINE)
    assert len([parse_program(rule) for rule in rules]) >= 6


def test_commands_name_options_that_there_are() -> None:
    text = (DOCS / "commands.md").read_text()
    commands = re.findall(
        r"^(?:\$ )?(everlog (?:run|init|update|stream|query|serve|export|info|diff|rules|ontology) .*)$",
        text,
        re.MULTILINE,
    )
    assert len(commands) > 8
    for command in commands:
        words = shlex.split(re.sub(r"[\[\]|…]", " ", command).replace("PROGRAM…", "PROGRAM"))
        help_text = done(words[1], "--help")
        for option in (word for word in words if word.startswith("--")):
            assert option in help_text, f"{option} in: {command}"

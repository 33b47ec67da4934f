"""Progress: on a terminal or in a notebook the steps, strata and rounds; in a pipe nothing."""

from __future__ import annotations

import sys
from io import StringIO

import pytest
from rich.console import Console

from everlog import EverlogError, KnowledgeBase, parse_program
from everlog.knowledge.progress_display import ProgressDisplay


def screen(terminal: bool) -> Console:
    return Console(file=StringIO(), force_terminal=terminal, width=120, color_system=None)


def shown(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def work(console: Console) -> None:
    with ProgressDisplay(console) as progress:
        progress.step("reading facts")
        progress.step("materialising")
        for number, new in enumerate((1000, 500, 0), 1):
            progress.round(2, number, new)
        progress.step("checking files")
        progress.files(3, 1200)


def test_a_terminal_shows_steps_strata_and_rounds() -> None:
    console = screen(terminal=True)
    work(console)
    assert "reading facts" in shown(console)
    assert "stratum 2, round 3: 1,500 facts" in shown(console)
    assert "1,200 files" in shown(console)


def test_a_pipe_shows_nothing() -> None:
    console = screen(terminal=False)
    work(console)
    assert shown(console) == ""


def test_a_step_that_failed_is_not_shown_as_done() -> None:
    console = screen(terminal=True)
    with pytest.raises(ZeroDivisionError), ProgressDisplay(console) as progress:
        progress.step("doomed")
        raise ZeroDivisionError
    assert " s\n" not in shown(console)


REACH = "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) . edge(1, 2) . edge(2, 3) ."


def test_a_knowledge_base_shows_what_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    console = screen(terminal=True)
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    KnowledgeBase(parse_program(REACH), engine="memory").materialise(progress=True)
    assert shown(console) == "", "nobody looks at standard error"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    kb = KnowledgeBase(parse_program(REACH), engine="memory")
    kb.materialise(progress=True)
    kb.update(add={"edge": [(3, 4)]}, progress=True)
    assert "materialising" in shown(console) and "stratum 2, round 2: " in shown(console)
    assert "updating" in shown(console)


def test_a_notebook_is_shown_it_too() -> None:
    console = Console(file=StringIO(), force_terminal=False, force_jupyter=True)
    assert not console.is_terminal and console.is_jupyter
    assert ProgressDisplay(console).is_shown


def test_a_function_is_called_and_nothing_else_is_taken() -> None:
    rounds: list[tuple[int, int, int]] = []
    kb = KnowledgeBase(parse_program(REACH), engine="memory")
    with pytest.raises(
        EverlogError, match="progress='yes' means nothing: give True to see what happens, or a function"
    ):
        kb.materialise(progress="yes")  # type: ignore[arg-type]
    kb.materialise(progress=lambda *told: rounds.append(told))
    assert rounds
    with pytest.raises(EverlogError, match="progress=1 means nothing"):
        kb.update(progress=1)  # type: ignore[arg-type]
    kb.update(progress=False)

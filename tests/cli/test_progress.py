"""Progress: on a terminal the steps, strata and rounds; in a pipe nothing."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from everlog.cli.progress import Progress


def screen(terminal: bool) -> Console:
    return Console(file=StringIO(), force_terminal=terminal, width=120, color_system=None)


def shown(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def work(console: Console) -> None:
    with Progress(console) as progress:
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
    with pytest.raises(ZeroDivisionError), Progress(console) as progress:
        progress.step("doomed")
        raise ZeroDivisionError
    assert " s\n" not in shown(console)

"""Progress for people: the step that runs, strata and rounds with the facts so far, on a terminal or in a notebook.

The command line shows it always, a knowledge base with `progress=True`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING

from everlog.engine.backend import Progress
from everlog.errors import EverlogError
from everlog.wording import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status


class ProgressDisplay(AbstractContextManager["ProgressDisplay"]):
    """Used with `with`. Finished steps stay on the screen with their time; in a pipe nothing is written at all."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or _console()
        self._status: Status | None = None
        self._step = ""
        self._began = 0.0
        self._facts = 0
        self._detail = ""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._finish(whole=kind is None)
        if self._status is not None:
            self._status.stop()
            self._status = None

    @property
    def is_shown(self) -> bool:
        """Whether there is a terminal or a notebook."""
        return self._console is not None and (self._console.is_terminal or self._console.is_jupyter)

    def step(self, name: str) -> None:
        """The next step begins."""
        if self._console is None or not self.is_shown:
            return
        self._finish(whole=True)
        self._step, self._began, self._facts, self._detail = name, perf_counter(), 0, ""
        if self._status is None:
            self._status = self._console.status(name)
            self._status.start()
        else:
            self._status.update(name)

    def round(self, stratum: int, number: int, new: int) -> None:
        """A round of reasoning is done."""
        if self._status is None:
            return
        self._facts += new
        self._detail = f"stratum {stratum}, round {number}: {counted(self._facts, 'fact')}"
        self._status.update(f"{self._step} · {self._detail}")

    def files(self, done: int, total: int) -> None:
        """Some of the files that a step reads are done."""
        if self._status is None:
            return
        self._detail = counted(total, "file")
        self._status.update(f"{self._step} · {done:,} of {total:,}")

    def _finish(self, whole: bool) -> None:
        if self._step and whole and self._console is not None:
            detail = f"   {self._detail}" if self._detail else ""
            self._console.print(
                f"[dim]{self._step:<34}{perf_counter() - self._began:>7.1f} s{detail}[/dim]", highlight=False
            )
        self._step = ""


def _console() -> Console | None:
    """Standard error, if somebody may be looking at it; else nothing is loaded that could write to it."""
    is_forced = any(name in os.environ for name in ("FORCE_COLOR", "TTY_COMPATIBLE"))
    if not (is_forced or "IPython" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())):
        return None
    from rich.console import Console

    return Console(stderr=True)


@contextmanager
def telling(progress: Progress | bool | None, step: str) -> Iterator[Progress | None]:
    """A block in which rounds are told to a function, shown (`True`), or neither (`False`, None)."""
    if progress is True:
        with ProgressDisplay() as display:
            display.step(step)
            yield display.round
    elif progress is None or progress is False or callable(progress):
        yield progress or None
    else:
        raise EverlogError(
            f"progress={progress!r} means nothing: give True to see what happens, or a function that takes the stratum, "
            "the round in it, and how many facts are new"
        )

"""Kernels are compiled when they are first called, unless this machine has run them before: then they are loaded.

Compiling takes seconds, and loading milliseconds. So a program waits for what it needs and for no other kernel; that it
waits is said once where somebody reads it, on a terminal or in a notebook; and reports tell how long it was, apart from the
reasoning, whose first rules would seem slow otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from time import perf_counter
from typing import Any, Final

from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from everlog import clock, interrupts

_OURS: Final = "everlog."


class _Watch(event.Listener):
    """Leaves out the seconds in which Numba compiles kernels of ours; it compiles one at a time, with what that calls."""

    def __init__(self) -> None:
        self._depth = 0
        self._since = 0.0

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            if not event.data["dispatcher"].py_func.__module__.startswith(_OURS):
                return
            _say_that_it_takes_long()
            self._since = perf_counter()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        if self._depth > 0:
            self._depth -= 1
            if self._depth == 0:
                clock.leave_out(perf_counter() - self._since)

    def load(self, load: Callable[..., Any], *arguments: Any) -> Any:
        """What a file has of a kernel, if it has it; that takes its time, too."""
        begun = perf_counter()
        try:
            return load(*arguments)
        finally:
            if self._depth == 0:
                clock.leave_out(perf_counter() - begun)


_watch: Final = _Watch()


def watch_numba() -> None:
    """Begins to measure. And whoever forks waits until nothing is compiled: the other process would wait for ever."""
    event.register("numba:compile", _watch)  # type: ignore[no-untyped-call]
    interrupts.lasting(global_compiler_lock)  # type: ignore[type-var]


def watch_loading(kernel: Any) -> None:
    """Leaves out the seconds in which a kernel is loaded, too."""
    files = getattr(kernel, "_cache", None)
    if files is not None:
        files.load_overload = partial(_watch.load, files.load_overload)


class Compiled:
    """The seconds that compiling and loading took since somebody asked last."""

    def __init__(self) -> None:
        self._told = clock.left_out()

    def seconds(self) -> float:
        told, self._told = self._told, clock.left_out()
        return self._told - told


@cache
def _say_that_it_takes_long() -> None:
    """Once in a process, if there is anybody to read it."""
    if sys.stderr.isatty() or _is_interactive():
        print("everlog: compiling its kernels for this machine (first time only) ...", file=sys.stderr, flush=True)


def _is_interactive() -> bool:
    """Whether a notebook, or IPython otherwise, runs this; it is asked only if it is loaded."""
    known = sys.modules.get("IPython")
    return known is not None and known.get_ipython() is not None

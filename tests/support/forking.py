"""Work in a process that is forked."""

from __future__ import annotations

import multiprocessing
import os
import traceback
from collections.abc import Callable

import pytest


def in_fork(work: Callable[[], None]) -> None:
    """Does some work in a forked process, which ends well, and in time."""
    child = multiprocessing.get_context("fork").Process(target=_forked, args=(work,))
    child.start()
    child.join(60)
    if child.exitcode is None:
        child.kill()
        child.join()
        pytest.fail("the forked process waits for ever")
    assert child.exitcode == 0


def _forked(work: Callable[[], None]) -> None:
    try:
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)

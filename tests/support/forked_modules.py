"""Modules of the benchmarks run in processes that are forked, which need not load what this one has loaded.

A process that is started takes a second of the processor before it does anything.
"""

from __future__ import annotations

import math
import os
import runpy
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Sequence

from benchmarks.process import Ended, Limits


def run_forked(module: str, arguments: Sequence[str], timeout: float, limits: Limits | None = None) -> Ended:
    """Takes the place of `benchmarks.process.run_module`."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        child = os.fork()
        if child == 0:
            signal.alarm(math.ceil(timeout))
            os.dup2(output.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            os._exit(_ran(module, arguments))
        if limits is not None:
            limits.set(child)
        _, status, usage = os.wait4(child, 0)
        code = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
        used = usage.ru_utime + usage.ru_stime
        late = code == -signal.SIGALRM
        return Ended(*texts, code, time.perf_counter() - began, usage.ru_maxrss * 1024, late, used)


def _ran(module: str, arguments: Sequence[str]) -> int:
    """Runs a module as Python does with `-m`; what it ends with."""
    code: object = 0
    with open(1, "w", closefd=False) as sys.stdout, open(2, "w", closefd=False) as sys.stderr:
        try:
            warnings.simplefilter("ignore")  # that the module is loaded already, say
            sys.argv = [module, *arguments]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc()
            code = 1
    return code if isinstance(code, int) else 1

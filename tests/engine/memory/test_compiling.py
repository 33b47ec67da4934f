"""Kernels are compiled when they are needed; that is measured, and said to whoever waits for it, once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from everlog.engine.memory.kernels import compiling, table_kernels

FIRST = """
import json
from everlog import KnowledgeBase
from everlog.engine.memory.kernels import graph_kernels, table_kernels
kb = KnowledgeBase("q(?x) :- p(?x), r(?x) .")
kb.add({"p": [(1,), (2,)], "r": [(2,)]})
seconds = kb.materialise().seconds
needed = [kernel for kernel in (table_kernels.enter_few, table_kernels.tally, graph_kernels.compose) if kernel.signatures]
print(json.dumps([kernel.__name__ for kernel in needed]), 0 < seconds["reasoning"] < seconds["compilation"])
"""


def compiled(module: str, seconds: float, monkeypatch: pytest.MonkeyPatch) -> float:
    """The seconds that are counted when a function of a module, and one that it calls, are compiled."""
    clock = iter([10.0, 10.0 + seconds])
    monkeypatch.setattr(compiling, "perf_counter", lambda: next(clock))
    since = compiling.Compiled()
    event = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))})
    inner = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__="numba.np"))})
    for notify, one in (("on_start", event), ("on_start", inner), ("on_end", inner), ("on_end", event)):
        getattr(compiling._watch, notify)(one)
    found = since.seconds()
    assert since.seconds() == 0, "nothing is told twice"
    return found


@pytest.mark.parametrize(
    ("terminal", "notebook", "said"), [(True, None, 1), (False, True, 1), (False, False, 0), (False, None, 0)]
)
def test_compiling_is_said_on_a_terminal_and_in_a_notebook(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    terminal: bool,
    notebook: bool | None,
    said: int,
) -> None:
    """A `notebook` that is None has no IPython loaded, and one that is false has none running."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    if notebook is not None:
        module = ModuleType("IPython")
        module.get_ipython = lambda: object() if notebook else None  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", module)
    compiling._say_that_it_takes_long.cache_clear()
    assert compiled("somebody.elses", 3.0, monkeypatch) == 0
    assert capsys.readouterr().err == ""
    for _ in range(2):
        assert compiled(table_kernels.__name__, 3.0, monkeypatch) == 3.0
    assert capsys.readouterr().err.count("compiling its kernels for this machine") == said


def test_loading_is_left_out_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """But not where something is compiled that calls it: that is left out already."""
    kernel = SimpleNamespace(_cache=SimpleNamespace(load_overload=lambda signature: [signature]))
    compiling.watch_loading(kernel)
    since, clock = compiling.Compiled(), iter([10.0, 10.5, 11.0, 12.0])
    monkeypatch.setattr(compiling, "perf_counter", lambda: next(clock))
    assert kernel._cache.load_overload("int32") == ["int32"]
    assert since.seconds() == 0.5
    monkeypatch.setattr(compiling._watch, "_depth", 1)
    assert kernel._cache.load_overload("int64") == ["int64"]
    assert since.seconds() == 0


def test_a_program_compiles_what_it_needs(tmp_path: Path) -> None:
    """In a process that finds nothing compiled: no kernel for counts of derivations, none for graphs.

    And compiling does not count as reasoning.
    """
    ended = subprocess.run(
        [sys.executable, "-c", FIRST],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == '["enter_few"] True\n'

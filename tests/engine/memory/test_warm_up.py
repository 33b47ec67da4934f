"""That kernels are compiled is said to whoever waits for it, once, and to nobody else."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from everlog.engine.memory import warm_up
from everlog.engine.memory.kernels import table_kernels


class Uncompiled:
    """A kernel of which nothing is kept."""

    __name__ = "expand"

    class stats:  # noqa: N801
        cache_path = ""


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
    monkeypatch.setattr(warm_up, "_ready", set())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    if notebook is not None:
        module = ModuleType("IPython")
        module.get_ipython = lambda: object() if notebook else None  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", module)
    warm_up._say_that_it_takes_long.cache_clear()
    for file in ("table_kernels", "graph_kernels"):
        assert warm_up._start(file, Uncompiled(), lambda: None) > 0
    assert capsys.readouterr().err.count("compiling its kernels for this machine") == said
    assert warm_up._start("table_kernels", table_kernels.expand, lambda: None) == 0

"""The page about SPARQL is true: its Python runs and gives what it says."""

from __future__ import annotations

import re
from pathlib import Path

from pyoxigraph import NamedNode

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sparql.md"


def test_the_example_runs() -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {"NamedNode": NamedNode}
    exec(compile(block, str(PAGE), "exec"), names)
    shown = re.findall(r"^(answer\.variables|list\(answer\)|bool\(.*\))  # (.*)$", block, re.MULTILINE)
    assert len(shown) == 3
    for expression, value in shown:
        assert repr(eval(expression, names)) == value

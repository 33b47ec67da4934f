"""Files that documents name are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), ROOT / "tests" / "README.md"]
PLACES = [*(ROOT / "src").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_named_files_are_there(document: Path) -> None:
    named = set(re.findall(r"`([a-z_/]+\.py)`", document.read_text(encoding="utf-8")))
    missing = {name for name in named if not any(path.as_posix().endswith(f"/{name}") for path in PLACES)}
    assert not missing


def test_docstrings_name_files_that_are_there() -> None:
    missing = set()
    for path in (ROOT / "src").rglob("*.py"):
        for name in re.findall(r"`([a-z_/]+\.py)`", path.read_text(encoding="utf-8")):
            if not any(other.as_posix().endswith(f"/{name}") for other in PLACES):
                missing.add((path.relative_to(ROOT).as_posix(), name))
    assert not missing

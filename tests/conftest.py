"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of data that is not part of the project."""
    folder = Path(os.environ.get("EVERLOG_DATA", ROOT / ".." / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"needs the data folder {folder}; set EVERLOG_DATA to it")
    return folder

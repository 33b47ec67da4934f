"""Where data outside the project lies: `EVERLOG_DATA`, by default `../shared/data` beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.workload import BenchmarkMistake


class DataAbsent(BenchmarkMistake):
    """A workload whose data is not on this machine."""


def data_file(name: str) -> Path:
    """The file `name` of the data folder, or `DataAbsent` with the way out."""
    checkout = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("EVERLOG_DATA") or checkout.parent / "shared" / "data")
    path = folder / name
    if not path.is_file():
        raise DataAbsent(f"{path} is absent; set EVERLOG_DATA to the folder that holds {name}")
    return path

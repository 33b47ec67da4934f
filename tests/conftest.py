"""What all tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent


@pytest.hookimpl(tryfirst=True)  # before xdist looks for the marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keeps the tests of a file that share a Spark session together, so that they share stores and warm plans, too.

    Each worker has a session of its own, and files go to whichever worker is free: neither waits for the other.
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group(str(item.path.relative_to(ROOT))))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of data that is not part of the project."""
    folder = Path(os.environ.get("EVERLOG_DATA", ROOT / ".." / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"needs the data folder {folder}; set EVERLOG_DATA to it")
    return folder


@pytest.fixture
def python_handles_interrupts() -> Iterator[None]:
    """SIGINT is Python's, whoever had it: a test that runs in the background ignores it, and PySpark takes it over."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local Spark session with two cores and two shuffle partitions, one for the whole run."""
    from everlog.spark.session import start_session

    conf = {"spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "2"}
    session = start_session(master="local[2]", conf=conf, brief=True)
    yield session
    session.stop()

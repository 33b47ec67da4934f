"""What all tests share."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent


@pytest.hookimpl(tryfirst=True)  # before xdist looks for the marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shares tests out to workers: those that have something in common go together, all others test by test.

    Tests with Spark are two groups that take about as long, those of the knowledge base and of the command, and others:
    Spark takes half a minute of processor time to warm up in each worker that has a session. The others that belong
    together have a fixture of their module in common. Workers begin with large groups. Then come tests that start
    processes, which take long; what is short is left for the end, so that no worker waits for another.
    """
    for item in items:
        fixtures = fixtures_of(item)
        if "spark" in fixtures:
            above = item.path.relative_to(ROOT).parts[1] in ("knowledge", "cli")
            item.add_marker(pytest.mark.xdist_group("spark, above" if above else "spark, below"))
        elif any(one[-1].scope == "module" for one in fixtures.values()):
            item.add_marker(pytest.mark.xdist_group(str(item.path.relative_to(ROOT))))
    items.sort(key=lambda item: item.get_closest_marker("own_process") is None)


def pytest_collection_finish() -> None:
    """Leaves what was imported and collected out of garbage collections, which come seldom: that saves a tenth."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_unconfigure() -> None:
    gc.unfreeze()  # libraries look at the end whether their objects are gone


def fixtures_of(item: pytest.Item) -> Mapping[str, Sequence[pytest.FixtureDef[Any]]]:
    """The fixtures that a test uses, directly or not."""
    return item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}


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
    """A local Spark session with two cores and two shuffle partitions, one for all tests of a worker.

    Over a handful of rows, to plan queries again while they run takes a quarter of their time, to compile them a twentieth,
    and as much to collect garbage in a small heap. Tests that start processes of their own have Spark as users have it.
    """
    from everlog.spark.session import BRIEF_JAVA, start_session

    conf = {
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": f"{BRIEF_JAVA} -Xms1600m -Xmn900m",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    session = start_session(master="local[2]", conf=conf, brief=True)
    yield session
    session.stop()

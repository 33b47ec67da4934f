"""What the pipeline's tests share: one Spark session for the whole run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from everlog.pipeline.session import start_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local session with two cores and two shuffle partitions."""
    session = start_session(master="local[2]", conf={"spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "2"})
    yield session
    session.stop()

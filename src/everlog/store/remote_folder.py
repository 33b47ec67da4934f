"""A folder of results on another file system, which appears at the end or not at all.

Files are written on this machine, copied to a hidden sibling of the folder, and that is renamed. On file systems whose
renames are whole (HDFS) so is the folder; an object store copies file by file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from everlog.errors import EverlogError, Failure
from everlog.spark.failures import spark_failures
from everlog.spark.hadoop_files import HadoopFiles, has_hadoop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def check_new_address(spark: SparkSession, address: str, option: str = "--out") -> None:
    """Raises unless there is nothing at an address but an empty folder; asked before long work starts."""
    if not has_hadoop(spark):
        raise EverlogError(
            f"{option} {address}: a session of Spark Connect does not let us write there; give a folder of this machine"
        )
    with spark_failures(f"{option} {address}"):
        files = HadoopFiles(spark, address)
        if files.exists(address) and (not files.is_folder(address) or files.entries(address)):
            raise EverlogError(f"{option} {address}: there is something already; give a folder that is new or empty")


@contextmanager
def new_remote_folder(spark: SparkSession, address: str, option: str = "--out") -> Iterator[Path]:
    """A place on this machine to write to, whose files are in the folder of that address if the block ends well."""
    check_new_address(spark, address, option)
    with TemporaryDirectory(prefix="everlog-") as scratch:
        place = Path(scratch, "files")
        place.mkdir()
        yield place
        parent, _, name = address.rstrip("/").rpartition("/")
        beside = f"{parent}/.{name}.everlog-{os.getpid()}"
        with spark_failures(f"{option} {address}"):
            files = HadoopFiles(spark, address)
            try:
                files.upload(place, beside)
                check_new_address(spark, address, option)
                files.remove(address)  # an empty folder, into which it would be moved
                if not files.rename(beside, address):
                    raise Failure(f"{option} {address}: what was written to {beside} cannot be renamed")
            finally:
                files.remove(beside)

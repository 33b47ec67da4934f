"""Folders of whatever file system the session knows (`s3a://`, `hdfs://`, …), through Hadoop in the JVM behind it.

Spark's public interface reads files and writes tables, but lists no folders and renames nothing. A session of Connect has
no JVM here, and hence none of this.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def has_hadoop(spark: SparkSession) -> bool:
    """Whether a session has a JVM that can be asked about files."""
    return hasattr(spark, "_jsparkSession")


class HadoopFiles:
    """The file system that an address belongs to."""

    def __init__(self, spark: SparkSession, address: str) -> None:
        jvm: Any = spark._jvm
        self._path: Any = jvm.org.apache.hadoop.fs.Path
        conf = spark._jsparkSession.sessionState().newHadoopConf()
        self._system: Any = self._path(address).getFileSystem(conf)

    def exists(self, address: str) -> bool:
        return bool(self._system.exists(self._path(address)))

    def qualified(self, address: str) -> str:
        """The address with the host that it means, as Spark names files there."""
        return full_address(self._system.makeQualified(self._path(address)).toString())

    def is_folder(self, address: str) -> bool:
        return bool(self._system.getFileStatus(self._path(address)).isDirectory())

    def entries(self, folder: str) -> list[tuple[str, bool]]:
        """The names in a folder, sorted, and whether each is a folder, too."""
        found = self._system.listStatus(self._path(folder))
        return sorted((status.getPath().getName(), bool(status.isDirectory())) for status in found)

    def matches(self, pattern: str) -> list[str]:
        """The addresses that a pattern means, sorted."""
        found = self._system.globStatus(self._path(pattern))
        return sorted(full_address(status.getPath().toString()) for status in found or ())

    def upload(self, folder: Path, address: str) -> None:
        """Copies a folder of this machine to an address where nothing is."""
        self._system.copyFromLocalFile(False, False, self._path(folder.as_uri()), self._path(address))

    def rename(self, address: str, to: str) -> bool:
        """Whether it could be done; what is there already is never replaced."""
        return bool(self._system.rename(self._path(address), self._path(to)))

    def remove(self, address: str) -> None:
        self._system.delete(self._path(address), True)


def full_address(address: str) -> str:
    """An address as users write it: Hadoop leaves out slashes before a missing host.

    >>> full_address("hdfs:/a"), full_address("s3a://b/a")
    ('hdfs:///a', 's3a://b/a')
    """
    scheme, colon, rest = address.partition(":")
    return address if not colon or rest.startswith("//") else f"{scheme}://{rest}"

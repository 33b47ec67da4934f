"""The files below a folder, on this machine or wherever Hadoop looks, and the tables there that are more than files.

A table of Delta Lake, Iceberg or Hudi keeps files that are not its rows any more, so that only Spark, with the package for
it, knows what is in it. Names that begin with a dot or an underscore are not looked at.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Final, Protocol

from everlog.sources.problems import SourceMistake
from everlog.sources.table_folders import is_partition

LAKES: Final = {"delta": "Delta Lake", "iceberg": "Iceberg", "hudi": "Hudi"}
"""Formats of tables that are more than their files, as Spark calls them and as people do."""

_MARKS: Final = {"_delta_log": "delta", ".hoodie": "hudi"}


class Folders(Protocol):
    """A file system that can be looked into."""

    def entries(self, folder: str) -> Sequence[tuple[str, bool]]:
        """The names in a folder, sorted, and whether each is a folder, too."""


class LocalFolders:
    """Of this machine."""

    def entries(self, folder: str) -> list[tuple[str, bool]]:
        try:
            with os.scandir(folder) as found:
                return sorted((entry.name, entry.is_dir()) for entry in found)
        except OSError as failure:
            raise SourceMistake(f"{folder}: cannot be read: {failure.strerror}") from failure


def walk(files: Folders, folder: str, lakes: dict[str, str]) -> Iterator[str]:
    """All files below a folder that count, in a fixed order; `lakes` learns of folders that are tables of a format."""
    entries = files.entries(folder)
    if format := _lake(files, folder, entries):
        lakes[folder] = format
        return
    for name, is_folder in entries:
        path = f"{folder}/{name}"
        if is_hidden(name):
            continue
        if is_folder:
            yield from walk(files, path, lakes)
        else:
            yield path


def is_hidden(name: str) -> bool:
    """As for Spark, which does look into a partition whose column begins with an underscore."""
    return name.startswith(".") or (name.startswith("_") and not is_partition(name))


def check_readable(path: str) -> None:
    """Raises `SourceMistake` for a file of this machine that nobody lets us read."""
    if not os.access(Path(path), os.R_OK):
        raise SourceMistake(f"{path}: cannot be read: permission denied")


def _lake(files: Folders, folder: str, entries: Sequence[tuple[str, bool]]) -> str | None:
    for name, is_folder in entries:
        if is_folder and name in _MARKS:
            return _MARKS[name]
        if is_folder and name == "metadata":
            below = files.entries(f"{folder}/metadata")
            return "iceberg" if any(fnmatch(file, "*.metadata.json") for file, _ in below) else None
    return None

"""Parquet files that Spark has written, as this process sees them: which there are, how many rows, and what is in them.

Reading ids and terms into the memory engine goes straight from the files by Arrow, since a detour through the JVM takes
ten times as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.errors import Failure

if TYPE_CHECKING:
    import pyarrow as pa


def files_in(folder: Path) -> list[Path]:
    """The Parquet files under a folder, without Spark's own."""
    return sorted(file for file in folder.rglob("*.parquet") if not file.name.startswith((".", "_")))


def rows_in(file: Path) -> int:
    """How many rows a file has."""
    import pyarrow.parquet as pq

    rows: int = pq.read_metadata(file).num_rows
    return rows


def count_rows(folder: Path) -> int:
    """How many rows the files under a folder have."""
    return sum(map(rows_in, files_in(folder)))


def read_files(files: Iterable[Path], columns: Sequence[str], schema: pa.Schema) -> pa.Table:
    """The rows of files, in their order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = []
    for file in files:
        try:
            tables.append(pq.ParquetFile(file).read(columns=list(columns)).cast(schema))
        except (OSError, pa.ArrowException) as mistake:
            raise Failure(f"the store's file {file} cannot be read: {mistake}") from mistake
    return pa.concat_tables(tables) if tables else schema.empty_table()

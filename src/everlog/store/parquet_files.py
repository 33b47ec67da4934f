"""Parquet files of a store, as this process sees them: which there are, how many rows, and what is in them.

Reading ids and terms into the memory engine goes straight from the files by Arrow, since a detour through the JVM takes
ten times as long.

Pages of Parquet have checksums, which hardly anybody looks at. Here they are compared, whoever reads, so
that a page that has changed on disk is an error and not other facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.errors import Failure
from everlog.store.manifest import DamagedStore, Part, store_of
from everlog.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import FileMetaData, ParquetFile
    from pyspark.sql import DataFrameReader, SparkSession


def files_in(folder: Path) -> list[Path]:
    """The Parquet files under a folder, without Spark's own."""
    return sorted(file for file in folder.rglob("*.parquet") if not file.name.startswith((".", "_")))


def footer(file: Path) -> FileMetaData:
    """What the end of a file says about it: rows, columns, and where they are."""
    with _reading(file) as opened:
        return opened.metadata


def rows_in(file: Path) -> int:
    """How many rows a file has."""
    rows: int = footer(file).num_rows
    return rows


def count_rows(folder: Path) -> int:
    """How many rows the files under a folder have."""
    return sum(map(rows_in, files_in(folder)))


def part_of(files: Iterable[Path], named: Callable[[Path], str]) -> Part:
    """Files as a part of a section, which names them; those without rows are left out."""
    rows = {named(file): rows_in(file) for file in files}
    return Part(tuple(file for file, count in rows.items() if count), sum(rows.values()))


def write_file(table: pa.Table, file: Path) -> Path:
    """Writes a table of numbers and texts as a file, in a folder that is made where it is missing.

    Ids are written as differences, and terms by what they share with the one before: they hardly ever come again, so that
    a dictionary of a column would be as large as the column.
    """
    return write_pieces([table], table.schema, file)


def write_pieces(pieces: Iterable[pa.Table], schema: pa.Schema, file: Path) -> Path:
    """Writes tables that come one after the other as one file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file.parent.mkdir(parents=True, exist_ok=True)
    encodings = {
        field.name: "DELTA_BINARY_PACKED" if pa.types.is_integer(field.type) else "DELTA_BYTE_ARRAY" for field in schema
    }
    options = {"write_page_checksum": True, "use_dictionary": False, "column_encoding": encodings}
    with pq.ParquetWriter(file, schema, **options) as writer:
        for table in pieces:
            # Several row groups, so that Spark reads a large file with all cores.
            writer.write_table(table, row_group_size=1 << 20)
    return file


def read_through(file: Path) -> None:
    """Reads a file from end to end, and keeps nothing: raises `DamagedStore` if that cannot be done."""
    with _reading(file) as opened:
        for _ in opened.iter_batches():
            pass


def read_files(files: Iterable[Path], columns: Sequence[str], schema: pa.Schema) -> pa.Table:
    """The rows of files, in their order."""
    import pyarrow as pa

    tables = []
    for file in files:
        with _reading(file) as opened:
            tables.append(opened.read(columns=list(columns)).cast(schema))
    return pa.concat_tables(tables) if tables else schema.empty_table()


def read_group(file: Path, group: int, schema: pa.Schema) -> pa.Table:
    """The rows of a row group of a file."""
    with _reading(file) as opened:
        return opened.read_row_group(group, columns=schema.names, use_threads=False).cast(schema)


def batches_in(files: Iterable[Path], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of files, some at a time."""
    for file in files:
        with _reading(file) as opened:
            yield from opened.iter_batches(columns=list(columns))


def check_part(store: Path, part: Part, columns: Sequence[str]) -> list[Path]:
    """The files of a part; raises `DamagedStore` unless they are Parquet, have some columns, and the part's rows together.

    Spark would take a column that is not there for one of nulls, and any number of rows.
    """
    found = 0
    files = [store / file for file in part.files]
    for file in files:
        metadata = footer(file)
        if missing := set(columns) - set(metadata.schema.names):
            raise wrong(file, f"has no column {min(missing)}")
        found += metadata.num_rows
    check_rows(files, found, part.rows)
    return files


def check_rows(files: Sequence[Path], found: int, expected: int) -> None:
    """Raises `DamagedStore` if files of a store had another number of rows than its manifest says."""
    if found != expected:
        raise wrong(files[0], wrong_rows(len(files), found, expected))


def wrong_rows(files: int, found: int, expected: int) -> str:
    """What is wrong with files that have another number of rows than they should."""
    together = f" together with {files - 1:,} more of its part" if files > 1 else ""
    return f"has {counted(found, 'row')}{together} instead of {expected:,}"


def reader(spark: SparkSession) -> DataFrameReader:
    """What reads files of a store by Spark: checksums are compared, and no file is left out, whatever the session says."""
    options = {
        "parquet.page.verify-checksum.enabled": "true",
        "ignoreCorruptFiles": "false",
        "ignoreMissingFiles": "false",
    }
    return spark.read.options(**options)


def wrong(file: Path, what: str) -> Failure:
    """The error for a file of which something is wrong; most are a store's."""
    store = store_of(file)
    return Failure(f"{file} {what}") if store is None else DamagedStore(store, file.relative_to(store).as_posix(), what)


@contextmanager
def _reading(file: Path) -> Iterator[ParquetFile]:
    """A file that is open for reading; what Arrow says against it becomes the error."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file, page_checksum_verification=True) as opened:
            yield opened
    except FileNotFoundError:
        raise wrong(file, "is missing") from None
    except (OSError, ValueError, pa.ArrowException) as mistake:
        raise wrong(file, f"cannot be read: {' '.join(str(mistake).split())}") from mistake

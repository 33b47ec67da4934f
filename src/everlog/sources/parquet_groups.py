"""Parquet files of this machine, which tasks read by themselves, row group by row group.

Spark would hand every value of every row to Python. Arrow gives the distinct values of a column, as the file has them, and
places among them, so that each is worked on once. Read this way are tables whose columns are all of types that Spark and
Arrow understand alike; nested columns, dates, timestamps and decimals are left to Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from everlog.sources.problems import SourceMistake

_PLAIN: Final = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.bool_())
_TEXTS: Final = (pa.string(), pa.large_string())
_ROWS: Final = 1 << 20
_BYTES: Final = 1 << 27
"""The most of a row group that is looked at at once."""

UNREADABLE: Final = (OSError, ValueError, pa.ArrowException)
"""What reading a file may raise."""


@dataclass(frozen=True)
class Group:
    """A row group of a file, and how many of its rows are a batch."""

    file: str
    number: int
    rows: int

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Some columns of its rows, all with dictionaries."""
        wanted = list(dict.fromkeys(columns))
        # Arrow gives dictionaries of texts alone; pages that have a checksum are compared with it.
        with pq.ParquetFile(self.file, read_dictionary=wanted, page_checksum_verification=True) as opened:
            for batch in opened.iter_batches(self.rows, [self.number], wanted, use_threads=False):
                arrays = [_with_dictionary(batch.column(name)) for name in columns]
                yield pa.RecordBatch.from_arrays(arrays, names=[f"a{place}" for place in range(len(columns))])


def _with_dictionary(column: pa.Array) -> pa.Array:
    """A column of values and places among them; texts are looked at, since files may hold any bytes for them."""
    if not isinstance(column, pa.DictionaryArray):
        return column.dictionary_encode()
    column.dictionary.validate(full=True)
    return column


def _is_text(type: pa.DataType) -> bool:
    return (type.value_type if pa.types.is_dictionary(type) else type) in _TEXTS


@dataclass(frozen=True)
class ParquetFiles:
    """What the ends of some files say: their columns, which are the same, and their row groups."""

    schema: pa.Schema
    groups: tuple[Group, ...]

    @property
    def marked(self) -> list[str]:
        """The names of columns that Arrow's metadata mark as N-Triples."""
        return [field.name for field in self.schema if (field.metadata or {}).get(b"everlog") == b"ntriples"]

    @property
    def are_plain(self) -> bool:
        """Whether tasks can read them without Spark."""
        names = [field.name.lower() for field in self.schema]  # Spark tells columns apart by nothing else
        types = [field.type for field in self.schema]
        return len(set(names)) == len(names) > 0 and all(type in _PLAIN or _is_text(type) for type in types)


def look_at(files: Sequence[str]) -> ParquetFiles:
    """Opens files, which must have the same columns."""
    first: pa.Schema | None = None
    groups: list[Group] = []
    for file in files:
        try:
            with pq.ParquetFile(file) as opened:
                schema, metadata = opened.schema_arrow, opened.metadata
        except UNREADABLE as failure:
            reason = " ".join(str(failure).split())
            raise SourceMistake(f"{file}: not a Parquet file, or a damaged one: {reason}", file) from failure
        first = schema if first is None else first
        if not schema.equals(first, check_metadata=False):
            raise SourceMistake(
                f"{file}: its columns ({_described(schema)}) are not those of {files[0]} ({_described(first)})", file
            )
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            if group.num_rows:
                rows = group.num_rows * _BYTES // max(group.total_byte_size, 1)
                groups.append(Group(file, number, min(max(rows, 1), _ROWS)))
    return ParquetFiles(first if first is not None else pa.schema([]), tuple(groups))


def _described(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)

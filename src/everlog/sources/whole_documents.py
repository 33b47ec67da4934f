"""Formats that cannot be split: a file per task, opened by the task itself where it can.

Files that only Spark can reach come to the task as a whole, and are then limited to what fits into one row (2 GB).
A malformed file gives nothing but its problem: when problems are to be skipped, a file is read to its end before the
first of its facts is given.
"""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Protocol, cast
from urllib.parse import quote

import pyarrow as pa

from everlog.rdf.blanks import file_mark
from everlog.sources.csv_lines import CsvLines, parse_stream
from everlog.sources.parsed_rows import Sheet, rows_schema
from everlog.sources.problems import Problem
from everlog.sources.source_files import is_remote
from everlog.sources.text_lines import literal_path

if TYPE_CHECKING:
    from pyoxigraph import RdfFormat
    from pyspark.sql import DataFrame, SparkSession

_BLOCK = 10_000
UNREADABLE = (OSError, EOFError, zlib.error)


class DocumentParser(Protocol):
    """Turns a file into rows. Sent to workers, so it must be picklable."""

    def __call__(self, file: str, content: bytes | None, sheet: Sheet) -> Iterator[pa.RecordBatch]:
        """The rows of a file, opened by its name or given as its bytes."""


@dataclass(frozen=True)
class Document:
    """How a file is parsed: into which table, and by what."""

    source: int
    parser: DocumentParser


def read_documents(spark: SparkSession, files: Mapping[str, Document], width: int) -> DataFrame:
    """The rows of files, a file per task."""
    schema, parts = rows_schema(width), []
    if local := {file: document for file, document in files.items() if not is_remote(file)}:
        numbers = spark.range(0, len(local), 1, len(local))
        parts.append(numbers.mapInArrow(_ParseFiles(tuple(local.items()), width), schema))
    if others := {file: document for file, document in files.items() if is_remote(file)}:
        contents = spark.read.format("binaryFile").load([literal_path(file) for file in others])
        parts.append(contents.select("path", "content").mapInArrow(_ParseContents(others, width), schema))
    return parts[0] if len(parts) == 1 else parts[0].unionAll(parts[1])


@dataclass(frozen=True)
class _ParseFiles:
    """The task for files that it opens: batches of their numbers become rows."""

    files: tuple[tuple[str, Document], ...]
    width: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                file, document = self.files[number]
                yield from document.parser(file, None, Sheet(document.source, self.width))


@dataclass(frozen=True)
class _ParseContents:
    """The task for files that Spark has opened: batches of (file, content) become rows."""

    files: Mapping[str, Document]
    width: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for file, content in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
                document = self.files[file]
                yield from document.parser(file, content.as_py(), Sheet(document.source, self.width))


@dataclass(frozen=True)
class RdfDocuments:
    """Parses Turtle, TriG and RDF/XML. With `whole`, a malformed file gives no facts."""

    whole: bool

    def __call__(self, file: str, content: bytes | None, sheet: Sheet) -> Iterator[pa.RecordBatch]:
        from everlog.rdf.documents import MalformedDocument

        try:
            if self.whole:
                for _ in self._statements(file, content):
                    pass
            statements = self._statements(file, content)
            while block := list(islice(statements, _BLOCK)):
                yield sheet.facts([pa.array(column, type=pa.string()) for column in zip(*block, strict=True)])
        except MalformedDocument as mistake:
            yield sheet.problems([Problem(file, mistake.line, mistake.reason)])
        except UNREADABLE as mistake:
            yield sheet.problems([Problem(file, None, unreadable(mistake))])

    @staticmethod
    def _statements(file: str, content: bytes | None) -> Iterator[tuple[str, str, str, str | None]]:
        from everlog.rdf.documents import parse_document

        base = file if is_remote(file) else "file://" + quote(file)
        with opened(file, content) as stream:
            yield from parse_document(stream, _rdf_format(file), file_mark(file), base)


@dataclass(frozen=True)
class CsvDocuments:
    """Parses CSV or TSV whose quoted fields may span lines."""

    parser: CsvLines
    mark: str

    def __call__(self, file: str, content: bytes | None, sheet: Sheet) -> Iterator[pa.RecordBatch]:
        try:
            with opened(file, content) as stream:
                text = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="")
                yield from parse_stream(text, self.parser, file, self.mark, sheet)
        except UNREADABLE as mistake:
            yield sheet.problems([Problem(file, None, unreadable(mistake))])


def _rdf_format(file: str) -> RdfFormat:
    from pyoxigraph import RdfFormat as Format

    suffix = PurePosixPath(file.lower().removesuffix(".gz")).suffix
    return {".ttl": Format.TURTLE, ".trig": Format.TRIG}.get(suffix, Format.RDF_XML)


def opened(file: str, content: bytes | None = None) -> IO[bytes]:
    """A file, or its bytes, unpacked as its name says. The caller closes it."""
    packed = file if content is None else io.BytesIO(content)
    name = file.lower()
    if name.endswith(".gz"):
        return cast(IO[bytes], gzip.open(packed, "rb"))
    if name.endswith(".bz2"):
        return bz2.open(packed, "rb")
    return open(packed, "rb") if isinstance(packed, str) else packed


def unreadable(mistake: Exception) -> str:
    """The reason why a file cannot be read."""
    return f"cannot be read: {getattr(mistake, 'strerror', None) or mistake}"

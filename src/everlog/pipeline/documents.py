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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Protocol, cast
from urllib.parse import quote

import pyarrow as pa

from everlog.pipeline.csv_lines import CsvLines, parse_stream
from everlog.pipeline.files import is_remote
from everlog.pipeline.lines import literal_path, readable_path
from everlog.pipeline.problems import Problem
from everlog.pipeline.rows import fact_batch, problem_batch, spark_schema
from everlog.rdf.blanks import file_mark

if TYPE_CHECKING:
    from pyoxigraph import RdfFormat
    from pyspark.sql import DataFrame, SparkSession

_BLOCK = 10_000
UNREADABLE = (OSError, EOFError, zlib.error)


class DocumentParser(Protocol):
    """Turns an open file into batches of facts and problems. Sent to workers, so it must be picklable."""

    @property
    def width(self) -> int:
        """The number of arguments of the facts."""
        ...

    def __call__(self, file: str, content: bytes | None) -> Iterator[pa.RecordBatch]:
        """The batches of a file, opened by its name or given as its bytes."""
        ...


def read_documents(spark: SparkSession, files: Sequence[str], parser: DocumentParser) -> DataFrame:
    """Facts and problems of files, a file per task."""
    schema = spark_schema(parser.width)
    if is_remote(files[0]):
        contents = spark.read.format("binaryFile").load([literal_path(file) for file in files])
        return contents.select("path", "content").mapInArrow(_ParseContents(parser), schema)
    return spark.range(0, len(files), 1, len(files)).mapInArrow(_ParseFiles(parser, tuple(files)), schema)


@dataclass(frozen=True)
class _ParseFiles:
    parser: DocumentParser
    files: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from self.parser(self.files[number], None)


@dataclass(frozen=True)
class _ParseContents:
    parser: DocumentParser

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for file, content in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
                yield from self.parser(readable_path(file), content.as_py())


@dataclass(frozen=True)
class RdfDocuments:
    """Parses Turtle, TriG and RDF/XML. With `whole`, a malformed file gives no facts."""

    whole: bool

    @property
    def width(self) -> int:
        return 4

    def __call__(self, file: str, content: bytes | None) -> Iterator[pa.RecordBatch]:
        from everlog.rdf.documents import MalformedDocument

        try:
            if self.whole:
                for _ in self._statements(file, content):
                    pass
            statements = self._statements(file, content)
            while block := list(islice(statements, _BLOCK)):
                yield fact_batch([pa.array(column, type=pa.string()) for column in zip(*block, strict=True)])
        except MalformedDocument as mistake:
            yield problem_batch(4, [Problem(file, mistake.line, mistake.reason)])
        except UNREADABLE as mistake:
            yield problem_batch(4, [Problem(file, None, unreadable(mistake))])

    @staticmethod
    def _statements(file: str, content: bytes | None) -> Iterator[tuple[str, str, str, str | None]]:
        from everlog.rdf.documents import parse_document

        base = file if is_remote(file) else "file://" + quote(file)
        with opened(file, content) as stream:
            yield from parse_document(stream, _rdf_format(file), file_mark(file), base)


@dataclass(frozen=True)
class CsvDocuments:
    """Parses CSV or TSV whose quoted fields may span lines. Blank nodes belong to the table."""

    parser: CsvLines
    table: str

    @property
    def width(self) -> int:
        return self.parser.width

    def __call__(self, file: str, content: bytes | None) -> Iterator[pa.RecordBatch]:
        try:
            with opened(file, content) as stream:
                text = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="")
                yield from parse_stream(text, self.parser, file, file_mark(self.table))
        except UNREADABLE as mistake:
            yield problem_batch(self.width, [Problem(file, None, unreadable(mistake))])


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

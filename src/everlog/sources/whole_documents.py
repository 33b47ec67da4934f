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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, TypeAlias, cast
from urllib.parse import quote

import pyarrow as pa

from everlog.rdf.blanks import file_mark
from everlog.rdf.owl.syntaxes import HEAD, syntax_of
from everlog.sources.csv_lines import CsvLines, parse_stream
from everlog.sources.parsed_rows import Sheet, rows_schema
from everlog.sources.problems import Problem
from everlog.sources.source_files import is_remote
from everlog.sources.text_lines import literal_path

if TYPE_CHECKING:
    from pyoxigraph import RdfFormat
    from pyspark.sql import DataFrame, SparkSession

_BLOCK = 10_000
_LOOKED_AT = 100
"""Files whose prefixes are looked for, by this process."""
UNREADABLE = (OSError, EOFError, zlib.error)


DocumentParser: TypeAlias = Callable[[str, bytes | None, Sheet], Iterator[pa.RecordBatch]]
"""The rows of a file, opened by its name or given as its bytes. Sent to workers, so it must be picklable."""


@dataclass(frozen=True)
class Document:
    """How a file is parsed: into which table, by what; see `Sheet`."""

    source: int
    parser: DocumentParser
    constants: tuple[str | None, ...] = ()
    order: tuple[int, ...] | None = None


Documents: TypeAlias = Mapping[str, Sequence[Document]]
"""By file, the ways in which it is read."""


def read_documents(spark: SparkSession, files: Documents, width: int) -> DataFrame:
    """The rows of files, a file per task."""
    from pyspark.sql import DataFrame

    parts = []
    if local := {file: ways for file, ways in files.items() if not is_remote(file)}:
        numbers = spark.range(0, len(local), 1, len(local)).selectExpr("id", "CAST(NULL AS binary) AS content")
        parts.append(numbers.mapInArrow(_Parse(local, width), rows_schema(width)))
    if others := {file: ways for file, ways in files.items() if is_remote(file)}:
        contents = spark.read.format("binaryFile").load([literal_path(file) for file in others])
        parts.append(contents.select("path", "content").mapInArrow(_Parse(others, width), rows_schema(width)))
    return reduce(DataFrame.unionAll, parts)


@dataclass(frozen=True)
class _Parse:
    """The task: batches of (number or name of a file, its content unless the task opens it) become rows."""

    files: Documents
    width: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = list(self.files)
        for batch in batches:
            for place, content in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
                file = names[place] if isinstance(place, int) else place
                for document in self.files[file]:
                    sheet = Sheet(document.source, self.width, document.constants, document.order)
                    try:
                        yield from document.parser(file, content.as_py(), sheet)
                    except UNREADABLE as mistake:
                        reason = f"cannot be read: {getattr(mistake, 'strerror', None) or mistake}"
                        yield sheet.problems([Problem(file, None, reason)])


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

    @staticmethod
    def _statements(file: str, content: bytes | None) -> Iterator[tuple[str, str, str, str | None]]:
        from everlog.rdf.documents import parse_document

        base = file if is_remote(file) else "file://" + quote(file)
        with opened(file, content) as stream:
            format = _rdf_format(file, stream.read(HEAD).decode("utf-8-sig", "replace"))
            stream.seek(0)
            yield from parse_document(stream, format, file_mark(file), base)


def prefixes_of_files(files: Iterable[str]) -> dict[str, str]:
    """The prefixes that RDF documents declare where they begin; of two that differ, the first. Some files are enough."""
    from everlog.rdf.documents import MalformedDocument, document_prefixes

    found: dict[str, str] = {}
    for file in islice((file for file in files if not is_remote(file)), _LOOKED_AT):
        with suppress(MalformedDocument, *UNREADABLE), opened(file) as stream:
            text = stream.read(HEAD).decode("utf-8-sig", "replace")
            found = {**document_prefixes(text, _rdf_format(file, text)), **found}
    return found


@dataclass(frozen=True)
class CsvDocuments:
    """Parses CSV or TSV whose quoted fields may span lines."""

    parser: CsvLines
    mark: str

    def __call__(self, file: str, content: bytes | None, sheet: Sheet) -> Iterator[pa.RecordBatch]:
        with opened(file, content) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="")
            yield from parse_stream(text, self.parser, file, self.mark, sheet)


def _rdf_format(file: str, text: str) -> RdfFormat:
    """The format of a file that begins with a text. Ontologies that are not RDF are malformed documents."""
    from pyoxigraph import RdfFormat as Format

    from everlog.rdf.documents import MalformedDocument
    from everlog.rdf.owl.axiom_triples import ADVICE

    suffix = PurePosixPath(file.lower().removesuffix(".gz")).suffix
    named = {".ttl": Format.TURTLE, ".trig": Format.TRIG}.get(suffix)
    found = syntax_of(text, Format.RDF_XML if suffix == ".rdf" else Format.TURTLE)
    if found == "functional" or (found == "owl/xml" and named is None):
        raise MalformedDocument(None, f"an ontology in {found} syntax, which is no RDF; {ADVICE}")
    return named or cast("RdfFormat", found)


def opened(file: str, content: bytes | None = None) -> IO[bytes]:
    """A file, or its bytes, unpacked as its name says. The caller closes it."""
    packed = file if content is None else io.BytesIO(content)
    name = file.lower()
    if name.endswith(".gz"):
        return cast(IO[bytes], gzip.open(packed, "rb"))
    if name.endswith(".bz2"):
        return bz2.open(packed, "rb")
    return open(packed, "rb") if isinstance(packed, str) else packed

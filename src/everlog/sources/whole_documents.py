"""Formats that cannot be split: a file per task, opened by the task itself where it can.

Files that only Spark can reach come to the task as a whole, and are then limited to what fits into one row (2 GB).
A malformed file gives nothing but its problem: when problems are to be skipped, a file is read to its end before the
first of its facts is given.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeAlias, cast
from urllib.parse import quote

import pyarrow as pa

from everlog.rdf.blanks import file_mark
from everlog.rdf.owl.syntaxes import HEAD, syntax_of
from everlog.sources.blocks import SCHEMA, InBlocks
from everlog.sources.csv_lines import CsvLines, parse_stream
from everlog.sources.line_blocks import UNREADABLE, opened
from everlog.sources.parsed_rows import Given
from everlog.sources.problems import Problem, cannot_be_read
from everlog.sources.source_files import is_remote
from everlog.sources.text_lines import literal_path
from everlog.spark.hadoop_files import full_address

if TYPE_CHECKING:
    from pyoxigraph import RdfFormat
    from pyspark.sql import DataFrame, SparkSession

_BLOCK = 10_000
_LOOKED_AT = 100
"""Files whose prefixes are looked for, by this process."""


DocumentParser: TypeAlias = Callable[[str, bytes | None, int], Iterator[Given]]
"""What is in a file, opened by its name or given as its bytes. Sent to workers, so it must be picklable."""


@dataclass(frozen=True)
class Document:
    """A way to parse a file: into which table, by what; see `Given.arranged`."""

    source: int
    parser: DocumentParser
    constants: tuple[str | None, ...] = ()
    order: tuple[int, ...] | None = None


Documents: TypeAlias = Mapping[str, Sequence[Document]]
"""By file, the ways in which it is read."""


def read_documents(spark: SparkSession, files: Documents, folder: str | None) -> list[DataFrame]:
    """The blocks of files, a file per task."""
    parts = []
    if local := {file: ways for file, ways in files.items() if not is_remote(file)}:
        numbers = spark.range(0, len(local), 1, len(local)).selectExpr("id", "CAST(NULL AS binary) AS content")
        parts.append(numbers.mapInArrow(InBlocks(_Parse(local), folder), SCHEMA))
    if others := {file: ways for file, ways in files.items() if is_remote(file)}:
        contents = spark.read.format("binaryFile").load([literal_path(file) for file in others])
        parts.append(contents.select("path", "content").mapInArrow(InBlocks(_Parse(others), folder), SCHEMA))
    return parts


@dataclass(frozen=True)
class _Parse:
    """The task: batches of (number or name of a file, its content unless the task opens it) become facts and problems."""

    files: Documents

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Given]:
        names = list(self.files)
        for batch in batches:
            for place, content in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
                file = names[place] if isinstance(place, int) else full_address(place)
                for document in self.files[file]:
                    try:
                        for given in document.parser(file, content.as_py(), document.source):
                            yield given.arranged(document.constants, document.order)
                    except UNREADABLE as mistake:
                        yield Given(document.source, problems=[cannot_be_read(file, mistake)])


@dataclass(frozen=True)
class RdfDocuments:
    """Parses Turtle, TriG and RDF/XML. With `whole`, a malformed file gives no facts."""

    whole: bool

    def __call__(self, file: str, content: bytes | None, source: int) -> Iterator[Given]:
        from everlog.rdf.documents import MalformedDocument

        try:
            if self.whole:
                for _ in self._statements(file, content):
                    pass
            statements = self._statements(file, content)
            while block := list(islice(statements, _BLOCK)):
                yield Given(source, [pa.array(column, type=pa.string()) for column in zip(*block, strict=True)])
        except MalformedDocument as mistake:
            yield Given(source, problems=[Problem(file, mistake.line, mistake.reason)])

    @staticmethod
    def _statements(file: str, content: bytes | None) -> Iterator[tuple[str, str, str, str | None]]:
        from everlog.rdf.documents import parse_document

        base = quote(file, safe="/:") if is_remote(file) else "file://" + quote(file)
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

    def __call__(self, file: str, content: bytes | None, source: int) -> Iterator[Given]:
        with opened(file, content) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="")
            yield from parse_stream(text, self.parser, file, self.mark, source)


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

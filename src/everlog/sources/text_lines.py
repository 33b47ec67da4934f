"""Formats with a fact in each line: read by Spark's text source, split across tasks, parsed in blocks of lines.

Spark's text source knows the file of a line but not its number. A parser works line by line, so that the numbers of
malformed lines can be found by a second reading of their files, in order, by the same parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote

import pyarrow as pa

from everlog.sources.parsed_rows import PROBLEM, Parsed, Sheet, rows_schema
from everlog.sources.problems import Problem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_GLOB = re.compile(r"([\\*?\[\]{}])")


LineParser: TypeAlias = Callable[[pa.Array, str], Parsed]
"""Parses lines, given what labels of blank nodes begin with. Sent to workers, so it must be picklable."""


@dataclass(frozen=True)
class LineFile:
    """How a file is parsed: into which table, by what, what labels of its blank nodes begin with; see `Sheet`."""

    source: int
    parser: LineParser
    mark: str
    constants: tuple[str | None, ...] = ()
    order: tuple[int, ...] | None = None


LineFiles: TypeAlias = Mapping[str, Sequence[LineFile]]
"""By file, the ways in which it is read: a table may be mapped to several predicates."""


def read_lines(spark: SparkSession, files: LineFiles, width: int) -> DataFrame:
    """The rows of files."""
    lines = spark.read.text([literal_path(file) for file in files]).select("value", "_metadata.file_path")
    return lines.mapInArrow(_Parse(files, width), rows_schema(width))


def numbered_problems(spark: SparkSession, files: LineFiles, width: int) -> Iterator[Problem]:
    """The problems of files again, with their line numbers, file by file."""
    from pyspark.sql.functions import col, monotonically_increasing_id

    lines = spark.read.text([literal_path(file) for file in files]).select(
        "value",
        "_metadata.file_path",
        col("_metadata.file_block_start").alias("block"),
        monotonically_increasing_id().alias("row"),
    )
    ordered = lines.repartition(1).sortWithinPartitions("file_path", "block", "row").select("value", "file_path")
    found = ordered.mapInArrow(_Parse(files, width, numbered=True), rows_schema(width)).select(PROBLEM)
    for row in found.toLocalIterator():
        yield Problem.from_json(row[0])


def literal_path(path: str) -> str:
    """A path that Spark does not take for a pattern."""
    return _GLOB.sub(r"\\\1", path)


def readable_path(uri: str) -> str:
    """The path of a file as users write it, from the form in which Spark gives it.

    >>> readable_path("file:///a%20b"), readable_path("s3a://bucket/a")
    ('/a b', 's3a://bucket/a')
    """
    if uri.startswith("file:"):
        return unquote("/" + uri.removeprefix("file:").lstrip("/"))
    return unquote(uri)


@dataclass(frozen=True)
class _Parse:
    """The task: batches of (line, file) become rows, or numbered problems alone."""

    files: LineFiles
    width: int
    numbered: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        before: dict[str, int] = {}
        for uri, given in (run for batch in batches for run in _runs(batch)):
            name = readable_path(uri)
            lines, mistakes = _decoded(given)
            for file in self.files[name]:
                sheet = Sheet(file.source, self.width, file.constants, file.order)
                columns, others = file.parser(lines, file.mark)
                if not self.numbered and len(columns[0]):
                    yield sheet.facts(columns)
                mistakes = sorted(mistakes + [(row, reason, lines[row].as_py()) for row, reason in others])
                if mistakes:
                    first = before.get(name, 0) + 1
                    yield sheet.problems(
                        [
                            Problem(name, first + row if self.numbered else None, reason, text)
                            for row, reason, text in mistakes
                        ]
                    )
                mistakes = []  # a line that is no text is one, however often it is read
            before[name] = before.get(name, 0) + len(lines)


def _runs(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.Array]]:
    """The lines of a batch, file by file: small files share a task."""
    import pyarrow.compute as pc

    lines, files = batch.column(0), batch.column(1)
    if not len(files):
        return
    runs = pc.run_end_encode(files)
    begin = 0
    for end, file in zip(runs.run_ends.to_pylist(), runs.values.to_pylist(), strict=True):
        yield file, lines.slice(begin, end - begin)
        begin = end


def _decoded(lines: pa.Array) -> tuple[pa.Array, list[tuple[int, str, str]]]:
    """The lines with those that are no UTF-8 replaced by null, and these as (row, reason, text)."""
    try:
        lines.validate(full=True)
        return lines, []
    except pa.ArrowInvalid:
        pass
    kept: list[str | None] = []
    mistakes = []
    for row, line in enumerate(lines.cast(pa.binary()).to_pylist()):
        try:
            kept.append(line.decode())
        except UnicodeDecodeError as mistake:
            kept.append(None)
            reason = f"byte {mistake.start + 1} of the line (0x{line[mistake.start]:02x}) is not UTF-8"
            mistakes.append((row, reason, line.decode("utf-8", "replace")))
    return pa.array(kept, type=pa.string()), mistakes

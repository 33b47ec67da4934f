"""Formats with a fact in each line: split across tasks, which read their lines themselves and parse them in blocks.

Files that only Spark can reach come to the tasks line by line. Spark knows the file of a line but not its number; if some
are malformed, these files are read a second time, in order, by the same parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import unquote

import pyarrow as pa

from everlog.sources.blocks import PROBLEM, SCHEMA, InBlocks
from everlog.sources.line_blocks import SPLIT, UNREADABLE, Lines, Split, line_count, splits_of
from everlog.sources.parsed_rows import Given, Parsed
from everlog.sources.problems import Problem, cannot_be_read, problems_from_json
from everlog.sources.source_files import is_remote
from everlog.spark.hadoop_files import full_address
from everlog.spark.parallelism import tasks_at_once

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_GLOB = re.compile(r"([\\*?\[\]{}])")
_TASKS_PER_CORE: Final = 2
"""At the most: to start a task takes Python longer than to parse a thousand lines."""

LineParser: TypeAlias = Callable[[Lines, str], Parsed]
"""Parses lines, given what labels of blank nodes begin with. Sent to workers, so it must be picklable."""


@dataclass(frozen=True)
class LineFile:
    """A way to parse a file: into which table, by what, what labels of its blank nodes begin with; see `Given.arranged`."""

    source: int
    parser: LineParser
    mark: str
    constants: tuple[str | None, ...] = ()
    order: tuple[int, ...] | None = None

    def parsed(self, lines: Lines) -> tuple[Given, list[tuple[int, str]]]:
        """The facts of some lines, and what is wrong with others."""
        columns, mistakes = self.parser(lines, self.mark)
        return Given(self.source, columns).arranged(self.constants, self.order), mistakes


LineFiles: TypeAlias = Mapping[str, Sequence[LineFile]]
"""By file, the ways in which it is read."""


def read_lines(spark: SparkSession, files: LineFiles, folder: str | None) -> list[DataFrame]:
    """The blocks of files: of those that tasks can open, and of others."""
    found = []
    if splits := splits_of([file for file in files if not is_remote(file)], _split_bytes(spark)):
        numbers = numbers_for_tasks(spark, len(splits))
        found.append(numbers.mapInArrow(InBlocks(_ParseSplits(files, splits), folder), SCHEMA))
    if remote := {file: ways for file, ways in files.items() if is_remote(file)}:
        lines = spark.read.text([literal_path(file) for file in remote]).select("value", "_metadata.file_path")
        found.append(lines.mapInArrow(InBlocks(_ParseLines(remote), folder), SCHEMA))
    return found


def numbers_for_tasks(spark: SparkSession, count: int) -> DataFrame:
    """Numbers from 0 on, dealt out to tasks in order."""
    return spark.range(0, count, 1, min(count, _TASKS_PER_CORE * tasks_at_once(spark)))


def _split_bytes(spark: SparkSession) -> int:
    """As many as Spark's own readers would give to a task, if that is less than usual here."""
    digits = re.match(r"(\d+)b?$", spark.conf.get("spark.sql.files.maxPartitionBytes") or "")
    return SPLIT if digits is None else min(SPLIT, max(1, int(digits[1])))


def numbered_problems(spark: SparkSession, files: LineFiles) -> Iterator[Problem]:
    """The problems of files that only Spark can reach again, with their line numbers, file by file."""
    from pyspark.sql.functions import col, monotonically_increasing_id

    lines = spark.read.text([literal_path(file) for file in files]).select(
        "value",
        "_metadata.file_path",
        col("_metadata.file_block_start").alias("block"),
        monotonically_increasing_id().alias("row"),
    )
    ordered = lines.repartition(1).sortWithinPartitions("file_path", "block", "row").select("value", "file_path")
    found = ordered.mapInArrow(InBlocks(_ParseLines(files, numbered=True)), SCHEMA).select(PROBLEM)
    for row in found.filter(col(PROBLEM).isNotNull()).toLocalIterator():
        yield from problems_from_json(row[0])


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
    return full_address(unquote(uri))


@dataclass(frozen=True)
class _ParseSplits:
    """The task: numbers of splits become facts and numbered problems."""

    files: LineFiles
    splits: Sequence[Split]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Given]:
        for number in (number for batch in batches for number in batch.column(0).to_pylist()):
            split = self.splits[number]
            ways = self.files[split.file]
            try:
                yield from self._parsed(split, ways)
            except UNREADABLE as mistake:
                yield Given(ways[0].source, problems=[cannot_be_read(split.file, mistake)])

    def _parsed(self, split: Split, ways: Sequence[LineFile]) -> Iterator[Given]:
        before, passed = None, 0
        for data in split.blocks():
            lines = Lines(data)
            known: set[tuple[int, str]] = set()
            for file in ways:
                given, mistakes = file.parsed(lines)
                yield given
                # A line that is no text is one mistake, in however many ways it is read.
                if mistakes := [mistake for mistake in mistakes if mistake not in known]:
                    before = split.lines_before() if before is None else before
                    yield Given(file.source, problems=_problems(split.file, lines, mistakes, before + passed + 1))
                    known.update(mistakes)
            if split.end is None:  # others come in one block
                passed += line_count(data)


def _problems(file: str, lines: Lines, mistakes: Sequence[tuple[int, str]], first: int | None) -> list[Problem]:
    """Problems of some lines; the number of the `first` line is known, or nothing is."""
    return [
        Problem(file, None if first is None else first + row, reason, lines.pieces[row].decode("utf-8", "replace"))
        for row, reason in sorted(mistakes)
    ]


@dataclass(frozen=True)
class _ParseLines:
    """The task: batches of (line, file) become facts and problems, or numbered problems alone."""

    files: LineFiles
    numbered: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Given]:
        before: dict[str, int] = {}
        for uri, data in (run for batch in batches for run in _runs(batch)):
            name = readable_path(uri)
            lines = Lines(data)
            first = before.get(name, 0) + 1 if self.numbered else None
            for file in self.files[name]:
                given, mistakes = file.parsed(lines)
                if not self.numbered:
                    yield given
                yield Given(file.source, problems=_problems(name, lines, mistakes, first))
            before[name] = before.get(name, 0) + line_count(data)


def _runs(batch: pa.RecordBatch) -> Iterator[tuple[str, bytes]]:
    """The lines of a batch, file by file: small files share a task."""
    lines, files = batch.column(0).cast(pa.binary()).to_pylist(), batch.column(1).to_pylist()
    for file, some in groupby(zip(files, lines, strict=True), key=lambda pair: pair[0]):
        yield file, b"".join(line + b"\n" for _, line in some)

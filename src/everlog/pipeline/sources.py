"""Facts from files: every format becomes DataFrames of canonical N-Triples texts, one per predicate.

Reading is eager. Each group of files is parsed once, by one Spark job for all of them, into rows that are facts or
problems; these are kept by Spark, so that whoever encodes them later does not parse again, and every mistake in the
input is known when `read_paths` returns. `Read.release` gives the memory back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from everlog.pipeline.columnar import facts_from_dataframe, open_table, read_table
from everlog.pipeline.csv_lines import OPEN_QUOTE, CsvLines
from everlog.pipeline.documents import CsvDocuments, RdfDocuments, read_documents
from everlog.pipeline.failures import spark_failures
from everlog.pipeline.files import BINARY_TABLES, RDF_DOCUMENTS, RDF_LINES, Source, find_sources
from everlog.pipeline.heads import csv_width, json_keys
from everlog.pipeline.json_lines import JsonLines
from everlog.pipeline.lines import LineParser, numbered_problems, read_lines
from everlog.pipeline.problems import Problem, SourceMistake, write_quarantine
from everlog.pipeline.rdf_lines import RdfLines
from everlog.pipeline.rows import PROBLEM, columns_of_width

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Read", "SourceMistake", "facts_from_dataframe", "read_paths"]

_RDF_ARITIES = {"triple": 3, "quad": 4}
_NONE: Mapping[str, int] = {}


@dataclass(frozen=True)
class Read:
    """Facts in text form by predicate, not yet without duplicates; what there is to say; how much was skipped."""

    facts: dict[str, DataFrame]
    warnings: list[str]
    skipped: int
    _kept: tuple[DataFrame, ...] = field(default=(), repr=False)

    def release(self) -> None:
        """Lets Spark forget the rows. The DataFrames still work, by parsing again."""
        for frame in self._kept:
            frame.unpersist()


@dataclass(frozen=True)
class _Piece:
    """Rows of one predicate, or of RDF (None), from files that are read in one way."""

    predicate: str | None
    width: int
    rows: DataFrame
    files: tuple[str, ...]
    table: str | None = None
    parser: LineParser | None = None
    """For line formats: what finds the line numbers of problems."""


@dataclass(frozen=True)
class _Counts:
    rows: int
    problems: int
    open_quotes: int
    in_graphs: int


def read_paths(
    spark: SparkSession,
    paths: Sequence[str | os.PathLike[str]],
    *,
    on_error: Literal["fail", "skip"] = "fail",
    quarantine: Path | None = None,
    arities: Mapping[str, int] = _NONE,
) -> Read:
    """The facts in files and folders; see `files.py` for what they may be.

    Malformed input raises `SourceMistake` with its place, or is left out, counted, and written to the quarantine folder.
    `arities` are those that the program gives its predicates.
    """
    sources, warnings = find_sources(spark, paths)
    if any(source.predicate is None for source in sources):
        for predicate, arity in _RDF_ARITIES.items():
            if arities.get(predicate, arity) != arity:
                raise SourceMistake(
                    f"RDF is read into {predicate}, which has {arity} arguments, but the program gives it "
                    f"{arities[predicate]}"
                )
    lost: list[Problem] = []
    while True:
        pieces: list[_Piece] = []
        try:
            with spark_failures("reading the facts"):
                for piece in _pieces(spark, sources, on_error, arities):
                    pieces.append(replace(piece, rows=piece.rows.persist()))
                pieces, counts = _settled(spark, pieces)
                return _outcome(spark, pieces, counts, on_error, quarantine, warnings, lost)
        except SourceMistake as mistake:
            for piece in pieces:
                piece.rows.unpersist()
            # A file that Spark cannot read to its end stops the job: leave it out and start again.
            smaller = _without(sources, mistake.file)
            if on_error == "fail" or smaller == sources:
                raise
            lost.append(Problem(str(mistake.file), None, str(mistake).partition(": ")[2]))
            sources = smaller


# What is to be read


def _pieces(
    spark: SparkSession, sources: Sequence[Source], on_error: str, arities: Mapping[str, int]
) -> Iterator[_Piece]:
    for format in RDF_LINES:
        if files := _files(sources, (format,)):
            parser = RdfLines(format)
            yield _Piece(None, 4, read_lines(spark, files, parser, None), files, parser=parser)
    if files := _files(sources, RDF_DOCUMENTS):
        yield _Piece(None, 4, read_documents(spark, files, RdfDocuments(whole=on_error == "skip")), files)
    widths = {**_RDF_ARITIES, **arities}
    for source in sources:
        if source.predicate is not None and source.files:
            piece = _table(spark, source, widths.get(source.predicate))
            if piece is not None:
                widths[source.predicate] = piece.width
                yield piece


def _files(sources: Sequence[Source], formats: Sequence[str]) -> tuple[str, ...]:
    return tuple(file for source in sources if source.format in formats for file in source.files)


def _table(spark: SparkSession, source: Source, arity: int | None) -> _Piece | None:
    """A table's piece; None if it is empty and nobody knows its width."""
    predicate, path, files = source.predicate, source.path, source.files
    if source.format in BINARY_TABLES:
        table = open_table(spark, path, source.format, files, arity)
        if arity is not None and table.width != arity:
            raise SourceMistake(
                f"{path}: {_counted(table.width, 'column')}, where {predicate} has {_counted(arity, 'argument')}", path
            )
        return _Piece(predicate, table.width, read_table(table, path), files, path)
    parser: LineParser
    if source.format == "jsonl":
        keys = json_keys(spark, files)
        if keys is None and arity is None:
            return None
        width = arity if arity is not None else len(keys or ())
        parser = JsonLines(width, keys if keys is not None and len(keys) == width else tuple(columns_of_width(width)))
    else:
        delimiter = "," if source.format == "csv" else "\t"
        found = arity if arity is not None else csv_width(spark, files, delimiter)
        if found is None:
            return None
        parser = CsvLines(delimiter, found)
    return _Piece(predicate, parser.width, read_lines(spark, files, parser, path), files, path, parser)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _without(sources: Sequence[Source], file: str | None) -> list[Source]:
    """The sources without a file, or without the table of that name."""
    kept = []
    for source in sources:
        if source.path == file and file not in source.files:
            continue
        files = tuple(other for other in source.files if other != file)
        if files or not source.files:
            kept.append(replace(source, files=files))
    return kept


# Reading


def _settled(spark: SparkSession, pieces: list[_Piece]) -> tuple[list[_Piece], list[_Counts]]:
    """The pieces read, with those files read again as a whole that have fields spanning lines."""
    counts = _counted_rows(pieces)
    if not any(count.open_quotes for count in counts):
        return pieces, counts
    settled: list[_Piece] = []
    for piece, count in zip(pieces, counts, strict=True):
        if not count.open_quotes or not isinstance(piece.parser, CsvLines) or piece.table is None:
            settled.append(piece)
            continue
        spanning = _files_with_problems(piece, OPEN_QUOTE)
        piece.rows.unpersist()
        others = tuple(file for file in piece.files if file not in spanning)
        if others:
            rows = read_lines(spark, others, piece.parser, piece.table)
            settled.append(replace(piece, rows=rows.persist(), files=others))
        rows = read_documents(spark, spanning, CsvDocuments(piece.parser, piece.table))
        settled.append(replace(piece, rows=rows.persist(), files=tuple(spanning), parser=None))
    return settled, _counted_rows(settled)


def _counted_rows(pieces: Sequence[_Piece]) -> list[_Counts]:
    """How many rows, problems, open quotes and rows in named graphs each piece has: one job for all pieces."""
    from pyspark.sql import DataFrame
    from pyspark.sql.functions import col, count, count_if, lit

    if not pieces:
        return []
    frames = []
    for number, piece in enumerate(pieces):
        spanning = col(PROBLEM).contains(OPEN_QUOTE) if isinstance(piece.parser, CsvLines) else lit(False)
        frames.append(
            piece.rows.agg(
                lit(number).alias("piece"),
                count(lit(1)),
                count(PROBLEM),
                count_if(spanning),
                count("a3") if piece.predicate is None else lit(0).cast("bigint"),
            )
        )
    rows = reduce(DataFrame.unionAll, frames).collect()
    return [_Counts(*row[1:]) for row in sorted(rows, key=lambda row: int(row[0]))]


def _files_with_problems(piece: _Piece, reason: str = "") -> list[str]:
    from pyspark.sql.functions import col, get_json_object

    found = piece.rows.filter(col(PROBLEM).contains(reason)).select(get_json_object(PROBLEM, "$.file")).distinct()
    return sorted(row[0] for row in found.collect())


# What came of it


def _outcome(
    spark: SparkSession,
    pieces: list[_Piece],
    counts: list[_Counts],
    on_error: str,
    quarantine: Path | None,
    warnings: list[str],
    lost: list[Problem],
) -> Read:
    warnings = list(warnings)
    skipped = sum(count.problems for count in counts) + len(lost)
    if skipped:
        problems = _problems(spark, pieces, counts, lost)
        first = next(problems)
        if on_error == "fail":
            raise SourceMistake(_message(first, skipped))
        warnings.append(_skipped(first, problems, skipped, quarantine))
    in_graphs = sum(count.in_graphs for count in counts)
    if in_graphs:
        warnings.append(
            f"{in_graphs} statements are in named graphs: they are kept as the predicate quad; rules over triple see the "
            "default graph only"
        )
    return Read(_facts(pieces, counts), warnings, skipped, tuple(piece.rows for piece in pieces))


def _facts(pieces: Sequence[_Piece], counts: Sequence[_Counts]) -> dict[str, DataFrame]:
    from pyspark.sql import DataFrame
    from pyspark.sql.functions import col

    found: dict[str, list[DataFrame]] = {}
    for piece, count in zip(pieces, counts, strict=True):
        rows = piece.rows.filter(col(PROBLEM).isNull()) if count.problems else piece.rows
        if piece.predicate is not None:
            found.setdefault(piece.predicate, []).append(rows.select(*columns_of_width(piece.width)))
            continue
        triples = rows.filter(col("a3").isNull()) if count.in_graphs else rows
        found.setdefault("triple", []).append(triples.select(*columns_of_width(3)))
        if count.in_graphs:
            found.setdefault("quad", []).append(rows.filter(col("a3").isNotNull()).select(*columns_of_width(4)))
    return {predicate: reduce(DataFrame.unionAll, frames) for predicate, frames in found.items()}


def _problems(
    spark: SparkSession, pieces: Sequence[_Piece], counts: Sequence[_Counts], lost: Sequence[Problem]
) -> Iterator[Problem]:
    """All problems, with their lines, in a fixed order."""
    from pyspark.sql.functions import col

    yield from lost
    for piece, count in zip(pieces, counts, strict=True):
        if count.problems and piece.parser is not None:
            yield from numbered_problems(spark, _files_with_problems(piece), piece.parser, piece.table)
        elif count.problems:
            for row in piece.rows.filter(col(PROBLEM).isNotNull()).select(PROBLEM).toLocalIterator():
                yield Problem.from_json(row[0])


def _message(first: Problem, count: int) -> str:
    text = f": {first.text[:100]!r}" if first.text else ""
    others = "" if count == 1 else f" (and {count - 1} more)"
    return f"{first}{text}{others}"


def _skipped(first: Problem, others: Iterator[Problem], count: int, quarantine: Path | None) -> str:
    what = f"skipped {count} malformed {'piece' if count == 1 else 'pieces'} of input, the first being {first}"
    if quarantine is None:
        return what

    def everything() -> Iterator[Problem]:
        yield first
        yield from others

    return f"{what}; all are in {write_quarantine(quarantine, everything())}"

"""Facts from files: every format becomes DataFrames of canonical N-Triples texts, one per predicate.

Reading is eager. All input is parsed once, by one Spark job, into rows that are facts or problems; these are kept by
Spark, so that whoever encodes them later does not parse again, and every mistake in the input is known when `read_paths`
returns. `Read.release` gives the memory back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from everlog.datalog.values import RDF_TYPE
from everlog.rdf.blanks import file_mark
from everlog.rdf.owl.axiom_triples import AXIOM_PROPERTIES, AXIOM_TYPES
from everlog.sources.arranged_columns import arranged, constants_of
from everlog.sources.column_mapping import Mapped
from everlog.sources.column_names import columns_of_width, usable_names
from everlog.sources.columnar import Table, facts_from_dataframe, open_table, read_table
from everlog.sources.csv_lines import OPEN_QUOTE, CsvLines
from everlog.sources.facts_lines import FactsLines
from everlog.sources.infer_columns import (
    csv_header,
    csv_width,
    facts_width,
    header_names,
    json_keys,
    looks_like_header,
)
from everlog.sources.json_lines import JsonLines
from everlog.sources.null_policy import LEFT_OUT, Nulls, check_nulls, left_out
from everlog.sources.parsed_rows import PROBLEM, SOURCE
from everlog.sources.problems import Problem, SourceMistake, write_quarantine
from everlog.sources.rdf_lines import parse_rdf_lines
from everlog.sources.source_files import (
    CATALOG,
    RDF_LINES,
    TEXT_TABLES,
    Source,
    find_sources,
    is_remote,
    mapped_sources,
)
from everlog.sources.text_lines import LineFile, numbered_problems, read_lines
from everlog.sources.whole_documents import CsvDocuments, Document, RdfDocuments, prefixes_of_files, read_documents
from everlog.spark.failures import spark_failures

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["Read", "SourceMistake", "facts_from_dataframe", "read_paths"]

_RDF_ARITIES = {"triple": 3, "quad": 4}
_DELIMITERS = {"csv": ",", "tsv": "\t", "facts": "\t"}
_NONE: Mapping[str, int] = {}


@dataclass(frozen=True)
class Read:
    """Facts in text form by predicate, not yet without duplicates; what there is to say; how much was skipped."""

    facts: dict[str, DataFrame]
    warnings: list[str]
    skipped: int
    axioms: str = ""
    """Which of the RDF, if any, is an ontology's, and how much; see `everlog.rdf.owl.axiom_triples`."""
    prefixes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Those of Turtle and its kin."""
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The names of columns, by predicate, where tables have some."""
    _kept: tuple[DataFrame, ...] = field(default=(), repr=False)

    def release(self) -> None:
        """Lets Spark forget the rows. The DataFrames still work, by parsing again."""
        for frame in self._kept:
            frame.unpersist()


@dataclass
class _Plan:
    """What is to be read, and how. A table's number is its place in `predicates`; RDF is a table of its own (None)."""

    header: bool
    nulls: Nulls
    warnings: list[str] = field(default_factory=list)
    predicates: list[str | None] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lines: dict[str, list[LineFile]] = field(default_factory=dict)
    documents: dict[str, list[Document]] = field(default_factory=dict)
    tables: list[tuple[int, Table]] = field(default_factory=list)

    def number(self, predicate: str | None, width: int) -> int:
        self.predicates.append(predicate)
        self.widths.append(width)
        return len(self.predicates) - 1

    def add_lines(self, file: str, way: LineFile) -> None:
        self.lines.setdefault(file, []).append(way)

    def add_document(self, file: str, way: Document) -> None:
        self.documents.setdefault(file, []).append(way)

    def keep_names(self, predicate: str, names: Sequence[str]) -> None:
        if (usable := usable_names(names)) is not None:
            self.names.setdefault(predicate, usable)

    @property
    def width(self) -> int:
        return max(self.widths, default=0)


@dataclass(frozen=True)
class _Counts:
    """Of one table in one piece."""

    problems: int = 0
    left_out: int = 0
    open_quotes: int = 0
    in_graphs: int = 0
    axioms: int = 0


@dataclass
class _Piece:
    """Rows that are read in one way, kept by Spark, and how many there are of each table."""

    rows: DataFrame
    is_lines: bool = False
    counts: dict[int, _Counts] = field(default_factory=dict)


def read_paths(
    spark: SparkSession,
    paths: Sequence[str | os.PathLike[str]],
    *,
    on_error: Literal["fail", "skip"] = "fail",
    quarantine: Path | None = None,
    arities: Mapping[str, int] = _NONE,
    header: bool = False,
    nulls: Nulls = "error",
    partition_columns: bool = True,
    tables: Sequence[Mapped] = (),
) -> Read:
    """The facts in files and folders, and in tables that are mapped to predicates.

    See `source_files.py` for what files and folders may be, and `column_mapping.py` for tables.

    Malformed input raises `SourceMistake` with its place, or is left out, counted, and written to the quarantine folder.
    `arities` are those that the program gives its predicates. With `header`, the first lines of CSV and TSV files are none.
    `nulls` says what becomes of rows with nulls, and of empty fields of CSV and TSV that are not quoted. The values of
    partitions are last arguments, unless `partition_columns` is false.
    """
    check_nulls(nulls)
    sources, warnings = find_sources(spark, paths)
    sources += [source for mapped in tables for source in mapped_sources(spark, mapped)]
    if not partition_columns:
        sources = [replace(source, partitions=(), values={}) for source in sources]
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
                plan = _planned(spark, sources, on_error, arities, _Plan(header, nulls))
                _read(spark, plan, pieces)
                return _outcome(spark, plan, pieces, on_error, quarantine, [*warnings, *plan.warnings], lost)
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


def _planned(
    spark: SparkSession, sources: Sequence[Source], on_error: str, arities: Mapping[str, int], plan: _Plan
) -> _Plan:
    rdf = [source for source in sources if source.predicate is None]
    if rdf:
        number = plan.number(None, 4)
        for source in rdf:
            for file in source.files:
                if source.format in RDF_LINES:
                    plan.add_lines(file, LineFile(number, partial(parse_rdf_lines, source.format), file_mark(file)))
                else:
                    plan.add_document(file, Document(number, RdfDocuments(whole=on_error == "skip")))
    widths = {**_RDF_ARITIES, **arities}
    for source in sources:
        if source.predicate is not None and (source.files or source.format == CATALOG):
            width = _plan_table(spark, plan, source, source.predicate, widths.get(source.predicate))
            if width is not None:
                widths[source.predicate] = width
    return plan


def _plan_table(spark: SparkSession, plan: _Plan, source: Source, predicate: str, arity: int | None) -> int | None:
    """Adds a table to the plan; gives its width, or None if it is empty and nobody knows."""
    if source.format not in TEXT_TABLES:
        table = open_table(spark, source, arity, plan.nulls)
        _check_width(source, predicate, table.width, arity)
        plan.tables.append((plan.number(predicate, table.width), table))
        plan.keep_names(predicate, table.arrangement.names)
        return table.width
    if source.has_names and (source.format != "jsonl" or source.columns):
        return _plan_named(spark, plan, source, predicate, arity)
    path, files, more = source.path, source.files, len(source.partitions)
    if arity is not None and arity < more:
        raise SourceMistake(
            f"{path}: {_counted(more, 'partition column')}, where {predicate} has {_counted(arity, 'argument')}; "
            "--no-partition-columns (partition_columns=False) leaves them out",
            path,
        )
    parser = _parser(spark, source, None if arity is None else arity - more, plan.nulls)
    if parser is None:
        return None
    constants = constants_of(source, source.partitions, plan.nulls)
    number = plan.number(predicate, parser.width + more)
    names = parser.keys if isinstance(parser, JsonLines) else ()
    for file in files:
        mine = parser
        if plan.header and isinstance(mine, CsvLines):
            mine = replace(mine, header=csv_header(spark, file, None if source.format == "facts" else mine.delimiter))
            names = names or header_names(mine.header, mine.delimiter)
        plan.add_lines(file, LineFile(number, mine, file_mark(path), constants.get(file, ())))
    plan.keep_names(predicate, (*names, *source.partitions))
    first = files[0]
    plain = isinstance(parser, CsvLines) and not plan.header and not is_remote(first)
    if plain and looks_like_header(spark, first, _DELIMITERS[source.format]):
        why = "the first line looks like a header, and is read as a fact; --header (header=True) leaves it out"
        plan.warnings.append(f"{first}: {why}")
    return parser.width + more


def _plan_named(spark: SparkSession, plan: _Plan, source: Source, predicate: str, arity: int | None) -> int | None:
    """The same for lines whose columns go by names: CSV and TSV with headers, perhaps others in each file, and objects."""
    number: int | None = None
    for file in source.files:
        parser: CsvLines | JsonLines
        if source.format == "jsonl":
            keys = [name for name in source.columns if name not in source.partitions]
            chosen = arranged(source, file, keys, plan.nulls)
            parser = JsonLines(len(keys), tuple(keys), plan.nulls, picked=True)
        else:
            delimiter = _DELIMITERS[source.format]
            header = csv_header(spark, file, delimiter)
            if header is None:
                continue
            names = header_names(header, delimiter)
            chosen = arranged(source, file, names, plan.nulls)
            source = replace(source, columns=chosen.names)  # other files have the same ones
            parser = CsvLines(delimiter, len(names), header, plan.nulls, chosen.own)
        if number is None:
            _check_width(source, predicate, chosen.width, arity)
            number = plan.number(predicate, chosen.width)
            plan.keep_names(predicate, chosen.names)
        mark = file_mark(source.path)
        plan.add_lines(file, LineFile(number, parser, mark, chosen.constants.get(file, ()), chosen.order))
    return None if number is None else plan.widths[number]


def _check_width(source: Source, predicate: str, width: int, arity: int | None) -> None:
    if arity is not None and width != arity:
        raise SourceMistake(
            f"{source.path}: {_counted(width, 'column')}, where {predicate} has {_counted(arity, 'argument')}",
            source.path,
        )


def _parser(spark: SparkSession, source: Source, arity: int | None, nulls: Nulls) -> CsvLines | JsonLines | None:
    """What parses a table of lines; None if it is empty and nobody knows its width."""
    if source.format == "jsonl":
        keys = json_keys(spark, source.files)
        if arity is not None and (keys is None or len(keys) != arity):
            keys = tuple(columns_of_width(arity))
        return None if keys is None else JsonLines(len(keys) if arity is None else arity, keys, nulls)
    delimiter = _DELIMITERS[source.format]
    if source.format == "facts":
        width = facts_width(spark, source.files) if arity is None else arity
        return None if width is None else FactsLines(delimiter, width, nulls="empty")
    width = csv_width(spark, source.files, delimiter) if arity is None else arity
    return None if width is None else CsvLines(delimiter, width, nulls=nulls)


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


def _read(spark: SparkSession, plan: _Plan, pieces: list[_Piece]) -> None:
    """Fills the pieces, and counts what is in them, table by table.

    CSV files with fields that span lines are found on the way, and read again as documents.
    """
    if plan.lines:
        pieces.append(_Piece(read_lines(spark, plan.lines, plan.width).persist(), is_lines=True))
    if plan.documents:
        pieces.append(_Piece(read_documents(spark, plan.documents, plan.width).persist()))
    pieces.extend(_Piece(read_table(table, number, plan.nulls).persist()) for number, table in plan.tables)
    _count_rows(plan, pieces)
    if not any(count.open_quotes for piece in pieces for count in piece.counts.values()):
        return
    for file in _files_with_problems(pieces[0], OPEN_QUOTE):
        lines = [given for given in plan.lines[file] if not isinstance(given.parser, CsvLines)]
        for given in plan.lines.pop(file):
            if isinstance(given.parser, CsvLines):
                whole = CsvDocuments(given.parser, given.mark)
                plan.add_document(file, Document(given.source, whole, given.constants, given.order))
        if lines:
            plan.lines[file] = lines
    for piece in pieces:
        piece.rows.unpersist()
    pieces.clear()
    _read(spark, plan, pieces)


def _count_rows(plan: _Plan, pieces: Sequence[_Piece]) -> None:
    """Notes what each piece holds of each table: one job for all pieces."""
    from pyspark.sql import DataFrame
    from pyspark.sql.functions import col, count, count_if, get_json_object, lit

    if not pieces:
        return
    is_left_out = get_json_object(PROBLEM, "$.reason") == LEFT_OUT if plan.nulls == "skip" else lit(False)
    frames = []
    for number, piece in enumerate(pieces):
        has_rdf = "a3" in piece.rows.columns
        in_graphs = count("a3") if has_rdf else lit(0).cast("bigint")
        counted = piece.rows.groupBy(SOURCE).agg(
            count(PROBLEM).alias("problems"),
            count_if(is_left_out).alias("left_out"),
            count_if(col(PROBLEM).contains(OPEN_QUOTE) if piece.is_lines else lit(False)).alias("open_quotes"),
            in_graphs.alias("in_graphs"),
            count_if(_is_axiom() if has_rdf else lit(False)).alias("axioms"),
        )
        frames.append(counted.withColumn("piece", lit(number)))
    for row in reduce(DataFrame.unionAll, frames).collect():
        in_rdf = (row["in_graphs"], row["axioms"]) if plan.predicates[row[SOURCE]] is None else (0, 0)
        pieces[row["piece"]].counts[row[SOURCE]] = _Counts(
            row["problems"] - row["left_out"], row["left_out"], row["open_quotes"], *in_rdf
        )


def _is_axiom() -> Column:
    """Whether a triple is, or begins, an axiom of an ontology."""
    from pyspark.sql.functions import col

    properties, types = ([f"<{iri}>" for iri in sorted(iris)] for iris in (AXIOM_PROPERTIES, AXIOM_TYPES))
    return col("a1").isin(properties) | ((col("a1") == str(RDF_TYPE)) & col("a2").isin(types))


def _files_with_problems(piece: _Piece, reason: str = "") -> list[str]:
    from pyspark.sql.functions import col, get_json_object

    found = piece.rows.filter(col(PROBLEM).contains(reason)).select(get_json_object(PROBLEM, "$.file")).distinct()
    return sorted(row[0] for row in found.collect())


# What came of it


def _outcome(
    spark: SparkSession,
    plan: _Plan,
    pieces: list[_Piece],
    on_error: str,
    quarantine: Path | None,
    warnings: list[str],
    lost: list[Problem],
) -> Read:
    warnings = list(warnings)
    every = [count for piece in pieces for count in piece.counts.values()]
    skipped = sum(count.problems for count in every) + len(lost)
    if skipped:
        problems = _problems(spark, plan, pieces, lost)
        first = next(problems)
        if on_error == "fail":
            raise SourceMistake(_message(first, skipped))
        warnings.append(_skipped(first, problems, skipped, quarantine))
    warnings += _left_out(plan, pieces)
    in_graphs = sum(count.in_graphs for count in every)
    if in_graphs:
        warnings.append(
            f"{in_graphs} statements are in named graphs: they are kept as the predicate quad; rules over triple see the "
            "default graph only"
        )
    axioms = _axioms_found(plan, sum(count.axioms for count in every))
    rdf = [file for file, ways in plan.documents.items() if any(plan.predicates[one.source] is None for one in ways)]
    kept = tuple(piece.rows for piece in pieces)
    return Read(_facts(plan, pieces), warnings, skipped, axioms, prefixes_of_files(rdf), plan.names, kept)


def _axioms_found(plan: _Plan, count: int) -> str:
    files: dict[str, Sequence[Document | LineFile]] = {**plan.documents, **plan.lines}
    rdf = [file for file, ways in files.items() if any(plan.predicates[read.source] is None for read in ways)]
    place = rdf[0] if len(rdf) == 1 else "the RDF files"
    return f"{place}: {_counted(count, 'triple')} of an ontology's axioms" if count else ""


def _left_out(plan: _Plan, pieces: Sequence[_Piece]) -> list[str]:
    counts: dict[str, int] = {}
    for piece in pieces:
        for number, count in piece.counts.items():
            if count.left_out:
                name = plan.predicates[number] or "triple"
                counts[name] = counts.get(name, 0) + count.left_out
    return [left_out(predicate, count) for predicate, count in counts.items()]


def _facts(plan: _Plan, pieces: Sequence[_Piece]) -> dict[str, DataFrame]:
    from pyspark.sql import DataFrame
    from pyspark.sql.functions import col

    found: dict[str, list[DataFrame]] = {}
    for number, (predicate, width) in enumerate(zip(plan.predicates, plan.widths, strict=True)):
        holding = [piece for piece in pieces if number in piece.counts] or [pieces[_any_place(plan, number)]]
        for piece in holding:
            rows, count = piece.rows, piece.counts.get(number, _Counts())
            if piece.counts.keys() != {number}:
                rows = rows.filter(col(SOURCE) == number)
            if count.problems or count.left_out:
                rows = rows.filter(col(PROBLEM).isNull())
            if predicate is not None:
                found.setdefault(predicate, []).append(_arguments(rows, width))
                continue
            triples = rows.filter(col("a3").isNull()) if count.in_graphs else rows
            found.setdefault("triple", []).append(_arguments(triples, 3))
            if count.in_graphs:
                found.setdefault("quad", []).append(_arguments(rows.filter(col("a3").isNotNull()), 4))
    return {predicate: reduce(DataFrame.unionAll, frames) for predicate, frames in found.items()}


def _any_place(plan: _Plan, number: int) -> int:
    """The place of a piece where a table without rows has its columns."""
    before = bool(plan.lines) + bool(plan.documents)
    return next((before + place for place, (table, _) in enumerate(plan.tables) if table == number), 0)


def _arguments(rows: DataFrame, width: int) -> DataFrame:
    from pyspark.sql.functions import lit

    return rows.select(*columns_of_width(width)) if width else rows.select(lit(True).alias("present"))


def _problems(spark: SparkSession, plan: _Plan, pieces: Sequence[_Piece], lost: Sequence[Problem]) -> Iterator[Problem]:
    """All problems, with their lines where there are any."""
    from pyspark.sql.functions import col

    yield from lost
    for piece in pieces:
        if not any(count.problems for count in piece.counts.values()):
            continue
        if piece.is_lines:
            files = {file: plan.lines[file] for file in _files_with_problems(piece)}
            found = numbered_problems(spark, files, plan.width)
        else:
            rows = piece.rows.filter(col(PROBLEM).isNotNull()).select(PROBLEM).toLocalIterator()
            found = (Problem.from_json(row[0]) for row in rows)
        yield from (problem for problem in found if problem.reason != LEFT_OUT)


def _message(first: Problem, count: int) -> str:
    text = f": {first.text[:100]!r}" if first.text else ""
    others = "" if count == 1 else f" (and {count - 1} more)"
    return f"{first}{text}{others}"


def _skipped(first: Problem, others: Iterator[Problem], count: int, quarantine: Path | None) -> str:
    what = f"skipped {count} malformed {'piece' if count == 1 else 'pieces'} of input, the first being {first}"
    if quarantine is None:
        return what
    return f"{what}; all are in {write_quarantine(quarantine, chain([first], others))}"

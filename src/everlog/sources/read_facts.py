"""Facts from files, tables and DataFrames: blocks of numbered terms (`blocks.py`), with everything that is wrong known.

Reading is eager. All input is parsed once, by one Spark job, and every mistake in it is known when `read_paths` returns.
Tasks on this machine write their blocks to a folder, from which whoever encodes them reads; those of other machines are
kept by Spark. `Read.release` gives back what they take.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from everlog.rdf.blanks import file_mark
from everlog.sources.arranged_columns import arranged, constants_of
from everlog.sources.blocks import (
    BLOCK,
    CONTENT,
    COUNTS,
    FILE,
    FILED,
    PROBLEM,
    SOURCE,
    Block,
    Part,
    block_in,
    chosen,
    problems_in,
)
from everlog.sources.column_mapping import Mapped
from everlog.sources.column_names import columns_of_width, usable_names
from everlog.sources.columnar import Table, open_table, read_frame, read_tables
from everlog.sources.csv_lines import CsvLines
from everlog.sources.facts_lines import FactsLines
from everlog.sources.given_files import ELSEWHERE
from everlog.sources.infer_columns import (
    csv_header,
    csv_width,
    facts_width,
    header_names,
    json_keys,
    looks_like_header,
)
from everlog.sources.json_lines import JsonLines
from everlog.sources.null_policy import Nulls, check_nulls, left_out
from everlog.sources.problems import Problem, SourceMistake, write_quarantine
from everlog.sources.rdf_lines import RdfLines
from everlog.sources.source_files import (
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
from everlog.spark.handover import temporary_folder
from everlog.spark.parallelism import runs_here
from everlog.wording import counted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Read", "SourceMistake", "read_frames", "read_paths"]

_RDF_ARITIES = {"triple": 3, "quad": 4}
_DELIMITERS = {"csv": ",", "tsv": "\t", "facts": "\t"}
_NONE: Mapping[str, int] = {}


@dataclass(frozen=True)
class Read:
    """Facts by predicate, not yet without duplicates; what there is to say; how much was skipped."""

    arities: Mapping[str, int]
    warnings: list[str]
    skipped: int
    axioms: str
    """Which of the RDF, if any, is an ontology's, and how much; see `everlog.rdf.owl.axiom_triples`."""
    prefixes: Mapping[str, str]
    """Those of Turtle and its kin."""
    names: Mapping[str, tuple[str, ...]]
    """The names of columns, by predicate, where tables have some."""
    files: Mapping[str, Sequence[str]]
    """The files and tables, by predicate; those of RDF may have facts of `triple`, of `quad`, or of both."""
    parts: Sequence[Part] = field(repr=False)
    _rows: _Rows = field(repr=False)

    @property
    def sizes(self) -> dict[str, int]:
        """How many facts there are of each predicate."""
        found = dict.fromkeys(self.arities, 0)
        for part in self.parts:
            for row in self._rows.counts:
                if row[SOURCE] == part.source:
                    in_graphs = {None: row["facts"], True: row["in_graphs"], False: row["facts"] - row["in_graphs"]}
                    found[part.predicate] += in_graphs[part.in_graphs]
        return found

    @property
    def terms(self) -> tuple[int, int]:
        """How many terms there are, and their bytes: those of each block, distinct."""
        return sum(row["terms"] for row in self._rows.counts), sum(row["characters"] for row in self._rows.counts)

    def blocks(self) -> Iterator[tuple[str, Block]]:
        """The facts of predicates, block by block, in an order that depends on nothing but the input."""
        parts: dict[int, list[Part]] = {}
        for part in self.parts:
            parts.setdefault(part.source, []).append(part)
        for row in self._rows.fetched():
            if row["facts"]:
                block = block_in(row)
                for part in parts[row[SOURCE]]:
                    yield part.predicate, chosen(block, part.width, part.in_graphs)

    def numbered_blocks(self) -> DataFrame:
        """The blocks in Spark, with numbers."""
        from pyspark.sql.functions import col, monotonically_increasing_id

        blocks = self._rows.frame().filter(col("facts") > 0)
        return blocks.select(monotonically_increasing_id().alias(BLOCK), SOURCE, "facts", *CONTENT)

    def release(self) -> None:
        """Lets Spark forget the blocks, or removes their files. They are not to be asked for again."""
        self._rows.release()


class _Rows:
    """Rows of blocks and problems: in this process if their content is in files, else kept by Spark."""

    def __init__(
        self, spark: SparkSession, frame: DataFrame | None, here: list[Any] | None, folder: str | None
    ) -> None:
        self._spark, self._frame, self._here, self._folder = spark, frame, here, folder
        self._kept: DataFrame | None = None
        if here is None:
            self.counts: list[Any] = self.frame().select(SOURCE, FILE, *COUNTS).collect()
            """What the rows count, without their content."""
        else:
            self.counts = here

    @classmethod
    def of(cls, spark: SparkSession, frames: Sequence[DataFrame], folder: str | None) -> _Rows:
        """The rows of DataFrames, by one job, with their content in a folder if there is one."""
        from pyspark.sql import DataFrame

        if not frames:
            return cls(spark, None, [], folder)
        frame = reduce(DataFrame.unionAll, frames)
        if folder is None:
            return cls(spark, frame, None, None)
        return cls(spark, None, frame.toArrow().to_pylist(), folder)

    def fetched(self) -> Iterator[Any]:
        """All rows, in order."""
        return iter(self._here) if self._here is not None else self.frame().toLocalIterator(prefetchPartitions=True)

    def frame(self) -> DataFrame:
        """The rows in Spark, which keeps those that are not here."""
        if self._frame is None:
            columns = [SOURCE, "facts", *CONTENT]
            rows = [tuple(row[name] for name in columns) for row in self._here or ()]
            schema = f"{SOURCE} int, facts bigint, numbers binary, texts binary, {FILED} string"
            self._frame = self._spark.createDataFrame(rows, schema)
        if self._here is not None:
            return self._frame
        if self._kept is None:
            self._kept = self._frame.persist()
        return self._kept

    def problems(self) -> Iterator[Problem]:
        """What is malformed."""
        from pyspark.sql.functions import col

        found: Iterable[Any] = self._here or ()
        if self._here is None:
            found = self.frame().filter(col(PROBLEM).isNotNull()).select(PROBLEM).toLocalIterator()
        for row in found:
            yield from problems_in(row)

    def release(self) -> None:
        if self._kept is not None:
            self._kept.unpersist()
        if self._folder is not None and self._frame is None:  # Spark may read what it was shown until it ends
            shutil.rmtree(self._folder, ignore_errors=True)


def _folder_for(spark: SparkSession) -> str | None:
    """A new folder that tasks write to and this process reads from; None if they may be on other machines."""
    return str(temporary_folder()) if runs_here(spark) else None


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
                    f"RDF is read into {predicate}, which has {counted(arity, 'argument')}, but the program gives it "
                    f"{arities[predicate]}"
                )
    lost: list[Problem] = []
    while True:
        try:
            with spark_failures("reading the facts"):
                plan = _planned(spark, sources, on_error, arities, _Plan(header, nulls))
                return _read(spark, plan, on_error, quarantine, warnings, lost)
        except SourceMistake as mistake:
            # A file that cannot be read to its end gives nothing: leave it out and start again.
            smaller = _without(sources, mistake.file)
            if on_error == "fail" or smaller == sources:
                raise
            lost.append(Problem(str(mistake.file), None, str(mistake).partition(": ")[2]))
            sources = smaller


def read_frames(spark: SparkSession, frames: Mapping[str, DataFrame], nulls: Nulls = "error") -> Read:
    """The facts in Spark's DataFrames, by predicate. What is malformed raises `SourceMistake`."""
    blocks, plan, folder = [], _Plan(False, nulls), _folder_for(spark)
    for number, (predicate, frame) in enumerate(frames.items()):
        rows, width = read_frame(frame, predicate, number, nulls, folder)
        blocks.append(rows)
        plan.number(predicate, width)
    return _outcome(spark, plan, _Rows.of(spark, blocks, folder), "fail", None, [], [])


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
                    plan.add_lines(file, LineFile(number, RdfLines(source.format), file_mark(file)))
                else:
                    plan.add_document(file, Document(number, RdfDocuments(whole=on_error == "skip")))
    widths = {**_RDF_ARITIES, **arities}
    for source in sources:
        if source.predicate is not None and (source.files or source.is_whole):
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
            f"{path}: {counted(more, 'partition column')}, where {predicate} has {counted(arity, 'argument')}; "
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
    number, given = None, source
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
            _check_width(given, predicate, chosen.width, arity)
            number = plan.number(predicate, chosen.width)
            plan.keep_names(predicate, chosen.names)
        mark = file_mark(source.path)
        plan.add_lines(file, LineFile(number, parser, mark, chosen.constants.get(file, ()), chosen.order))
    return None if number is None else plan.widths[number]


def _check_width(source: Source, predicate: str, width: int, arity: int | None) -> None:
    if arity is not None and width != arity:
        can_choose = width > arity and not source.columns
        remedy = f"; --table {predicate}=PATH:COLUMN,… chooses columns by their names" if can_choose else ""
        raise SourceMistake(
            f"{source.path}: {counted(width, 'column')}, where {predicate} has {counted(arity, 'argument')}{remedy}",
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


def _read(
    spark: SparkSession, plan: _Plan, on_error: str, quarantine: Path | None, warnings: list[str], lost: list[Problem]
) -> Read:
    """Reads all of a plan. CSV files with fields that span lines are found on the way, and read again as documents."""
    folder = _folder_for(spark)
    frames = [*read_lines(spark, plan.lines, folder), *read_documents(spark, plan.documents, folder)]
    frames += read_tables(spark, plan.tables, plan.nulls, folder)
    rows = _Rows.of(spark, frames, folder)
    try:
        open_files = {row[FILE] for row in rows.counts if row["open_quotes"] and row[FILE] in plan.lines}
        if open_files:
            for file in sorted(open_files):
                lines = [given for given in plan.lines[file] if not isinstance(given.parser, CsvLines)]
                for given in plan.lines.pop(file):
                    if isinstance(given.parser, CsvLines):
                        whole = CsvDocuments(given.parser, given.mark)
                        plan.add_document(file, Document(given.source, whole, given.constants, given.order))
                if lines:
                    plan.lines[file] = lines
            rows.release()
            return _read(spark, plan, on_error, quarantine, warnings, lost)
        return _outcome(spark, plan, rows, on_error, quarantine, [*warnings, *plan.warnings], lost)
    except BaseException:
        rows.release()
        raise


# What came of it


def _outcome(
    spark: SparkSession,
    plan: _Plan,
    rows: _Rows,
    on_error: str,
    quarantine: Path | None,
    warnings: list[str],
    lost: list[Problem],
) -> Read:
    warnings = list(warnings)
    skipped = sum(row["problems"] for row in rows.counts) + len(lost)
    if skipped:
        if on_error == "skip":
            for problem in rows.problems():
                if problem.is_of_file:
                    raise SourceMistake(str(problem), problem.file)  # it may have given some facts
        problems = _problems(spark, plan, rows, lost)
        first = next(problems)
        if on_error == "fail":
            raise SourceMistake(_message(first, skipped))
        warnings.append(_skipped(first, problems, skipped, quarantine))
    warnings += _left_out(plan, rows)
    in_graphs = sum(row["in_graphs"] for row in rows.counts if plan.predicates[row[SOURCE]] is None)
    if in_graphs:
        warnings.append(
            f"{in_graphs} statements are in named graphs: they are kept as the predicate quad; rules over triple see the "
            "default graph only"
        )
    parts = _parts(plan, in_graphs > 0)
    arities = {part.predicate: part.width for part in parts}
    axioms = sum(row["axioms"] for row in rows.counts if plan.predicates[row[SOURCE]] is None)
    rdf = [file for file, ways in plan.documents.items() if any(plan.predicates[one.source] is None for one in ways)]
    found = _axioms_found(plan, axioms)
    return Read(arities, warnings, skipped, found, prefixes_of_files(rdf), plan.names, _files(plan, parts), parts, rows)


def _files(plan: _Plan, parts: Sequence[Part]) -> dict[str, list[str]]:
    """What the facts of predicates are read from; nothing is known of DataFrames."""
    of_tables: dict[int, dict[str, None]] = {}
    ways: dict[str, Sequence[Document | LineFile]] = {**plan.documents, **plan.lines}
    for file, some in ways.items():
        for way in some:
            of_tables.setdefault(way.source, {})[file] = None
    for number, table in plan.tables:
        of_tables.setdefault(number, {})[table.place] = None
    found: dict[str, list[str]] = {part.predicate: [] for part in parts}
    for part in parts:
        found[part.predicate] += of_tables.get(part.source, [ELSEWHERE])
    return found


def _axioms_found(plan: _Plan, count: int) -> str:
    files: dict[str, Sequence[Document | LineFile]] = {**plan.documents, **plan.lines}
    rdf = [file for file, ways in files.items() if any(plan.predicates[read.source] is None for read in ways)]
    place = rdf[0] if len(rdf) == 1 else "the RDF files"
    return f"{place}: {counted(count, 'triple')} of an ontology's axioms" if count else ""


def _left_out(plan: _Plan, rows: _Rows) -> list[str]:
    counts: dict[str, int] = {}
    for row in rows.counts:
        if row["left_out"]:
            name = plan.predicates[row[SOURCE]] or "triple"
            counts[name] = counts.get(name, 0) + row["left_out"]
    return [left_out(predicate, count) for predicate, count in counts.items()]


def _parts(plan: _Plan, with_graphs: bool) -> list[Part]:
    found = []
    for number, predicate in enumerate(plan.predicates):
        if predicate is not None:
            found.append(Part(predicate, number, plan.widths[number]))
            continue
        found.append(Part("triple", number, 3, in_graphs=False))
        if with_graphs:
            found.append(Part("quad", number, 4, in_graphs=True))
    return found


def _problems(spark: SparkSession, plan: _Plan, rows: _Rows, lost: Sequence[Problem]) -> Iterator[Problem]:
    """All problems, with their lines where there are any."""
    yield from lost
    remote = {row[FILE] for row in rows.counts if row["problems"] and row[FILE] in plan.lines and is_remote(row[FILE])}
    if remote:
        yield from numbered_problems(spark, {file: plan.lines[file] for file in sorted(remote)})
    for problem in rows.problems():
        if problem.file not in remote:
            yield problem


def _message(first: Problem, count: int) -> str:
    text = f": {first.text[:100]!r}" if first.text else ""
    others = "" if count == 1 else f" (and {count - 1} more)"
    return f"{first}{text}{others}"


def _skipped(first: Problem, others: Iterator[Problem], count: int, quarantine: Path | None) -> str:
    what = f"skipped {count} malformed {'piece' if count == 1 else 'pieces'} of input, the first being {first}"
    if quarantine is None:
        return what
    return f"{what}; all are in {write_quarantine(quarantine, chain([first], others))}"

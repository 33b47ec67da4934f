"""Tables with types: Parquet, ORC and Spark's own. Numbers, booleans, strings, dates and timestamps become N-Triples texts.

Most Parquet files of this machine are read by tasks themselves (`parquet_groups.py`), everything else by Spark.
A text column may hold N-Triples terms instead of strings; the metadata `everlog: ntriples` of its field say so, be it
the field of Spark's schema or of Arrow's. A row with a null is a problem unless the policy is another
(`null_policy.py`); a column of any other type is a mistake of the table as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from everlog.rdf.blanks import file_mark
from everlog.sources.arranged_columns import Arrangement, Constants, arranged
from everlog.sources.blocks import SCHEMA, InBlocks
from everlog.sources.column_mapping import IN_CATALOG
from everlog.sources.folder_walk import LAKES
from everlog.sources.null_policy import LEFT_OUT, Nulls, null_reason
from everlog.sources.parquet_groups import UNREADABLE, Group, look_at
from everlog.sources.parsed_rows import Given, without
from everlog.sources.problems import Problem, SourceMistake, cannot_be_read
from everlog.sources.source_files import CATALOG, Source, is_remote
from everlog.sources.text_lines import literal_path, numbers_for_tasks, readable_path
from everlog.spark.failures import as_everlog_error, is_sparks

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructField

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_PRESENT = "present"
_TYPES = (*_NUMBERS, "boolean", "string", "char", "varchar", "date", "timestamp", "timestamp_ntz")


@dataclass(frozen=True)
class Table:
    """A table that was opened and found to hold facts, but not read: a DataFrame, or row groups of files."""

    content: DataFrame | tuple[Group, ...]
    place: str
    names: tuple[str, ...]
    """Its columns that are arguments."""
    ntriples: tuple[bool, ...]
    arrangement: Arrangement
    has_files: bool
    is_nullary: bool

    @property
    def width(self) -> int:
        return 0 if self.is_nullary else self.arrangement.width


def open_table(spark: SparkSession, source: Source, arity: int | None, nulls: Nulls) -> Table:
    """A table that Spark reads, or `SourceMistake`."""
    path, files = source.path, source.files
    looked = look_at(files) if source.format == "parquet" and not is_remote(path) else None
    marked = [] if looked is None else looked.marked
    if looked is not None and looked.are_plain and looked.schema.names != [_PRESENT]:
        arrangement = arranged(source, path, looked.schema.names, nulls)
        names = tuple(looked.schema.names[place] for place in arrangement.own)
        ntriples = tuple(name in marked for name in names)
        return Table(looked.groups, path, names, ntriples, arrangement, has_files=True, is_nullary=False)
    frame = _opened(spark, source)
    arrangement = arranged(source, path, [field.name for field in frame.schema.fields], nulls)
    fields = tuple(frame.schema.fields[place] for place in arrangement.own)
    ntriples = checked_types(fields, path)
    ntriples = tuple(ours or field.name in marked for ours, field in zip(ntriples, fields, strict=True))
    is_nullary = _is_nullary(fields) and arity != 1 and not arrangement.constants
    names = tuple(field.name for field in fields)
    return Table(
        frame.select(*_numbered(fields), *_files(source)), path, names, ntriples, arrangement, bool(files), is_nullary
    )


def _opened(spark: SparkSession, source: Source) -> DataFrame:
    path = source.path
    try:
        if source.format == CATALOG:
            frame = spark.table(path.removeprefix(IN_CATALOG))
        elif source.format in LAKES:
            frame = spark.read.format(source.format).load(path)
        else:
            frame = spark.read.format(source.format).load([literal_path(file) for file in source.files])
        frame.schema  # noqa: B018  which a session of Connect asks for only now
        return frame
    except Exception as failure:
        if not is_sparks(failure):
            raise
        if "TABLE_OR_VIEW_NOT_FOUND" in str(failure):
            raise SourceMistake(f"{path}: Spark's catalog has no table or view of that name", path) from failure
        if "DATA_SOURCE_NOT_FOUND" in str(failure):
            name = LAKES.get(source.format, source.format)
            raise SourceMistake(
                f"{path}: a table of {name}, which the Spark session cannot read: start it with the package of {name} "
                "(--conf spark.jars.packages=…), or use a session that has it",
                path,
            ) from failure
        found = as_everlog_error(failure, path)
        message = str(found) if isinstance(found, SourceMistake) else f"{path}: cannot be read: {found}"
        raise SourceMistake(message, path) from failure


def read_tables(
    spark: SparkSession, tables: Sequence[tuple[int, Table]], nulls: Nulls, folder: str | None
) -> list[DataFrame]:
    """The blocks of numbered tables. Blank nodes belong to their table."""
    found, groups = [], []
    for source, table in tables:
        task = _ToTexts(
            source,
            table.width,
            table.names,
            table.ntriples,
            table.place,
            nulls,
            file_mark(table.place),
            table.arrangement.constants,
            table.has_files,
            table.arrangement.order,
        )
        if isinstance(table.content, tuple):
            groups += [(task, group) for group in table.content]
        else:
            found.append(table.content.mapInArrow(InBlocks(task, folder), SCHEMA))
    if groups:
        numbers = numbers_for_tasks(spark, len(groups))
        found.append(numbers.mapInArrow(InBlocks(_ReadGroups(tuple(groups)), folder), SCHEMA))
    return found


def checked_types(fields: Sequence[StructField], place: str) -> tuple[bool, ...]:
    """For each column whether it holds N-Triples terms; `SourceMistake` if it holds nothing that fits into facts."""
    for field in fields:
        type = field.dataType.simpleString()
        if type.partition("(")[0] not in _TYPES:
            raise SourceMistake(
                f"{place}: the column {field.name} is of type {type}, and facts hold numbers, booleans, strings, dates "
                "and timestamps; cast it to one of these, or split it into such columns",
                place,
            )
    return tuple(
        field.dataType.simpleString() == "string" and (field.metadata or {}).get("everlog") == "ntriples"
        for field in fields
    )


def read_frame(
    frame: DataFrame, predicate: str, source: int, nulls: Nulls, folder: str | None
) -> tuple[DataFrame, int]:
    """The blocks of a DataFrame, and how many arguments its facts have. Labels of blank nodes are kept."""
    if not hasattr(frame, "schema"):
        what = type(frame).__name__
        raise SourceMistake(f"the facts of {predicate} are a Spark {what}; give a DataFrame, such as facts.toDF()")
    place = f"the DataFrame for {predicate}"
    fields = frame.schema.fields
    ntriples = checked_types(fields, place)
    if not fields:
        raise SourceMistake(f"{place} has no columns; a predicate without arguments has one, named present, of true")
    width = 0 if _is_nullary(fields) else len(fields)
    names = tuple(field.name for field in fields)
    task = _ToTexts(source, width, names, ntriples, place, nulls, None, {}, has_files=False)
    numbered = frame.toDF(*(f"a{number}" for number in range(len(fields))))  # by places: two may have one name
    return numbered.mapInArrow(InBlocks(task, folder), SCHEMA), width


def _is_nullary(fields: Sequence[StructField]) -> bool:
    return [(field.name, field.dataType.simpleString()) for field in fields] == [(_PRESENT, "boolean")]


def _files(source: Source) -> list[Column]:
    from pyspark.sql.functions import col

    return [col("_metadata.file_path")] if source.files else []


def _numbered(fields: Sequence[StructField]) -> list[Column]:
    """The columns under plain names: `mapInArrow` cannot find a column with a dot in its name."""
    return [_column(field).alias(f"a{number}") for number, field in enumerate(fields)]


def _column(field: StructField) -> Column:
    from pyspark.sql.functions import col

    return col("`" + field.name.replace("`", "``") + "`")


@dataclass(frozen=True)
class _ToTexts:
    """The task: batches of typed columns, with the file behind them if there is one, become rows.

    Labels of blank nodes are kept unless there is a mark to rename them by.
    """

    source: int
    width: int
    names: tuple[str, ...]
    ntriples: tuple[bool, ...]
    table: str
    nulls: Nulls
    mark: str | None
    constants: Constants
    has_files: bool
    order: tuple[int, ...] | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Given]:
        for batch in batches:
            yield from self.given(batch)

    def given(self, batch: pa.RecordBatch) -> Iterator[Given]:
        """The facts and the problems of a batch."""
        import pyarrow.compute as pc

        from everlog.sources.canonical_texts import canonical_texts, texts_of

        columns = []
        reasons: dict[int, str] = {}
        for number, is_ntriples in enumerate(self.ntriples):
            values, name = batch.column(number), self.names[number]
            if values.null_count and (self.nulls != "empty" or not self.width):
                rows = pc.indices_nonzero(values.is_null()).to_pylist()
                reasons.update((row, null_reason(self.nulls, f"the column {name} is null")) for row in rows)
            if is_ntriples:
                texts, mistakes = canonical_texts(values, self.mark)
                reasons.update((row, f"the column {name}: {reason}") for row, reason in mistakes)
            else:
                texts = texts_of(values)
            columns.append(_filled(texts) if values.null_count else texts)
        for texts in self._constants(batch):
            columns.append(texts)
            reasons.update((row, LEFT_OUT) for row in pc.indices_nonzero(texts.is_null()).to_pylist())
        if not self.width:
            columns = [batch.column(0)]
        if reasons:
            yield Given(self.source, problems=self._problems(batch, reasons))
            columns = without(columns, reasons)
        if not self.width:
            columns = [columns[0].filter(columns[0])]  # false says that the fact is not there
        yield Given(self.source, columns).arranged((), self.order)

    def _constants(self, batch: pa.RecordBatch) -> Iterator[pa.Array]:
        """The columns that do not lie in files, but are told by their folders."""
        if self.constants:
            files = batch.column(len(self.ntriples))
            encoded = files if isinstance(files, pa.DictionaryArray) else files.dictionary_encode()
            told = [self.constants[readable_path(uri)] for uri in encoded.dictionary.to_pylist()]
            for texts in zip(*told, strict=True):
                yield pa.array(texts, pa.string()).take(encoded.indices)

    def _problems(self, batch: pa.RecordBatch, reasons: dict[int, str]) -> list[Problem]:
        width, found = len(self.ntriples), []
        for row, reason in sorted(reasons.items()):
            values = tuple(batch.column(number)[row].as_py() for number in range(width))
            file = readable_path(batch.column(width)[row].as_py()) if self.has_files else self.table
            found.append(Problem(file, None, reason, "" if reason == LEFT_OUT else repr(values)))
        return found


def _filled(texts: pa.Array) -> pa.Array:
    return (texts.dictionary_decode() if isinstance(texts, pa.DictionaryArray) else texts).fill_null('""')


@dataclass(frozen=True)
class _ReadGroups:
    """The task: numbers of row groups become rows, each by the way of its table."""

    groups: tuple[tuple[_ToTexts, Group], ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Given]:
        for number in (number for batch in batches for number in batch.column(0).to_pylist()):
            table, group = self.groups[number]
            try:
                for batch in group.batches(table.names):
                    file = pa.DictionaryArray.from_arrays(pa.repeat(0, batch.num_rows).cast(pa.int32()), [group.file])
                    yield from table.given(batch.append_column("file", file))
            except UNREADABLE as mistake:
                yield Given(table.source, problems=[cannot_be_read(group.file, mistake)])

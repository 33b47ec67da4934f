"""Tables with types: Parquet, ORC and Spark's own. Numbers, booleans, strings, dates and timestamps become N-Triples texts.

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
from everlog.sources.parsed_rows import Given, without
from everlog.sources.problems import Problem, SourceMistake
from everlog.sources.source_files import CATALOG, Source, is_remote
from everlog.sources.text_lines import literal_path, readable_path
from everlog.spark.failures import as_everlog_error, is_sparks

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructField

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_TYPES = (*_NUMBERS, "boolean", "string", "char", "varchar", "date", "timestamp", "timestamp_ntz")


@dataclass(frozen=True)
class Table:
    """A table that was opened and found to hold facts, but not read."""

    frame: DataFrame
    place: str
    fields: tuple[StructField, ...]
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
    marked = _arrow_marks(files) if source.format == "parquet" and not is_remote(path) else []
    frame = _opened(spark, source)
    names = [field.name for field in frame.schema.fields]
    arrangement = arranged(source, path, names, nulls)
    fields = tuple(frame.schema.fields[place] for place in arrangement.own)
    ntriples = checked_types(fields, path)
    ntriples = tuple(ours or field.name in marked for ours, field in zip(ntriples, fields, strict=True))
    is_nullary = _is_nullary(fields) and arity != 1 and not arrangement.constants
    return Table(frame, path, fields, ntriples, arrangement, bool(files), is_nullary)


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


def read_table(table: Table, source: int, nulls: Nulls) -> DataFrame:
    """The blocks of a table. Blank nodes belong to it."""
    from pyspark.sql.functions import col

    rows = table.frame.select(*_numbered(table.fields), *([col("_metadata.file_path")] if table.has_files else []))
    names = tuple(field.name for field in table.fields)
    task = _ToTexts(
        source,
        table.width,
        names,
        table.ntriples,
        table.place,
        nulls,
        file_mark(table.place),
        table.arrangement.constants,
        table.has_files,
        table.arrangement.order,
    )
    return rows.mapInArrow(InBlocks(task), SCHEMA)


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


def read_frame(frame: DataFrame, predicate: str, source: int, nulls: Nulls) -> tuple[DataFrame, int]:
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
    return numbered.mapInArrow(InBlocks(task), SCHEMA), width


def _is_nullary(fields: Sequence[StructField]) -> bool:
    return [(field.name, field.dataType.simpleString()) for field in fields] == [("present", "boolean")]


def _numbered(fields: Sequence[StructField]) -> list[Column]:
    """The columns under plain names: `mapInArrow` cannot find a column with a dot in its name."""
    return [_column(field).alias(f"a{number}") for number, field in enumerate(fields)]


def _column(field: StructField) -> Column:
    from pyspark.sql.functions import col

    return col("`" + field.name.replace("`", "``") + "`")


def _arrow_marks(files: Sequence[str]) -> list[str]:
    """The names of columns that Arrow's metadata mark as N-Triples. All files must have the same columns."""
    import pyarrow.parquet as pq

    first: pa.Schema | None = None
    for file in files:
        try:
            schema = pq.read_schema(file)
        except (pa.ArrowException, OSError) as failure:
            reason = " ".join(str(failure).split())
            raise SourceMistake(f"{file}: not a Parquet file, or a damaged one: {reason}", file) from failure
        first = schema if first is None else first
        if not schema.equals(first, check_metadata=False):
            raise SourceMistake(
                f"{file}: its columns ({_described(schema)}) are not those of {files[0]} ({_described(first)})", file
            )
    return [field.name for field in first or () if (field.metadata or {}).get(b"everlog") == b"ntriples"]


def _described(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)


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
        import pyarrow.compute as pc

        from everlog.sources.canonical_texts import canonical_texts, texts_of

        for batch in batches:
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
                columns.append(texts.fill_null('""') if values.null_count else texts)
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
            encoded = batch.column(len(self.ntriples)).dictionary_encode()
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

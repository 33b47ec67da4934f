"""What a stream of changes may come from: streaming DataFrames, and folders that files arrive in.

A row has the arguments of a fact and, where rows are removed, a column that says whether it is inserted or deleted. *Feeds*
know how others name that: Debezium has what was there before and what is there after a change, Delta's change data feed has
the column `_change_type`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from everlog.errors import EverlogError
from everlog.sources.null_policy import Nulls, check_nulls
from everlog.sources.source_files import is_remote
from everlog.streaming.operations import INSERTS_AND_DELETES, Operations
from everlog.wording import counted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructField

Feed: TypeAlias = Literal["plain", "debezium", "delta"]

OP: Final = "op"
"""The column that says whether a row comes or goes, unless it has another name."""

SOURCE: Final = "source"
"""The column of a batch that says which source a row is from; the rows of source 3 are in the column `rows3`."""

_DELTA_OP, _DELTA_ORDER = "_change_type", "_commit_version"
_DELTA_OWN: Final = (_DELTA_OP, _DELTA_ORDER, "_commit_timestamp")
_DEBEZIUM: Final = ("before", "after", OP)
_FILES: Final = "path string, modificationTime timestamp, length bigint, content binary"


@dataclass(frozen=True)
class Source:
    """Where changes of a predicate's facts come from: a streaming DataFrame, or a folder.

    Args:
        predicate: whose facts they are; RDF files have facts of `triple`.
        rows: a streaming DataFrame, or the path of a folder in which files arrive.
        columns: the columns that are arguments, in their order; by default all but those below.
        op: the column that says `insert` or `delete`; by default one that is called `op`, if there is any. Without one,
            all rows are inserted.
        order: a column by which the rows of a batch are in order, where several speak of one fact; by default they are
            in the order in which they come.
        feed: `plain`, or whose names rows have: `debezium` (a DataFrame with `before`, `after` and `op`), or `delta`
            (`_change_type` and `_commit_version`).
        deletes: whether all rows are deleted instead; then there is no column that says so.
        ops: what the values of `op` mean, by name: `{"gone": "delete", "new": "insert"}`; capitals do not matter.
        nulls: what becomes of rows with a null: by default (`error`) they are malformed; `skip` leaves them out, and
            `empty` has the empty string there.
        header: whether the first line of CSV and TSV files has names; it does where columns are named here.
        options: what Spark is told about a folder, such as `{"maxFilesPerTrigger": "10"}`.
    """

    predicate: str
    rows: DataFrame | str | os.PathLike[str]
    columns: Sequence[str] = ()
    op: str | None = None
    order: str | None = None
    feed: Feed = "plain"
    deletes: bool = False
    ops: Mapping[str, str] = field(default_factory=dict)
    nulls: Nulls = "error"
    header: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_nulls(self.nulls)
        if self.feed not in get_args(Feed):
            raise EverlogError(f"feed={self.feed!r} is not supported; choose one of: {', '.join(get_args(Feed))}")
        if self.deletes and (self.op is not None or self.feed != "plain"):
            raise EverlogError(
                f"the source of {self.predicate}: all rows are deleted, or a column says which, not both"
            )
        if self.is_folder and self.feed == "debezium":
            raise EverlogError(
                f"the source of {self.predicate}: Debezium's records come as a DataFrame, such as "
                "spark.readStream.schema(…).json(folder); a folder has rows of plain columns"
            )

    @property
    def is_folder(self) -> bool:
        """Whether files arrive, and not rows."""
        return isinstance(self.rows, str | os.PathLike)

    @property
    def place(self) -> str:
        """What messages call it."""
        return os.fspath(self.rows) if isinstance(self.rows, str | os.PathLike) else f"the stream of {self.predicate}"

    @property
    def has_order(self) -> bool:
        """Whether a column puts rows in order."""
        return self.order is not None or self.feed == "delta"

    @property
    def operations(self) -> Operations:
        """What the values of the column `op` mean."""
        return INSERTS_AND_DELETES.with_names(self.ops)

    @property
    def named(self) -> bool:
        """Whether columns of files go by names."""
        return bool(self.header or self.columns or self.op or self.order or self.feed == "delta")

    def roles(self, names: Sequence[str]) -> Roles:
        """Which of some columns are what, or `EverlogError`."""
        op, order, own = self.op, self.order, set[str]()
        if self.feed == "delta":
            op, order, own = op or _DELTA_OP, order or _DELTA_ORDER, set(_DELTA_OWN)
        elif op is None and OP in names and OP not in self.columns and not self.deletes:
            op = OP
        arguments = tuple(self.columns) or tuple(name for name in names if name not in {op, order, *own})
        for name in (*arguments, op, order):
            if name is not None and name not in names:
                raise EverlogError(f"{self.place}: there is no column {name}; it has {', '.join(names) or 'none'}")
        return Roles(arguments, op, order)


@dataclass(frozen=True)
class Roles:
    """The columns of a table that are arguments, that say whether a row comes or goes, and by which rows are in order."""

    arguments: tuple[str, ...]
    op: str | None = None
    order: str | None = None


def sources_of(given: Mapping[str, Any] | Sequence[Source] | Source) -> list[Source]:
    """Sources as users give them: by predicate a DataFrame, a folder, or a `Source`; or some of these."""
    if isinstance(given, Source):
        return [given]
    if isinstance(given, Mapping):
        found = []
        for predicate, rows in given.items():
            if isinstance(rows, Source):
                found.append(replace(rows, predicate=predicate))
            else:
                found.append(Source(predicate, rows))
    else:
        found = list(given)
    if not found or not all(isinstance(one, Source) for one in found):
        raise EverlogError("give the sources of a stream by predicate: {'edge': a streaming DataFrame, or a folder}")
    for one in found:
        alike = [other.has_order for other in found if other.predicate == one.predicate]
        if any(alike) and not all(alike):
            raise EverlogError(f"sources of {one.predicate}: either all of them have a column order=…, or none has")
    return found


def streaming_frame(spark: SparkSession, source: Source, arity: int | None) -> DataFrame:
    """The rows of a source as they will come in batches: its columns, or files with their contents."""
    from everlog.sources.columnar import checked_types

    if source.is_folder:
        return _arriving_files(spark, source)
    frame: Any = source.rows
    if not getattr(frame, "isStreaming", False):
        raise EverlogError(
            f"{source.place} is no streaming DataFrame; make one with spark.readStream, or give the path of a folder"
        )
    fields = {one.name: one for one in frame.schema.fields}
    if len(fields) < len(frame.schema.fields):
        raise EverlogError(f"{source.place} has two columns of one name; rename one of them")
    if source.feed == "debezium":
        return _debezium_columns(source, frame, fields, arity)
    roles = source.roles(list(fields))
    _check_width(source, roles.arguments, arity)
    checked_types([fields[name] for name in roles.arguments], source.place)
    wanted = dict.fromkeys(name for name in (*roles.arguments, roles.op, roles.order) if name is not None)
    chosen: DataFrame = frame.select(*(f"`{name}`" for name in wanted))
    return chosen


def _debezium_columns(
    source: Source, frame: DataFrame, fields: Mapping[str, StructField], arity: int | None
) -> DataFrame:
    from everlog.sources.columnar import checked_types

    wanted = dict.fromkeys((*_DEBEZIUM, *(() if source.order is None else (source.order,))))
    if missing := [name for name in wanted if name not in fields]:
        raise EverlogError(
            f"{source.place}: Debezium's records have before, after and op, and here is no column {missing[0]}; it has "
            f"{', '.join(fields)}. If they are in a column payload, select payload.*"
        )
    images = [fields[name].dataType for name in ("before", "after")]
    if images[0].typeName() != "struct" or images[0].simpleString() != images[1].simpleString():
        raise EverlogError(f"{source.place}: before and after are not structs of the same columns")
    inner = {one.name: one for one in images[0].fields}  # type: ignore[attr-defined]
    arguments = tuple(source.columns) or tuple(inner)
    if missing := [name for name in arguments if name not in inner]:
        raise EverlogError(f"{source.place}: there is no column {missing[0]} in before and after: {', '.join(inner)}")
    _check_width(source, arguments, arity)
    checked_types([inner[name] for name in arguments], source.place)
    return frame.select(*(f"`{name}`" for name in wanted))


def _check_width(source: Source, arguments: Sequence[str], arity: int | None) -> None:
    if arity is not None and len(arguments) != arity and list(arguments) != ["present"]:
        raise EverlogError(
            f"{source.place}: {counted(len(arguments), 'column')} ({', '.join(arguments)}), where {source.predicate} has "
            f"{counted(arity, 'argument')}; columns=[…] says which of them are arguments"
        )


def _arriving_files(spark: SparkSession, source: Source) -> DataFrame:
    """The files that arrive in a folder, whole: so their lines have an order and numbers."""
    from everlog.sources.text_lines import literal_path

    path = os.fspath(source.rows)  # type: ignore[arg-type]
    if not is_remote(path):
        path = os.path.abspath(path.removeprefix("file://").removeprefix("file:"))
        if not os.path.isdir(path):
            raise EverlogError(f"{source.place}: no such folder; make it before files arrive in it")
    reader = spark.readStream.format("binaryFile").schema(_FILES)
    return reader.options(**source.options).load(literal_path(path)).select("path", "modificationTime", "content")

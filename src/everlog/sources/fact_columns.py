"""Facts as users give them: rows of Python values, Arrow tables, pandas DataFrames. They become columns.

A column knows how to turn itself into ids; Arrow data does so without a Python loop. Shapes are checked here, values
when they are encoded. What becomes of nulls is decided here (`null_policy.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from types import NoneType
from typing import TYPE_CHECKING, Any

from everlog.errors import ArityMistake, EverlogError, UnsupportedValue
from everlog.sources.column_names import names_of
from everlog.sources.null_policy import Nulls, null_reason
from everlog.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from everlog.engine.memory.dictionary import Dictionary, KnownLists
    from everlog.engine.memory.facts.table import Ids


@dataclass(frozen=True)
class Column:
    """One argument of many facts of a predicate."""

    predicate: str
    number: int
    data: Sequence[object] | pa.ChunkedArray
    field: pa.Field | None = None

    def encoded(self, dictionary: Dictionary, lists: KnownLists | None = None) -> Ids:
        """The ids of the values, or `UnsupportedValue`; columns that are encoded together have the same `lists`."""
        try:
            if self.field is not None:
                return dictionary.encode_field(self.field, self.data, lists)
            return dictionary.encode_values(self.data)
        except UnsupportedValue as error:
            raise UnsupportedValue(f"{self.predicate}, argument {self.number + 1}: {error}") from None


@dataclass(frozen=True)
class Columns:
    """Facts of one predicate. With no columns, `height` tells whether the nullary fact is there."""

    columns: tuple[Column, ...]
    height: int
    left_out: int = 0
    """How many rows are not among them, for a null."""

    @property
    def arity(self) -> int:
        return len(self.columns)


def columns_of(predicate: str, facts: Any, arity: int | None, nulls: Nulls = "error") -> Columns | None:
    """The columns of a predicate's facts; None for an empty list of rows of a predicate that is not known.

    `arity`, if known, must be that of the facts.
    """
    table = _arrow_table(predicate, facts)
    if table is not None:
        if arity is not None and table.num_columns != arity:
            raise ArityMistake(
                f"{predicate} has {counted(arity, 'argument')}, but the table has {counted(table.num_columns, 'column')}"
            )
        return _of_table(predicate, table, nulls)
    if isinstance(facts, str | bytes | Mapping) or not isinstance(facts, Iterable):
        raise EverlogError(
            f"the facts of {predicate} are a {type(facts).__name__}; give a list of tuples, an Arrow table or a DataFrame"
        )
    if type(facts).__module__ == "numpy" and getattr(facts, "ndim", 0) == 2:
        facts = list(map(tuple, facts.tolist()))  # type: ignore[attr-defined]
    rows = facts if isinstance(facts, list) else list(facts)
    if not rows and arity is None:
        return None
    expected = arity if arity is not None else (len(rows[0]) if isinstance(rows[0], tuple | list) else 1)
    for number, row in enumerate(rows):
        if not isinstance(row, tuple | list):
            if expected > 1 and len(rows) == expected:
                shown = f"[{tuple(rows)!r}]"
                raise ArityMistake(f"the facts of {predicate} are {tuple(rows)!r}, which is one row; give {shown}")
            raise ArityMistake(f"row {number + 1} of {predicate} is {row!r}; a row is a tuple, such as ({row!r},)")
        if len(row) != expected:
            raise ArityMistake(
                f"row {number + 1} of {predicate} has {counted(len(row), 'value')} instead of {expected}: {tuple(row)!r}"
            )
    transposed: Sequence[Sequence[object]] = list(zip(*rows, strict=True)) if rows else [()] * expected
    return _of_columns(predicate, transposed, len(rows), nulls)


def _of_columns(predicate: str, data: Sequence[Sequence[object]], height: int, nulls: Nulls) -> Columns:
    """Columns of Python values. Types are looked at first, which is quick."""
    with_nulls = [column for column in data if any(is_null_type(one) for one in set(map(type, column)))]
    if not with_nulls:
        return Columns(tuple(Column(predicate, number, column) for number, column in enumerate(data)), height)
    if nulls == "empty":
        data = [["" if is_null_type(type(value)) else value for value in column] for column in data]
        return _of_columns(predicate, data, height, nulls)
    kept = [row for row in range(height) if not any(is_null_type(type(column[row])) for column in with_nulls)]
    if nulls == "error":
        row = next(row for row in range(height) if row == len(kept) or kept[row] != row)
        number = next(number for number, column in enumerate(data) if is_null_type(type(column[row])))
        what = f"row {row + 1} of {predicate}: argument {number + 1} is {data[number][row]}"
        raise UnsupportedValue(null_reason(nulls, what))
    found = _of_columns(predicate, [[column[row] for row in kept] for column in data], len(kept), nulls)
    return replace(found, left_out=height - len(kept))


def _named(column: str) -> str:
    return column if column.startswith("column ") else f"the column {column}"


def is_null_type(type: type) -> bool:
    """Whether values of a type stand for nulls: None, and what pandas has instead."""
    return type is NoneType or (type.__name__ in ("NAType", "NaTType") and type.__module__.startswith("pandas."))


def _of_table(predicate: str, table: pa.Table, nulls: Nulls) -> Columns:
    import pyarrow as pa
    import pyarrow.compute as pc

    data = [_without_dictionary(column) for column in table.columns]
    with_nulls = [column for column in data if column.null_count]
    height = table.num_rows
    if with_nulls and nulls == "error":
        number, column = next((number, column) for number, column in enumerate(data) if column.null_count)
        row = pc.index(column.is_null(), True).as_py()
        name = table.schema.field(number).name
        what = f"{predicate}, argument {number + 1}: {_named(name)} holds {counted(column.null_count, 'null')}"
        raise UnsupportedValue(null_reason(nulls, f"{what}, the first in row {row + 1}"))
    if with_nulls and nulls == "skip":
        sound = reduce(pc.and_, (column.is_valid() for column in with_nulls))
        data = [column.filter(sound) for column in data]
        height = len(data[0])
    columns = []
    for number, column in enumerate(data):
        field = table.schema.field(number)
        if not column.null_count:
            columns.append(Column(predicate, number, column, field))
        elif (field.metadata or {}).get(b"everlog") == b"ntriples":
            columns.append(Column(predicate, number, column.fill_null('""'), field))
        elif column.type in (pa.string(), pa.large_string(), pa.string_view()):
            columns.append(Column(predicate, number, column.fill_null(""), field))
        else:
            columns.append(Column(predicate, number, ["" if one is None else one for one in column.to_pylist()]))
    return Columns(tuple(columns), height, table.num_rows - height)


def _without_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column, decoded if its nulls could be in its dictionary, where Arrow does not count them."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type) and (
        column.null_count or any(chunk.dictionary.null_count for chunk in column.chunks)
    ):
        return column.cast(column.type.value_type)
    return column


def _arrow_table(predicate: str, facts: Any) -> pa.Table | None:
    import pyarrow as pa

    kind = type(facts).__name__
    if isinstance(facts, pa.Table):
        return facts
    if isinstance(facts, pa.RecordBatch):
        return pa.Table.from_batches([facts])
    from_pandas = type(facts).__module__.partition(".")[0] == "pandas"
    if from_pandas and kind != "DataFrame":
        raise EverlogError(f"the facts of {predicate} are a pandas {kind}; give a DataFrame, such as facts.to_frame()")
    try:
        if from_pandas:  # arguments are known by their places: two columns may have one name
            names = names_of(facts) or [f"column {number + 1}" for number in range(facts.shape[1])]
            named = facts.set_axis(list(names), axis=1)
            return pa.Table.from_pandas(named, preserve_index=False)
        return pa.table(facts) if hasattr(facts, "__arrow_c_stream__") else None
    except (pa.ArrowException, ValueError, TypeError) as failure:
        raise EverlogError(
            f"the facts of {predicate} are a {kind} that Arrow cannot read ({' '.join(map(str, failure.args))}); a column "
            "has values of one kind, so give facts of several kinds as a list of tuples"
        ) from failure

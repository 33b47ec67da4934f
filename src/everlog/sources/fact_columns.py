"""Facts as users give them: rows of Python values, Arrow tables, pandas DataFrames. They become columns.

A column knows how to turn itself into ids; Arrow data does so without a Python loop. Shapes are checked here, values
when they are encoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from everlog.errors import ArityMistake, EverlogError, UnsupportedValue

if TYPE_CHECKING:
    import pyarrow as pa

    from everlog.engine.memory.dictionary import Dictionary
    from everlog.engine.memory.facts.table import Ids


@dataclass(frozen=True)
class Column:
    """One argument of many facts of a predicate."""

    predicate: str
    number: int
    data: Sequence[object] | pa.ChunkedArray
    field: pa.Field | None = None

    def encoded(self, dictionary: Dictionary) -> Ids:
        """The ids of the values, or `UnsupportedValue`."""
        try:
            if self.field is not None:
                return dictionary.encode_field(self.field, self.data)
            return dictionary.encode_values(self.data)
        except UnsupportedValue as error:
            raise UnsupportedValue(f"{self.predicate}, argument {self.number + 1}: {error}") from None


@dataclass(frozen=True)
class Columns:
    """Facts of one predicate. With no columns, `height` tells whether the nullary fact is there."""

    columns: tuple[Column, ...]
    height: int

    @property
    def arity(self) -> int:
        return len(self.columns)


def columns_of(predicate: str, facts: Any, arity: int | None) -> Columns | None:
    """The columns of a predicate's facts; None for an empty list of rows of a predicate that is not known.

    `arity`, if known, must be that of the facts.
    """
    table = _arrow_table(predicate, facts)
    if table is not None:
        if arity is not None and table.num_columns != arity:
            raise ArityMistake(f"{predicate} has {arity} arguments, but the table has {table.num_columns} columns")
        fields = (table.schema.field(number) for number in range(table.num_columns))
        columns = (Column(predicate, number, table.column(number), field) for number, field in enumerate(fields))
        return Columns(tuple(columns), table.num_rows)
    if isinstance(facts, str | bytes | Mapping) or not isinstance(facts, Iterable):
        raise EverlogError(
            f"the facts of {predicate} are a {type(facts).__name__}; give a list of tuples, an Arrow table or a DataFrame"
        )
    rows = facts if isinstance(facts, list) else list(facts)
    if not rows and arity is None:
        return None
    expected = arity if arity is not None else (len(rows[0]) if isinstance(rows[0], tuple | list) else 1)
    for number, row in enumerate(rows):
        if not isinstance(row, tuple | list):
            raise ArityMistake(f"row {number + 1} of {predicate} is {row!r}; a row is a tuple, such as ({row!r},)")
        if len(row) != expected:
            raise ArityMistake(
                f"row {number + 1} of {predicate} has {len(row)} values instead of {expected}: {tuple(row)!r}"
            )
    transposed: Sequence[Sequence[object]] = list(zip(*rows, strict=True)) if rows else [()] * expected
    return Columns(tuple(Column(predicate, number, data) for number, data in enumerate(transposed)), len(rows))


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
            named = facts.set_axis([f"column {number + 1}" for number in range(facts.shape[1])], axis=1)
            return pa.Table.from_pandas(named, preserve_index=False)
        return pa.table(facts) if hasattr(facts, "__arrow_c_stream__") else None
    except (pa.ArrowException, ValueError, TypeError) as failure:
        raise EverlogError(
            f"the facts of {predicate} are a {kind} that Arrow cannot read ({' '.join(map(str, failure.args))}); a column "
            "has values of one kind, so give facts of several kinds as a list of tuples"
        ) from failure

"""Answers: a list of tuples that knows the names of its columns and becomes a table of pandas, Arrow or Spark."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any, Final

from everlog.datalog.ntriples import write_term
from everlog.datalog.values import Value
from everlog.wording import counted

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

PRESENT: Final = "present"
"""The column of a table whose rows have no values: it holds, once, or not at all."""

_SHOWN: Final = 20
"""So many rows a notebook shows."""


class Answers(list[tuple[Value, ...]]):
    """Tuples of Python values, with the names of their places.

    >>> answers = Answers([("a", 1), ("b", 2)], ["x", "n"])
    >>> answers == [("a", 1), ("b", 2)], answers.to_arrow().column("n").to_pylist()
    (True, [1, 2])
    """

    def __init__(self, rows: Iterable[tuple[Value, ...]], variables: Iterable[str]) -> None:
        super().__init__(rows)
        self.variables = tuple(variables)
        """The names of the columns: of a goal, its variables without the question mark."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Answers, (list(self), self.variables)

    def to_arrow(self) -> pa.Table:
        """An Arrow table; `natural_columns.py` says which types its columns have."""
        import pyarrow as pa

        from everlog.knowledge.natural_columns import natural_column  # which imports much

        if not self.variables:
            return pa.table({PRESENT: pa.array([True] * len(self), pa.bool_())})
        columns = zip(*self, strict=True) if self else [()] * len(self.variables)
        made = [natural_column(name, column) for name, column in zip(self.variables, columns, strict=True)]
        return pa.Table.from_arrays([array for _, array in made], schema=pa.schema([field for field, _ in made]))

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame; dates are its timestamps."""
        return self.to_arrow().to_pandas(date_as_object=False)

    def dataframe(self, spark: SparkSession) -> DataFrame:
        """A DataFrame of a Spark session."""
        from everlog.spark.handover import to_spark

        return to_spark(spark, self.to_arrow())

    def _repr_html_(self) -> str:
        """A notebook shows the first rows."""
        heads = "".join(f"<th>{escape(name)}</th>" for name in self.variables)
        rows = (
            "".join(f"<td>{escape(value if isinstance(value, str) else _shown(value))}</td>" for value in row)
            for row in self[:_SHOWN]
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        more = f", the first {_SHOWN} of which are shown" if len(self) > _SHOWN else ""
        return f"<table><tr>{heads}</tr>{body}</table><p>{counted(len(self), 'row')}{more}</p>"


def _shown(value: Value) -> str:
    return str(value) if isinstance(value, bool | int | float) else write_term(value)

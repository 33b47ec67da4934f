"""What parsing gives: rows that are facts or problems, in one DataFrame.

Columns are `a0`, `a1`, … (`present` for a predicate without arguments) and `problem`, which is null for a fact and else
says in JSON what is wrong. So one pass over the input finds all facts and all mistakes.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from everlog.pipeline.problems import Problem

PROBLEM = "problem"


def columns_of_width(width: int) -> list[str]:
    """The columns of facts with this many arguments."""
    return [f"a{number}" for number in range(width)] if width else ["present"]


def spark_schema(width: int) -> str:
    """The columns of facts and problems, as Spark writes schemas."""
    type = "string" if width else "boolean"
    return ", ".join([f"{name} {type}" for name in columns_of_width(width)] + [f"{PROBLEM} string"])


def fact_batch(columns: Sequence[pa.Array]) -> pa.RecordBatch:
    """A batch of facts. A fact without arguments has one column, of true."""
    names = ["present"] if pa.types.is_boolean(columns[0].type) else columns_of_width(len(columns))
    return pa.RecordBatch.from_arrays([*columns, pa.nulls(len(columns[0]), pa.string())], names=[*names, PROBLEM])


def problem_batch(width: int, problems: Sequence[Problem]) -> pa.RecordBatch:
    """A batch of problems among facts with this many arguments."""
    nothing = pa.nulls(len(problems), pa.string() if width else pa.bool_())
    texts = pa.array([problem.to_json() for problem in problems], type=pa.string())
    names = columns_of_width(width)
    return pa.RecordBatch.from_arrays([*([nothing] * len(names)), texts], names=[*names, PROBLEM])

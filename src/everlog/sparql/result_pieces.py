"""A result as text in pieces, so that a large one is never held as text: the pieces joined are one document.

Each piece is some solutions, written as a result of their own (`result_formats.py`); of that, what stands before and
after the solutions is the same as in the result without solutions, and is given once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from everlog.sparql.query_run import QueryResult
from everlog.sparql.result_formats import serialized

_BETWEEN: Final = {"json": ","}
_ENDS: Final = {"json": "]}}", "xml": "</results></sparql>\n"}


def serialized_pieces(result: QueryResult, format: str, rows: int) -> Iterator[str]:
    """The text of `serialized`, in pieces of so many solutions; of a graph, another text for the same triples."""
    length = result.solutions.length
    if result.form == "ask" or length <= rows:
        yield serialized(result, format)
        return
    parts = (
        serialized(replace(result, solutions=result.solutions.take(slice(first, first + rows))), format)
        for first in range(0, length, rows)
    )
    if result.form != "select":
        yield from parts  # a Turtle document may declare its prefixes again
        return
    end, between = _ENDS.get(format, ""), _BETWEEN.get(format, "")
    nothing = serialized(replace(result, solutions=result.solutions.take(slice(0, 0))), format)
    start = len(nothing) - len(end)
    yield nothing[:start]
    for number, part in enumerate(parts):
        yield (between if number else "") + part[start : len(part) - len(end)]
    yield end

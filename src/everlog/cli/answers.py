"""Answers to a goal as a table, CSV or JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from pyoxigraph import BlankNode, NamedNode
from pyoxigraph import Literal as RdfLiteral

from everlog.datalog.ntriples import write_term
from everlog.datalog.syntax import BodyLiteral
from everlog.datalog.values import XSD, Value, canonical_double

Row: TypeAlias = Sequence[Value]
AnswerFormat: TypeAlias = Literal["table", "csv", "json"]


def goal_variables(goal: Iterable[BodyLiteral]) -> list[str]:
    """The names of a goal's variables in the order of their first occurrence; anonymous ones are none.

    >>> from everlog.datalog.reader import parse_goal
    >>> goal_variables(parse_goal("edge(?y, _), not blocked(?x, _), node(?x)"))
    ['y', 'x']
    """
    names = (variable.name for literal in goal for variable in literal.variables())
    return [name for name in dict.fromkeys(names) if not name.startswith("_")]


def answers_text(variables: Sequence[str], rows: Sequence[Row], form: AnswerFormat) -> str:
    """The answers as CSV with a header or as JSON; without variables, whether there is one: `true` or `false`."""
    if not variables:
        return "true" if rows else "false"
    if form == "json":
        objects = [dict(zip(variables, map(_json, row), strict=True)) for row in rows]
        return json.dumps(objects, ensure_ascii=False, indent=1)
    return "\n".join([",".join(variables), *(",".join(map(field, row)) for row in rows)])


def field(value: Value) -> str:
    """A value as a field of CSV."""
    from everlog.sources.csv_fields import csv_field

    return csv_field(write_term(value))


def _json(value: Value) -> object:
    """Strings, numbers and truth values as they are; what JSON has no value for, as SPARQL's results in JSON have it."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"type": "literal", "value": canonical_double(value), "datatype": f"{XSD}double"}
    if isinstance(value, NamedNode | BlankNode):
        return {"type": "uri" if isinstance(value, NamedNode) else "bnode", "value": value.value}
    if isinstance(value, RdfLiteral):
        kind = {"xml:lang": value.language} if value.language else {"datatype": value.datatype.value}
        return {"type": "literal", "value": value.value, **kind}
    return value


def print_table(variables: Sequence[str], rows: Sequence[Row]) -> None:
    """A table for people. In a pipe nothing is wrapped or cut."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        console = Console(width=1_000_000)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in variables:
        table.add_column(Text(name), overflow="fold")
    for row in rows:
        table.add_row(*(Text(field(value)) for value in row))
    console.print(table)
    console.print(f"{len(rows):,} answer{'s' if len(rows) != 1 else ''}", highlight=False)

"""Answers to a goal as a table, CSV or JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from pyoxigraph import Literal as RdfLiteral
from pyoxigraph import NamedNode

from everlog.datalog.json_values import json_value as plain_json_value
from everlog.datalog.ntriples import write_term
from everlog.datalog.prefixes import LOCAL_NAME, WELL_KNOWN
from everlog.datalog.values import Value
from everlog.rdf.turtle import TurtleTerms
from everlog.wording import counted

Row: TypeAlias = Sequence[Value]
AnswerFormat: TypeAlias = Literal["table", "csv", "json"]


def answers_text(variables: Sequence[str], rows: Sequence[Row], form: AnswerFormat, names: Names | None = None) -> str:
    """The answers as CSV with a header or as JSON; without variables, whether there is one: `true` or `false`."""
    if not variables:
        return "true" if rows else "false"
    if form == "json":
        objects = [dict(zip(variables, (json_value(value, names) for value in row), strict=True)) for row in rows]
        return json.dumps(objects, ensure_ascii=False, indent=1)
    return "\n".join([",".join(variables), *(",".join(field(value, names) for value in row) for row in rows)])


class Names:
    """Writes IRIs with prefixes, `ub:Student`, where one fits: those of a program and those that every program knows."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._known = {**WELL_KNOWN, **prefixes}
        self._terms = TurtleTerms(self._known)

    def short(self, iri: str) -> str:
        """An IRI, given in angle brackets."""
        return self._terms.term(iri)

    def looks_short(self, text: str) -> bool:
        """Whether a string could be taken for an IRI with a prefix."""
        prefix, colon, local = text.partition(":")
        return bool(colon) and prefix in self._known and LOCAL_NAME.fullmatch(local) is not None


def field(value: Value, names: Names | None = None) -> str:
    """A value as a field of CSV, perhaps with short names."""
    from everlog.sources.csv_fields import csv_field

    text = csv_field(write_term(value))
    if names is None:
        return text
    if isinstance(value, NamedNode):
        return names.short(text)
    if isinstance(value, RdfLiteral) and text.endswith(">"):
        literal, _, datatype = text.rpartition("^^")
        return f"{literal}^^{names.short(datatype)}"
    return f'"{value}"' if isinstance(value, str) and names.looks_short(value) else text


def json_value(value: Value, names: Names | None = None) -> object:
    """A value as JSON has it (`datalog/json_values.py`), perhaps with short names."""
    if isinstance(value, NamedNode) and names is not None:
        return {"type": "uri", "value": names.short(str(value)).strip("<>")}
    return plain_json_value(value)


def print_table(
    variables: Sequence[str],
    rows: Sequence[Sequence[Value | None]],
    names: Names | None = None,
    number: int | None = None,
) -> None:
    """A table for people, of some rows of a `number`; what is None is left empty. In a pipe nothing is wrapped or cut."""
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
        table.add_row(*(Text("" if value is None else field(value, names)) for value in row))
    console.print(table)
    some = f"{len(rows):,} of " if number is not None and number > len(rows) else ""
    console.print(f"{some}{counted(len(rows) if number is None else number, 'answer')}", highlight=False)

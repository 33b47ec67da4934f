"""Soufflé's files of facts, both ways: a line each, fields between tabs, nothing quoted.

A field that looks like an integer or a float is one, as in CSV. Everything else is a string: there are no RDF terms, so
that `<init>` is a name, and no nulls, so that an empty field is the empty string. The fact of a predicate without arguments
is the line `()`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from everlog.datalog.ntriples import read_term
from everlog.sources.csv_fields import csv_field, plain_term
from everlog.sources.csv_lines import CsvLines


@dataclass(frozen=True)
class FactsLines(CsvLines):
    """Parses lines with this many fields."""

    has_quotes: ClassVar[bool] = False

    def _fields(self, record: str) -> list[tuple[str, bool]]:
        if not self.width and record == "()":
            return []
        return [(field, False) for field in record.split(self.delimiter)]

    def _term(self, field: str, quoted: bool) -> str:
        return plain_term(field)


def facts_field(text: str) -> str | None:
    """A canonical N-Triples text as a field; None for a string with a tab or a line break, which cannot be one.

    >>> facts_field('"a b"'), facts_field('"5"^^<http://www.w3.org/2001/XMLSchema#integer>'), facts_field(r'"a\\tb"')
    ('a b', '5', None)
    """
    if not (text[0] == text[-1] == '"'):
        return csv_field(text, "\t")
    string = text[1:-1] if "\\" not in text else str(read_term(text))
    return None if any(sign in string for sign in "\t\n\r") else string

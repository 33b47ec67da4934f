"""Soufflé's files of facts, both ways: a line each, fields between tabs, nothing quoted.

A field that looks like an integer or a float is one, as in CSV. Everything else is a string: there are no RDF terms, so
that `<init>` is a name, and no nulls, so that an empty field is the empty string. The fact of a predicate without arguments
is the line `()`.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from everlog.datalog.ntriples import read_term
from everlog.sources.canonical_texts import distinct_texts
from everlog.sources.csv_fields import csv_field, plain_term
from everlog.sources.csv_lines import CsvLines, Mistakes
from everlog.sources.parsed_rows import Parsed


@dataclass(frozen=True)
class FactsLines(CsvLines):
    """Parses lines with this many fields."""

    def _facts(self, lines: pa.Array, mark: str) -> Parsed:
        if not self.width:
            lines = pc.if_else(pc.equal(lines, "()"), "", lines)
        return self._unquoted(lines, mark)

    def _others(self, fields: pa.Array, mark: str) -> tuple[pa.Array, Mistakes]:
        return distinct_texts(fields, plain_term)


def facts_field(text: str) -> str | None:
    """A canonical N-Triples text as a field; None for a string with a tab or a line break, which cannot be one.

    >>> facts_field('"a b"'), facts_field('"5"^^<http://www.w3.org/2001/XMLSchema#integer>'), facts_field(r'"a\\tb"')
    ('a b', '5', None)
    """
    if not (text[0] == text[-1] == '"'):
        return csv_field(text, "\t")
    string = text[1:-1] if "\\" not in text else str(read_term(text))
    return None if any(sign in string for sign in "\t\n\r") else string

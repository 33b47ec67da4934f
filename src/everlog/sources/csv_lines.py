"""CSV and TSV in Spark tasks.

Each line is taken for a record of its own. That is right unless a quoted field spans lines, and then a line with an odd
quote shows it: starting from the first line, if every line by itself ends outside of quotes, no field spans two. A file
with such a line (`OPEN_QUOTE`) is read again as a whole, by one task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TextIO, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from everlog.datalog.values import XSD
from everlog.rdf.blanks import renamed
from everlog.sources.canonical_texts import distinct_texts, joined
from everlog.sources.csv_fields import MalformedField, field_term, split_line
from everlog.sources.line_blocks import Lines
from everlog.sources.null_policy import Nulls, null_reason
from everlog.sources.parsed_rows import Given, Parsed, columns_of_terms, without
from everlog.sources.problems import OPEN_QUOTE, Problem

Mistakes: TypeAlias = list[tuple[int, str]]
"""Rows, and what is wrong with them."""

_BLOCK = 10_000

# Columns of which every field is plain are done without Python: canonical integers of up to 18 digits, and words.
_INTEGERS = r"^(?:0|-?[1-9][0-9]{0,17})$"
_WORDS = r"^[A-Za-z][A-Za-z0-9:/#_.@ -]*$"


@dataclass(frozen=True)
class CsvLines:
    """Parses records with this many fields.

    A `header` is the first line of a file, and no fact; nor is a line like it, as where files with headers were joined.
    """

    delimiter: str
    width: int
    header: str | None = None
    nulls: Nulls = "error"
    picked: tuple[int, ...] | None = None
    """The fields that are arguments, unless all are."""

    @property
    def places(self) -> Sequence[int]:
        return range(self.width) if self.picked is None else self.picked

    def __call__(self, lines: Lines, mark: str) -> Parsed:
        texts = lines.texts
        if self.header is None:
            columns, mistakes = self._facts(texts, mark)
            return columns, lines.not_utf8 + mistakes
        rows = pc.indices_nonzero(pc.not_equal(texts, self.header).fill_null(True))
        columns, mistakes = self._facts(texts.take(rows), mark)
        return columns, lines.not_utf8 + [(rows[row].as_py(), reason) for row, reason in mistakes]

    def _facts(self, lines: pa.Array, mark: str) -> Parsed:
        quoted = pc.match_substring(lines, '"')
        with_quotes = pc.indices_nonzero(quoted.fill_null(True)).to_pylist()
        if not with_quotes:
            return self._unquoted(lines, mark)
        rows = pc.indices_nonzero(pc.invert(quoted).fill_null(False))
        columns, mistakes = self._unquoted(lines.take(rows), mark)
        places = rows.to_pylist()
        mistakes = [(places[row], reason) for row, reason in mistakes]
        texts = [(row, lines[row].as_py()) for row in with_quotes]
        others, more = self.records(((row, text) for row, text in texts if text is not None), mark)
        return [pa.concat_arrays(pair) for pair in zip(columns, others, strict=True)], mistakes + more

    def records(self, records: Iterable[tuple[int, str]], mark: str) -> Parsed:
        """The columns of numbered records, and what is wrong with others."""

        def terms(record: str) -> list[str]:
            fields = split_line(record, self.delimiter)
            if fields is None:
                raise MalformedField(OPEN_QUOTE)
            if len(fields) != self.width and (self.width or record):
                raise MalformedField(self._count(len(fields), record))
            for place in self.places:
                if self.nulls != "empty" and fields[place] == ("", False):
                    raise MalformedField(self._null(place))
            return [_labelled(field_term(*fields[place]), mark) for place in self.places]

        return columns_of_terms(records, terms, len(self.places), MalformedField)

    def _unquoted(self, lines: pa.Array, mark: str) -> Parsed:
        pieces = pc.split_pattern(lines, self.delimiter)
        lengths = pc.list_value_length(pieces)
        good = pc.equal(lines, "") if self.width == 0 else pc.equal(lengths, self.width)
        mistakes: list[tuple[int, str]] = []
        rows: list[int] | None = None
        if not pc.all(good).as_py() and len(lines):
            for row in pc.indices_nonzero(pc.invert(good)).to_pylist():
                mistakes.append((row, self._count(lengths[row].as_py(), lines[row].as_py())))
            rows = pc.indices_nonzero(good).to_pylist()
            pieces, lines = pieces.filter(good), lines.filter(good)
        if self.width == 0:
            return [pa.array([True] * len(lines), type=pa.bool_())], mistakes
        columns = []
        bad: dict[int, str] = {}
        for number in self.places:
            fields = pc.list_element(pieces, number)
            column, wrong = self._terms(fields, mark)
            columns.append(column)
            bad.update((row, f"field {number + 1}: {reason}") for row, reason in wrong)
            if self.nulls != "empty":
                empty = pc.indices_nonzero(pc.equal(fields, ""))
                bad.update((row, self._null(number)) for row in empty.to_pylist())
        if bad:
            mistakes += [(row if rows is None else rows[row], reason) for row, reason in bad.items()]
            columns = without(columns, bad)
        return columns, mistakes

    def _terms(self, fields: pa.Array, mark: str) -> tuple[pa.Array, Mistakes]:
        """The terms of unquoted fields, null where they are malformed, and those rows with the reason."""
        if pc.all(pc.match_substring_regex(fields, _INTEGERS)).as_py():
            return joined('"', fields, f'"^^<{XSD}integer>'), []
        if pc.all(pc.match_substring_regex(fields, _WORDS)).as_py():
            return joined('"', fields, '"'), []
        return self._others(fields, mark)

    def _others(self, fields: pa.Array, mark: str) -> tuple[pa.Array, Mistakes]:
        """The same for a column with other fields than numbers, or than words."""
        return distinct_texts(fields, lambda field: _labelled(field_term(field, quoted=False), mark))

    def _null(self, number: int) -> str:
        return null_reason(self.nulls, f'field {number + 1} is empty, which is a null (the empty string is "")')

    def _count(self, count: int, record: str) -> str:
        expected = f"{self.width} {'field is' if self.width == 1 else 'fields are'} expected"
        if record == "":
            return f"an empty line, where {expected}"
        return f"{count} {'field' if count == 1 else 'fields'}, where {expected}"


def _labelled(term: str, mark: str) -> str:
    return "_:" + renamed(term[2:], mark) if term.startswith("_:") else term


# Files with fields that span lines


def parse_stream(stream: TextIO, parser: CsvLines, file: str, mark: str, source: int) -> Iterator[Given]:
    """The rows of a whole file, opened with `newline=""` and `errors="surrogateescape"`."""
    records = (one for one in records_of(stream, parser.delimiter) if one[1] != parser.header)
    while block := list(islice(records, _BLOCK)):
        columns, mistakes = parser.records([(line, text) for line, text in block if _is_text(text)], mark)
        yield Given(source, columns)
        mistakes += [(line, "a byte that is not UTF-8") for line, text in block if not _is_text(text)]
        if mistakes:
            texts = dict(block)
            problems = [
                Problem(file, line, reason, texts[line].encode("utf-8", "replace").decode())
                for line, reason in sorted(mistakes)
            ]
            yield Given(source, problems=problems)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a byte that could not be decoded
        return False
    return True


def records_of(stream: TextIO, delimiter: str) -> Iterator[tuple[int, str]]:
    """The records of a file with the number of the line where they begin, without their line ends."""
    number = 0
    lines = iter(stream)
    for line in lines:
        number += 1
        begin = number
        if number == 1:
            line = line.removeprefix("\ufeff")
        if not _is_open(line, delimiter):
            yield begin, line.rstrip("\r\n")
            continue
        parts, quotes = [line], line.count('"')
        for more in lines:
            number += 1
            parts.append(more)
            count = more.count('"')
            quotes += count
            # Only where the quotes are even can the record end; joining every time would take quadratic time.
            if count and quotes % 2 == 0 and not _is_open("".join(parts), delimiter):
                break
        yield begin, "".join(parts).rstrip("\r\n")


def _is_open(record: str, delimiter: str) -> bool:
    if '"' not in record:
        return False
    try:
        return split_line(record.rstrip("\r\n"), delimiter) is None
    except MalformedField:
        return False

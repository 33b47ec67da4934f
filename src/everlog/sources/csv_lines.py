"""CSV and TSV in Spark tasks.

A kernel (`line_kernels.py`) cuts lines into fields and numbers them, so that each distinct field becomes a term once; most
are plain, and no Python is run for them. Lines with other quotes, other numbers of fields, or a malformed field are read
one by one, and so are few lines, since a kernel takes longer to load than they do.

Each line is taken for a record of its own. That is right unless a quoted field spans lines, and then a line with an odd
quote shows it: starting from the first line, if every line by itself ends outside of quotes, no field spans two. A file
with such a line (`OPEN_QUOTE`) is read again as a whole, by one task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from everlog.datalog.values import XSD
from everlog.rdf.blanks import renamed
from everlog.sources.blocks import Block
from everlog.sources.csv_fields import MalformedField, field_term, split_line
from everlog.sources.line_blocks import Lines, line_count, not_utf8
from everlog.sources.null_policy import Nulls, null_reason
from everlog.sources.numbered_pieces import FEW, joint_columns, texts_of_pieces, with_spare
from everlog.sources.parsed_rows import Given, Parsed, columns_of_terms
from everlog.sources.problems import OPEN_QUOTE, Problem

_BLOCK = 10_000


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
    few: int = FEW
    has_quotes: ClassVar[bool] = True
    """Whether a field that begins with a quote ends with one."""

    @property
    def places(self) -> Sequence[int]:
        return range(self.width) if self.picked is None else self.picked

    def __call__(self, lines: Lines, mark: str) -> Parsed:
        if len(lines.data) <= self.few or not self.width:
            return self._one_by_one(range(len(lines.pieces)), lines.pieces, mark)
        from everlog.sources.line_kernels import EMPTY, cut_fields

        data, size = with_spare(lines.data)
        header = np.frombuffer((self.header or "").encode(), np.uint8)
        numbers, places, starts, lengths, kinds, odd = cut_fields(
            data, size, ord(self.delimiter), self.has_quotes, self.width, header, line_count(lines.data)
        )
        numbers = numbers[list(self.places)]
        fields = texts_of_pieces(data, starts, lengths)
        if fields is None:  # not UTF-8, somewhere
            return self._one_by_one(range(len(lines.pieces)), lines.pieces, mark)
        texts, wrong = self._terms(fields, kinds, mark)
        wrong |= (kinds == EMPTY) & (self.nulls != "empty")
        bad = wrong[numbers].any(axis=0)
        others = [*odd[0].tolist(), *places[bad].tolist()]
        columns, mistakes = self._one_by_one(others, [lines.pieces[line] for line in others], mark)
        more = Block.of(columns)
        return joint_columns(Block(numbers[:, ~bad], texts), more), mistakes

    def _one_by_one(self, rows: Sequence[int], pieces: Sequence[bytes], mark: str) -> Parsed:
        mistakes = not_utf8(rows, pieces)
        wrong = {row for row, _ in mistakes}
        texts = ((row, piece.decode()) for row, piece in zip(rows, pieces, strict=True) if row not in wrong)
        columns, more = self.records(((row, text) for row, text in texts if text != self.header), mark)
        return columns, mistakes + more

    def records(self, records: Iterable[tuple[int, str]], mark: str) -> Parsed:
        """The columns of numbered records, and what is wrong with others."""

        def terms(record: str) -> list[str]:
            fields = self._fields(record)
            if fields is None:
                raise MalformedField(OPEN_QUOTE)
            if len(fields) != self.width and (self.width or record):
                raise MalformedField(self._count(len(fields), record))
            for place in self.places:
                if self.nulls != "empty" and fields[place] == ("", False):
                    raise MalformedField(self._null(place))
            return [self._labelled_term(place, fields[place], mark) for place in self.places]

        return columns_of_terms(records, terms, len(self.places), MalformedField)

    def _labelled_term(self, place: int, field: tuple[str, bool], mark: str) -> str:
        try:
            return _labelled(self._term(*field), mark)
        except MalformedField as mistake:
            raise MalformedField(f"field {place + 1}: {mistake}") from mistake

    def _fields(self, record: str) -> list[tuple[str, bool]] | None:
        """The fields of a record and whether each was quoted; None if a quote does not end in it."""
        return split_line(record, self.delimiter)

    def _term(self, field: str, quoted: bool) -> str:
        """The canonical text of a field."""
        return field_term(field, quoted)

    def _terms(self, fields: pa.Array, kinds: NDArray[np.uint8], mark: str) -> tuple[pa.Array, NDArray[np.bool_]]:
        """The terms of distinct fields of some kinds, and which of them are none."""
        from everlog.sources.line_kernels import EMPTY, INTEGER, IRI, LITERAL, WORD

        before, after = pa.array(["", '"']), pa.array(["", '"', f'"^^<{XSD}integer>'])
        plain = np.isin(kinds, (IRI, LITERAL) if self.has_quotes else ())
        quoted = np.isin(kinds, (INTEGER, WORD, EMPTY))
        sides = (
            before.take(pa.array(quoted.astype(np.int8))),
            after.take(pa.array(np.where(kinds == INTEGER, 2, quoted))),
        )
        texts = pc.binary_join_element_wise(sides[0], fields, sides[1], "")
        wrong = np.zeros(len(fields), np.bool_)
        if not (others := np.flatnonzero(~plain & ~quoted)).size:
            return texts, wrong
        found = []
        for place, field in zip(others.tolist(), fields.take(others).to_pylist(), strict=True):
            try:
                ((piece, is_quoted),) = self._fields(field) or [("", False)]
                found.append(_labelled(self._term(piece, is_quoted), mark))
            except (MalformedField, ValueError):
                found.append("")
                wrong[place] = True
        mask = pa.array(~plain & ~quoted)
        return pc.replace_with_mask(texts, mask, pa.array(found, pa.string())), wrong

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

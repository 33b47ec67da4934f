"""Files that have arrived in a folder: what is in them is judged by their names, as everywhere (`source_files.py`).

They come whole and are read by the parsers of `sources/`, in this process: batches are small, and what a file says is said
in the order of its lines. A file that cannot be read, or has other columns, is malformed as a whole.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from everlog.datalog.ntriples import read_term
from everlog.datalog.syntax import TRIPLE
from everlog.errors import EverlogError
from everlog.rdf.blanks import file_mark
from everlog.sources.column_names import columns_of_width
from everlog.sources.csv_fields import MalformedField, split_line
from everlog.sources.csv_lines import CsvLines, parse_stream, records_of
from everlog.sources.facts_lines import FactsLines
from everlog.sources.infer_columns import header_names
from everlog.sources.json_lines import JsonLines, MalformedJson, keys_of, load
from everlog.sources.line_blocks import PACKED, UNREADABLE, Lines, opened
from everlog.sources.null_policy import LEFT_OUT
from everlog.sources.parsed_rows import Given, Parsed
from everlog.sources.problems import OPEN_QUOTE, Problem, cannot_be_read
from everlog.sources.rdf_lines import RdfLines
from everlog.sources.source_files import BINARY_TABLES, RDF_DOCUMENTS, RDF_LINES, TEXT_TABLES
from everlog.sources.text_lines import readable_path
from everlog.sources.typed_columns import TERM, kinds_of, one_kind, values_of
from everlog.sources.whole_documents import RdfDocuments
from everlog.streaming.arrived_rows import comparable, heard_rows
from everlog.streaming.settling import Heard, Words
from everlog.streaming.stream_sources import Roles, Source
from everlog.wording import counted

_DELIMITERS: Final = {"csv": ",", "tsv": "\t", "facts": "\t"}
_QUAD: Final = "quad"
_BOM: Final = b"\xef\xbb\xbf"
_LOOKED_AT: Final = 100
_ANY_NUMBER: Final = 1 << 62
"""So many bytes are few: lines are read one by one, in their order."""


class _WrongFile(Exception):
    """A file that is malformed as a whole; the text says why."""


def heard_files(source: Source, files: pa.Table, arity: int | None) -> Heard:
    """What files say, in the order in which they were written. They have a path, a modificationTime and a content."""
    heard = Heard()
    for row in files.sort_by([("modificationTime", "ascending"), ("path", "ascending")]).to_pylist():
        heard.add(heard_file(source, readable_path(row["path"]), row["content"], arity))
    return heard


def heard_file(source: Source, path: str, content: bytes, arity: int | None) -> Heard:
    """What a file says; `arity` is that of the predicate, if it is known."""
    name = path.lower()
    packed = next((end for end in PACKED if name.endswith(end)), "")
    format = PurePosixPath(name.removesuffix(packed)).suffix.removeprefix(".")
    try:
        if format in BINARY_TABLES and not packed:
            return _typed(source, path, content, format, arity)
        if format in TEXT_TABLES:
            with opened(path, content) as stream:
                data = stream.read().removeprefix(_BOM)
            return _TextTable(source, path, data, arity).heard(format)
        if format in (*RDF_LINES, *RDF_DOCUMENTS):
            return _rdf(source, path, content, format)
        raise _WrongFile(
            "is no file of facts: its name does not end in .csv, .tsv, .facts, .jsonl, .parquet, .orc or RDF"
        )
    except UNREADABLE as mistake:
        return Heard(problems=[cannot_be_read(path, mistake)])
    except (_WrongFile, EverlogError, pa.ArrowException) as mistake:
        reason = str(mistake).removeprefix(f"{source.place}: ")
        return Heard(problems=[Problem(path, None, reason)])


# Tables with types


def _typed(source: Source, path: str, content: bytes, format: str, arity: int | None) -> Heard:
    import pyarrow.orc as orc
    import pyarrow.parquet as pq

    read: Any = pq.read_table if format == "parquet" else orc.read_table
    try:
        table = read(io.BytesIO(content))
    except (pa.ArrowException, OSError, ValueError) as mistake:
        raise _WrongFile(f"cannot be read: {' '.join(str(mistake).split())}") from None
    _check_width(source.roles(table.column_names).arguments, source, arity)
    ntriples = [field.name for field in table.schema if (field.metadata or {}).get(b"everlog") == b"ntriples"]
    return heard_rows(source, table, ntriples, path)


def _check_width(arguments: Sequence[str], source: Source, arity: int | None) -> None:
    if arity is not None and len(arguments) != arity and list(arguments) != ["present"]:
        raise _WrongFile(
            f"{counted(len(arguments), 'column')}, where {source.predicate} has {counted(arity, 'argument')}"
        )


# RDF


def _rdf(source: Source, path: str, content: bytes, format: str) -> Heard:
    if source.predicate != TRIPLE:
        raise _WrongFile(f"RDF has facts of {TRIPLE}, and not of {source.predicate}")
    heard = Heard()
    if format in RDF_LINES:
        with opened(path, content) as stream:
            lines = Lines(stream.read().removeprefix(_BOM))
        columns, mistakes = RdfLines(format)(lines, file_mark(path))
        heard.problems += _problems(path, lines, mistakes)
        found = [Given(0, columns)]
    else:
        found = list(RdfDocuments(whole=True)(path, content, 0))
    for given in found:
        heard.problems += given.problems
        heard.words += _statements(source, [_plain(column) for column in given.columns])
    heard.rows = len(heard.problems) + sum(map(len, heard.words))
    return heard


def _statements(source: Source, columns: Sequence[pa.Array]) -> Iterator[Words]:
    """Subjects, predicates, objects and graphs: those of the default graph are triples."""
    if not columns or not len(columns[0]):
        return
    graphs = columns[3]
    for predicate, width, chosen in ((TRIPLE, 3, graphs.is_null()), (_QUAD, 4, graphs.is_valid())):
        some = [column.filter(chosen) for column in columns[:width]]
        if len(some[0]):
            yield Words(predicate, some, pa.repeat(pa.scalar(source.deletes), len(some[0])))


# Lines of text


class _TextTable:
    """A file of lines with fields, or with JSON."""

    def __init__(self, source: Source, path: str, data: bytes, arity: int | None) -> None:
        self._source, self._path, self._data, self._arity = source, path, data, arity

    def heard(self, format: str) -> Heard:
        if not self._data:
            return Heard()
        return self._json() if format == "jsonl" else self._csv(format)

    def _csv(self, format: str) -> Heard:
        delimiter, source = _DELIMITERS[format], self._source
        header: str | None = None
        picked: tuple[int, ...] | None = None
        if source.named:
            header = next(self._records(delimiter), "")
            names = header_names(header, delimiter)
            roles = source.roles(names)
            _check_width(roles.arguments, source, self._arity)
            picked, width = tuple(map(names.index, _columns(roles))), len(names)
        else:
            width = self._width(delimiter) if self._arity is None else self._arity
            roles = Roles(tuple(columns_of_width(width)))
        if format == "facts":
            parser: CsvLines = FactsLines(delimiter, width, header, "empty", picked)
        else:
            parser = CsvLines(delimiter, width, header, source.nulls, picked)
        if roles.op is not None and roles.order is None:  # the order of lines matters
            parser = replace(parser, few=_ANY_NUMBER)
        return self._said(parser(Lines(self._data), file_mark(self._path)), roles, parser)

    def _records(self, delimiter: str) -> Iterator[str]:
        """The first records of the file."""
        text = io.TextIOWrapper(io.BytesIO(self._data), encoding="utf-8", errors="replace", newline="")
        return (record for _, record in islice(records_of(text, delimiter), _LOOKED_AT))

    def _width(self, delimiter: str) -> int:
        """As many fields as the first sound record has."""
        for record in self._records(delimiter):
            try:
                if fields := split_line(record, delimiter):
                    return len(fields)
            except MalformedField:
                continue
        return 1

    def _json(self) -> Heard:
        source, lines = self._source, Lines(self._data)
        first = self._first_fact(lines)
        if isinstance(first, dict):
            roles = source.roles(keys_of(first))
            _check_width(roles.arguments, source, self._arity)
            keys = _columns(roles)
            parser = JsonLines(len(keys), tuple(keys), source.nulls, picked=True)
        else:
            width = self._arity if self._arity is not None else len(first or [""])
            roles = Roles(tuple(columns_of_width(width)))
            parser = JsonLines(width, roles.arguments, source.nulls)
        return self._said(parser(lines, file_mark(self._path)), roles)

    @staticmethod
    def _first_fact(lines: Lines) -> list[object] | dict[str, object] | None:
        for line in lines.pieces[:_LOOKED_AT]:
            try:
                return load(line.decode("utf-8", "replace"))
            except MalformedJson:
                continue
        return None

    def _said(self, parsed: Parsed, roles: Roles, parser: CsvLines | None = None) -> Heard:
        columns, mistakes = parsed
        problems = _problems(self._path, Lines(self._data), mistakes)
        if parser is not None and any(reason == OPEN_QUOTE for _, reason in mistakes):
            columns, problems = self._spanning_lines(parser)
        heard = Heard(rows=len(columns[0]) + len(problems), problems=problems)
        heard.left_out = sum(problem.reason == LEFT_OUT for problem in problems)
        heard.problems = [problem for problem in problems if problem.reason != LEFT_OUT]
        if len(columns[0]):
            heard.words.append(self._words([_plain(column) for column in columns], roles, heard))
        return heard

    def _spanning_lines(self, parser: CsvLines) -> tuple[Sequence[pa.Array], list[Problem]]:
        """The same with fields that span lines."""
        text = io.TextIOWrapper(io.BytesIO(self._data), encoding="utf-8", errors="surrogateescape", newline="")
        given = list(parse_stream(text, parser, self._path, file_mark(self._path), 0))
        pieces = [one.columns for one in given if one.columns]
        problems = [problem for one in given for problem in one.problems]
        return [pa.concat_arrays([_plain(one) for one in column]) for column in zip(*pieces, strict=True)], problems

    def _words(self, columns: Sequence[pa.Array], roles: Roles, heard: Heard) -> Words:
        """What rows of terms say; those that say nothing are added to the problems."""
        source, width = self._source, len(roles.arguments)
        height, reasons = len(columns[0]), dict[int, str]()
        gone = pa.repeat(pa.scalar(source.deletes), height)
        arguments, rest = list(columns[:width]), list(columns[width:])
        if roles.op is not None:
            encoded = rest.pop(0).dictionary_encode()
            meanings = [source.operations.meaning(_lexical(text)) for text in encoded.dictionary.to_pylist()]
            gone = pa.array([None if one is None else one == "delete" for one in meanings], pa.bool_())
            gone = gone.take(encoded.indices)
            for row in pc.indices_nonzero(gone.is_null()).to_pylist():
                reasons[row] = f"nobody knows the operation {encoded[row].as_py()} in the column {roles.op}"
        order = None
        if roles.order is not None:
            order = _order_of(rest.pop(0), roles.order, reasons)
        if reasons:
            heard.problems += [
                Problem(self._path, None, reason, repr(tuple(column[row].as_py() for column in arguments)))
                for row, reason in sorted(reasons.items())
            ]
            keep = pa.array([row not in reasons for row in range(height)])
            arguments, gone = [column.filter(keep) for column in arguments], gone.filter(keep)
            order = None if order is None else order.filter(keep)
        is_nullary = bool(arguments) and pa.types.is_boolean(arguments[0].type)
        if is_nullary:
            arguments = [pa.array([""] * len(gone), pa.string())]
        return Words(source.predicate, arguments, gone, order, is_nullary)


def _order_of(texts: pa.Array, name: str, reasons: dict[int, str]) -> pa.Array:
    """Terms by which rows are in order, as values; those of another kind than the first are malformed."""
    kind = one_kind(kinds_of(texts[:1]))
    if one_kind(kinds_of(texts)) == kind:
        return comparable(values_of(texts, kind)) if kind != TERM else texts
    wrong = [row for row, text in enumerate(texts) if one_kind(kinds_of(pa.array([text.as_py()]))) != kind]
    reasons.update((row, f"the column {name}, by which rows are in order, holds {texts[row].as_py()}") for row in wrong)
    excused = pa.array([row in set(wrong) for row in range(len(texts))])
    return _order_of(pc.replace_with_mask(texts, excused, pa.array([texts[0].as_py()] * len(wrong))), name, {})


def _lexical(text: str) -> str:
    """The text of a term's value."""
    return str(read_term(text))


def _columns(roles: Roles) -> list[str]:
    return [name for name in (*roles.arguments, roles.op, roles.order) if name is not None]


def _problems(path: str, lines: Lines, mistakes: Sequence[tuple[int, str]]) -> list[Problem]:
    return [
        Problem(path, row + 1, reason, lines.pieces[row].decode("utf-8", "replace")) for row, reason in sorted(mistakes)
    ]


def _plain(texts: pa.Array) -> pa.Array:
    return texts.dictionary_decode() if isinstance(texts, pa.DictionaryArray) else texts

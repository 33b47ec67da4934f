"""How many columns a text table has, when nobody says: as many as its first sound record."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from everlog.datalog.values import XSD
from everlog.sources.csv_fields import MalformedField, field_term, split_line
from everlog.sources.csv_lines import records_of
from everlog.sources.json_lines import MalformedJson, keys_of, load
from everlog.sources.line_blocks import UNREADABLE, opened
from everlog.sources.source_files import is_remote
from everlog.sources.text_lines import literal_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOKED_AT = 100
_NUMBERS = (f"<{XSD}integer>", f"<{XSD}double>")


def csv_width(spark: SparkSession, files: Sequence[str], delimiter: str) -> int | None:
    """The number of fields of the first sound record; None if there is no record at all."""
    seen = False
    for record in _heads(spark, files, delimiter):
        seen = True
        try:
            fields = split_line(record, delimiter)
        except MalformedField:
            continue
        if fields is not None:
            return len(fields)
    # Every record is malformed, and the reader will say so whatever the width.
    return 1 if seen else None


def facts_width(spark: SparkSession, files: Sequence[str]) -> int | None:
    """The number of fields between tabs in the first line; None if there is no line at all."""
    return next((line.count("\t") + 1 for line in _heads(spark, files, None)), None)


def csv_header(spark: SparkSession, file: str, delimiter: str | None) -> str | None:
    """The first record of a file, if it has one; without a delimiter, its first line."""
    return next(_heads(spark, [file], delimiter), None)


def header_names(header: str | None, delimiter: str) -> tuple[str, ...]:
    """The names in the first record of a file."""
    try:
        fields = split_line(header or "", delimiter) or []
    except MalformedField:
        return ()
    return tuple(name.strip() for name, _ in fields)


def looks_like_header(spark: SparkSession, file: str, delimiter: str) -> bool:
    """Whether words come first, and below one of them only numbers, two or more: most likely columns are named there."""
    records = []
    for record in _heads(spark, [file], delimiter):
        try:
            fields = split_line(record, delimiter) or []
            records.append([field_term(*field).endswith(_NUMBERS) for field in fields])
        except MalformedField:
            return False
    columns = list(zip(*records, strict=False))
    return len(records) > 2 and not any(records[0]) and any(all(column[1:]) for column in columns)


def json_keys(spark: SparkSession, files: Sequence[str]) -> tuple[str, ...] | None:
    """The keys of the first sound fact, `a0`, … for an array; None if there is no line at all."""
    seen = False
    for line in _heads(spark, files, None):
        seen = True
        try:
            return keys_of(load(line))
        except MalformedJson:
            continue
    return ("a0",) if seen else None


def _heads(spark: SparkSession, files: Sequence[str], delimiter: str | None) -> Iterator[str]:
    """The first records (with a delimiter) or lines of each file."""
    for file in files:
        if is_remote(file):
            for row in spark.read.text(literal_path(file)).limit(_LOOKED_AT).collect():
                yield row[0]
            continue
        try:
            with opened(file) as stream:
                text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
                if delimiter is None:
                    yield from (line.rstrip("\r\n") for line in islice(text, _LOOKED_AT))
                else:
                    yield from (record for _, record in islice(records_of(text, delimiter), _LOOKED_AT))
        except UNREADABLE:
            continue  # the reader meets it again, and reports it

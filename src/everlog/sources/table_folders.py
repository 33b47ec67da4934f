"""Tables that are folders of part files, perhaps in partitions: `edge/part-0.parquet`, `edge/dt=2026-01-01/part-0.csv`.

The name of a folder `column=value` is the value of a column for all files below it. What such values are is decided for
a whole column, as Spark does: integers if all of them are, or floats, or dates; else strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Final
from urllib.parse import unquote

from everlog.datalog.ntriples import write_term
from everlog.datalog.values import XSD
from everlog.sources.csv_fields import string_text
from everlog.sources.problems import SourceMistake

_PARTITION = re.compile(r"([^=/]+)=([^/]*)")
_PART_FILE = re.compile(r"part-[0-9]")
_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_FLOAT = re.compile(r"-?[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def is_partition(name: str) -> bool:
    """Whether a folder's name gives the value of a column.

    >>> is_partition("dt=2026-01-01"), is_partition("edge")
    (True, False)
    """
    return _PARTITION.fullmatch(name) is not None


def is_part(name: str) -> bool:
    """Whether a file's name is one that Spark and its kin give to parts of tables."""
    return _PART_FILE.match(name) is not None


def table_of(path: str) -> str:
    """The folder of the table that a partition, or a file in one, belongs to."""
    while is_partition(path.rpartition("/")[2]):
        path = path.rpartition("/")[0]
    return path


def partition_columns(table: str, files: Sequence[str]) -> tuple[tuple[str, ...], dict[str, tuple[str | None, ...]]]:
    """The columns that a table's folders name, and their values for each file: texts, None for a null."""
    columns: tuple[str, ...] | None = None
    values: dict[str, tuple[str | None, ...]] = {}
    for file in files:
        folders = file[len(table) + 1 :].split("/")[:-1]
        for depth, folder in enumerate(folders, start=1):
            if not is_partition(folder):
                raise SourceMistake(
                    f"{'/'.join([table, *folders[:depth]])}: a folder inside of the table {table.rpartition('/')[2]} that "
                    "is no partition, whose name would be column=value"
                )
        pairs = [folder.partition("=") for folder in folders]
        own = tuple(unquote(name) for name, _, _ in pairs)
        columns = own if columns is None else columns
        if own != columns:
            raise SourceMistake(
                f"{file}: partitioned by {_listed(own)}, where {files[0]} is by {_listed(columns)}; a table has the same "
                "partition columns everywhere"
            )
        values[file] = tuple(None if value in ("", _NULL) else unquote(value) for _, _, value in pairs)
    return columns or (), values


def partition_terms(values: Mapping[str, tuple[str | None, ...]]) -> dict[str, tuple[str | None, ...]]:
    """The values of partition columns as canonical N-Triples texts, each column in one kind."""
    columns = list(zip(*values.values(), strict=True))
    kinds = [_kind([text for text in column if text is not None]) for column in columns]
    return {
        file: tuple(None if text is None else kind(text) for text, kind in zip(row, kinds, strict=True))
        for file, row in values.items()
    }


def _kind(texts: Sequence[str]) -> Callable[[str], str]:
    if all(map(_INTEGER.fullmatch, texts)):
        return lambda text: write_term(int(text))
    if all(_INTEGER.fullmatch(text) or _FLOAT.fullmatch(text) for text in texts):
        return lambda text: write_term(float(text))
    return _date_term if all(map(_is_date, texts)) else string_text


def _is_date(text: str) -> bool:
    try:
        return _DATE.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _date_term(text: str) -> str:
    return f'"{text}"^^<{XSD}date>'


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(columns) or "nothing"

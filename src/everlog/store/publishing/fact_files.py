"""Facts on their way out: files of ids, and files of the terms that they stand for, which all tasks can open.

The facts of a predicate are steps, one upon the other: rows that are added to a section, and rows that are taken out of
it. What Arrow holds of them at a time is one slice, a row group of a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from everlog.store.layers import minus, union
from everlog.store.manifest import Layer, Part
from everlog.store.parquet_files import check_part, files_in, footer, read_group, rows_in, write_file

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_TERMS: Final = 200_000
"""At most this many terms are a slice."""


@dataclass(frozen=True)
class FactSlice:
    """Rows that are added to a section of facts, or taken out of it: a row group of a file."""

    section: int
    deletes: bool
    file: Path
    group: int

    def table(self, arity: int) -> pa.Table:
        import pyarrow as pa

        schema = pa.schema([(f"a{place}", pa.int64()) for place in range(arity)])
        return read_group(self.file, self.group, schema)


@dataclass(frozen=True)
class FactFiles:
    """The facts of a predicate."""

    arity: int
    slices: tuple[FactSlice, ...] = ()
    rows: int = 0

    @staticmethod
    def of_layers(store: Path, sections: Iterable[Sequence[Layer]], predicate: str, arity: int) -> FactFiles:
        """The facts of a predicate in some sections of a store, which have none in common."""
        slices, rows = list[FactSlice](), 0
        for section, layers in enumerate(sections):
            for layer in layers:
                for parts, deletes in ((layer.deleted, True), (layer.added, False)):
                    if part := parts.get(predicate):
                        slices += _slices(_checked(store, part, arity), section, deletes)
                        rows += -part.rows if deletes else part.rows
        return FactFiles(arity, tuple(slices), rows)

    @staticmethod
    def of_files(files: Iterable[Path], arity: int) -> FactFiles:
        """The facts in some files."""
        found = list(files)
        return FactFiles(arity, tuple(_slices(found, 0, False)), sum(map(rows_in, found)))

    @staticmethod
    def of_table(facts: pa.Table, arity: int, file: Path) -> FactFiles:
        """Facts of this process, written to a file."""
        return FactFiles.of_files([write_file(facts, file)] if facts.num_rows else [], arity)

    @staticmethod
    def of_frame(facts: DataFrame, arity: int, folder: Path) -> FactFiles:
        """Facts of Spark in id form, written to a folder."""
        facts.write.parquet(str(folder))
        return FactFiles.of_files(files_in(folder), arity)


def composed(steps: Iterable[tuple[FactSlice, pa.Table]]) -> pa.Table:
    """What is left when slices, each with its rows or some of them, were added and deleted one after the other."""
    sections: dict[int, pa.Table] = {}
    for one, rows in steps:
        facts = sections.get(one.section, rows.slice(0, 0))
        sections[one.section] = minus(facts, rows) if one.deletes else union(facts, rows)
    first, *others = sections.values()
    for more in others:
        first = union(first, more)
    return first


@dataclass(frozen=True)
class TermSlice:
    """Some rows of a row group of a file of terms."""

    file: Path
    group: int
    begin: int
    rows: int

    def table(self) -> pa.Table:
        import pyarrow as pa

        schema = pa.schema([("id", pa.int64()), ("term", pa.large_string())])
        return read_group(self.file, self.group, schema).slice(self.begin, self.rows)


@dataclass(frozen=True)
class TermFiles:
    """Terms with their ids, which are less than `size`."""

    files: tuple[Path, ...]
    size: int

    def with_term(self, term: str, file: Path) -> tuple[TermFiles, int]:
        """The same with one more, in a file of its own, and its id."""
        import pyarrow as pa

        more = write_file(pa.table({"id": [self.size], "term": [term]}), file)
        return TermFiles((*self.files, more), self.size + 1), self.size

    def slices(self) -> Iterator[TermSlice]:
        for file in self.files:
            metadata = footer(file)
            for group in range(metadata.num_row_groups):
                rows = metadata.row_group(group).num_rows
                pieces = -(-rows // _TERMS)
                starts = [rows * piece // pieces for piece in range(pieces + 1)]
                for begin, end in pairwise(starts):
                    yield TermSlice(file, group, begin, end - begin)


@dataclass(frozen=True)
class FiledFacts:
    """Facts by predicate, and their terms; for some predicates the names of columns."""

    facts: Mapping[str, FactFiles]
    terms: TermFiles
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def _checked(store: Path, part: Part, arity: int) -> list[Path]:
    return check_part(store, part, [f"a{place}" for place in range(max(arity, 1))])


def _slices(files: Iterable[Path], section: int, deletes: bool) -> Iterator[FactSlice]:
    for file in files:
        for group in range(footer(file).num_row_groups):
            yield FactSlice(section, deletes, file, group)

"""Files of facts by Spark: tasks write parts of them, and this process joins the parts.

Few facts are one task's work. Of many, tasks first write the terms as the formats have them (`known_terms.py`), then the
facts in ranges (`ranges.py`), and then the parts. A task holds the facts of a range as numbers, some of them as text, and
of the terms a few bytes each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, TypeAlias

import pyarrow as pa

from everlog.sources.column_names import columns_of_width
from everlog.spark.parallelism import tasks_at_once
from everlog.store.publishing.fact_files import FactFiles, TermFiles, composed
from everlog.store.publishing.known_terms import HeldTerms, MappedTerms, WrittenTerms, distinct_ids
from everlog.store.publishing.ranges import Ranges
from everlog.store.publishing.sorted_part import write_part
from everlog.store.publishing.written_form import WrittenForm
from everlog.store.term_dictionary import FEW

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PART: Final = 500_000
"""About how many facts a part has."""

_TASKS_PER_CORE: Final = 4
"""At the most: to start one takes Spark as long as to write thousands of facts."""

LeftOut: TypeAlias = Iterator[tuple[int, int]]


@dataclass(frozen=True)
class Target:
    """A file to be written."""

    path: Path
    form: WrittenForm
    facts: FactFiles
    names: tuple[str, ...] = ()
    """Those of its columns, where a table had some."""

    @property
    def columns(self) -> Sequence[str]:
        return self.names or columns_of_width(self.facts.arity)[: self.facts.arity]


def scratch_in(folder: Path) -> TemporaryDirectory[str]:
    """A place for parts, on the disk that the files are for."""
    return TemporaryDirectory(prefix=".everlog-parts-", dir=folder, ignore_cleanup_errors=True)


def write_files(spark: SparkSession, targets: Sequence[Target], terms: TermFiles) -> list[int]:
    """Writes files; gives for each the number of facts that its form has no way to write."""
    left_out = [0] * len(targets)
    some = [number for number, target in enumerate(targets) if target.facts.rows and target.facts.arity]
    if some:
        with scratch_in(targets[some[0]].path.parent) as scratch:
            found = [targets[number] for number in some]
            parts, counts = _written(spark, found, terms, Path(scratch))
            for number, target, count, files in zip(some, found, counts, parts, strict=True):
                left_out[number] = count
                target.form.join(files, target.path, target.columns)
    for target in targets:
        if target.facts.rows and not target.facts.arity:
            target.form.write_nullary(target.path)
        elif not target.facts.rows:
            target.form.join([], target.path, target.columns)
    return left_out


def _written(
    spark: SparkSession, targets: Sequence[Target], terms: TermFiles, folder: Path
) -> tuple[list[list[Path]], list[int]]:
    """The parts of files in their order, and how many facts each file lacks."""
    if sum(target.facts.rows for target in targets) <= FEW:
        counted = _run(spark, 1, _WriteFew(targets, terms, folder))
        lengths = [1] * len(targets)
    else:
        ranges, known = _ranges(spark, targets, terms, folder)
        lengths = [len(one) for one in ranges]
        batches = _batches(ranges)
        counted = _run(spark, len(batches), _WriteRanges(ranges, known, folder, batches))
    counts = [0] * len(targets)
    for number, left_out in counted:
        counts[number] += left_out
    return [[_part(folder, number, part) for part in range(n)] for number, n in enumerate(lengths)], counts


def _ranges(
    spark: SparkSession, targets: Sequence[Target], terms: TermFiles, folder: Path
) -> tuple[list[Ranges], WrittenTerms]:
    """Facts in ranges, and their terms, all written by tasks."""
    at_once = tasks_at_once(spark)
    known = WrittenTerms(terms, tuple(terms.slices()), tuple(dict.fromkeys(one.form for one in targets)), folder)
    pieces = [(form, number) for form in range(len(known.forms)) for number in range(len(known.slices))]
    _run(spark, len(pieces), _WriteTerms(known, pieces))
    mapped = MappedTerms(known)
    ranges = []
    for number, target in enumerate(targets):
        parts = -(-target.facts.rows // (PART * at_once)) * at_once if target.facts.rows > FEW else 1
        ranges.append(Ranges.of(target.facts, target.form, parts, mapped, str(number)))
    slices = [(n, piece) for n, one in enumerate(ranges) if len(one) > 1 for piece in range(len(one.facts.slices))]
    if slices:
        _run(spark, len(slices), _Split(ranges, known, folder, slices))
    return ranges, known


def _batches(ranges: Sequence[Ranges]) -> list[list[tuple[int, int]]]:
    """Parts of files, those of few facts together."""
    batches: list[list[tuple[int, int]]] = []
    rows = PART
    for number, one in enumerate(ranges):
        for part in range(len(one)):
            if rows + one.facts.rows // len(one) > PART:
                batches.append([])
                rows = 0
            batches[-1].append((number, part))
            rows += one.facts.rows // len(one)
    return batches


def _part(folder: Path, number: int, part: int) -> Path:
    return folder / f"part-{number}-{part}"


# ---------------------------------------------------------------------------------------- in Spark's tasks


def _run(spark: SparkSession, tasks: int, task: Callable[[int], LeftOut]) -> list[tuple[int, int]]:
    """Runs numbered tasks; gives what they count, by the file's number."""
    numbers = spark.range(0, tasks, 1, min(tasks, _TASKS_PER_CORE * tasks_at_once(spark)))
    found = numbers.mapInArrow(_Numbered(task), "target int, left_out long").collect()
    return [(row["target"], row["left_out"]) for row in found]


@dataclass(frozen=True)
class _Numbered:
    task: Callable[[int], LeftOut]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in (number for batch in batches for number in batch.column(0).to_pylist()):
            counted = list(self.task(number))
            columns = [
                pa.array([pair[0] for pair in counted], pa.int32()),
                pa.array([pair[1] for pair in counted], pa.int64()),
            ]
            yield pa.RecordBatch.from_arrays(columns, names=["target", "left_out"])


@dataclass(frozen=True)
class _WriteFew:
    """Everything."""

    targets: Sequence[Target]
    terms: TermFiles
    folder: Path

    def __call__(self, number: int) -> LeftOut:
        tables = [_table(target.facts) for target in self.targets]
        columns = [column.to_numpy() for table in tables for column in table.columns]
        terms = HeldTerms(self.terms, distinct_ids(self.terms.size, columns))
        for place, (target, table) in enumerate(zip(self.targets, tables, strict=True)):
            yield place, write_part(table, terms, target.form, _part(self.folder, place, 0))


@dataclass(frozen=True)
class _WriteTerms:
    terms: WrittenTerms
    pieces: Sequence[tuple[int, int]]
    """Forms, and slices."""

    def __call__(self, number: int) -> LeftOut:
        self.terms.write(*self.pieces[number])
        yield from ()


@dataclass(frozen=True)
class _InRanges:
    ranges: Sequence[Ranges]
    terms: WrittenTerms
    folder: Path

    @cached_property
    def _mapped(self) -> MappedTerms:
        return MappedTerms(self.terms)


@dataclass(frozen=True)
class _Split(_InRanges):
    slices: Sequence[tuple[int, int]]
    """Files, and slices of their facts."""

    def __call__(self, number: int) -> LeftOut:
        place, piece = self.slices[number]
        self.ranges[place].split(piece, self._mapped, self.folder)
        yield from ()


@dataclass(frozen=True)
class _WriteRanges(_InRanges):
    batches: Sequence[Sequence[tuple[int, int]]]
    """Files, and parts of them."""

    def __call__(self, number: int) -> LeftOut:
        for place, part in self.batches[number]:
            one = self.ranges[place]
            table = one.table(part, self.folder) if len(one) > 1 else _table(one.facts)
            yield place, write_part(table, self._mapped, one.form, _part(self.folder, place, part))


def _table(facts: FactFiles) -> pa.Table:
    return composed((one, one.table(facts.arity)) for one in facts.slices)

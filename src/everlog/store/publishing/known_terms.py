"""The terms of facts, as a format writes them: held by the task that read them, or in files that all tasks share.

Few facts have their terms read by the one task that writes them. For many, tasks write all terms once, slice by slice, as
Arrow files; whoever needs some of them maps these files into memory and takes them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.store.parquet_files import batches_in, wrong
from everlog.store.publishing.whole_file import whole_file

if TYPE_CHECKING:
    from everlog.store.publishing.fact_files import TermFiles, TermSlice
    from everlog.store.publishing.written_form import WrittenForm

Longs: TypeAlias = NDArray[np.int64]


class KnownTerms(Protocol):
    """Terms that can be looked up; their ids are less than `size`."""

    size: int

    def find(self, form: WrittenForm, ids: Longs) -> tuple[Longs, pa.Table]:
        """Distinct ids, in an order of its own, and what a form has for their terms."""


class HeldTerms:
    """The terms with some distinct ids, in this process."""

    def __init__(self, files: TermFiles, ids: Longs) -> None:
        self.size = files.size
        wanted = _marks(files.size, ids)
        schema = pa.schema([("id", pa.int64()), ("term", pa.large_string())])
        found = [schema.empty_table()]
        for batch in batches_in(files.files, schema.names):
            rows = pa.Table.from_batches([batch]).filter(pa.array(wanted[batch.column(0).to_numpy()]))
            found.append(rows.cast(schema))
        table = pa.concat_tables(found).combine_chunks()
        if table.num_rows != len(ids):
            raise _lacking(files)
        self._ids, self._terms = table.column("id").to_numpy(), table.select(["term"])

    def find(self, form: WrittenForm, ids: Longs) -> tuple[Longs, pa.Table]:
        mask = _marks(self.size, ids)[self._ids]
        return self._ids[mask], form.texts(self._terms.filter(pa.array(mask)).column(0).combine_chunks())


@dataclass(frozen=True)
class WrittenTerms:
    """All terms in files of a folder, a file for each slice and form."""

    files: TermFiles
    slices: tuple[TermSlice, ...]
    forms: tuple[WrittenForm, ...]
    folder: Path

    def write(self, form: int, number: int) -> None:
        """Writes a slice."""
        terms = self.slices[number].table().combine_chunks()
        texts = self.forms[form].texts(terms.column("term").chunk(0)).add_column(0, "id", terms.column("id"))
        with whole_file(self._file(form, number)) as file, pa.ipc.new_file(str(file), texts.schema) as out:
            out.write_table(texts)

    def table(self, form: int, number: int) -> pa.Table:
        """What was written for a slice, mapped into memory."""
        return pa.ipc.open_file(pa.memory_map(str(self._file(form, number)))).read_all()

    def _file(self, form: int, number: int) -> Path:
        return self.folder / f"terms-{form}-{number}.arrow"


class MappedTerms:
    """Terms that tasks have written."""

    def __init__(self, terms: WrittenTerms) -> None:
        self._terms = terms
        self.size = terms.files.size
        self._starts = np.cumsum([0, *(one.rows for one in terms.slices)])
        self._rows = np.full(self.size, -1, np.int32 if self._starts[-1] < 2**31 else np.int64)
        """The row of each id."""
        for number, start in enumerate(self._starts[:-1]):
            ids = terms.table(0, number).column("id").to_numpy()
            self._rows[ids] = np.arange(start, start + len(ids))

    def find(self, form: WrittenForm, ids: Longs) -> tuple[Longs, pa.Table]:
        rows = np.sort(self._rows[ids])
        if len(rows) and rows[0] < 0:
            raise _lacking(self._terms.files)
        place = self._terms.forms.index(form)
        cuts = np.searchsorted(rows, self._starts)
        found = [self._terms.table(place, 0).slice(0, 0)]
        for number, (begin, end) in enumerate(pairwise(cuts)):
            if begin < end:
                asked = pa.array(rows[begin:end] - self._starts[number])
                found.append(self._terms.table(place, number).take(asked))
        table = pa.concat_tables(found).combine_chunks()
        return table.column("id").to_numpy(), table.drop_columns("id")


def distinct_ids(size: int, columns: list[Longs]) -> Longs:
    """The ids in columns, ascending."""
    marks = np.zeros(size, np.bool_)
    for column in columns:
        marks[column] = True
    return np.flatnonzero(marks)


def _marks(size: int, ids: Longs) -> NDArray[np.bool_]:
    marks = np.zeros(size, np.bool_)
    marks[ids] = True
    return marks


def _lacking(files: TermFiles) -> Exception:
    return wrong(files.files[0], "and the files beside it lack terms that facts have")

"""Many facts in parts that can be sorted apart: a part has the facts whose first terms lie in a range of the order.

Where ranges begin is told by a sample of facts. Each slice of the facts is written once more, range by range, and says
where each begins in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from everlog.store.publishing.fact_files import FactFiles, composed
from everlog.store.publishing.known_terms import KnownTerms, Longs, distinct_ids
from everlog.store.publishing.whole_file import whole_file

if TYPE_CHECKING:
    from everlog.store.publishing.written_form import WrittenForm

_GROUPS: Final = 16
_SAMPLE: Final = 20_000


@dataclass(frozen=True)
class Ranges:
    """The facts of a predicate in ranges; `bounds` are the first keys of all but the first one."""

    facts: FactFiles
    form: WrittenForm
    bounds: pa.Array
    name: str

    @staticmethod
    def of(facts: FactFiles, form: WrittenForm, number: int, terms: KnownTerms, name: str) -> Ranges:
        """So many ranges, or fewer where a term has many facts."""
        if number == 1:
            return Ranges(facts, form, pa.array([], pa.large_string()), name)
        sample = _sample(facts)
        ids, keys = _first_keys(terms, form, sample, facts.arity)
        ranks = np.zeros(terms.size, np.int64)
        ranks[ids] = pc.rank(keys, tiebreaker="first").to_numpy().astype(np.int64) - 1
        ordered = np.sort(ranks[sample])
        chosen = np.unique(ordered[[len(sample) * part // number for part in range(1, number)]])
        return Ranges(facts, form, keys.take(pc.sort_indices(keys)).take(pa.array(chosen)), name)

    def __len__(self) -> int:
        return len(self.bounds) + 1

    def split(self, number: int, terms: KnownTerms, folder: Path) -> None:
        """Writes a slice of the facts, range by range."""
        rows = self.facts.slices[number].table(self.facts.arity)
        first = rows.column(0).to_numpy()
        ids, keys = _first_keys(terms, self.form, first, self.facts.arity)
        ranges = np.zeros(terms.size, np.uint16)
        ranges[ids] = _found(keys, self.bounds)
        own = ranges[first]
        order = np.argsort(own, kind="stable")
        starts = np.searchsorted(own[order], np.arange(len(self) + 1))
        for array, kind in (
            (np.stack([column.to_numpy()[order] for column in rows.columns]), "ids"),
            (starts, "starts"),
        ):
            with whole_file(self._file(folder, number, kind)) as file, file.open("wb") as out:
                np.save(out, array)

    def table(self, part: int, folder: Path) -> pa.Table:
        """The facts of a range."""
        return composed(zip(self.facts.slices, self._pieces(part, folder), strict=True))

    def _pieces(self, part: int, folder: Path) -> Iterator[pa.Table]:
        for number in range(len(self.facts.slices)):
            begin, end = np.load(self._file(folder, number, "starts"))[part : part + 2]
            columns = np.load(self._file(folder, number, "ids"), mmap_mode="r")[:, begin:end]
            yield pa.table({f"a{place}": pa.array(np.array(column)) for place, column in enumerate(columns)})

    def _file(self, folder: Path, number: int, kind: str) -> Path:
        return folder / f"{self.name}-{number}-{kind}.npy"


def _sample(facts: FactFiles) -> Longs:
    """The first terms of some facts, from all over their files."""
    added = [one for one in facts.slices if not one.deletes]
    some = [added[len(added) * number // _GROUPS] for number in range(_GROUPS)] if len(added) > _GROUPS else added
    columns = [one.table(1).column(0).to_numpy() for one in some]
    every = max(1, sum(map(len, columns)) // _SAMPLE)
    return np.concatenate([column[::every] for column in columns])


def _first_keys(terms: KnownTerms, form: WrittenForm, first: Longs, arity: int) -> tuple[Longs, pa.Array]:
    """The distinct ids of a first column, and what these are sorted by."""
    ids, texts = terms.find(form, distinct_ids(terms.size, [first]))
    return ids, pc.fill_null(form.keys(texts, arity)[0], "")  # what cannot be written may be anywhere


def _found(keys: pa.Array, bounds: pa.Array) -> NDArray[np.int64]:
    """How many bounds are no greater than each key, by halving."""
    found = np.zeros(len(keys), np.int64)
    step = 1 << len(bounds).bit_length()
    while step := step // 2:
        there = found + step
        inside = there <= len(bounds)
        at = bounds.take(pa.array(np.where(inside, there - 1, 0)))
        found = np.where(inside & pc.greater_equal(keys, at).to_numpy(zero_copy_only=False), there, found)
    return found

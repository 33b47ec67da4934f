"""A part of a file: facts as ids become facts in the order of the file, as text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from everlog.store.publishing.known_terms import KnownTerms, Longs, distinct_ids
from everlog.store.publishing.whole_file import whole_file

if TYPE_CHECKING:
    from everlog.store.publishing.written_form import Columns, WrittenForm


def write_part(facts: pa.Table, terms: KnownTerms, form: WrittenForm, path: Path) -> int:
    """Writes facts in order; gives the number of those that are left out, since the form has no way to write them."""
    columns = [column.to_numpy() for column in facts.columns]
    columns, texts = _placed(columns, terms, form)
    fits = form.fit(columns, texts)
    left_out = 0
    if fits is not None:
        left_out = int(np.count_nonzero(~fits))
        columns = [column[fits] for column in columns]
    order = _order(columns, form.keys(texts, len(columns)))
    with whole_file(path) as file:
        form.write([column[order] for column in columns], texts, file)
    return left_out


def _placed(columns: list[Longs], terms: KnownTerms, form: WrittenForm) -> tuple[list[Longs], pa.Table]:
    """Facts as places among distinct terms, and these."""
    ids, texts = terms.find(form, distinct_ids(terms.size, columns))
    places = np.empty(terms.size, np.int64)
    places[ids] = np.arange(len(ids))
    return [places[column] for column in columns], texts


def _order(columns: Columns, keys: list[pa.Array]) -> NDArray[np.int64]:
    """The order of facts by their columns' keys."""
    together = np.zeros(len(columns[0]), np.int64)
    ranks: dict[int, Longs] = {}
    below = 1
    for column, key in zip(columns, keys, strict=True):
        if id(key) not in ranks:
            ranks[id(key)] = _ranks(key, [other for other, one in zip(columns, keys, strict=True) if one is key])
        rank = ranks[id(key)]
        if below * len(rank) >= 2**62:  # as many numbers as there are facts will do
            together = np.unique(together, return_inverse=True)[1]
            below = len(together)
        together = together * len(rank) + rank[column]
        below *= len(rank)
    return np.argsort(together)


def _ranks(keys: pa.Array, columns: list[Longs]) -> Longs:
    """For each place that columns have the rank of its key among theirs; equal keys have the same."""
    used = distinct_ids(len(keys), columns)
    ranks = np.zeros(len(keys), np.int64)
    ranks[used] = pc.rank(keys.take(pa.array(used)), tiebreaker="dense").to_numpy().astype(np.int64) - 1
    return ranks

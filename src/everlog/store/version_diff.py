"""What differs between two versions of a store, from their layers.

Layers that both versions have are not read. What the others do to a predicate is, for each version, a change of the facts
that are common, and two such changes tell what came and what went. So it costs what the layers hold that are not shared;
where layers were merged in between, that may be all facts of a predicate.

Ids mean the same in both versions, unless one goes back to an older version and others were made in between, or a store
was overwritten: then terms of the first version are found in the second by their texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from everlog.store.arrays import table_of
from everlog.store.layers import compose, mentioned, net_change
from everlog.store.manifest import Layer, Manifest
from everlog.store.parquet_files import batches_in

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.int64]

Rows: TypeAlias = list[tuple[str, ...]]


@dataclass(frozen=True)
class SectionDiff:
    """Facts that came and facts that went: by predicate, as N-Triples terms, sorted."""

    added: Mapping[str, Rows] = field(default_factory=dict[str, Rows])
    deleted: Mapping[str, Rows] = field(default_factory=dict[str, Rows])


def section_diff(store: Path, before: Manifest, after: Manifest, section: str, only: str | None = None) -> SectionDiff:
    """What differs in the `explicit` or the `derived` facts, or in those of one predicate `only`."""
    terms = _Terms(store, before, after)
    added: dict[str, Rows] = {}
    deleted: dict[str, Rows] = {}
    old, new = before.layers(section), after.layers(section)
    names = {*mentioned(old), *mentioned(new)}
    for predicate in sorted(names if only is None else names & {only}):
        came, went = _changed(store, old, new, predicate, (before, after), terms)
        added.update({predicate: came} if came else {})
        deleted.update({predicate: went} if went else {})
    return SectionDiff(added, deleted)


def _changed(
    store: Path,
    old: Sequence[Layer],
    new: Sequence[Layer],
    predicate: str,
    versions: tuple[Manifest, Manifest],
    terms: _Terms,
) -> tuple[Rows, Rows]:
    """The facts of a predicate that came, and those that went."""
    mine, theirs = (list(_of(layers, predicate)) for layers in (old, new))
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(mine, theirs, strict=False))))
    if mine[shared:] == theirs[shared:]:
        return [], []
    arity, arity_now = (manifest.arities.get(predicate, 0) for manifest in versions)
    more, gone = terms.translated(net_change(store, mine[shared:], predicate, arity), arity)
    more_now, gone_now = net_change(store, theirs[shared:], predicate, arity_now)
    if arity != arity_now:  # another predicate of the same name
        return terms.texts(more_now, arity_now), terms.texts(more, arity)
    added, deleted = compose((gone, more), (more_now, gone_now))
    return terms.texts(added, arity), terms.texts(deleted, arity)


def _of(layers: Sequence[Layer], predicate: str) -> Iterator[Layer]:
    """What layers say about one predicate."""
    for layer in layers:
        parts = ({predicate: part} if (part := some.get(predicate)) else {} for some in (layer.added, layer.deleted))
        one = Layer(*parts)
        if one.added or one.deleted:
            yield one


class _Terms:
    """The terms of two versions. Ids are those of the later one; terms that it lacks have ids beyond its own."""

    def __init__(self, store: Path, before: Manifest, after: Manifest) -> None:
        self._store, self._before, self._after = store, before, after
        parts = takewhile(lambda pair: pair[0] == pair[1], zip(before.dictionary, after.dictionary, strict=False))
        self._shared = sum(part.rows for part, _ in parts)
        self._lacking: dict[int, str] = {}

    def translated(self, change: tuple[pa.Table, pa.Table], arity: int) -> tuple[pa.Table, pa.Table]:
        """A change (added, deleted) in ids of the earlier version, in ids of the later one."""
        meant = self._meant if arity and any(table.num_rows for table in change) else None
        if meant is None:
            return change
        added, deleted = (table_of(meant[_columns(table)]) for table in change)
        return added, deleted

    def texts(self, facts: pa.Table, arity: int) -> Rows:
        """Facts as terms, sorted."""
        import numpy as np

        if not arity:
            return [()] * facts.num_rows
        columns = _columns(facts)
        ids = np.unique(columns)
        size = self._after.dictionary_size
        known = self._found(self._after, ids[ids < size])
        known |= self._lacking or self._found(self._before, ids[ids >= size])
        return sorted(zip(*([known[id] for id in column.tolist()] for column in columns), strict=True))

    @cached_property
    def _meant(self) -> Numbers | None:
        """For each id of the earlier version the one that its term has in the later one; None if it is the same."""
        import numpy as np

        first, sizes = self._shared, (self._before.dictionary_size, self._after.dictionary_size)
        if first in sizes:
            return None
        old, new = (
            self._found(version, np.arange(first, size))
            for version, size in zip((self._before, self._after), sizes, strict=True)
        )
        if all(new[id] == term for id, term in old.items() if id in new):
            return None
        ids = {term: id for id, term in new.items()}
        meant = np.arange(sizes[0])
        for id, term in old.items():
            meant[id] = ids.get(term, sizes[1] + len(self._lacking))
            if term not in ids:
                self._lacking[int(meant[id])] = term
        return meant

    def _found(self, version: Manifest, ids: Numbers) -> dict[int, str]:
        """The terms that have some ids in a version; parts of its dictionary that have none of them are not read."""
        import numpy as np
        import pyarrow as pa

        found: dict[int, str] = {}
        first = 0
        for part in version.dictionary:
            wanted = ids[(ids >= first) & (ids < first + part.rows)]
            first += part.rows
            if not len(wanted):
                continue
            for batch in batches_in([self._store / file for file in part.files], ["id", "term"]):
                rows = batch.filter(pa.array(np.isin(batch.column(0).to_numpy(), wanted)))
                found.update(zip(rows.column(0).to_pylist(), rows.column(1).to_pylist(), strict=True))
        return found


def _columns(facts: pa.Table) -> Numbers:
    """The ids of facts, an array for each argument."""
    import numpy as np

    return np.array([facts.column(name).to_numpy() for name in facts.column_names], np.int64)

"""Facts, terms and kept state of the memory engine as files of a version, compared and written by Arrow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from everlog.engine.algebra import FactSet
from everlog.engine.backend import KeptState, Shelf
from everlog.engine.memory.facts.sets import MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids
from everlog.engine.memory.names import AnyNames, ByPredicate, MemoryBatch, nonempty
from everlog.store.arrays import ids_of, table_of
from everlog.store.layers import facts_table, minus
from everlog.store.manifest import Layer, Part
from everlog.store.sections import AllFacts, extend_dictionary, write_section

if TYPE_CHECKING:
    from everlog.engine.memory.memory_backend import MemoryBackend
    from everlog.store.commit import Writing


class MemoryShelf(Shelf[MemoryBatch, Ids, ByPredicate]):
    """A version that a knowledge base in memory makes."""

    def __init__(self, backend: MemoryBackend, writer: Writing) -> None:
        self._backend, self._writer = backend, writer
        self._whole: dict[str, dict[str, AllFacts]] = {}
        """What is to be written as a whole, by section."""

    def write(
        self,
        section: str,
        layers: Sequence[Layer],
        added: ByPredicate,
        deleted: ByPredicate,
        arities: Mapping[str, int],
    ) -> tuple[Layer, ...]:
        whole = self._whole.pop(section, {})
        return write_section(self._writer, section, layers, {**added, **whole}, deleted, arities)

    def since(
        self, section: str, layers: Sequence[Layer], facts: FactSet, arities: Mapping[str, int]
    ) -> tuple[ByPredicate, ByPredicate]:
        whole = self._whole[section] = self._closed(as_memory_facts(facts), arities)
        others = {name: arity for name, arity in arities.items() if name not in whole}
        return self._compared(layers, others, lambda name, arity: self._backend.listed(facts, name, arity))

    def _closed(self, facts: MemoryFacts, arities: Mapping[str, int]) -> dict[str, AllFacts]:
        """Predicates of closed relations: to write all their facts takes less than to compare these with others."""
        tables = [table for table in facts.tables() if facts.is_closed(table) and arities.get(table.predicate) == 2]
        return {table.predicate: AllFacts(partial(facts.pieces, table), facts.size(table)) for table in tables}

    def _compared(
        self, layers: Sequence[Layer], arities: Mapping[str, int], listed: Callable[[str, int], Ids]
    ) -> tuple[ByPredicate, ByPredicate]:
        """The rows of relations that some layers lack, and those that they have and should not."""
        added, deleted = {}, {}
        for name, arity in arities.items():
            now, then = table_of(listed(name, arity)), facts_table(self._writer.path, layers, name, arity)
            added[name], deleted[name] = ids_of(minus(now, then), arity), ids_of(minus(then, now), arity)
        return nonempty(added.items()), nonempty(deleted.items())

    def terms(self, parts: Sequence[Part], known: bool) -> tuple[Part, ...]:
        return extend_dictionary(self._writer, parts, self._backend.engine.dictionary)

    def kept(
        self,
        state: KeptState | None,
        names: AnyNames | None,
        kept: Callable[[], Mapping[str, Ids]],
        layers: Sequence[Layer],
        arities: Mapping[str, int],
        kinds: frozenset[str],
    ) -> tuple[tuple[Layer, ...], dict[str, int]]:
        whole = kept()
        widths = {**arities, **{name: ids.shape[0] for name, ids in whole.items()}}
        added, deleted = self._compared(
            layers, widths, lambda name, arity: whole.get(name, np.empty((arity, 0), np.int32))
        )
        return self.write("state", layers, added, deleted, widths), widths

"""What a state keeps for updates besides facts (`everlog.knowledge.saved`), as the section `state` of a store.

An update writes what changed of it. What an algorithm did not keep up to date leaves the store with that update.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from everlog.knowledge.saved_kinds import OLDER, kind_of
from everlog.store.arrays import ids_of, table_of
from everlog.store.layers import facts_table, minus
from everlog.store.manifest import Layer, Manifest, Part
from everlog.store.sections import Facts, write_section

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.knowledge.state import MemoryState
    from everlog.store.commit import Writing


def write_update(spark: SparkSession, writer: Writing, before: Manifest, state: MemoryState) -> dict[str, Any]:
    """What a manifest says about the section `state` after one update of a version."""
    change = state.kept_change()
    if change is None:
        return write_whole(spark, writer, state)
    kinds = state.kept_kinds()
    layers, arities = still_right(before, kinds)
    added, deleted = change
    arities |= {name: ids.shape[0] for name, ids in added.items()}
    return entries(write_section(spark, writer, "state", layers, added, deleted, arities), arities, kinds)


def write_whole(spark: SparkSession, writer: Writing, state: MemoryState) -> dict[str, Any]:
    """The same for a state without a version before it."""
    whole, kinds = state.kept(), state.kept_kinds()
    arities = {name: ids.shape[0] for name, ids in whole.items()}
    return entries(write_section(spark, writer, "state", (), whole, {}, arities), arities, kinds)


def write_saved(spark: SparkSession, writer: Writing, before: Manifest, state: MemoryState) -> dict[str, Any]:
    """The same for a state that was a version once, and may have been updated since."""
    kinds = state.kept_kinds()
    layers, arities = still_right(before, kinds)
    added, deleted = _difference(writer, layers, arities, state.kept())
    arities |= {name: ids.shape[0] for name, ids in added.items()}
    return entries(write_section(spark, writer, "state", layers, added, deleted, arities), arities, kinds)


def entries(layers: Sequence[Layer], arities: Mapping[str, int], kinds: Iterable[str]) -> dict[str, Any]:
    """The section as a manifest has it."""
    named = tuple(sorted(kind for kind in kinds if kind != OLDER))
    return {"state": tuple(layers), "state_arities": dict(arities), "state_kinds": named}


def still_right(before: Manifest, kinds: frozenset[str]) -> tuple[tuple[Layer, ...], dict[str, int]]:
    """The layers and arities of the relations whose kinds are still kept."""

    def chosen(parts: Mapping[str, Part]) -> dict[str, Part]:
        return {name: part for name, part in parts.items() if kind_of(name) in kinds}

    layers = (Layer(chosen(layer.added), chosen(layer.deleted)) for layer in before.state)
    arities = {name: arity for name, arity in before.state_arities.items() if kind_of(name) in kinds}
    return tuple(layer for layer in layers if layer.added or layer.deleted), arities


def _difference(
    writer: Writing, layers: Sequence[Layer], arities: Mapping[str, int], whole: Facts
) -> tuple[Facts, Facts]:
    """What the store lacks, and what it has and should not."""
    import numpy as np

    added, deleted = {}, {}
    for name in {**arities, **whole}:
        arity = arities[name] if name in arities else whole[name].shape[0]
        now = table_of(whole.get(name, np.empty((arity, 0), np.int32)))
        then = facts_table(writer.path, layers, name, arity)
        new, gone = ids_of(minus(now, then), arity), ids_of(minus(then, now), arity)
        if new.shape[1]:
            added[name] = new
        if gone.shape[1]:
            deleted[name] = gone
    return added, deleted

"""A knowledge base from memory into a store: `KnowledgeBase.save`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import BlankNode

from everlog import interrupts
from everlog.datalog.printer import print_program
from everlog.errors import EverlogError
from everlog.knowledge.keeping import write_saved, write_whole
from everlog.knowledge.spark_base import is_on_spark
from everlog.knowledge.spark_store import spark_version
from everlog.spark.failures import spark_failures
from everlog.store.arrays import ids_of, table_of
from everlog.store.blank_nodes import blank_nodes, renamed_blank_nodes
from everlog.store.commit import Writing, making, writing
from everlog.store.layers import facts_table, minus
from everlog.store.manifest import CURRENT, Layer, Manifest
from everlog.store.sections import extend_dictionary, write_section
from everlog.store.term_dictionary import BLANK

if TYPE_CHECKING:
    from everlog.engine.memory.facts.table import Ids
    from everlog.knowledge.memory_base import Which
    from everlog.knowledge.spark_base import KnowledgeBase


def save(kb: KnowledgeBase, path: Path) -> int:
    """Writes a version with the contents of a knowledge base, and gives its number."""
    place: AbstractContextManager[Writing] = writing(path) if (path / CURRENT).exists() else making(path)
    undo = kb._state.savepoint() if is_on_spark(kb._state) else None
    try:
        manifest = _saved(kb, path, place)
    except BaseException:
        if undo is not None:
            undo()
        raise
    kb._stored = path, manifest
    return manifest.version


def _saved(kb: KnowledgeBase, path: Path, place: AbstractContextManager[Writing]) -> Manifest:
    """Writes and commits a version."""
    with place as writer, spark_failures(f"saving to the store {path}"):
        # The store's ids are ours only if we have seen all of its versions.
        before = known = writer.before
        if before is not None and (kb._stored is None or kb._stored[0] != path):
            known = None
        elif before is not None and kb._stored is not None and kb._stored[1] != before:
            raise EverlogError(
                f"the store {path} has changed since: it is at version {before.version}, and this knowledge base is its "
                f"version {kb._stored[1].version} and what was done to that. Open the store anew and update it there, or "
                "save to another path"
            )
        manifest = spark_version(kb, writer, known) if is_on_spark(kb._state) else _version(kb, writer, known)
        interrupts.settle()
        manifest = writer.commit(manifest)
    return manifest


def _version(kb: KnowledgeBase, writer: Writing, known: Manifest | None) -> Manifest:
    """A version with the contents of the memory engine; `known` is the one that it has changed since."""
    spark, state, path = kb.spark, kb._memory, writer.path
    names = {label: f"{BLANK[2:]}{_id(kb, label)}" for label in blank_nodes(kb.program)}
    program = print_program(renamed_blank_nodes(kb.program, names))
    layers: dict[str, tuple[Layer, ...]] = {}
    for section in ("explicit", "derived"):
        old = () if known is None else known.layers(section)
        added, deleted = _difference(kb, path, section, old)
        layers[section] = write_section(spark, writer, section, old, added, deleted, kb._arities)
    dictionary = extend_dictionary(spark, writer, () if known is None else known.dictionary, state.engine.dictionary)
    counts = {predicate: state.sizes(predicate) for predicate in kb.predicates()}
    kept = write_whole(spark, writer, state) if known is None else write_saved(spark, writer, known, state)
    return Manifest(
        version=writer.version,
        program=program,
        options=kb._options,
        arities=dict(kb._arities),
        dictionary=dictionary,
        explicit=layers["explicit"],
        derived=layers["derived"],
        counts=counts,
        **kept,
    )


def _id(kb: KnowledgeBase, label: str) -> int:
    return kb._memory.engine.dictionary.encode_value(BlankNode(label))


def _difference(
    kb: KnowledgeBase, path: Path, which: str, layers: tuple[Layer, ...]
) -> tuple[dict[str, Ids], dict[str, Ids]]:
    """Facts that the store lacks, and facts that it has and should not."""
    section: Which = "explicit" if which == "explicit" else "derived"
    added, deleted = {}, {}
    for predicate, arity in kb._arities.items():
        now = table_of(kb._memory.stored(predicate, section, arity))
        then = facts_table(path, layers, predicate, arity)
        new, gone = ids_of(minus(now, then), arity), ids_of(minus(then, now), arity)
        if new.shape[1]:
            added[predicate] = new
        if gone.shape[1]:
            deleted[predicate] = gone
    return added, deleted

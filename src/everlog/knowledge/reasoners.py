"""Reasoners, new ones and those of a version of a store, on either engine. A version is read without any reasoning."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from everlog.engine.algebra import FactSet
from everlog.engine.kept_kinds import BACKBONE, CLASSES
from everlog.knowledge.reasoner import Reasoner
from everlog.knowledge.rewriting_reasoner import RewritingReasoner
from everlog.knowledge.saved_kinds import closed_predicates, stored_kinds
from everlog.store.arrays import batches, ids_of, load_dictionary
from everlog.store.layers import facts_frame, facts_table, without
from everlog.store.manifest import Manifest
from everlog.store.parquet_files import check_part

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def new_reasoner(
    equality: str, workers: int | None, spark: Callable[[], SparkSession] | None, scratch: Path | None
) -> Reasoner[Any, Any, Any]:
    """One without facts: on Spark if there is a session, else in memory."""
    from everlog.engine.memory.memory_backend import (
        MemoryBackend,  # compiled kernels are loaded here, not with this module
    )

    kind = _kind(equality)
    if spark is None:
        return kind(MemoryBackend(workers))
    from everlog.engine.spark.spark_backend import SparkBackend
    from everlog.engine.spark.terms import SparkTerms

    session, files = spark(), Scratch(scratch)
    return kind(SparkBackend(session, SparkTerms(session, [], 0, files.folder), files.folder))


def _kind(equality: object) -> type[Reasoner[Any, Any, Any]]:
    return RewritingReasoner if equality == "rewrite" else Reasoner


def load_in_memory(store: Path, manifest: Manifest, workers: int | None = None) -> Reasoner[Any, Any, Any]:
    """The facts of a version, explicit and derived, by Arrow straight from its files."""
    import numpy as np

    from everlog.engine.memory.memory_backend import MemoryBackend

    kinds = stored_kinds(manifest.state_kinds, manifest.state_arities)
    unread = closed_predicates(kinds)
    sections = manifest.explicit, without(manifest.derived, unread)
    with ThreadPoolExecutor(1) as beside:  # files of facts are read while terms get their ids
        reading = [beside.submit(list, batches(store, layers, manifest.arities)) for layers in sections]
        backend = MemoryBackend(workers, load_dictionary(store, manifest.dictionary))
        # What is stored is distinct, and derived facts are not explicit: nothing has to be looked for.
        E, derived = (backend.appended(facts.result()) for facts in reading)
    I = E
    I |= derived
    for predicate in sorted(unread):
        name = f"{BACKBONE}:{predicate}"
        if name in manifest.state_arities:
            ids = ids_of(facts_table(store, manifest.state, name, manifest.state_arities[name]), 3)
            I |= backend.entered([(predicate, np.ascontiguousarray(ids[:2]))])
    reasoner = _kind(manifest.options.get("equality")).restored(
        backend,
        E,
        I,
        lambda: dict(batches(store, manifest.state, manifest.state_arities)),
        kinds,
        lambda: ids_of(facts_table(store, manifest.state, CLASSES, 2), 2),
    )
    if unread:

        def read() -> FactSet:
            layers = (manifest.layers("derived"), manifest.arities)
            return backend.entered([batch for batch in batches(store, *layers) if batch[0] in unread])

        reasoner.leave_unread(unread, read)
    return reasoner


class Loading:
    """A version that is loaded in a thread beside, while Spark starts or works. Nobody waits for one that is not wanted."""

    def __init__(self, store: Path, manifest: Manifest, workers: int | None = None) -> None:
        self._store, self._manifest, self._workers = store, manifest, workers
        self._loaded: Reasoner[Any, Any, Any] | None = None
        self._failure: Exception | None = None
        self._thread = Thread(target=self._load, name="everlog-loading", daemon=True)
        self._thread.start()

    def _load(self) -> None:
        try:
            self._loaded = load_in_memory(self._store, self._manifest, self._workers)
        except Exception as failure:
            self._failure = failure

    def reasoner(self, manifest: Manifest) -> Reasoner[Any, Any, Any]:
        """The facts of a version: those that were loaded, unless they are of another one. To be asked for once."""
        self._thread.join()
        loaded, self._loaded = self._loaded, None
        if self._manifest.version != manifest.version:
            return load_in_memory(self._store, manifest, self._workers)
        if loaded is None:
            assert self._failure is not None
            raise self._failure
        return loaded


def load_on_spark(
    spark: SparkSession,
    store: Path,
    manifest: Manifest,
    scratch: Callable[[], Path],
    terms: Callable[[], Path],
    by_label: bool = True,
) -> Reasoner[Any, Any, Any]:
    """The facts of a version; `scratch` gives places for files that are soon forgotten, `terms` for new terms."""
    from everlog.engine.spark.listed_facts import SparkListed
    from everlog.engine.spark.spark_backend import SparkBackend
    from everlog.engine.spark.terms import SparkTerms

    files = [file for part in manifest.dictionary for file in check_part(store, part, ["id", "term"])]
    backend = SparkBackend(spark, SparkTerms(spark, files, manifest.dictionary_size, terms, by_label), scratch)
    E = backend.engine.facts(_frames(spark, store, manifest, "explicit"))
    derived = backend.engine.facts(_frames(spark, store, manifest, "derived"), apart=E)
    backend.saved = E, derived

    def kept() -> Mapping[str, SparkListed]:
        return {name: SparkListed.of(frame) for name, frame in _frames(spark, store, manifest, "state").items()}

    kinds = stored_kinds(manifest.state_kinds, manifest.state_arities)
    kind = _kind(manifest.options.get("equality"))
    return kind.restored(backend, E, E | derived, kept, kinds, lambda: kept().get(CLASSES))


def _frames(spark: SparkSession, store: Path, manifest: Manifest, section: str) -> dict[str, DataFrame]:
    """The relations of a section."""
    layers = manifest.layers(section)
    arities = manifest.state_arities if section == "state" else manifest.arities
    names = dict.fromkeys(name for layer in layers for name in layer.added)
    return {name: facts_frame(spark, store, layers, name, arities[name]) for name in names}


class Scratch:
    """Folders for files that are needed as long as somebody refers to this."""

    def __init__(self, place: Path | None) -> None:
        if place is not None:
            place.mkdir(parents=True, exist_ok=True)
        self._path = Path(tempfile.mkdtemp(prefix="everlog-", dir=place))
        self._count = 0
        weakref.finalize(self, shutil.rmtree, self._path, ignore_errors=True)

    def folder(self) -> Path:
        """A new place in it."""
        self._count += 1
        return self._path / str(self._count)

"""Knowledge bases and stores: opening, making, updating.

    init:    Spark encodes and writes the sources → Arrow → memory engine → derived facts → Spark writes them → commit
    update:  Spark encodes the change while the store is loaded → reasoning → Spark writes what changed → commit

Where the Spark engine reasons, facts stay with Spark all the way (`spark_store.py`).

Reasoning is the knowledge base's business (`knowledge.py`); what a version is, `manifest.py` says; when it counts,
`commit.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from everlog.datalog.printer import print_program
from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Program
from everlog.knowledge.engine_choice import Engine, engine_of
from everlog.knowledge.keeping import write_update, write_whole
from everlog.knowledge.loading import Loading, load_state
from everlog.knowledge.memory_base import Batch, Progress
from everlog.knowledge.report import Report
from everlog.knowledge.spark_base import KnowledgeBase, check_arities, is_on_spark, open_store, stored_frame
from everlog.knowledge.spark_state import SparkState
from everlog.knowledge.spark_store import load_spark_state, written
from everlog.knowledge.update_facts import Given
from everlog.sources.program_facts import BLANK_NODES, program_facts
from everlog.spark.failures import spark_failures
from everlog.store.blank_nodes import blank_nodes, renamed_blank_nodes
from everlog.store.commit import Writing, making, writing
from everlog.store.layers import write_facts
from everlog.store.manifest import Layer, Manifest, Part
from everlog.store.parquet_files import files_in, rows_in
from everlog.store.sections import extend_dictionary, write_section
from everlog.store.term_dictionary import FEW, StoredDictionary
from everlog.store.versions import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from everlog.engine.algebra import FactSet
    from everlog.engine.memory.facts.table import Ids
    from everlog.sources.read_facts import Read

__all__ = ["Changes", "KnowledgeBase", "init_store", "open_store", "update_store"]

Say = Callable[[str], None]
_NO_OPTIONS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Changes:
    """What an update did to the materialisation: facts in text form, by predicate."""

    added: Mapping[str, DataFrame]
    deleted: Mapping[str, DataFrame]


def init_store(
    path: str | Path,
    program: Program,
    read: Read | None = None,
    *,
    spark: SparkSession,
    options: Mapping[str, str] = _NO_OPTIONS,
    memory: str | None = None,
    progress: Progress | None = None,
    on_step: Say | None = None,
    check: Callable[[KnowledgeBase], None] | None = None,
) -> Report:
    """Makes a store out of a program and facts; the program's own facts are explicit facts like others.

    `memory` is what reasoning in this process may use, such as `4g`, if the engine is to be chosen.
    `check` sees what was derived before anything counts; if it raises, there is no store.
    """
    started = perf_counter()
    say = on_step or _quiet
    place = Path(path).absolute()
    keywords = dict[str, Any](options)
    KnowledgeBase(program, **keywords)  # an option that is not known is found before any work
    with making(place) as writer, spark_failures(f"making the store {path}"):
        say("encoding facts")
        facts = program_facts(spark, program, {} if read is None else read.facts)
        folder = writer.folder("dictionary")
        encoded = StoredDictionary(spark, [], 0).encode(facts, folder, few=False)
        program = renamed_blank_nodes(program, _names(encoded.new_terms, blank_nodes(program)))
        say("writing facts")
        explicit = write_facts(encoded.together, encoded.predicates, writer.folder("explicit"), writer.named)
        explicit.pop(BLANK_NODES, None)
        encoded.release()
        say("loading facts")
        kb = KnowledgeBase(program, spark=spark, **keywords)
        arities = {name: n for name, n in {**kb._arities, **encoded.arities}.items() if name != BLANK_NODES}
        terms = [file for file in files_in(folder) if rows_in(file)]
        draft = Manifest(
            version=writer.version,
            program=print_program(program),
            options=dict(options),
            arities=arities,
            dictionary=(Part(tuple(map(writer.named, terms)), encoded.size),) if terms else (),
            explicit=(Layer(explicit),) if explicit else (),
        )
        chosen = engine_of(place, draft, None, memory)
        state = _loaded_by_spark(spark, writer, draft) if chosen.name == "spark" else load_state(place, draft)
        kb._restore(state, arities, materialised=False)
        say("reasoning")
        report = _explained(kb.materialise(progress), chosen)
        if check is not None:
            check(kb)
        say("writing derived facts")
        if is_on_spark(state):
            writer.commit(_with_statistics(written(spark, writer, state, draft, None), report))
        else:
            _commit(spark, writer, kb, draft, report, added=_derived(kb), deleted={})
    return _timed(report, started)


def update_store(
    path: str | Path,
    add: Read | None = None,
    delete: Read | None = None,
    *,
    spark: SparkSession,
    engine: str | None = None,
    algorithm: str = "auto",
    memory: str | None = None,
    progress: Progress | None = None,
    on_step: Say | None = None,
    check: Callable[[KnowledgeBase], None] | None = None,
    before_commit: Callable[[Report, Changes], None] | None = None,
    loading: Loading | None = None,
    few: int = FEW,
) -> tuple[Report, Changes]:
    """Adds and deletes explicit facts as a new version of a store; a fact that is both is added.

    The engine is the store's unless another one is asked for; `memory` is what reasoning in this process may use, if it is
    to be chosen. `check` sees the new materialisation and `before_commit` what the update does; if one of them raises, the
    store is as before. `loading` is the store's newest version on its way into memory, if that has begun. Up to `few`
    facts are encoded in this process, more by Spark.
    """
    started = perf_counter()
    say = on_step or _quiet
    place = Path(path).absolute()
    with writing(place) as writer, spark_failures(f"updating the store {path}"):
        before = writer.before
        assert before is not None
        kb = KnowledgeBase(parse_program(before.program), spark=spark, **dict[str, Any](before.options))
        arities = dict(before.arities)
        chosen = engine_of(place, before, engine, memory)
        draft = replace(before, version=writer.version, arities=arities, counts={}, statistics={})
        added: list[Batch]
        deleted: list[Batch]
        folder = None
        say("loading the store")
        if chosen.name == "spark":
            state = _loaded_by_spark(spark, writer, before)
            kb._restore(state, dict(before.arities), materialised=True)
            say("encoding facts")
            deleted = _encoded(state, delete, arities, add=False)
            added = _encoded(state, add, arities, add=True)
        else:
            loading = loading or Loading(place, before)
            to_add, to_delete = Given(spark, add, arities, few), Given(spark, delete, arities, few)
            loaded = loading.state(before)
            kb._restore(loaded, dict(before.arities), materialised=True)
            say("encoding facts")
            dictionary, stored = loaded.engine.dictionary, Store(place, before).dictionary(spark)
            deleted = to_delete.to_delete(dictionary, stored, writer)
            added, folder = to_add.to_add(dictionary, stored, writer)
        say("reasoning")
        wanted = None if algorithm == "auto" else algorithm
        with kb._during("an update", changes=True):
            report = _explained(kb._updated(added, deleted, arities, wanted, progress, started), chosen)
        if check is not None:
            check(kb)
        changes = _changes(kb)
        if before_commit is not None:
            before_commit(report, changes)
        say("writing what changed")
        if is_on_spark(kb._state):
            writer.commit(_with_statistics(written(spark, writer, kb._state, draft, before), report))
        else:
            change = kb._memory.change
            explicit = write_section(
                spark, writer, "explicit", before.explicit, change.explicit_added, change.explicit_deleted, arities
            )
            draft = replace(draft, explicit=explicit)
            _commit(spark, writer, kb, draft, report, change.derived_added, change.derived_deleted, before, folder)
    return _timed(report, started), changes


def _loaded_by_spark(spark: SparkSession, writer: Writing, manifest: Manifest) -> SparkState:
    return load_spark_state(
        spark,
        writer.path,
        manifest,
        scratch=lambda: writer.folder("state"),
        terms=lambda: writer.folder("dictionary"),
        by_label=False,
    )


def _encoded(state: SparkState, read: Read | None, arities: dict[str, int], add: bool) -> list[FactSet]:
    if read is None:
        return []
    check_arities(read.facts, arities)
    return state.encoded(read.facts, add)


def _commit(
    spark: SparkSession,
    writer: Writing,
    kb: KnowledgeBase,
    draft: Manifest,
    report: Report,
    added: Mapping[str, Ids],
    deleted: Mapping[str, Ids],
    before: Manifest | None = None,
    folder: Path | None = None,
) -> None:
    """Writes the derived facts that changed, what is kept for updates, and the terms that are new, and commits."""
    state = kb._memory
    derived = write_section(spark, writer, "derived", draft.derived, added, deleted, draft.arities)
    dictionary = extend_dictionary(spark, writer, draft.dictionary, state.engine.dictionary, folder)
    counts = {predicate: state.sizes(predicate) for predicate in sorted(draft.arities)}
    kept = write_whole(spark, writer, state) if before is None else write_update(spark, writer, before, state)
    manifest = replace(draft, derived=derived, dictionary=dictionary, counts=counts, **kept)
    writer.commit(_with_statistics(manifest, report))


def _with_statistics(manifest: Manifest, report: Report) -> Manifest:
    statistics = {key: value for key, value in report.stats().items() if key not in ("warnings", "peak_rss_bytes")}
    return replace(manifest, statistics=statistics)


def _explained(report: Report, chosen: Engine) -> Report:
    return replace(report, reasons=[*chosen.reasons, *report.reasons])


# What an update did


def _derived(kb: KnowledgeBase) -> dict[str, Ids]:
    return {
        predicate: ids
        for predicate, arity in kb._arities.items()
        if (ids := kb._memory.stored(predicate, "derived", arity)).shape[1]
    }


def _changes(kb: KnowledgeBase) -> Changes:
    state = kb._state
    if is_on_spark(state):
        return Changes(*(_Lazy(state.changed(added), partial(state.changed_text, added)) for added in (True, False)))
    memory = kb._memory

    def lazy(facts: Mapping[str, Ids]) -> _Lazy:
        return _Lazy(facts, lambda predicate: stored_frame(kb.spark, memory.engine.dictionary, facts[predicate]))

    return Changes(lazy(memory.change.added), lazy(memory.change.deleted))


class _Lazy(Mapping[str, "DataFrame"]):
    """DataFrames that are made when they are asked for."""

    def __init__(self, predicates: Collection[str], frame: Callable[[str], DataFrame]) -> None:
        self._predicates, self._frame = predicates, frame

    def __getitem__(self, predicate: str) -> DataFrame:
        if predicate not in self._predicates:
            raise KeyError(predicate)
        return self._frame(predicate)

    def __iter__(self) -> Iterator[str]:
        return iter(self._predicates)

    def __len__(self) -> int:
        return len(self._predicates)


def _names(new_terms: DataFrame, labels: set[str]) -> dict[str, str]:
    """What the store calls some blank nodes of its sources."""
    if not labels:
        return {}
    rows = new_terms.where(new_terms["label"].isin([f"_:{label}" for label in labels])).collect()
    return {row["label"][2:]: row["term"][2:] for row in rows}


def _timed(report: Report, started: float) -> Report:
    return replace(report, seconds={**report.seconds, "total": perf_counter() - started})


def _quiet(step: str) -> None:
    """Says nothing."""

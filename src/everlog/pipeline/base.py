"""Knowledge bases and stores: opening, making, updating.

    init:    Spark encodes and writes the sources → Arrow → memory engine → derived facts → Spark writes them → commit
    update:  Spark encodes the change while the store is loaded → reasoning → Spark writes what changed → commit

Reasoning is the knowledge base's business (`knowledge.py`); what a version is, `manifest.py` says; when it counts,
`commit.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from everlog.datalog.printer import print_program
from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Program
from everlog.knowledge import Progress
from everlog.pipeline.blank_nodes import blank_nodes, renamed_blank_nodes
from everlog.pipeline.commit import Writing, making, writing
from everlog.pipeline.dictionary import FEW, StoredDictionary
from everlog.pipeline.failures import spark_failures
from everlog.pipeline.given import Given
from everlog.pipeline.keeping import write_update, write_whole
from everlog.pipeline.knowledge import KnowledgeBase, open_store, stored_frame
from everlog.pipeline.layers import write_facts
from everlog.pipeline.loading import Loading, load_state
from everlog.pipeline.manifest import Layer, Manifest, Part
from everlog.pipeline.parquet import files_in, rows_in
from everlog.pipeline.programs import BLANK_NODES, program_facts
from everlog.pipeline.store import Store
from everlog.pipeline.writing import extend_dictionary, write_section
from everlog.report import Report

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from everlog.engine.memory.table import Ids
    from everlog.pipeline.sources import Read

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
    progress: Progress | None = None,
    on_step: Say | None = None,
    check: Callable[[KnowledgeBase], None] | None = None,
) -> Report:
    """Makes a store out of a program and facts; the program's own facts are explicit facts like others.

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
        kb._restore(load_state(place, draft), arities, materialised=False)
        say("reasoning")
        report = kb.materialise(progress)
        if check is not None:
            check(kb)
        say("writing derived facts")
        _commit(spark, writer, kb, draft, report, added=_derived(kb), deleted={})
    return _timed(report, started)


def update_store(
    path: str | Path,
    add: Read | None = None,
    delete: Read | None = None,
    *,
    spark: SparkSession,
    algorithm: str = "auto",
    progress: Progress | None = None,
    on_step: Say | None = None,
    before_commit: Callable[[Report, Changes], None] | None = None,
    loading: Loading | None = None,
    few: int = FEW,
) -> tuple[Report, Changes]:
    """Adds and deletes explicit facts as a new version of a store; a fact that is both is added.

    `before_commit` sees what the update does; if it raises, the store is as before. `loading` is the store's newest
    version on its way into memory, if that has begun. Up to `few` facts are encoded in this process, more by Spark.
    """
    started = perf_counter()
    say = on_step or _quiet
    place = Path(path).absolute()
    with writing(place) as writer, spark_failures(f"updating the store {path}"):
        before = writer.before
        assert before is not None
        kb = KnowledgeBase(parse_program(before.program), spark=spark, **dict[str, Any](before.options))
        arities = dict(before.arities)
        loading = loading or Loading(place, before)
        to_add, to_delete = Given(spark, add, arities, few), Given(spark, delete, arities, few)
        say("loading the store")
        state = loading.state(before)
        kb._restore(state, dict(before.arities), materialised=True)
        say("encoding facts")
        dictionary, stored = state.engine.dictionary, Store(place, before).dictionary(spark)
        deleted = to_delete.to_delete(dictionary, stored, writer)
        added, folder = to_add.to_add(dictionary, stored, writer)
        say("reasoning")
        report = kb._updated(added, deleted, arities, None if algorithm == "auto" else algorithm, progress, started)
        changes = _changes(kb)
        if before_commit is not None:
            before_commit(report, changes)
        say("writing what changed")
        change = kb._memory.change
        draft = Manifest(
            version=writer.version,
            program=before.program,
            options=before.options,
            arities=arities,
            dictionary=before.dictionary,
            explicit=write_section(
                spark, writer, "explicit", before.explicit, change.explicit_added, change.explicit_deleted, arities
            ),
            derived=before.derived,
        )
        _commit(spark, writer, kb, draft, report, change.derived_added, change.derived_deleted, before, folder)
    return _timed(report, started), changes


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
    counts = {
        predicate: {which: state.size(predicate, which) for which in ("explicit", "derived")}
        for predicate in sorted(draft.arities)
    }
    statistics = {key: value for key, value in report.stats().items() if key not in ("warnings", "peak_rss_bytes")}
    kept = write_whole(spark, writer, state) if before is None else write_update(spark, writer, before, state)
    writer.commit(replace(draft, derived=derived, dictionary=dictionary, counts=counts, statistics=statistics, **kept))


# What an update did


def _derived(kb: KnowledgeBase) -> dict[str, Ids]:
    return {
        predicate: ids
        for predicate, arity in kb._arities.items()
        if (ids := kb._memory.ids(predicate, "derived", arity)).shape[1]
    }


def _changes(kb: KnowledgeBase) -> Changes:
    change = kb._memory.change
    return Changes(_Lazy(kb, change.added), _Lazy(kb, change.deleted))


class _Lazy(Mapping[str, "DataFrame"]):
    """DataFrames that are made when they are asked for."""

    def __init__(self, kb: KnowledgeBase, facts: Mapping[str, Ids]) -> None:
        self._spark, self._dictionary, self._facts = kb.spark, kb._memory.engine.dictionary, facts

    def __getitem__(self, predicate: str) -> DataFrame:
        return stored_frame(self._spark, self._dictionary, self._facts[predicate])

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)


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

"""Knowledge bases and stores: opening, making, updating.

    init:    Spark encodes and writes the sources → Arrow → memory engine → derived facts → Spark writes them → commit
    update:  Spark encodes the change while the store is loaded → reasoning → Spark writes what changed → commit

Where the Spark engine reasons, facts stay with Spark all the way. Reasoning is the knowledge base's business (`base.py`);
what is written of it, `persistence.py` says; what a version is, `manifest.py`; when it counts, `commit.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from everlog.datalog.prefixes import with_prefixes
from everlog.datalog.printer import print_program
from everlog.datalog.program_changes import ontology_change, shapes_change
from everlog.datalog.program_union import union
from everlog.datalog.reader import parse_program, stored_program
from everlog.datalog.suspicions import none_deleted, not_mentioned, nothing_to_delete
from everlog.datalog.syntax import Program
from everlog.engine.backend import Progress
from everlog.knowledge.base import KnowledgeBase, check_arities
from everlog.knowledge.engine_choice import choose_engine, engine_of, needed_by_read
from everlog.knowledge.persistence import saved, stored_text, written
from everlog.knowledge.reasoners import Loading, Scratch, load_in_memory, load_on_spark
from everlog.knowledge.refusals import Enforcement
from everlog.knowledge.report import Report
from everlog.sources.column_names import known_names
from everlog.sources.given_files import ELSEWHERE, known_files
from everlog.spark.failures import spark_failures
from everlog.store.commit import Writing, making, writing
from everlog.store.held_versions import Hold, hold
from everlog.store.local_place import local_place
from everlog.store.manifest import Manifest, NoStore
from everlog.store.versions import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from everlog.knowledge.reasoner import Reasoner
    from everlog.sources.read_facts import Read
    from everlog.store.publishing.fact_files import FiledFacts

Say = Callable[[str], None]
_NO_OPTIONS: Mapping[str, Any] = {}


class ChangedFacts(Mapping[str, "DataFrame"]):
    """Facts in text form, by predicate, as DataFrames that are made when they are asked for."""

    def __init__(self, kb: KnowledgeBase, predicates: Collection[str], listed: Callable[[str], Any]) -> None:
        self._kb, self._predicates, self._listed = kb, predicates, listed

    def __getitem__(self, predicate: str) -> DataFrame:
        if predicate not in self._predicates:
            raise KeyError(predicate)
        return self._kb.reasoner.backend.texts(self._listed(predicate), lambda: self._kb.spark)

    def __iter__(self) -> Iterator[str]:
        return iter(self._predicates)

    def __len__(self) -> int:
        return len(self._predicates)

    def filed(self, folder: Path) -> FiledFacts:
        """The same as files of ids in a folder."""
        listed = {predicate: (self._listed(predicate), self._kb.arity(predicate)) for predicate in self}
        return self._kb.reasoner.backend.filed(listed, folder)


@dataclass(frozen=True)
class Changes:
    """What an update did to the materialisation."""

    added: ChangedFacts
    deleted: ChangedFacts


@dataclass(frozen=True)
class RuleEdits:
    """Rules, and facts in programs, to add to a store and to delete from it; the new states of its ontology and shapes."""

    add: Program = field(default_factory=Program)
    delete: Program = field(default_factory=Program)
    ontology: Program | None = None
    translation: Mapping[str, str | bool] = field(default_factory=dict)
    """How the ontology became rules."""
    shapes: Program | None = None

    def of(self, program: Program) -> tuple[Program, Program]:
        """What is to be added to a program, and what is to be deleted from it."""
        changes = [(self.add, self.delete)]
        if self.ontology is not None:
            changes.append(ontology_change(program, self.ontology))
        if self.shapes is not None:
            changes.append(shapes_change(program, self.shapes))
        add, delete = zip(*changes, strict=True)
        return reduce(union, add), reduce(union, delete)


def init_store(
    path: str | Path,
    program: Program,
    read: Read | None = None,
    *,
    spark: SparkSession,
    options: Mapping[str, Any] = _NO_OPTIONS,
    memory: str | None = None,
    progress: Progress | None = None,
    on_step: Say | None = None,
    check: Callable[[KnowledgeBase], None] | None = None,
    profile: bool = False,
    ontology: Mapping[str, str | bool] = _NO_OPTIONS,
) -> Report:
    """Makes a store out of a program and facts; the program's own facts are explicit facts like others.

    `memory` is what reasoning in this process may use, such as `4g`, if the engine is to be chosen.
    `check` sees what was derived before anything counts; if it raises, there is no store.
    With `profile` rules are measured. `ontology` says how one became rules of the program.
    """
    started = perf_counter()
    say = on_step or _quiet
    place = local_place(path, "the store")
    kb = KnowledgeBase(program, spark=spark, memory=memory, **options)
    with making(place) as writer, spark_failures(f"making the store {path}"):
        say("encoding facts")
        chosen = choose_engine(kb.options["engine"], 0 if read is None else needed_by_read(read), memory)
        if chosen.name == "spark":  # whose files are the store's from the beginning
            nothing = Manifest(writer.version, "", options=kb.options, arities={})
            kb.begin(_loaded(spark, writer, nothing, "spark", by_label=True), chosen)
        if read is not None:
            kb.load_read(read)
        say("reasoning")
        report = kb.materialise(progress, profile=profile)
        if check is not None:
            check(kb)
        say("writing facts")
        writer.commit(replace(saved(kb, writer, None, report), ontology=ontology))
    return _timed(report, started)


def update_store(
    path: str | Path,
    add: Read | None = None,
    delete: Read | None = None,
    *,
    spark: SparkSession,
    engine: str | None = None,
    algorithm: str = "auto",
    constraints: Enforcement | None = None,
    memory: str | None = None,
    wait: float = 0.0,
    progress: Progress | None = None,
    on_step: Say | None = None,
    check: Callable[[KnowledgeBase], None] | None = None,
    profile: bool = False,
    before_commit: Callable[[Report, Changes], None] | None = None,
    loading: Loading | None = None,
    rules: RuleEdits | None = None,
) -> tuple[Report, Changes]:
    """Adds and deletes explicit facts, and rules, as a new version of a store; what is both is added.

    The engine, and what violated constraints lead to, is the store's unless something else is asked for; `memory` is what
    reasoning in this process may use, if the engine is to be chosen. Another writer is waited for some seconds. `check`
    sees the new materialisation and `before_commit` what the update does; if one of them raises, the store is as before.
    `loading` is the store's newest version on its way into memory, if that has begun. With `profile` rules are measured.
    """
    started = perf_counter()
    say = on_step or _quiet
    place = local_place(path, "the store")
    with writing(place, wait) as writer, spark_failures(f"updating the store {path}"):
        before = writer.before
        assert before is not None
        program = parse_program(before.program)
        known = with_prefixes(program, add.prefixes) if add is not None else program
        kb = KnowledgeBase(known, spark=spark, **before.options)
        arities = dict(before.arities)
        chosen = engine_of(place, before, engine, memory)
        text = before.program if known is program else print_program(known)
        draft = replace(before, version=writer.version, program=text, counts={}, statistics={})
        say("loading the store")
        in_memory = (loading or Loading(place, before)) if chosen.name == "memory" else None
        check_arities({} if add is None else add.arities, arities)
        check_arities({} if delete is None else delete.arities, dict(arities))
        remarks = nothing_to_delete(() if delete is None else delete.arities, arities)
        remarks += not_mentioned(program, set() if add is None else set(add.arities) - set(before.arities))
        # In memory it was loaded beside, while Spark read facts.
        reasoner = _loaded(spark, writer, before, chosen.name) if in_memory is None else in_memory.reasoner(before)
        kb.restore(reasoner, before.arities, chosen)
        if add is not None:
            columns = known_names(before.columns, add.names, arities)
            draft = replace(draft, columns=columns, given_files=known_files(_given_files(before), add.files))
        say("encoding facts")
        deleted = [] if delete is None else reasoner.backend.encoded({}, delete, add=False)
        added = [] if add is None else reasoner.backend.encoded({}, add)
        wanted, changed = None if algorithm == "auto" else algorithm, None
        with kb.during("an update", changes=True):
            if rules is not None:
                changed, come, gone = kb.encoded_rules(rules.of(kb.program), arities)
                added, deleted = [*added, *come], [*deleted, *gone]
            say("reasoning")
            report = kb.update_encoded(
                added, deleted, arities, wanted, progress, started, remarks, profile, constraints, changed
            )
        if rules is not None:
            text = stored_text(kb.program, kb.reasoner)
            draft = replace(draft, program=text, ontology=rules.translation or before.ontology)
        draft = replace(draft, arities=arities)
        asked = 0 if delete is None else sum(size for name, size in delete.sizes.items() if name in arities)
        missed = [] if chosen.name == "spark" else _missed(kb, asked)
        report = replace(report, reasons=[*chosen.reasons, *report.reasons], warnings=[*missed, *report.warnings])
        if check is not None:
            check(kb)
        changes = _changes(kb)
        if before_commit is not None:
            before_commit(report, changes)
        say("writing what changed")
        writer.commit(written(writer, kb.reasoner, draft, before, report))
    return _timed(report, started), changes


def open_store(
    path: str | Path,
    version: int | None = None,
    spark: SparkSession | None = None,
    workers: int | None = None,
    engine: str | None = None,
    memory: str | None = None,
) -> KnowledgeBase:
    """The knowledge base in a store, as of a version or as it is now. Nothing is derived again.

    The engine is the store's unless another one is asked for. The version is not forgotten as long as it may be read.
    """
    store, holding = _opened(path, version)
    manifest = store.manifest
    kb = KnowledgeBase(
        stored_program(manifest.program), spark=spark, workers=workers, memory=memory, **manifest.options
    )
    chosen = engine_of(store.path, manifest, engine, memory)
    if chosen.name == "spark":
        files = Scratch(None)
        with spark_failures(f"opening the store {path}"):
            reasoner = load_on_spark(kb.spark, store.path, manifest, files.folder, files.folder)
    else:
        reasoner = load_in_memory(store.path, manifest, workers)
    kb.restore(reasoner, manifest.arities, chosen)
    kb.column_names = dict(manifest.columns)
    kb.given_files = _given_files(manifest)
    kb.stored = store.path, manifest
    kb.known_stores[store.path] = manifest
    kb.holding = holding
    return kb


def _opened(path: str | Path, version: int | None) -> tuple[Store, Hold]:
    """A version that nobody forgets; the newest may have become another one meanwhile."""
    while True:
        store = Store.open(path, version)
        try:
            return store, hold(store.path, store.manifest.version)[0]
        except NoStore:
            if version is not None:
                raise


def _given_files(manifest: Manifest) -> dict[str, tuple[str, ...]]:
    """The files that facts came from; an earlier Everlog did not write that down."""
    unknown = {name: (ELSEWHERE,) for name, counts in manifest.counts.items() if counts.get("explicit")}
    return {**unknown, **manifest.given_files}


def _loaded(
    spark: SparkSession, writer: Writing, manifest: Manifest, engine: str, by_label: bool = False
) -> Reasoner[Any, Any, Any]:
    """A version of a store that is being written."""
    if engine == "memory":
        return load_in_memory(writer.path, manifest)
    return load_on_spark(
        spark,
        writer.path,
        manifest,
        scratch=lambda: writer.folder("state"),
        terms=lambda: writer.folder("dictionary"),
        by_label=by_label,
    )


def _missed(kb: KnowledgeBase, asked: int) -> list[str]:
    """A warning if an update was to delete some facts and deleted none."""
    reasoner = kb.reasoner
    gone = any(reasoner.backend.sizes(reasoner.difference.explicit_deleted).values())
    return [none_deleted(asked)] if asked and not gone else []


def _changes(kb: KnowledgeBase) -> Changes:
    """What an update did, to be looked at by whoever wants to."""
    backend, what = kb.reasoner.backend, kb.reasoner.difference

    def listed(part: Any, predicate: str) -> Any:
        return backend.part_listed(part, predicate, kb.arity(predicate))

    parts = (what.added, what.deleted)
    return Changes(*(ChangedFacts(kb, backend.sizes(part), partial(listed, part)) for part in parts))


def _timed(report: Report, started: float) -> Report:
    return replace(report, seconds={**report.seconds, "total": perf_counter() - started})


def _quiet(step: str) -> None:
    """Says nothing."""

"""`everlog update`: facts into and out of a store, and everything that follows from the change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from everlog.cli.ontologies import Contradictions, FailOnViolationOption
from everlog.cli.options import (
    AlgorithmOption,
    ConfOption,
    MasterOption,
    MemoryOption,
    OnErrorOption,
    StatsOption,
    StoreArgument,
    StoredEngineOption,
    VerboseOption,
    check_paths,
    check_stats,
    reasoning_options,
    session_conf,
    started_session,
)
from everlog.cli.outcome import warn
from everlog.cli.progress import Progress
from everlog.cli.report_lines import show_report, write_stats
from everlog.errors import EverlogError

if TYPE_CHECKING:
    from everlog.datalog.syntax import Program
    from everlog.knowledge.report import Report
    from everlog.knowledge.stores import Changes


def update(
    store: StoreArgument,
    add: Annotated[
        list[str] | None,
        typer.Option("--add", metavar="PATH", help="Facts to add. May be repeated.", show_default=False),
    ] = None,
    delete: Annotated[
        list[str] | None,
        typer.Option("--delete", metavar="PATH", help="Explicit facts to delete. May be repeated.", show_default=False),
    ] = None,
    changes: Annotated[
        Path | None,
        typer.Option(
            "--changes",
            metavar="DIR",
            help="A new or empty folder for added/ and deleted/: what the update did to the materialisation.",
            show_default=False,
        ),
    ] = None,
    stats: StatsOption = None,
    on_error: OnErrorOption = "fail",
    engine: StoredEngineOption = None,
    algorithm: AlgorithmOption = "auto",
    memory: MemoryOption = None,
    master: MasterOption = None,
    conf: ConfOption = None,
    verbose: VerboseOption = False,
    fail_on_violation: FailOnViolationOption = False,
) -> None:
    """Add and delete explicit facts of a store and bring what follows from them up to date, as a new version.

    A fact that is both added and deleted is added. On failure the store is as before.
    """
    started = perf_counter()
    if not add and not delete:
        raise EverlogError("nothing to do: give facts with --add or --delete")
    reasoning_options(engine or "auto", algorithm, "auto", "auto", "levels", "off")
    added, deleted = check_paths("--add", add), check_paths("--delete", delete)
    settings = session_conf(conf, memory)
    check_stats(stats)
    from everlog.datalog.reader import parse_program
    from everlog.knowledge.engine_choice import engine_of
    from everlog.knowledge.reasoners import Loading
    from everlog.store.versions import Store

    opened = Store.open(store)
    manifest = opened.manifest
    rules = parse_program(manifest.program)
    warnings: list[str] = []
    contradictions = Contradictions(fail_on_violation)
    with Progress() as progress, _changes_folder(changes) as folder:
        progress.step("starting Spark")
        in_memory = engine_of(opened.path, manifest, engine, memory).name == "memory"
        loading = Loading(opened.path, manifest) if in_memory else None
        spark = started_session(master, settings, verbose, [*added, *deleted], engine or manifest.options.get("engine"))
        from everlog.knowledge.stores import update_store
        from everlog.sources.read_facts import read_paths

        progress.step("reading facts")
        quarantine = None if on_error == "fail" else Path(f"{store}.quarantine")
        reads = [
            read_paths(spark, paths, on_error=on_error, quarantine=quarantine, arities=manifest.arities)
            if paths
            else None
            for paths in (added, deleted)
        ]

        def publish(report: Report, found: Changes) -> None:
            if folder is not None:
                progress.step("writing changes")
                warnings.extend(_publish_changes(rules, found, folder))

        report, _ = update_store(
            store,
            *reads,
            spark=spark,
            engine=engine,
            algorithm=algorithm,
            memory=memory,
            progress=progress.round,
            on_step=progress.step,
            check=contradictions.check,
            before_commit=publish,
            loading=loading,
        )
        for read in reads:
            if read is not None:
                read.release()
    warnings += [*report.warnings, *(message for read in reads if read is not None for message in read.warnings)]
    warnings += contradictions.messages
    seconds = {**report.seconds, "total": perf_counter() - started}
    report = replace(report, warnings=list(dict.fromkeys(warnings)), seconds=seconds)
    write_stats(stats, report)
    warn(report.warnings)
    show_report("updated", report)


@contextmanager
def _changes_folder(changes: Path | None) -> Iterator[Path | None]:
    """Where the changes are written; the folder appears when the store has its new version."""
    if changes is None:
        yield None
        return
    from everlog.store.whole_folder import new_folder

    with new_folder(changes, "--changes") as folder:
        yield folder


def _publish_changes(rules: Program, found: Changes, folder: Path) -> list[str]:
    from everlog.store.publish import publish_outcome

    warnings = []
    for name, facts in (("added", found.added), ("deleted", found.deleted)):
        (folder / name).mkdir()
        warnings += publish_outcome(rules, facts, folder / name)
    return warnings

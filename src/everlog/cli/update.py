"""`everlog update`: facts and rules into and out of a store, and everything that follows from the change."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from everlog.cli import ontologies, options
from everlog.cli.programs import read_programs
from everlog.cli.report_lines import finish
from everlog.errors import EverlogError
from everlog.knowledge.progress_display import ProgressDisplay

if TYPE_CHECKING:
    from everlog.knowledge.report import Report
    from everlog.knowledge.stores import Changes


def update(
    store: options.StoreArgument,
    add: Annotated[list[str] | None, typer.Option(metavar="PATH", help="Facts to add. May be repeated.")] = None,
    delete: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="Explicit facts to delete. May be repeated.")
    ] = None,
    add_table: Annotated[
        list[str] | None,
        typer.Option(metavar="PREDICATE=TABLE", help="Columns of a table as facts to add, as --table of init."),
    ] = None,
    delete_table: Annotated[
        list[str] | None, typer.Option(metavar="PREDICATE=TABLE", help="The same for facts to delete.")
    ] = None,
    add_rules: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A program whose rules, and facts, are added. May be repeated."),
    ] = None,
    delete_rules: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="A program whose rules, and facts, are deleted. Names of variables and the order of conditions do not "
            "matter. May be repeated.",
        ),
    ] = None,
    ontology: ontologies.NewOntologyOption = None,
    profile: ontologies.StoredProfileOption = None,
    owl_thing: ontologies.StoredThingOption = None,
    sameas_rules: ontologies.StoredEqualityRulesOption = None,
    with_schema: ontologies.StoredSchemaOption = None,
    complete: ontologies.StoredCompleteOption = None,
    all_pairs: ontologies.StoredAllPairsOption = None,
    shapes: options.NewShapesOption = None,
    changes: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A new or empty folder for added/ and deleted/: what the update did to the materialisation.",
        ),
    ] = None,
    wait: options.WaitOption = 0.0,
    stats: options.StatsOption = None,
    profile_rules: options.ProfileRulesOption = False,
    profile_page: options.ProfilePageOption = None,
    on_error: options.OnErrorOption = "fail",
    header: options.HeaderOption = False,
    nulls: options.NullsOption = "error",
    no_partition_columns: options.NoPartitionColumnsOption = False,
    engine: options.StoredEngineOption = None,
    algorithm: options.AlgorithmOption = "auto",
    constraints: options.StoredConstraintsOption = None,
    memory: options.MemoryOption = None,
    master: options.MasterOption = None,
    conf: options.ConfOption = None,
    verbose: options.VerboseOption = False,
    fail_on_violation: ontologies.FailOnViolationOption = False,
) -> None:
    """Add and delete explicit facts and rules of a store and bring what follows from them up to date, as a new version.

    What is both added and deleted is added. On failure the store is as before.
    """
    started = perf_counter()
    if not ontology:
        ontologies.refuse_idle(profile, owl_thing, sameas_rules, with_schema, complete, all_pairs)
    if not any((add, delete, add_table, delete_table, add_rules, delete_rules, ontology, shapes)):
        raise EverlogError(
            "nothing to do: give facts with --add or --delete, or --add-table or --delete-table, rules with --add-rules or "
            "--delete-rules, or the new state of an --ontology or of --shapes"
        )
    options.reasoning_options(engine=engine or "auto", algorithm=algorithm, constraints=constraints or "warn")
    given = [
        (options.check_paths("--add", add), options.check_tables("--add-table", add_table)),
        (options.check_paths("--delete", delete), options.check_tables("--delete-table", delete_table)),
    ]
    settings = options.session_conf(conf, memory)
    options.check_file("--stats", stats)
    options.check_file("--profile-page", profile_page)
    from everlog.datalog.reader import stored_program
    from everlog.knowledge.engine_choice import engine_of
    from everlog.knowledge.reasoners import Loading
    from everlog.store.versions import Store
    from everlog.store.whole_folder import new_folder

    opened = Store.open(store)
    manifest = opened.manifest
    rules = stored_program(manifest.program)
    warnings: list[str] = []
    edits = None
    if add_rules or delete_rules or ontology or shapes:
        from everlog.datalog.program_changes import changed_program
        from everlog.knowledge.stores import RuleEdits

        edits = RuleEdits(read_programs(add_rules or ()), read_programs(delete_rules or ()))
        equality = manifest.options.get("equality", "off")
        if ontology:
            asked = profile, owl_thing, sameas_rules, with_schema, complete, all_pairs, equality
            said, translation, remarks = ontologies.new_state(ontology, manifest.ontology, *asked)
            edits, warnings = replace(edits, ontology=said, translation=translation), remarks
        if shapes:
            from everlog.knowledge.validation import shapes as shapes_of

            edits = replace(edits, shapes=shapes_of(*shapes))
        if equality == "off":
            rules = changed_program(rules, *edits.of(rules))  # what is not there is said before Spark is started
    contradictions = ontologies.Contradictions(fail_on_violation)
    # The folder appears when the store has its new version.
    place: AbstractContextManager[Path | None] = nullcontext() if changes is None else new_folder(changes, "--changes")
    with ProgressDisplay() as progress, place as folder:
        progress.step("starting Spark")
        wanted = engine or manifest.options.get("engine")
        in_memory = engine_of(opened.path, manifest, engine, memory).name == "memory"
        loading = Loading(opened.path, manifest) if in_memory else None
        files = [name for paths, tables in given for name in (*paths, *(mapped.table for mapped in tables))]
        spark = options.started_session(master, settings, verbose, files, wanted)
        from everlog.knowledge.stores import update_store
        from everlog.sources.read_facts import read_paths
        from everlog.store.publish import publish_outcome, published_predicates
        from everlog.store.publishing.write_files import scratch_in

        progress.step("reading facts")
        quarantine = Path(f"{store}.quarantine")
        how: dict[str, Any] = {"on_error": on_error, "quarantine": quarantine, "header": header, "nulls": nulls}
        how["partition_columns"] = not no_partition_columns
        reads = [read_paths(spark, paths, tables=tables, arities=manifest.arities, **how) for paths, tables in given]
        warnings += ontologies.axioms_among_facts(reads, rules, store)

        def publish(report: Report, found: Changes) -> None:
            if folder is not None:
                progress.step("writing changes")
                for name, facts in (("added", found.added), ("deleted", found.deleted)):
                    (folder / name).mkdir()
                    with scratch_in(folder) as scratch:
                        filed = facts.filed(Path(scratch))
                        warnings.extend(publish_outcome(spark, published_predicates(rules), filed, folder / name))

        report, _ = update_store(
            store,
            *reads,
            spark=spark,
            engine=engine,
            algorithm=algorithm,
            constraints=constraints,  # type: ignore[arg-type]  # it was checked
            memory=memory,
            wait=wait,
            progress=progress.round,
            on_step=progress.step,
            check=contradictions.check,
            profile=profile_rules or profile_page is not None,
            before_commit=publish,
            loading=loading,
            rules=edits,
        )
        for read in reads:
            read.release()
    warnings += [*report.warnings, *(message for read in reads for message in read.warnings), *contradictions.messages]
    finish("updated", report, warnings, started, stats, profile_page)

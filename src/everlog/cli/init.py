"""`everlog init`: rules and facts into a new store."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

from everlog.cli import ontologies, options
from everlog.cli.report_lines import finish
from everlog.knowledge.progress_display import ProgressDisplay


def init(
    store: options.StoreArgument,
    program: options.ProgramArguments = None,
    facts: options.FactsOption = None,
    table: options.TableOption = None,
    shapes: options.ShapesOption = None,
    ontology: ontologies.OntologyOption = None,
    profile: ontologies.WantedProfileOption = None,
    owl_thing: ontologies.ThingOption = False,
    sameas_rules: ontologies.EqualityRulesOption = False,
    with_schema: ontologies.SchemaOption = False,
    complete: ontologies.CompleteOption = False,
    all_pairs: ontologies.AllPairsOption = False,
    fail_on_violation: ontologies.FailOnViolationOption = False,
    stats: options.StatsOption = None,
    profile_rules: options.ProfileRulesOption = False,
    profile_page: options.ProfilePageOption = None,
    on_error: options.OnErrorOption = "fail",
    header: options.HeaderOption = False,
    nulls: options.NullsOption = "error",
    no_partition_columns: options.NoPartitionColumnsOption = False,
    engine: options.EngineOption = "auto",
    algorithm: options.AlgorithmOption = "auto",
    modules: options.ModulesOption = "auto",
    hypertree: options.HypertreeOption = "auto",
    stratification: options.StratificationOption = "levels",
    equality: options.EqualityOption = "off",
    max_rounds: options.MaxRoundsOption = None,
    max_facts: options.MaxFactsOption = None,
    constraints: options.ConstraintsOption = "warn",
    memory: options.MemoryOption = None,
    master: options.MasterOption = None,
    conf: options.ConfOption = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Make a store: the facts, the rules, and everything that follows from them.

    STORE must be absent or an empty folder. On failure there is no store.
    """
    started = perf_counter()
    rules, remarks = ontologies.with_ontologies(
        program, ontology, profile, owl_thing, sameas_rules, with_schema, complete, all_pairs, equality, shapes
    )
    contradictions = ontologies.Contradictions(fail_on_violation, ontology=bool(ontology))
    reasoning = options.reasoning_options(
        engine=engine,
        algorithm=algorithm,
        modules=modules,
        hypertree=hypertree,
        stratification=stratification,
        equality=equality,
        max_rounds=max_rounds,
        max_facts=max_facts,
        constraints=constraints,
    )
    paths, tables = options.check_paths("--facts", facts), options.check_tables("--table", table)
    settings = options.session_conf(conf, memory)
    options.check_file("--stats", stats)
    options.check_file("--profile-page", profile_page)
    from everlog.datalog.arities import program_arities
    from everlog.store.commit import check_place

    check_place(store)
    with ProgressDisplay() as progress:
        progress.step("starting Spark")
        given = [*paths, *(mapped.table for mapped in tables)]
        spark = options.started_session(master, settings, verbose, given, engine)
        from everlog.knowledge.stores import init_store
        from everlog.sources.read_facts import read_paths

        progress.step("reading facts")
        quarantine = Path(f"{store}.quarantine")
        how: dict[str, Any] = {"on_error": on_error, "quarantine": quarantine, "header": header, "nulls": nulls}
        how["partition_columns"] = not no_partition_columns
        read = read_paths(spark, paths, tables=tables, arities=program_arities(rules), **how)
        report = init_store(
            store,
            rules,
            read,
            spark=spark,
            options=reasoning,
            memory=memory,
            progress=progress.round,
            on_step=progress.step,
            check=contradictions.check,
            profile=profile_rules or profile_page is not None,
            ontology=ontologies.translation(profile or "L", owl_thing, sameas_rules, with_schema, complete, all_pairs)
            if ontology or complete
            else {},
        )
    warnings = [*remarks, *report.warnings, *contradictions.messages]
    finish("materialised", report, warnings, started, stats, profile_page)

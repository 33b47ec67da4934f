"""`everlog init`: rules and facts into a new store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter

from everlog.cli.ontologies import (
    Contradictions,
    EqualityRulesOption,
    FailOnViolationOption,
    OntologyOption,
    ProfileOption,
    SchemaOption,
    ThingOption,
    shortened,
    with_ontologies,
)
from everlog.cli.options import (
    AlgorithmOption,
    ConfOption,
    EngineOption,
    EqualityOption,
    FactsOption,
    HypertreeOption,
    MasterOption,
    MemoryOption,
    ModulesOption,
    OnErrorOption,
    ProgramArguments,
    StatsOption,
    StoreArgument,
    StratificationOption,
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


def init(
    store: StoreArgument,
    program: ProgramArguments = None,
    facts: FactsOption = None,
    ontology: OntologyOption = None,
    profile: ProfileOption = "L",
    owl_thing: ThingOption = False,
    sameas_rules: EqualityRulesOption = False,
    with_schema: SchemaOption = False,
    fail_on_violation: FailOnViolationOption = False,
    stats: StatsOption = None,
    on_error: OnErrorOption = "fail",
    engine: EngineOption = "auto",
    algorithm: AlgorithmOption = "auto",
    modules: ModulesOption = "auto",
    hypertree: HypertreeOption = "auto",
    stratification: StratificationOption = "levels",
    equality: EqualityOption = "off",
    memory: MemoryOption = None,
    master: MasterOption = None,
    conf: ConfOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Make a store: the facts, the rules, and everything that follows from them.

    STORE must be absent or an empty folder. On failure there is no store.
    """
    started = perf_counter()
    rules, remarks = with_ontologies(program, ontology, profile, owl_thing, sameas_rules, with_schema)
    contradictions = Contradictions(fail_on_violation, ontology=bool(ontology))
    options = reasoning_options(engine, algorithm, modules, hypertree, stratification, equality)
    paths = check_paths("--facts", facts)
    settings = session_conf(conf, memory)
    check_stats(stats)
    from everlog.datalog.arities import program_arities
    from everlog.store.commit import check_place

    check_place(store)
    with Progress() as progress:
        progress.step("starting Spark")
        spark = started_session(master, settings, verbose, paths, engine)
        from everlog.knowledge.stores import init_store
        from everlog.sources.read_facts import read_paths

        progress.step("reading facts")
        quarantine = None if on_error == "fail" else Path(f"{store}.quarantine")
        arities = program_arities(rules)
        read = read_paths(spark, paths, on_error=on_error, quarantine=quarantine, arities=arities)
        report = init_store(
            store,
            rules,
            read,
            spark=spark,
            options=options,
            memory=memory,
            progress=progress.round,
            on_step=progress.step,
            check=contradictions.check,
        )
        read.release()
    seconds = {**report.seconds, "total": perf_counter() - started}
    warnings = [*remarks, *report.warnings, *read.warnings, *contradictions.messages]
    report = replace(report, warnings=list(dict.fromkeys(warnings)), seconds=seconds)
    write_stats(stats, report)
    warn(shortened(report.warnings))
    show_report("materialised", report)

"""`everlog run`: what follows from rules and facts, as files, without a store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

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
    StratificationOption,
    VerboseOption,
    check_paths,
    check_stats,
    is_little,
    reasoning_options,
    session_conf,
    started_session,
)
from everlog.cli.outcome import warn
from everlog.cli.progress import Progress
from everlog.cli.report_lines import show_report, write_stats


def run(
    program: ProgramArguments = None,
    facts: FactsOption = None,
    ontology: OntologyOption = None,
    profile: ProfileOption = "L",
    owl_thing: ThingOption = False,
    sameas_rules: EqualityRulesOption = False,
    with_schema: SchemaOption = False,
    fail_on_violation: FailOnViolationOption = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="A new or empty folder for <predicate>.csv of every predicate in a rule head or program fact, and "
            "triples.nt.",
            show_default=False,
        ),
    ] = None,
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
    """Compute everything that follows from rules and facts, and write it to files.

    Nothing is written on failure.
    """
    started = perf_counter()
    rules, remarks = with_ontologies(program, ontology, profile, owl_thing, sameas_rules, with_schema)
    contradictions = Contradictions(fail_on_violation, ontology=bool(ontology))
    options = reasoning_options(engine, algorithm, modules, hypertree, stratification, equality)
    paths = check_paths("--facts", facts)
    settings = session_conf(conf, memory)
    check_stats(stats)
    from everlog.datalog.arities import program_arities
    from everlog.store.whole_folder import check_new, new_folder

    if out is not None:
        check_new(out)
    with Progress() as progress:
        progress.step("starting Spark")
        spark = started_session(master, settings, verbose, paths, engine)
        from everlog.knowledge.base import KnowledgeBase
        from everlog.sources.read_facts import read_paths
        from everlog.store.publish import publish_outcome, published_predicates

        progress.step("reading facts")
        quarantine = None if on_error == "fail" else Path(f"{out or 'everlog'}.quarantine")
        arities = program_arities(rules)
        read = read_paths(spark, paths, on_error=on_error, quarantine=quarantine, arities=arities)
        if engine == "auto" and memory is None and is_little(paths):
            options["engine"] = "memory"  # whatever the machine: no job is needed to see that
        kb = KnowledgeBase(rules, spark=spark, memory=memory, **options)
        kb.load_read(read)
        progress.step("materialising")
        report = kb.materialise(progress.round)
        contradictions.check(kb)
        warnings = [*remarks, *report.warnings, *read.warnings, *contradictions.messages]
        if out is not None:
            progress.step("writing")
            wanted = [predicate for predicate in (*published_predicates(rules), "triple") if kb.size(predicate)]
            with new_folder(out) as folder:
                warnings += publish_outcome(rules, {predicate: kb.text(predicate) for predicate in wanted}, folder)
    seconds = {**report.seconds, "total": perf_counter() - started}
    report = replace(report, warnings=list(dict.fromkeys(warnings)), seconds=seconds)
    write_stats(stats, report)
    warn(shortened(report.warnings))
    show_report("materialised", report)

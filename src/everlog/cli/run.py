"""`everlog run`: what follows from rules and facts, as files or on the screen, without a store."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from everlog.cli import ontologies, options
from everlog.cli.first_facts import print_first
from everlog.cli.report_lines import finish
from everlog.knowledge.progress_display import ProgressDisplay
from everlog.store.publish import OutcomeFormat


def run(
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
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="A new or empty folder, or an address such as s3a://…, for <predicate>.csv of every predicate in a rule "
            "head or program fact, and triples.nt. Without it the first facts of every predicate in a rule head are "
            "printed.",
        ),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PREDICATES", help="Write or print these predicates only: p,q. May be repeated.", show_default=False
        ),
    ] = None,
    form: Annotated[
        OutcomeFormat,
        typer.Option(
            "--format",
            help="How --out has triples: triples.nt or triples.ttl; with facts, <predicate>.facts instead of .csv, as "
            "Soufflé has them, and triples.nt.",
        ),
    ] = "nt",
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
    """Compute everything that follows from rules and facts, and write it to files or print the beginnings.

    Nothing is written on failure.
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
    from everlog.datalog.prefixes import with_prefixes

    if out is not None:
        options.check_out(out)
    with ProgressDisplay() as progress:
        progress.step("starting Spark")
        given = [*paths, *(mapped.table for mapped in tables)]
        spark = options.started_session(master, settings, verbose, given, engine)
        from everlog.knowledge.base import KnowledgeBase
        from everlog.sources.read_facts import read_paths
        from everlog.store.publish import derived_predicates, publish_outcome, published_predicates
        from everlog.store.publishing.write_files import scratch_in

        progress.step("reading facts")
        if out is not None:
            options.check_remote_out(spark, out)
        quarantine = options.quarantine_of(out)
        how: dict[str, Any] = {"on_error": on_error, "quarantine": quarantine, "header": header, "nulls": nulls}
        how["partition_columns"] = not no_partition_columns
        read = read_paths(spark, paths, tables=tables, arities=program_arities(rules), **how)
        if engine == "auto" and memory is None and options.is_little(given):
            reasoning["engine"] = "memory"  # whatever the machine: no job is needed to see that
        kb = KnowledgeBase(rules, spark=spark, memory=memory, **reasoning)
        kb.load_read(read)
        chosen = [name for text in output or () for name in text.split(",")]
        for name in chosen:
            kb.arity(name)  # refuses what is none
        progress.step("materialising")
        report = kb.materialise(progress.round, profile=profile_rules or profile_page is not None)
        contradictions.check(kb)
        warnings = [*remarks, *report.warnings, *read.warnings, *contradictions.messages]
        if out is not None:
            progress.step("writing")
            wanted = chosen or published_predicates(rules)
            found = wanted if chosen else (*wanted, "triple")
            with options.new_out(spark, out) as folder:
                known = with_prefixes(rules, read.prefixes).prefixes
                with scratch_in(folder) as scratch:
                    filed = kb.filed(
                        [predicate for predicate in dict.fromkeys(found) if kb.size(predicate)], Path(scratch)
                    )
                    warnings += publish_outcome(spark, wanted, filed, folder, form, known)
        shown = (
            []
            if out is not None
            else [(name, kb.size(name), kb.head(name)) for name in chosen or derived_predicates(kb.program)]
        )
    finish("materialised", report, warnings, started, stats, profile_page)
    print_first(shown)

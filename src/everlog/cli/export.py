"""`everlog export`: the facts of a store as files, without loading them into memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from everlog.cli import options
from everlog.cli.outcome import warn
from everlog.errors import EverlogError
from everlog.knowledge.progress_display import ProgressDisplay
from everlog.store import publish
from everlog.store.publish import Format
from everlog.wording import counted

_Which: TypeAlias = Literal["all", "explicit", "derived"]


def export(
    store: options.StoreArgument,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            metavar="DIR",
            help="A new or empty folder for the files; an address such as s3a://… will do.",
            show_default=False,
        ),
    ],
    form: Annotated[
        Format,
        typer.Option("--format", help="One file <predicate>.csv, .parquet or .facts each, or triples.nt or .ttl."),
    ] = "csv",
    all_: Annotated[bool, typer.Option("--all", help="Explicit and derived facts, the default.")] = False,
    explicit: Annotated[bool, typer.Option("--explicit", help="Explicit facts only.")] = False,
    derived: Annotated[bool, typer.Option("--derived", help="Derived facts only.")] = False,
    representatives: Annotated[
        bool,
        typer.Option(
            "--representatives",
            help="Facts with one name for each class of equal names, in facts/, and names with those that represent "
            "them, in representatives.csv (.parquet, .nt, .ttl).",
        ),
    ] = False,
    version: options.VersionOption = None,
    memory: options.MemoryOption = None,
    master: options.MasterOption = None,
    conf: options.ConfOption = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Write the facts of a store to files, one for each predicate.

    Lines are sorted by their UTF-8 bytes. N-Triples and Turtle hold triples only; quads go to quads.nq. In Turtle the
    triples of a subject are together, with the prefixes of the program and of the files that the store was made of.

    Nothing is written on failure.
    """
    if all_ + explicit + derived + representatives > 1:
        raise EverlogError("--all, --explicit, --derived and --representatives exclude each other: give one of them")
    which: _Which = "explicit" if explicit else "derived" if derived else "all"
    settings = options.session_conf(conf, memory)
    from everlog.datalog.reader import stored_program
    from everlog.store.publishing.write_files import scratch_in
    from everlog.store.versions import Store

    opened = Store.open(store, version)
    if representatives and not opened.is_rewritten:
        raise EverlogError(f"the store {store} has no representatives: make it with `everlog init --equality rewrite`")
    prefixes = stored_program(opened.manifest.program).prefixes
    options.check_out(out)
    with ProgressDisplay() as progress:
        progress.step("starting Spark")
        spark = options.started_session(master, settings, verbose, (store,))
        options.check_remote_out(spark, out)
        progress.step(f"writing {form}")
        with options.new_out(spark, out) as folder, scratch_in(folder) as scratch:
            if representatives:
                filed = opened.filed_representatives(spark, Path(scratch), as_triples=form in ("nt", "ttl"))
                warnings = publish.export_representatives(spark, *filed, folder, form, prefixes)
            else:
                warnings = publish.export(spark, opened.filed(which, spark, Path(scratch)), folder, form, prefixes)
    warn(warnings)
    written = publish.RDF_PREDICATES if form in ("nt", "ttl") else opened.predicates()
    counts = {name: count for name, count in opened.manifest.counts.items() if name in written}
    sections = ("representatives",) if representatives else ("explicit", "derived") if which == "all" else (which,)
    total = sum(count.get(section, 0) for count in counts.values() for section in sections)
    typer.echo(f"exported: {counted(total, 'fact')} of version {opened.manifest.version} to {out}")

"""`everlog validate`: what a store has that does not conform to shapes of SHACL."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

from everlog.cli import options
from everlog.cli.opened_store import opened_store
from everlog.cli.outcome import FAILURE
from everlog.knowledge.progress_display import ProgressDisplay

ReportForm: TypeAlias = Literal["text", "ttl", "nt", "json"]


def validate(
    store: options.StoreArgument,
    shapes: options.ShapesOption = None,
    form: Annotated[
        ReportForm, typer.Option("--format", help="text and json are tables; ttl and nt are the graph of SHACL.")
    ] = "text",
    version: options.VersionOption = None,
    engine: options.StoredEngineOption = None,
    memory: options.MemoryOption = None,
    master: options.MasterOption = None,
    conf: options.ConfOption = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Report what in a store does not conform to shapes of SHACL: those that it was made with, or others.

    Of shapes that the store was made with, every update has kept the results. The exit code is 1 if something does not
    conform.
    """
    options.reasoning_options(engine=engine or "auto")
    settings = options.session_conf(conf, memory)
    from everlog.knowledge.validation import shapes as shapes_of
    from everlog.store.versions import Store

    given = shapes_of(*shapes) if shapes else None
    opened = Store.open(store, version)
    with ProgressDisplay() as progress:
        progress.step("opening the store")
        kb = opened_store(store, opened, engine, memory, master, settings, verbose)
        progress.step("validating")
        report = kb.validate(given)
    if form == "text":
        typer.echo(str(report))
    elif form == "json":
        typer.echo(report.json())
    else:
        typer.echo(report.serialize(form), nl=False)
    if not report.conforms:
        raise typer.Exit(FAILURE)

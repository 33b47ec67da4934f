"""The commands, gathered. `main` is the entry point of the command `everlog`.

Exit codes: 0 success, 2 a user's mistake, 1 a failure (of `validate`, that something does not conform), 3 a store that
somebody else is writing, 4 a conversion that had to leave something out, 130 Ctrl-C.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

import everlog as everlog_package
from everlog.cli import (
    check,
    convert,
    diff,
    explain,
    export,
    info,
    init,
    older_versions,
    ontology_report,
    ontology_rules,
    query,
    run,
    serve,
    sparql_query,
    stream_changes,
    update,
    validate,
)
from everlog.cli.outcome import guarded, let_termination_clean_up

app = typer.Typer(
    name="everlog",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"everlog {everlog_package.__version__}")
        raise typer.Exit


@app.callback(epilog="Example: everlog run rules.dlog --facts data/ --out result/")
def everlog(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Datalog whose materialisation stays fresh.

    [bold]run[/bold] computes what follows from rules and facts and writes it to files.

    [bold]init[/bold] keeps it in a store, which [bold]update[/bold] changes and the other commands read.
    """


def _add(name: str, command: Callable[..., None], example: str) -> None:
    app.command(name, epilog=f"Example: {example}")(guarded(command))


_add("run", run.run, "everlog run rules.dlog --facts edges.csv --out result/")
_add("init", init.init, "everlog init graph.store rules.dlog --facts data/")
_add("update", update.update, "everlog update graph.store --add new.csv --delete old.csv --changes changes/")
_add("query", query.query, 'everlog query graph.store "reach(a, ?y), not blocked(?y)" --format csv')
_add("explain", explain.explain, 'everlog explain graph.store "reach(a, d)"')
_add("sparql", sparql_query.sparql, 'everlog sparql graph.store "SELECT * { ?x ?p ?y } LIMIT 5" --format json')
_add("validate", validate.validate, "everlog validate graph.store --shapes shapes.ttl --format ttl")
_add("serve", serve.serve, "everlog serve graph.store --port 7878")
_add("stream", stream_changes.stream, "everlog stream graph.store --source edge=arriving/ --op op --changes changes/")
_add("export", export.export, "everlog export graph.store --out derived/ --format parquet --derived")
_add("info", info.info, "everlog info graph.store")
_add("check", check.check, "everlog check graph.store")
_add("diff", diff.diff, "everlog diff graph.store 1 2")
_add("restore", older_versions.restore, "everlog restore graph.store --version 3")
_add("vacuum", older_versions.vacuum, "everlog vacuum graph.store --keep 30")
_add("convert", convert.convert, "everlog convert analysis.dl --out analysis.dlog")
_add("rules", ontology_rules.rules, "everlog rules univ-bench.owl --profile L > rules.dlog")
_add("ontology", ontology_report.ontology, "everlog ontology univ-bench.owl")


def main() -> None:
    """The entry point of the command `everlog`."""
    let_termination_clean_up()
    app(prog_name="everlog")

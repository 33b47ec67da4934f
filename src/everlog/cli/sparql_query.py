"""`everlog sparql`: the answer to a SPARQL query in a store, as of what was materialised."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias
from warnings import catch_warnings, simplefilter

import typer

from everlog.cli import options
from everlog.cli.answers import Names, print_table
from everlog.cli.opened_store import opened_store
from everlog.cli.outcome import warn
from everlog.errors import EverlogError
from everlog.knowledge.progress_display import ProgressDisplay

if TYPE_CHECKING:
    from everlog.knowledge.sparql_answers import SparqlAnswer

SparqlFormat: TypeAlias = Literal["table", "json", "xml", "csv", "tsv", "nt", "ttl"]


def sparql(
    store: options.StoreArgument,
    query: Annotated[str, typer.Argument(metavar="FILE|QUERY", help="A file with a SPARQL 1.1 query, or the query.")],
    form: Annotated[
        SparqlFormat | None,
        typer.Option(
            "--format",
            help="How to print the answer; nt and ttl are for CONSTRUCT and DESCRIBE, the others for SELECT and ASK.",
            show_default="table or ttl",
        ),
    ] = None,
    version: options.VersionOption = None,
    base: Annotated[
        str | None, typer.Option("--base", metavar="IRI", help="What relative IRIs are resolved by.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=0, metavar="S", help="Give the query up after so many seconds.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option("--rows", min=1, metavar="N", help="Give it up if it has more solutions on its way.")
    ] = None,
    query_memory: Annotated[
        str | None,
        typer.Option(
            "--query-memory", metavar="SIZE", help="Give it up if solutions on its way need more, as in 800m."
        ),
    ] = None,
    engine: options.StoredEngineOption = None,
    memory: options.MemoryOption = None,
    master: options.MasterOption = None,
    conf: options.ConfOption = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Answer a SPARQL 1.1 query over the triples of a store. Nothing is reasoned again.

    Of ASK, the table is true or false.
    """
    options.reasoning_options(engine=engine or "auto")
    settings = options.session_conf(conf, memory)
    from everlog.sparql.query_reader import read_query
    from everlog.store.versions import Store

    text = _text(query)
    opened = Store.open(store, version)
    read_query(text, base)  # before anything else, as it may have a mistake
    with ProgressDisplay() as progress:
        progress.step("opening the store")
        kb = opened_store(store, opened, engine, memory, master, settings, verbose)
        progress.step("answering")
        with catch_warnings(record=True) as suspected:
            simplefilter("always")
            answer = kb.sparql(text, base, seconds=seconds, rows=rows, memory=query_memory)
    warn([str(one.message) for one in suspected])
    _print(answer, form, Names(kb.program.prefixes))


def _text(query: str) -> str:
    """A query, or what the file has that it names."""
    try:
        is_file = Path(query).is_file()
    except (OSError, ValueError):  # a query is no name of a file
        return query
    if is_file:
        return Path(query).read_text(encoding="utf-8")
    if not any(sign in query for sign in "{<"):
        raise EverlogError(f"{query} is neither a file nor a query")
    return query


def _print(answer: SparqlAnswer, form: SparqlFormat | None, names: Names) -> None:
    if answer.form in ("construct", "describe"):
        typer.echo(answer.serialize(form or "ttl"), nl=False)
    elif form not in (None, "table"):
        text = answer.serialize(str(form))
        typer.echo(text, nl=not text.endswith("\n"))
    elif answer.form == "ask":
        typer.echo("true" if answer else "false")
    else:
        print_table(answer.variables, list(answer), names)

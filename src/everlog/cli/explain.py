"""`everlog explain`: why a fact of a store holds, or why it does not. Nothing is reasoned again."""

from __future__ import annotations

import json
from typing import Annotated, Literal, TypeAlias

import typer

from everlog.cli import options
from everlog.cli.opened_store import opened_store
from everlog.errors import EverlogError
from everlog.knowledge.progress_display import ProgressDisplay

_Format: TypeAlias = Literal["text", "json", "dot", "html"]


def explain(
    store: options.StoreArgument,
    fact: Annotated[
        str,
        typer.Argument(
            metavar="FACT", help="An atom in the rule syntax, with the program's prefixes; it may have variables."
        ),
    ],
    number: Annotated[
        int | None, typer.Argument(metavar="[N]", help="With --all: how many proofs.", min=1, show_default="every one")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show all proofs, or N of them, those of least height first.")
    ] = False,
    depth: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Show no more than N rules on top of each other.")
    ] = None,
    paths: Annotated[
        bool, typer.Option("--paths/--no-paths", help="Show paths of transitive relations and the like as one step.")
    ] = True,
    version: options.VersionOption = None,
    form: Annotated[_Format, typer.Option("--format", help="How to print it; dot is for Graphviz.")] = "text",
    seconds: Annotated[
        float, typer.Option(min=0.0, metavar="S", help="End the search after S seconds, with what was found.")
    ] = 60.0,
    facts: Annotated[
        int, typer.Option(min=1, metavar="N", help="End the search after it has looked at N facts.")
    ] = 1_000_000,
    engine: options.StoredEngineOption = None,
    memory: options.MemoryOption = None,
    master: options.MasterOption = None,
    conf: options.ConfOption = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Show why a fact holds: a proof of least height, from given facts by rules. Nothing is reasoned again.

    Of a pattern with variables the first answer is explained. For a fact that does not hold, the rules that could derive it
    are shown, each with the first of its conditions that fails.
    """
    if number is not None and not every:
        raise EverlogError(f"{number} is how many proofs to show, which goes with --all: --all {number}")
    options.reasoning_options(engine=engine or "auto")
    settings = options.session_conf(conf, memory)
    from everlog.datalog.reader import parse_goal, stored_program
    from everlog.store.versions import Store

    opened = Store.open(store, version)
    manifest = opened.manifest
    parse_goal(fact, stored_program(manifest.program).prefixes)  # before anything else, as it may have a mistake
    with ProgressDisplay() as progress:
        progress.step("opening the store")
        from everlog.explaining.proof_text import proof_lines

        kb = opened_store(store, opened, engine, memory, master, settings, verbose)
        progress.step("explaining")
        wanted: bool | int = every if number is None else number
        found = kb.explain(fact, all=wanted, depth=depth, paths=paths, seconds=seconds, facts=facts)
        first = found.holds
    if form == "json":
        typer.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=1))
    elif form == "dot":
        typer.echo(found.to_dot())
    elif form == "html":
        typer.echo(found.to_html())
    elif not first or not every:
        typer.echo(str(found))
    else:
        if found.answers > 1:
            typer.echo(f"(the first of {found.answers:,} facts that match)")
        for place, proof in enumerate(found.proofs, 1):  # each when it is found
            typer.echo(f"{'' if place == 1 else chr(10)}proof {place}")
            typer.echo("\n".join(proof_lines(proof, found.prefixes)))
        if not found.is_least():
            typer.echo("(a limit has ended the search: there may be more)")

"""`everlog query`: the answers to a goal in a store, as of what was materialised.

A store is read into memory straight from its files, so Spark is not started. Only where the facts do not fit into memory,
or Spark is asked for, Spark answers.
"""

from __future__ import annotations

from typing import Annotated
from warnings import catch_warnings, simplefilter

import typer

from everlog.cli import options
from everlog.cli.answers import AnswerFormat, Names, answers_text, print_table
from everlog.cli.opened_store import opened_store
from everlog.cli.outcome import warn
from everlog.knowledge.progress_display import ProgressDisplay


def query(
    store: options.StoreArgument,
    goal: Annotated[
        str,
        typer.Argument(
            metavar="GOAL", help="Atoms, negations and comparisons in the rule syntax, with the program's prefixes."
        ),
    ],
    form: Annotated[AnswerFormat, typer.Option("--format", help="How to print the answers.")] = "table",
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Print at most N answers, and how many more there are on standard error."
        ),
    ] = None,
    prefixes: Annotated[
        bool | None,
        typer.Option(
            "--prefixes/--no-prefixes",
            help="Write IRIs with the prefixes of the program and of its sources: ub:Student.",
            show_default="in tables only",
        ),
    ] = None,
    version: options.VersionOption = None,
    engine: options.StoredEngineOption = None,
    memory: options.MemoryOption = None,
    master: options.MasterOption = None,
    conf: options.ConfOption = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Answer a conjunctive goal. Nothing is reasoned again; Spark is needed only where the facts do not fit into memory.

    The columns are the goal's variables in the order of their first occurrence; rows are distinct and sorted. With --limit
    they are the first ones or, where there are more than 10,000, any.

    A goal without variables prints true or false.
    """
    options.reasoning_options(engine=engine or "auto")
    settings = options.session_conf(conf, memory)
    from everlog.datalog.reader import parse_goal, stored_program
    from everlog.store.versions import Store

    opened = Store.open(store, version)
    manifest = opened.manifest
    known = stored_program(manifest.program).prefixes
    parse_goal(goal, known)  # before anything else, as it may have a mistake
    names = Names(known) if (form == "table" if prefixes is None else prefixes) else None
    with ProgressDisplay() as progress:
        progress.step("opening the store")
        kb = opened_store(store, opened, engine, memory, master, settings, verbose)
        progress.step("answering")
        with catch_warnings(record=True) as suspected:
            simplefilter("always")
            found, number = kb.first_answers(goal, limit)
    warn([str(one.message) for one in suspected])
    if found.variables and form == "table":
        print_table(found.variables, found, names, number)
    else:
        typer.echo(answers_text(found.variables, found, form, names))
    if number > len(found):
        typer.echo(f"… {number - len(found):,} more", err=True)

"""`everlog query`: the answers to a goal in a store, as of what was materialised."""

from __future__ import annotations

from typing import Annotated

import typer

from everlog.cli.answers import AnswerFormat, answers_text, goal_variables, print_table
from everlog.cli.options import (
    ConfOption,
    MasterOption,
    MemoryOption,
    StoreArgument,
    VerboseOption,
    session_conf,
    started_session,
)
from everlog.cli.progress import Progress


def query(
    store: StoreArgument,
    goal: Annotated[
        str,
        typer.Argument(
            metavar="GOAL", help="Atoms, negations and comparisons in the rule syntax, with the program's prefixes."
        ),
    ],
    form: Annotated[AnswerFormat, typer.Option("--format", help="How to print the answers.")] = "table",
    memory: MemoryOption = None,
    master: MasterOption = None,
    conf: ConfOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Answer a conjunctive goal. Nothing is reasoned again.

    The columns are the goal's variables in the order of their first occurrence; rows are distinct and sorted.

    A goal without variables prints true or false.
    """
    settings = session_conf(conf, memory)
    from everlog.datalog.reader import parse_goal, parse_program
    from everlog.pipeline.store import Store

    manifest = Store.open(store).manifest
    variables = goal_variables(parse_goal(goal, parse_program(manifest.program).prefixes))
    with Progress() as progress:
        progress.step("starting Spark")
        spark = started_session(master, settings, verbose)
        from everlog.pipeline.base import open_store

        progress.step("opening the store")
        kb = open_store(store, version=manifest.version, spark=spark)
        progress.step("answering")
        rows = kb.query(goal)
    if variables and form == "table":
        print_table(variables, rows)
    else:
        typer.echo(answers_text(variables, rows, form))

"""`everlog query`: the answers to a goal in a store, as of what was materialised.

A store is read into memory straight from its files, so Spark is not started; its options are taken, as with the other
commands that a script may give them to, and left alone.
"""

from __future__ import annotations

from typing import Annotated

import typer

from everlog.cli.answers import AnswerFormat, answers_text, goal_variables, print_table
from everlog.cli.options import StoreArgument, VerboseOption, session_conf
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
    verbose: VerboseOption = False,
    memory: Annotated[str | None, typer.Option("--memory", hidden=True)] = None,
    master: Annotated[str | None, typer.Option("--master", hidden=True)] = None,
    conf: Annotated[list[str] | None, typer.Option("--conf", hidden=True)] = None,
) -> None:
    """Answer a conjunctive goal. Nothing is reasoned again, and Spark is not needed.

    The columns are the goal's variables in the order of their first occurrence; rows are distinct and sorted.

    A goal without variables prints true or false.
    """
    session_conf(conf, memory)
    from everlog.datalog.reader import parse_goal, parse_program
    from everlog.pipeline.store import Store

    manifest = Store.open(store).manifest
    variables = goal_variables(parse_goal(goal, parse_program(manifest.program).prefixes))
    with Progress() as progress:
        progress.step("opening the store")
        from everlog.pipeline.base import open_store

        kb = open_store(store, version=manifest.version)
        progress.step("answering")
        rows = kb.query(goal)
    if variables and form == "table":
        print_table(variables, rows)
    else:
        typer.echo(answers_text(variables, rows, form))

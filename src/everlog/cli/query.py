"""`everlog query`: the answers to a goal in a store, as of what was materialised.

A store is read into memory straight from its files, so Spark is not started. Only where the facts do not fit into memory,
or Spark is asked for, Spark answers.
"""

from __future__ import annotations

from typing import Annotated

import typer

from everlog.cli import options
from everlog.cli.answers import AnswerFormat, answers_text, goal_variables, print_table
from everlog.cli.progress import Progress


def query(
    store: options.StoreArgument,
    goal: Annotated[
        str,
        typer.Argument(
            metavar="GOAL", help="Atoms, negations and comparisons in the rule syntax, with the program's prefixes."
        ),
    ],
    form: Annotated[AnswerFormat, typer.Option("--format", help="How to print the answers.")] = "table",
    engine: options.StoredEngineOption = None,
    memory: options.MemoryOption = None,
    master: options.MasterOption = None,
    conf: options.ConfOption = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Answer a conjunctive goal. Nothing is reasoned again; Spark is needed only where the facts do not fit into memory.

    The columns are the goal's variables in the order of their first occurrence; rows are distinct and sorted.

    A goal without variables prints true or false.
    """
    options.reasoning_options(engine=engine or "auto")
    settings = options.session_conf(conf, memory)
    from everlog.datalog.reader import parse_goal, parse_program
    from everlog.knowledge.engine_choice import engine_of
    from everlog.store.versions import Store

    opened = Store.open(store)
    manifest = opened.manifest
    variables = goal_variables(parse_goal(goal, parse_program(manifest.program).prefixes))
    with Progress() as progress:
        progress.step("opening the store")
        from everlog.knowledge.stores import open_store

        spark = None
        if engine_of(opened.path, manifest, engine, memory).name == "spark":
            spark = options.started_session(master, settings, verbose, (store,))
        kb = open_store(store, version=manifest.version, spark=spark, engine=engine, memory=memory)
        progress.step("answering")
        rows = kb.query(goal)
    if variables and form == "table":
        print_table(variables, rows)
    else:
        typer.echo(answers_text(variables, rows, form))

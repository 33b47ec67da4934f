"""`everlog bench`: hands its arguments to the benchmarks, which have a command line of their own."""

from __future__ import annotations

import typer


def bench(context: typer.Context) -> None:
    """Benchmarks: list, run NAME, lubm. `everlog bench --help` says more."""
    from everlog.bench.command import main

    raise typer.Exit(main(context.args))

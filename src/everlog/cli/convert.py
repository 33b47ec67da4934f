"""`everlog convert`: a Soufflé program as a rule file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from everlog.cli import options
from everlog.cli.outcome import INCOMPLETE
from everlog.cli.programs import text_of


def convert(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A Soufflé program (.dl).", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write the rules; on the screen without it.")
    ] = None,
) -> None:
    """Convert the plain part of a Soufflé program to rules, and say how to run them.

    What has no counterpart is listed with its line, stays as a comment, and makes the exit code 4; the rest is written.
    """
    options.check_file("--out", out)
    from everlog.souffle.conversion import convert_souffle
    from everlog.souffle.running import advice

    found = convert_souffle(text_of(file), str(file))
    shown = advice(str(out or file.with_suffix(".dlog")), found.inputs, found.outputs)
    head = "".join(f"// {line}\n" for line in (f"Converted from {file.name}. To run it:", *shown))
    text = f"{head}\n{found.text}"
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
    for one in found.left_out:
        typer.echo(f"everlog: {file}:{one.line}:{one.column}: not converted: {one.what}", err=True)
    if found.differing:
        names = ", ".join(found.differing)
        typer.echo(f"everlog: facts of {names} may be others than Soufflé's, for what was not converted", err=True)
    for line in shown:
        typer.echo(line, err=True)
    if found.left_out:
        raise typer.Exit(INCOMPLETE)

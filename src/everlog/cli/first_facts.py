"""The first facts of some predicates, for people who look at what a program derives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import typer

from everlog.cli.answers import Row, field
from everlog.wording import counted


def print_first(predicates: Iterable[tuple[str, int, Sequence[Row]]]) -> None:
    """Each predicate with the number of its facts and some of these, values as in CSV, in columns."""
    left_out = False
    for name, number, rows in predicates:
        typer.echo(f"\n{name}: {counted(number, 'fact')}")
        for line in _aligned([[field(value) for value in row] for row in rows]):
            typer.echo(f"  {line}")
        if number > len(rows):
            typer.echo(f"  … and {number - len(rows):,} more")
            left_out = True
    if left_out:
        typer.echo("\n--out DIR writes all facts to files")


def _aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Lines with columns that are as wide as their widest fields; the fact of a nullary predicate is `()`."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() or "()"

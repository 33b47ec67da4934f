"""What a command did: a few lines for people, and the JSON of `--stats`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import typer

from everlog.cli.ontologies import shortened
from everlog.cli.outcome import warn
from everlog.knowledge.report import Report
from everlog.wording import counted


def finish(
    verb: str, report: Report, warnings: Sequence[str], started: float, stats: Path | None, page: Path | None = None
) -> None:
    """Says what was done since `started`: all of it in the file of `--stats`, warnings shortened, and a line or two.

    What rules took is shown if they were measured, and written to a page if there is to be one.
    """
    seconds = {**report.seconds, "total": perf_counter() - started}
    report = replace(report, warnings=list(dict.fromkeys(warnings)), seconds=seconds)
    if stats is not None:
        _write(stats, json.dumps(report.stats(), indent=2) + "\n")
    if page is not None and report.profile is not None:
        _write(page, report.profile.page())
    warn(shortened(report.warnings))
    _show(verb, report)
    if report.profile is not None:
        typer.echo(f"\n{report.profile!r}")


def _show(verb: str, report: Report) -> None:
    """One line, such as `materialised 10 facts (4 explicit, 6 derived) in 0.1 s`."""
    explicit, total = report.facts["explicit"], report.facts["total"]
    changed = f", {report.added:,} added, {report.deleted:,} deleted" if verb == "updated" else ""
    typer.echo(
        f"{verb}: {counted(total, 'fact')} ({explicit:,} explicit, {total - explicit:,} derived{changed}) "
        f"in {report.seconds['total']:.1f} s, of which reasoning {report.seconds['reasoning']:.2f} s"
    )
    if report.spark is not None and "jobs" in report.spark:
        shuffled = report.spark["shuffled_bytes"] / 2**20
        jobs, tasks = counted(report.spark["jobs"], "job"), counted(report.spark["tasks"], "task")
        rounds, times = counted(report.rounds, "round"), counted(report.spark["on_driver"], "time")
        typer.echo(
            f"Spark: {jobs} with {tasks}, {shuffled:,.1f} MiB shuffled, in {rounds}; "
            f"rules were applied on the driver {times}"
        )


def _write(path: Path, text: str) -> None:
    """A file, whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)

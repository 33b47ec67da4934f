"""A result as a table for people and as JSON for programs. Times are shown only where the systems agree.

Two ratios, because systems do different things while they load: reasoning over Everlog's reasoning, and load and
reasoning over Everlog's load and reasoning. A system that loads while it reasons has only the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.outcome import SystemRuns
from benchmarks.runner import Result

HEADER = (
    *("system", "facts in", "facts out", "derivations", "load s", "reasoning s", "min–max", "process s", "peak MB"),
    *("ratio", "with load"),
)
NONE = "–"


def as_text(result: Result) -> str:
    """What ran, on what, and the table; or, instead of the table, the disagreement."""
    lines = [_title(result), ""]
    if result.disagreements:
        lines += ["THE SYSTEMS DISAGREE; no times are shown.", *(f"  {line}" for line in result.disagreements)]
        return "\n".join(lines)
    rows = [_row(runs, result) for runs in result.systems]
    if result.estimate is not None:
        rows.append(_estimate_row(result))
    lines += _table([HEADER, *rows])
    notes = [f"{runs.system}: {runs.status}, {runs.last.reason}" for runs in result.systems if runs.status != "ok"]
    notes += [f"{runs.system} times {runs.timed}" for runs in result.systems if runs.status == "ok"]
    if result.estimate is not None:
        notes.append(
            f"souffle (estimate): NOT RUN HERE; {result.estimate.recorded_seconds:g} s recorded elsewhere (compiled, "
            f"two threads) × DuckDB's dag here, {result.estimate.duckdb_dag_seconds:.2f} s, / 6.2 s"
        )
    notes.append("ratio: median reasoning seconds over Everlog's; with load: the same of load and reasoning together;")
    notes.append("above 1, Everlog is faster")
    return "\n".join([*lines, "", *notes])


def _title(result: Result) -> str:
    sizes = ", ".join(f"{name}={value}" for name, value in result.parameters.items())
    facts = ", ".join(f"{predicate} {count:,}" for predicate, count in result.facts.items())
    versions = ", ".join(_described(runs) for runs in result.systems if runs.status == "ok")
    return "\n".join(
        [
            f"{result.request.workload}: {sizes}",
            f"facts in: {facts}",
            f"systems: {versions or 'none'}",
            f"median of {result.request.repeat}, time limit {result.request.timeout:g} s, "
            f"{result.cores} cores, Python {result.python}",
        ]
    )


def _described(runs: SystemRuns) -> str:
    settings = ", ".join(f"{name}={value}" for name, value in runs.last.settings.items())
    return f"{runs.system} {runs.last.version}" + (f" ({settings})" if settings else "")


def _row(runs: SystemRuns, result: Result) -> tuple[str, ...]:
    facts_in = f"{sum(result.facts.values()):,}"
    if runs.status == "timeout":
        spent, peak = f"> {result.request.timeout:g}", f"{runs.peak_bytes / 1e6:.0f}"
        return runs.system, facts_in, "timeout", NONE, NONE, NONE, NONE, spent, peak, NONE, NONE
    if runs.status != "ok":
        return runs.system, facts_in, runs.status, *[NONE] * (len(HEADER) - 3)
    middle, least, greatest = runs.reasoning
    return (
        runs.system,
        facts_in,
        f"{sum(runs.last.facts.values()):,}",
        NONE if runs.last.derivations is None else f"{runs.last.derivations:,}",
        "(inside)" if runs.loads_while_reasoning else f"{runs.load:.3f}",
        f"{middle:.3f}",
        f"{least:.3f}–{greatest:.3f}",
        f"{runs.process:.2f}",
        f"{runs.peak_bytes / 1e6:.0f}",
        NONE if runs.loads_while_reasoning else _ratio(middle, result, with_load=False),
        _ratio(runs.load_and_reasoning, result, with_load=True),
    )


def _estimate_row(result: Result) -> tuple[str, ...]:
    assert result.estimate is not None
    seconds, with_load = result.estimate.seconds, result.estimate.with_load
    ratio = f"≈ {_ratio(seconds, result, with_load)}"
    ratios = (NONE, ratio) if with_load else (ratio, NONE)
    return "souffle (estimate)", *[NONE] * 4, f"≈ {seconds:.2f}", *[NONE] * 3, *ratios


def _ratio(seconds: float, result: Result, with_load: bool) -> str:
    everlog = result.system("everlog")
    if everlog is None or everlog.status != "ok":
        return NONE
    return f"{seconds / (everlog.load_and_reasoning if with_load else everlog.reasoning[0]):.2f}"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]


def as_json(result: Result) -> dict[str, Any]:
    """Everything that was measured, each run by itself."""
    return {
        "workload": result.request.workload,
        "parameters": dict(result.parameters),
        "repeat": result.request.repeat,
        "timeout_seconds": result.request.timeout,
        "cores": result.cores,
        "python": result.python,
        "facts_in": dict(result.facts),
        "disagreements": result.disagreements,
        "systems": [_system_json(runs) for runs in result.systems],
        "souffle_estimate": None
        if result.estimate is None
        else {**asdict(result.estimate), "seconds": result.estimate.seconds},
    }


def _system_json(runs: SystemRuns) -> dict[str, Any]:
    described: dict[str, Any] = {
        "system": runs.system,
        "status": runs.status,
        "timed": runs.timed,
        "runs": [asdict(outcome) for outcome in runs.outcomes],
    }
    if runs.status == "ok":
        middle, least, greatest = runs.reasoning
        described["median"] = {
            "reasoning_seconds": middle,
            "reasoning_seconds_min": least,
            "reasoning_seconds_max": greatest,
            "load_seconds": runs.load,
            "process_seconds": runs.process,
            "peak_bytes": runs.peak_bytes,
        }
    return described

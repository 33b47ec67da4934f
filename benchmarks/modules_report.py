"""The benchmarks `modules` and `complex` as text and as JSON: a table for each row, and how its numbers compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import log
from statistics import linear_regression, median
from typing import Any

from benchmarks.modules import COMPLEX_ROWS, DUCKDB, OFF, ON, ROWS, Measured, Request, Row
from benchmarks.recorded import scaled


def row_text(row: Row) -> str:
    """One row; times are shown only where the systems agree."""
    done = [one for one in row.measured if one.status == "ok"]
    lines = [
        f"{row.name}: {done[0].explicit:,} explicit facts, {done[0].facts:,} of rules' heads" if done else row.name
    ]
    if (on := row.of(ON)) is not None:
        lines.append(f"  modules: {_counted(on.modules)}; {on.state_bytes / 1e6:,.0f} MB kept besides the facts")
    disagreements = row.disagreements()
    if disagreements:
        return "\n".join([*lines, "THE SYSTEMS DISAGREE; no times are shown.", *disagreements])
    whats = list(dict.fromkeys(what for one in done for what in (*one.updates, *one.over) if what != "materialise"))
    table = [("system", "materialise s", *(f"{what} s" for what in whats), "peak MB", "runs")]
    for one in row.measured:
        if one.status != "ok":
            table.append((one.system, one.status, *("" for _ in whats), f"{one.peak_bytes / 1e6:,.0f}", "0"))
            continue
        cells = (_cell(one, what) for what in whats)
        table.append(
            (one.system, f"{one.seconds:.4f}", *cells, f"{one.peak_bytes / 1e6:,.0f}", str(len(one.materialise)))
        )
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    lines += ["  " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in table]
    return "\n".join([*lines, *(f"  {line}" for line in comparisons(row))])


def _cell(one: Measured, what: str) -> str:
    if what in one.updates:
        return f"{median(one.updates[what]):.4f}"
    return f"> {one.over[what]:g}" if what in one.over else "–"


def growth(rows: Sequence[Row]) -> list[str]:
    """How the time grows with the size, over rows that differ in that alone."""
    timed = {row.name: on.seconds for row in rows if (on := row.of(ON)) is not None}
    sizes = {name: subject.size for name, subject in COMPLEX_ROWS.items() if subject.size is not None and name in timed}
    if len(sizes) < 3:
        return []
    exponent, _ = linear_regression(
        [log(size) for size in sizes.values() if size], [log(timed[name]) for name in sizes]
    )
    least, most = min(sizes.values()), max(sizes.values())
    return [f"pc: from n·k = {least:,} to {most:,} the time grows with (n·k)^{exponent:.2f}"]


def _counted(modules: Sequence[str]) -> str:
    kinds: dict[str, int] = {}
    for module in modules:
        kind = module.partition(" ")[0]
        kinds[kind] = kinds.get(kind, 0) + 1
    named = modules if len(modules) <= 3 else [f"{count} {kind}" for kind, count in kinds.items()]
    return ", ".join(named) or "none"


def comparisons(row: Row) -> Iterator[str]:
    """What modules gain, against no modules, against peers, and against starting again."""
    on, off, duckdb = (row.of(system) for system in (ON, OFF, DUCKDB))
    if on is None:
        return
    if off is None:
        off = next((one for one in row.measured if one.system == OFF and one.over), None)
    if off is not None:
        yield from _against(on, off)
    if duckdb is not None:
        yield f"materialise: {duckdb.seconds / on.seconds:,.1f} times as fast as DuckDB"
    for peer, seconds in COMPLEX_ROWS[row.name].recorded.items() if row.name in COMPLEX_ROWS else ():
        yield f"materialise: {seconds / on.seconds:,.1f} times as fast as {peer}, recorded {seconds:g} s"
    recorded = ROWS[row.name].souffle if row.name in ROWS else None
    if recorded is not None and row.duckdb_dag is not None:
        estimate = scaled(recorded, row.duckdb_dag)
        yield (
            f"materialise: {estimate / on.seconds:,.1f} times as fast as Soufflé, estimated at {estimate:.1f} s "
            f"(recorded {recorded:g} s × DuckDB's dag here / there)"
        )
    for what, runs in on.updates.items():
        yield f"{what}: {median(runs) / on.seconds:.2f} times materialising anew"


def _against(on: Measured, off: Measured) -> Iterator[str]:
    for what, seconds in {"materialise": on.materialise, **on.updates}.items():
        runs = off.materialise if what == "materialise" else off.updates.get(what, ())
        if runs:
            yield f"{what}: {median(runs) / median(seconds):,.1f} times as fast as off"
        elif what in off.over:
            yield f"{what}: more than {off.over[what] / median(seconds):,.1f} times as fast as off"


def as_json(request: Request, rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "request": asdict(request),
        "rows": [
            {**asdict(row), "disagreements": row.disagreements(), "comparisons": list(comparisons(row))} for row in rows
        ],
    }

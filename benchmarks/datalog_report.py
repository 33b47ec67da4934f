"""What `script/bench run datalog` measured, as tables in Markdown: reasoning, whole processes, memory, and growth.

Cells of the first two are seconds by the clock, with those of the processors in brackets: on a busy machine the latter
say more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from benchmarks.datalog import Measured, shown
from benchmarks.outcome import SystemRuns

Cell = Callable[[SystemRuns], str]

_GROWN: Final = 1.5
"""If the facts in the end become less than so many times as many, their growth says nothing about times."""


def line_text(one: Measured) -> str:
    """One line for who watches: a row at a size, and what each system took."""
    result = one.result
    if result.disagreements:
        return f"{one.row}, {one.size}: THE SYSTEMS DISAGREE: {' | '.join(result.disagreements)}"
    cells = ", ".join(f"{runs.system} {_reasoning(runs)}" for runs in result.systems)
    return f"{one.row}, {one.size}: {sum(result.facts.values()):,} facts, {_total(one):,} after; {cells}"


def tables(found: Sequence[Measured]) -> str:
    """All tables, and what is not in them with the reason."""
    sure = shown(found)
    parts = [
        _table("Reasoning: seconds by the clock (of the processors)", sure, _reasoning, spread=True),
        _table("The whole process: seconds by the clock (of the processors)", sure, _process),
        _table("Memory at the peak, in megabytes", sure, _memory),
        _growth(sure),
        *_notes(found, sure),
    ]
    return "\n\n".join(parts)


def _systems(found: Sequence[Measured]) -> list[str]:
    return list(dict.fromkeys(runs.system for one in found for runs in one.result.systems))


def _table(title: str, found: Sequence[Measured], cell: Cell, spread: bool = False) -> str:
    systems = _systems(found)
    head = ["row", "facts", "after", *systems, *(["spread", "peers"] if spread else [])]
    lines = [f"**{title}**", "", _line(head), _line(["---"] * len(head))]
    for one in found:
        runs = {each.system: each for each in one.result.systems}
        cells = [cell(runs[system]) if system in runs else "–" for system in systems]
        more = [_spread(runs.get("everlog")), str(len(one.confirmed))] if spread else []
        sizes = [f"{sum(one.result.facts.values()):,}", f"{_total(one):,}"]
        lines.append(_line([f"{one.row}, {one.size}", *sizes, *cells, *more]))
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _total(one: Measured) -> int:
    """Facts of derived predicates in the end."""
    return next((sum(runs.last.facts.values()) for runs in one.result.systems if runs.status == "ok"), 0)


def _reasoning(runs: SystemRuns) -> str:
    return _failed(runs) or f"{_seconds(runs.reasoning[0])}{_brackets(runs.processor)}"


def _process(runs: SystemRuns) -> str:
    return _failed(runs) or f"{_seconds(runs.process)}{_brackets(runs.process_processor)}"


def _memory(runs: SystemRuns) -> str:
    return _failed(runs) or f"{runs.peak_bytes / 1e6:.0f}"


def _failed(runs: SystemRuns) -> str:
    """Why there is no number; nothing if there is one."""
    reasons = {"ok": "", "timeout": f"> {runs.last.process_seconds:.0f}", "not expressible": "cannot say it"}
    return reasons.get(runs.status, runs.status)


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}" if seconds < 0.1 else f"{seconds:.2f}" if seconds < 10 else f"{seconds:.0f}"


def _brackets(seconds: float | None) -> str:
    return "" if seconds is None else f" ({_seconds(seconds)})"


def _spread(runs: SystemRuns | None) -> str:
    if runs is None or runs.status != "ok":
        return "–"
    _, least, greatest = runs.reasoning
    return f"{_seconds(least)}–{_seconds(greatest)}"


def _growth(found: Sequence[Measured]) -> str:
    """The power of the facts in the end with which a system's time grows, from its smallest size to its largest."""
    systems = _systems(found)
    lines = ["**Growth: time as a power of the facts afterwards**", "", _line(["row", *systems])]
    lines.append(_line(["---"] * (1 + len(systems))))
    for row in dict.fromkeys(one.row for one in found):
        cells = [_power([one for one in found if one.row == row], system) for system in systems]
        lines.append(_line([row, *cells]))
    return "\n".join(lines)


def _power(found: Sequence[Measured], system: str) -> str:
    known = [
        (_total(one), runs.processor or runs.reasoning[0])
        for one in found
        for runs in one.result.systems
        if runs.system == system and runs.status == "ok"
    ]
    if len(known) < 2 or known[-1][0] < _GROWN * known[0][0] or not known[0][1]:
        return "–"
    (few, first), (many, last) = known[0], known[-1]
    return f"{math.log(last / first) / math.log(many / few):.2f}"


def _notes(found: Sequence[Measured], sure: Sequence[Measured]) -> Iterator[str]:
    for one in found:
        if one.result.disagreements:
            differing = " | ".join(one.result.disagreements)
            yield f"{one.row}, {one.size}: the systems disagree, so there are no times: {differing}"
    rows = {one.row for one in sure}
    for row in dict.fromkeys(one.row for one in found if one.row not in rows and not one.result.disagreements):
        yield f"{row}: fewer than two peers confirm the smallest size, so there are no times."
    for one in sure:
        estimate = one.result.estimate
        if estimate is not None:
            yield f"{one.row}, {one.size}: Soufflé, recorded and scaled by DuckDB's dag: ≈ {_seconds(estimate.seconds)} s"
    reasons = {
        (one.row, runs.system): runs.last.reason
        for one in found
        for runs in one.result.systems
        if runs.status in ("error", "not expressible")
    }
    if reasons:
        yield "\n".join(f"* {row}, {system}: {reason}" for (row, system), reason in reasons.items())


def as_json(found: Sequence[Measured]) -> list[dict[str, Any]]:
    return [
        {
            "row": one.row,
            "size": one.size,
            "parameters": dict(one.result.parameters),
            "facts_in": dict(one.result.facts),
            "disagreements": one.result.disagreements,
            "systems": {
                runs.system: {"status": runs.status, "runs": [asdict(outcome) for outcome in runs.outcomes]}
                for runs in one.result.systems
            },
        }
        for one in found
    ]

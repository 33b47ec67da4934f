"""The benchmark `updates` as text and as JSON: a table for each row and size, and what they show together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from benchmarks.updates import REMAT, Direction, Measured, Request, Row, interval, summary

_HEADER = (
    *(
        "algorithm",
        "delete s",
        "±",
        "derivations",
        "±",
        "faster",
        "add s",
        "±",
        "derivations",
        "±",
        "faster",
        "samples",
    ),
)


def row_text(row: Row) -> str:
    """One row; times are shown only where the algorithms agree."""
    lines = [f"{row.name}: {row.explicit:,} explicit facts, {row.total:,} in all, peak {row.peak_bytes / 1e6:,.0f} MB"]
    for kept, seconds in row.materialise.items():
        if kept != REMAT:
            size = row.state[kept] / max(1, row.total)
            lines.append(f"  materialised for {kept}: {seconds:.2f} s, {size:.1f} bytes of state per fact")
    disagreements = row.disagreements()
    if disagreements:
        return "\n".join([*lines, "THE ALGORITHMS DISAGREE; no times are shown.", *disagreements])
    for changed in sorted({one.changed for one in row.measured}):
        lines += [f"  {changed:,} facts deleted and added again; median, and half of the 95% interval of the mean"]
        again = restart(row, changed)
        table = [_HEADER, *(_line(one, again) for one in row.measured if one.changed == changed)]
        widths = [max(len(line[column]) for line in table) for column in range(len(_HEADER))]
        lines += [
            "  " + "  ".join(cell.rjust(width) if place else cell.ljust(width) for place, (cell, width) in cells)
            for cells in (enumerate(zip(line, widths, strict=True)) for line in table)
        ]
    return "\n".join(lines)


def _line(one: Measured, again: float | None) -> tuple[str, ...]:
    return (
        one.algorithm,
        *_direction(one.deletion, again),
        *_direction(one.addition, again),
        str(len(one.deletion.seconds)),
    )


def _direction(direction: Direction, again: float | None) -> tuple[str, ...]:
    middle = median(direction.seconds)
    faster = "–" if again is None else f"{again / middle:,.1f}"
    derivations = direction.derivations
    return (
        *(f"{middle:.4f}", f"{interval(direction.seconds):.4f}"),
        *(f"{median(derivations):,.0f}", f"{interval(derivations):,.0f}", faster),
    )


def restart(row: Row, changed: int) -> float | None:
    """Seconds of an update that starts again: explicit facts are entered anew and everything is computed."""
    measured = row.of(REMAT, changed)
    return None if measured is None else median(measured.deletion.seconds)


def conclusions(rows: Sequence[Row]) -> str:
    """What the rows show together."""
    lines = [
        "faster: how many times as fast as an update that starts again: explicit facts are entered, everything is computed"
    ]
    lines += [*_growth(rows), *_slowest(rows), *_fewest(rows), *_auto(rows)]
    return "\n".join(lines)


def _slowest(rows: Sequence[Row]) -> Iterator[str]:
    """The algorithm that gains least, against starting again and against the computing in it alone."""
    for row in rows:
        for changed in sorted({one.changed for one in row.measured}):
            seconds = {
                one.algorithm: median(one.deletion.seconds)
                for one in row.measured
                if one.changed == changed and one.algorithm != REMAT
            }
            again = restart(row, changed)
            if seconds and again is not None:
                last = max(seconds, key=seconds.__getitem__)
                computing = row.materialise[REMAT]
                yield (
                    f"{row.name}, {changed:,} deleted: {last} gains least, {again / seconds[last]:,.1f} times as fast as "
                    f"starting again ({again:.2f} s), {computing / seconds[last]:,.1f} times as fast as the computing "
                    f"in that ({computing:.2f} s)"
                )


def _growth(rows: Sequence[Row]) -> Iterator[str]:
    by_name = {row.name: row for row in rows}
    small, large = by_name.get("lubm"), by_name.get("lubm-large")
    if small is None or large is None:
        return
    for one in large.measured:
        before = small.of(one.algorithm, one.changed)
        if before is not None and one.algorithm != REMAT:
            times = median(one.deletion.seconds) / median(before.deletion.seconds)
            yield (
                f"lubm to lubm-large ({large.explicit / small.explicit:.1f} times the facts), {one.changed:,} deleted, "
                f"{one.algorithm}: {times:.2f} times the time"
            )


def _fewest(rows: Sequence[Row]) -> Iterator[str]:
    """Among the papers' algorithms; what modules do for `auto` is no derivation."""
    for row in rows:
        for changed in sorted({one.changed for one in row.measured}):
            derivations = {
                one.algorithm: median(one.deletion.derivations)
                for one in row.measured
                if one.changed == changed and one.algorithm not in ("auto", REMAT)
            }
            if len(derivations) > 1:
                first = min(derivations, key=derivations.__getitem__)
                yield f"{row.name}, {changed:,} deleted: {first} has the fewest derivations ({derivations[first]:,.0f})"


def _auto(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        for changed in sorted({one.changed for one in row.measured}):
            for way in ("deletion", "addition"):
                seconds = {
                    one.algorithm: median(getattr(one, way).seconds) for one in row.measured if one.changed == changed
                }
                if "auto" in seconds and len(seconds) > 1:
                    best = min((time, name) for name, time in seconds.items() if name != "auto")
                    again = restart(row, changed)
                    against = "" if again is None else f", {seconds['auto'] / again:.2f} times starting again"
                    if again is not None:
                        against += f", {seconds['auto'] / row.materialise[REMAT]:.2f} times the computing in it"
                    yield (
                        f"{row.name}, {way} of {changed:,}: auto takes {seconds['auto'] / best[0]:.2f} times the best "
                        f"({best[1]}){against}"
                    )


def as_json(request: Request, rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "request": asdict(request),
        "rows": [
            {
                **asdict(row),
                "summary": [
                    {
                        "algorithm": one.algorithm,
                        "changed": one.changed,
                        **{
                            way: {
                                "seconds": summary(getattr(one, way).seconds),
                                "derivations": summary(getattr(one, way).derivations),
                            }
                            for way in ("deletion", "addition")
                        },
                    }
                    for one in row.measured
                ],
            }
            for row in rows
        ],
    }

"""`script/bench report`: a page that stands by itself, and the same as Markdown, from records alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from benchmarks.experiments.plots import Plot, plots
from benchmarks.experiments.records import Record, Results
from benchmarks.experiments.tables import tables
from benchmarks.experiments.tables.table import Table, names

_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; font-size: 12px; margin: 0.5rem 0 }
th, td { padding: 0.2rem 0.6rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap }
th { border-bottom: 2px solid #888 }
th:first-child, td:first-child { text-align: left }
.wide { overflow-x: auto }
svg { max-width: 100%; height: auto }
p.note { color: #555; margin-top: 0 }
"""

MISSING: Final = (
    "The data of Claros, ChEMBL, UniProt, Reactome, DBpedia, YAGO, OpenCyc and Familinx, and the programs with names in R, "
    "cannot be had here: the papers' rows on them have no counterpart. Claros_LE is the papers' program over generated "
    "collections; families, concepts and relations are generated, too."
)


def write_report(results: Results, folder: Path) -> tuple[Path, Path]:
    """Writes `report.html` and `report.md`; gives both."""
    records = results.read()
    shown, pictures = tables(records), plots(records)
    folder.mkdir(parents=True, exist_ok=True)
    page, text = folder / "report.html", folder / "report.md"
    page.write_text(html(records, shown, pictures), encoding="utf-8")
    text.write_text(markdown(records, shown), encoding="utf-8")
    return page, text


def html(records: Sequence[Record], shown: Sequence[Table], pictures: Sequence[Plot]) -> str:
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        "<title>Everlog, measured</title>",
    ]
    parts += [f"<style>{_STYLE}</style>", "</head>", "<body>", "<h1>Everlog, measured</h1>"]
    parts += [f"<p>{escape(line)}</p>" for line in _circumstances(records)]
    for picture in pictures:
        parts += ["<figure>", picture.svg, "</figure>"]
    for table in shown:
        parts += [f"<h2>{escape(table.title)}</h2>", '<div class="wide"><table>']
        parts.append(_row(table.header, "th"))
        parts += [_row(row, "td") for row in table.rows]
        parts += ["</table></div>", f'<p class="note">{escape(table.note)}</p>' if table.note else ""]
    return "\n".join([*parts, "</body>", "</html>", ""])


def _row(cells: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def markdown(records: Sequence[Record], shown: Sequence[Table]) -> str:
    lines = ["# Everlog, measured", ""]
    for line in _circumstances(records):
        lines += [line, ""]
    for table in shown:
        lines += [f"## {table.title}", "", _line(table.header), _line(["---", *["---:"] * (len(table.header) - 1)])]
        lines += [_line(row) for row in table.rows]
        lines += ["", *([table.note, ""] if table.note else [])]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _circumstances(records: Sequence[Record]) -> Iterator[str]:
    """When, where and with what; every machine, version and commit that there is a record of."""
    times = sorted(one["at"] for one in records)
    yield f"Measured {times[0][:16].replace('T', ' ')} to {times[-1][:16].replace('T', ' ')} UTC."
    yield f"Experiments: {', '.join(f'{name} ({_scales(records, name)})' for name in names(records, 'experiment'))}."
    for machine in _distinct(records, "machine"):
        memory = machine["memory_bytes"] / 2**30
        yield f"Machine: {machine['processor']}, {machine['cores']} cores, {memory:.0f} GiB, {machine['system']}."
    for versions in _distinct(records, "versions"):
        yield "Versions: " + ", ".join(f"{name} {number}" for name, number in versions.items()) + "."
    commits = dict.fromkeys(one["environment"]["commit"] or "unknown" for one in records)
    yield f"Commit: {', '.join(commits)}."
    yield MISSING


def _scales(records: Sequence[Record], experiment: str) -> str:
    return ", ".join(dict.fromkeys(one["scale"] for one in records if one["experiment"] == experiment))


def _distinct(records: Sequence[Record], part: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for one in records:
        if one["environment"][part] not in found:
            found.append(one["environment"][part])
    return found

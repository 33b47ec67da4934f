"""The main job in one file: data, rules, a store, an update, a query, and why. `script/demo` runs it.

The same from the shell, command by command, is in docs/commands.md.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

import everlog
from benchmarks.generators.universities import write_universities
from everlog.cli.answers import print_table
from everlog.knowledge.progress_display import ProgressDisplay
from everlog.knowledge.stores import init_store, open_store, update_store
from everlog.sources.read_facts import read_paths
from everlog.spark.session import start_session

EXAMPLES = Path(__file__).parent
UNIVERSITIES = 2


def main(folder: Path) -> None:
    program = everlog.parse_program((EXAMPLES / "university.dlog").read_text(encoding="utf-8"), "university.dlog")
    data, store = folder / "data", folder / "university.store"
    done: list[tuple[str, everlog.Report]] = []
    with ProgressDisplay() as progress:
        progress.step("starting Spark")
        spark = start_session()
        progress.step(f"generating {UNIVERSITIES} universities")
        write_universities(spark, UNIVERSITIES, data)
        progress.step("reading facts")
        read = read_paths(spark, [data])
        report = init_store(store, program, read, spark=spark, progress=progress.round, on_step=progress.step)
        done.append(("init", report))
        # Department 0 moves from one university to the other, and its people with it.
        joins, leaves = (read_paths(spark, [EXAMPLES / "merger" / f"{name}.nt"]) for name in ("joins", "leaves"))
        report, _ = update_store(store, joins, leaves, spark=spark, progress=progress.round, on_step=progress.step)
        done.append(("update", report))
        progress.step("opening the store")
        kb = open_store(store, spark=spark)
        goal = "ub:headOf[?who, <http://www.Department0.University0.edu>], ub:memberOf[?who, ?where]"
        answers = kb.query(goal)
        why = kb.explain("ub:memberOf[{}, {}]".format(*answers[-1]))
    show(done)
    print(f"\n{goal}\n")
    print_table(["who", "where"], answers)
    without = len(kb.query("unsupervised(?student, _)"))
    print(f"\nWhy?\n\n{why}")
    print(
        f"\n{without:,} students have no advisor. Version 1 of the store is still there: everlog.open(path, version=1)."
    )


def show(done: list[tuple[str, everlog.Report]]) -> None:
    table = Table(title="What happened", title_justify="left")
    table.add_column("step")
    for name in ("explicit", "total", "added", "deleted", "reasoning", "all"):
        table.add_column(name, justify="right")
    for name, report in done:
        counts = (report.facts["explicit"], report.facts["total"], report.added, report.deleted)
        times = (report.seconds["reasoning"], report.seconds["total"])
        table.add_row(name, *(f"{count:,}" for count in counts), *(f"{time:.2f} s" for time in times))
    Console().print(table)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="everlog-demo-") as place:
        main(Path(place))

"""`script/bench lubm`: universities in LUBM's proportions as N-Triples files, for experiments of any kind."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

from benchmarks.workload import BenchmarkMistake


def write_lubm(universities: int, seed: int, folder: Path, master: str | None = None) -> str:
    """Generates the data into a new folder, which appears when it is whole; says what was written."""
    from benchmarks.generators.universities import write_universities
    from everlog.spark.session import start_session
    from everlog.store.whole_folder import new_folder

    if universities < 1:
        raise BenchmarkMistake("lubm wants --universities 1 or more")
    with new_folder(folder) as place:
        spark = start_session(master=master)
        started = perf_counter()
        place.rmdir()  # Spark makes it
        write_universities(spark, universities, place, seed)
        seconds = perf_counter() - started
        triples, size = measured(place)
    return (
        f"{universities} universities, seed {seed}: {triples:,} triples, {size / 1e6:,.1f} MB in {folder}, "
        f"{seconds:.1f} s ({triples / seconds:,.0f} triples/s)"
    )


def measured(folder: Path) -> tuple[int, int]:
    """How many lines and bytes the N-Triples files of a folder have."""
    lines = size = 0
    for file in folder.glob("*.nt"):
        size += file.stat().st_size
        with file.open("rb") as source:
            while block := source.read(1 << 22):
                lines += block.count(b"\n")
    return lines, size

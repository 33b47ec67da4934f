"""Soufflé, compiled, with two threads; it is on the PATH or absent. The C++ compiler's time is not counted.

A compiled program reads its files as it goes and keeps no facts, so its whole run is the reasoning time.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from typing import Final

from benchmarks.job import Job
from benchmarks.peers.peer import Absent, Measurement, Peer
from benchmarks.peers.stopwatch import Stopwatch
from benchmarks.relational import Relational
from benchmarks.translate import SOUFFLE as DIALECT
from benchmarks.translate import rule_text

THREADS: Final = 2


def _program(work: Relational) -> str:
    lines = []
    for relation in work.relations:
        columns = ", ".join(f"a{position}:number" for position in range(relation.arity))
        lines.append(f".decl {relation.name}({columns})")
        if relation.rows:
            lines.append(f'.input {relation.name}(IO=file, filename="{relation.name}.csv", delimiter=",")')
        if relation.derived:
            lines.append(f".printsize {relation.name}")
    return "\n".join([*lines, *(rule_text(rule, DIALECT) for rule in work.rules), ""])


def _measure(job: Job, options: Mapping[str, str]) -> Measurement:
    compiler = shutil.which("souffle")
    if compiler is None:
        raise Absent("souffle is not on the PATH")
    source, binary = job.folder / "program.dl", job.folder / "program.souffle"
    source.write_text(job.texts["souffle"], encoding="utf-8")
    if not binary.exists():  # a repetition need not compile again
        _output([compiler, "-w", f"-j{THREADS}", "-o", str(binary), str(source)])
    watch = Stopwatch()
    printed = _output([str(binary), f"-j{THREADS}", "-F", str(job.folder / "relations")])
    reasoning = watch.lap()
    version = next((line for line in _output([compiler, "--version"]).splitlines() if "ersion" in line), "unknown")
    return Measurement(
        version=version.split(":")[-1].strip(),
        load_seconds=0.0,
        reasoning_seconds=reasoning.seconds,
        processor_seconds=reasoning.processor,
        facts=job.by_predicate(sizes(printed)),
        settings={"threads": str(THREADS)},
    )


def sizes(printed: str) -> dict[str, int]:
    r"""What `.printsize` printed, by relation.

    >>> sizes("r_reach\t42\n")
    {'r_reach': 42}
    """
    return {name: int(count) for name, count in (line.split() for line in printed.splitlines() if line.strip())}


def _output(command: list[str]) -> str:
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {ran.stderr.strip()[-500:]}")
    return ran.stdout


SOUFFLE = Peer(
    "souffle",
    form="csv",
    timed="the run of the compiled program, from reading its files to the result; compiling it is not counted",
    measure=_measure,
    translate=_program,
    loads_while_reasoning=True,
)

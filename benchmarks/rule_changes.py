"""`script/bench run rules`: an axiom leaves the program of a materialised knowledge base, and comes back.

A row is a program with data. Rules are drawn from a seed; each is deleted and added again, by `change_rules` as users have
it. Beside that, as many explicit facts are deleted and added again as change about as many facts, and everything is
computed anew. Facts are counted before times are shown: whatever was deleted is back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import median
from time import perf_counter
from typing import Any, Final

from benchmarks.updates import lubm
from benchmarks.updates_worker import Samples
from benchmarks.workload import BenchmarkMistake, Instance
from benchmarks.workloads import workload
from everlog import KnowledgeBase, Report
from everlog.datalog.syntax import Program
from everlog.errors import Failure

_RESTARTS: Final = 3

Say = Callable[[str], None]

ROWS: Final[Mapping[str, Callable[[int], Instance]]] = {
    "lubm-extended": lambda scale: lubm("LUBM_LE", max(1, 13 // scale)),
    "claros-extended": lambda scale: workload("claros-extended").instance(collections=max(2, 100 // scale)),
    "uobm": lambda scale: workload("uobm").instance(universities=max(1, 4 // scale)),
    "relations": lambda scale: workload("relations").instance(groups=max(2, 400 // scale)),
}
"""What is changed, at the size of a scale."""


@dataclass(frozen=True)
class Request:
    """Which rows, how many rules of each, and by how much everything is smaller."""

    rows: Sequence[str] = tuple(ROWS)
    repeat: int = 30
    scale: int = 1


@dataclass
class Measured:
    """Seconds, and by how many facts the materialisation changed, one for each sample."""

    seconds: list[float] = field(default_factory=list)
    facts: list[int] = field(default_factory=list)
    again: int = 0
    """How often everything was computed anew."""

    def note(self, begun: float, report: Report) -> int:
        self.seconds.append(perf_counter() - begun)
        self.facts.append(report.added + report.deleted)
        self.again += report.algorithm == "remat"
        return self.facts[-1]

    def text(self, restart: float) -> str:
        middle, most = median(self.seconds), max(self.seconds)
        return (
            f"median {1_000 * middle:.1f} ms ({restart / middle:,.0f} times as fast), most {1_000 * most:.0f} ms "
            f"({most / restart:.2f} times as long), {median(self.facts):,.0f} facts changed, "
            f"{self.again} of {len(self.seconds)} computed anew"
        )


def run_rules(request: Request, say: Say) -> None:
    """Measures, and says some lines for each row as soon as they are known."""
    unknown = set(request.rows) - set(ROWS)
    if unknown or request.repeat < 1 or request.scale < 1:
        raise BenchmarkMistake(f"rows are some of {', '.join(ROWS)}, with 1 rule and scale 1 at the least")
    for row in request.rows:
        say("\n".join(_measured(row, ROWS[row](request.scale), request.repeat)))


def _measured(name: str, instance: Instance, repeat: int) -> list[str]:
    kb = KnowledgeBase(instance.program, engine="memory")
    kb.add(instance.facts)
    total = kb.materialise().facts["total"]
    samples = Samples(instance.facts)
    restart = median(_seconds(lambda: kb.update(algorithm="remat")) for _ in range(_RESTARTS))
    found = {what: Measured() for what in ("rule deleted", "rule added", "facts deleted", "facts added")}
    rules = kb.program.rules
    for number, rule in enumerate(Random(1).sample(rules, min(repeat, len(rules)))):
        program, begun = Program((rule,)), perf_counter()
        report = kb.change_rules(delete=program)
        changed = found["rule deleted"].note(begun, report)
        begun = perf_counter()
        report = kb.change_rules(add=program)
        found["rule added"].note(begun, report)
        sample = samples.of(max(1, changed // 2), seed=number)
        begun = perf_counter()
        report = kb.update(delete=sample)
        found["facts deleted"].note(begun, report)
        begun = perf_counter()
        report = kb.update(add=sample)
        found["facts added"].note(begun, report)
        if report.facts["total"] != total:
            raise Failure(f"{name}: {total:,} facts became {report.facts['total']:,}")
    head = f"{name}: {len(rules):,} rules, {total:,} facts; computing everything anew takes {restart:.2f} s"
    return [head, *(f"  {what}: {one.text(restart)}" for what, one in found.items())]


def _seconds(work: Callable[[], Any]) -> float:
    begun = perf_counter()
    work()
    return perf_counter() - begun

"""`script/bench run rules`: an axiom leaves the program of a materialised knowledge base, and comes back.

A row is a program with data. Rules are drawn from a seed; each is deleted and added again, by `change_rules` as users have
it. Beside that, as many explicit facts are deleted and added again as change about as many facts, and everything is
computed anew. A change that has everything computed anew, be it after trying or at once, is made some more times, in turns
with one that is told not to try: medians tell what is lost by trying, and each time it has to find out again that it does
not pay. Facts are counted before times are shown: whatever was deleted is back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from statistics import median
from time import perf_counter, process_time
from typing import Final, NamedTuple

from benchmarks.updates_worker import Samples
from benchmarks.workload import BenchmarkMistake, Instance
from benchmarks.workloads import workload
from everlog import KnowledgeBase, Report
from everlog.datalog.syntax import Program
from everlog.errors import Failure
from everlog.knowledge.materialisation import Past

_RESTARTS: Final = 3
_TURNS: Final = 5

Say = Callable[[str], None]

ROWS: Final[Mapping[str, Callable[[int], Instance]]] = {
    "lubm-extended": lambda scale: workload("lubm-extended").instance(k=max(1, 13 // scale)),
    "claros-extended": lambda scale: workload("claros-extended").instance(collections=max(2, 100 // scale)),
    "uobm": lambda scale: workload("uobm").instance(universities=max(1, 4 // scale)),
    "relations": lambda scale: workload("relations").instance(groups=max(2, 700 // scale)),
}
"""What is changed, at the size of a scale."""


@dataclass(frozen=True)
class Request:
    """Which rows, how many rules of each, and by how much everything is smaller."""

    rows: Sequence[str] = tuple(ROWS)
    repeat: int = 30
    scale: int = 1


class Times(NamedTuple):
    """Seconds by the clock and of the processor, all threads together."""

    clock: float
    processor: float

    @classmethod
    def now(cls) -> Times:
        return cls(perf_counter(), process_time())

    def since(self, begun: Times) -> Times:
        return Times(self.clock - begun.clock, self.processor - begun.processor)


@dataclass
class Measured:
    """Seconds, and by how many facts the materialisation changed, one for each sample."""

    times: list[Times] = field(default_factory=list)
    facts: list[int] = field(default_factory=list)
    again: int = 0
    """How often everything was computed anew."""
    given_up: list[float] = field(default_factory=list)
    """For each such change how many times as long the processor takes as when everything is computed anew at once."""

    def of(self, work: Callable[[], Report]) -> Report:
        """Does some work and measures it."""
        begun = Times.now()
        report = work()
        self.times.append(Times.now().since(begun))
        self.facts.append(report.added + report.deleted)
        self.again += report.algorithm == "remat"
        return report

    def text(self, restart: Times) -> str:
        clock, processor = (median(one[kind] for one in self.times) for kind in (0, 1))
        lost = ""
        if self.given_up:
            lost = f", {median(self.given_up):.2f} times as long as at once, at most {max(self.given_up):.2f}"
        return (
            f"median {1_000 * clock:.1f} ms, {restart.clock / clock:,.0f} times as fast ({1_000 * processor:.1f} ms of the "
            f"processor, {restart.processor / processor:,.0f} times), {median(self.facts):,.0f} facts changed, "
            f"{self.again} of {len(self.times)} computed anew{lost}"
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
    again = Measured()
    for _ in range(_RESTARTS):
        again.of(lambda: kb.update(algorithm="remat"))
    restart = Times(*(median(one[kind] for one in again.times) for kind in (0, 1)))
    found = {what: Measured() for what in ("rule deleted", "rule added", "facts deleted", "facts added")}
    rules = kb.program.rules
    for number, rule in enumerate(Random(1).sample(rules, min(repeat, len(rules)))):
        program = Program((rule,))
        report = found["rule deleted"].of(partial(kb.change_rules, delete=program))
        sample = samples.of(max(1, (report.added + report.deleted) // 2), seed=number)
        back = found["rule added"].of(partial(kb.change_rules, add=program))
        for what, ratio in _lost(kb, program) if "remat" in (report.algorithm, back.algorithm) else ():
            found[what].given_up.append(ratio)
        found["facts deleted"].of(partial(kb.update, delete=sample))
        report = found["facts added"].of(partial(kb.update, add=sample))
        if report.facts["total"] != total:
            raise Failure(f"{name}: {total:,} facts became {report.facts['total']:,}")
    head = f"{name}: {len(rules):,} rules, {total:,} facts; computing everything anew takes {restart.clock:.2f} s"
    head += f" ({restart.processor:.2f} s of the processor)"
    return [head, *(f"  {what}: {one.text(restart)}" for what, one in found.items())]


def _lost(kb: KnowledgeBase, program: Program) -> list[tuple[str, float]]:
    """How many times as long the processor takes to delete and to add rules as without trying, where that is given up."""
    times: dict[tuple[str, bool], Measured] = {}
    for _ in range(_TURNS):
        for tries in (True, False):
            algorithm = None if tries else "remat"
            delete = partial(kb.change_rules, delete=program, algorithm=algorithm)
            add = partial(kb.change_rules, add=program, algorithm=algorithm)
            for what, change in (("rule deleted", delete), ("rule added", add)):
                _forget(kb)
                times.setdefault((what, tries), Measured()).of(change)

    def seconds(what: str, tries: bool) -> float:
        return median(one.processor for one in times[what, tries].times)

    given_up = [what for what, tries in times if tries and 2 * times[what, True].again > _TURNS]
    return [(what, seconds(what, True) / seconds(what, False)) for what in given_up]


def _forget(kb: KnowledgeBase) -> None:
    """Has a knowledge base forget which changes were given up."""
    known = kb.reasoner.materialisation
    if known is not None:
        known.past = Past()

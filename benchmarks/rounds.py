"""`script/bench run rounds`: what a round costs that derives next to nothing, in memory, by rules alone, by the processor.

Three programs: one rule whose rounds find ten facts each; many rules that find two facts each in every round; and one rule
beside many others of its stratum, which new facts meet and which lack facts of another atom.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Final

from benchmarks.workload import BenchmarkMistake
from everlog import KnowledgeBase
from everlog.errors import Failure

Program = tuple[str, Mapping[str, Sequence[tuple[int, ...]]], int]
"""Rules, facts, and how many facts there are in the end."""

_WIDTH: Final = 10
_STEPS: Final = 20
_RULE: Final = "r(?x, ?z) :- r(?x, ?y), e(?y, ?z) ."


def _lanes(rounds: int) -> dict[str, Sequence[tuple[int, ...]]]:
    """Ten paths side by side, and who is at their beginnings."""
    edges = [(_WIDTH * step + lane, _WIDTH * (step + 1) + lane) for step in range(rounds) for lane in range(_WIDTH)]
    return {"e": edges, "r": [(-1 - lane, lane) for lane in range(_WIDTH)]}


def one_rule(rounds: int) -> Program:
    return _RULE, _lanes(rounds), _WIDTH * (2 * rounds + 1)


def many_rules(rules: int) -> Program:
    """Each has a relation of its own, along the same edges."""
    text = "\n".join(f"p{number}(?x, ?z) :- p{number}(?x, ?y), e(?y, ?z) ." for number in range(rules))
    starts = {f"p{number}": [(0, 0), (1, 1)] for number in range(rules)}
    return text, {"e": [(step, step + 1) for step in range(_STEPS)], **starts}, rules * (2 * _STEPS + 1) + _STEPS


def beside_others(rules: int) -> Program:
    others = (f"p{number}(?x) :- r(?x, ?y), f{number}(?y) . r(?x, ?x) :- p{number}(?x) ." for number in range(rules))
    rounds = 10 * _STEPS
    return "\n".join([_RULE, *others]), _lanes(rounds), _WIDTH * (2 * rounds + 1)


@dataclass(frozen=True)
class Row:
    """A program by its size, and by how many rules the time of a round is divided."""

    made: Callable[[int], Program]
    size: int
    shared: bool
    what: str


ROWS: Final[Mapping[str, Row]] = {
    "one": Row(one_rule, 2_000, False, "a round of one rule and ten facts"),
    "many": Row(many_rules, 400, True, "a round and rule, where each rule finds two facts"),
    "beside": Row(beside_others, 1_000, True, "a round and rule, where one rule of all goes on"),
}


def run_rounds(rows: Sequence[str], repeat: int, say: Callable[[str], None], scale: int = 1) -> None:
    """Measures, and says a line for each row as soon as it is known."""
    unknown = set(rows) - set(ROWS)
    if unknown or repeat < 1 or scale < 1:
        raise BenchmarkMistake(f"rows are some of {', '.join(ROWS)}, with 1 run and scale 1 at the least")
    for name in rows:
        row = ROWS[name]
        size = max(2, row.size // scale)
        _seconds(row.made(2))  # kernels are ready
        found = [1e6 * _seconds(row.made(size)) / (size if row.shared else 1) for _ in range(repeat)]
        say(f"{name}: {median(found):,.1f} µs of the processor for {row.what} ({min(found):,.1f} to {max(found):,.1f})")


def _seconds(program: Program) -> float:
    """What a round takes."""
    text, facts, total = program
    kb = KnowledgeBase(text, engine="memory", modules="off")
    kb.add(facts)
    begun: list[float] = []
    report = kb.materialise(progress=lambda *_: begun.append(process_time()))
    if report.facts["total"] != total:
        raise Failure(f"{report.facts['total']:,} facts, and {total:,} were expected")
    return (begun[-1] - begun[0]) / (len(begun) - 1)

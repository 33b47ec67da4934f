"""All matches of a conjunction as columns of ids: no fact is made of them, and none is looked for among others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from everlog.datalog.syntax import HIDDEN, Atom, Variable
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import MemoryFacts
from everlog.engine.memory.facts.table import Ids
from everlog.engine.memory.joins.conjunction import UNIT, Conjunction
from everlog.engine.memory.joins.join_plan import Call, Sink

_SEEDS = f"{HIDDEN}seeds"


class _Collected:
    """The bindings of a join, block by block."""

    def __init__(self, workers: int, check: Callable[[int], None]) -> None:
        self.instances = [0] * workers
        self.pieces: list[list[Ids]] = [[] for _ in range(workers)]
        self._check = check

    def sink(self, slots: Sequence[int]) -> Sink:
        chosen = list(slots)

        def take(worker: int, block: Ids, n: int) -> bool:
            self.instances[worker] += n
            self.pieces[worker].append(block[chosen, :n])
            self._check(sum(self.instances))
            return False

        return take

    def flush(self) -> None:
        pass


def match_columns(
    engine: MemoryEngine,
    facts: MemoryFacts,
    atoms: Sequence[Atom],
    variables: Sequence[Variable],
    seeds: Mapping[Variable, Ids],
    check: Callable[[int], None],
) -> tuple[int, Ids]:
    """How many matches some atoms have, and the values of all their variables, one match per column of the array.

    Values of variables that are not among the `seeds` are left out. `check` is told how many there are, and may raise.
    """
    views: list[MemoryFacts] = [facts] * len(atoms)
    if seeds:
        known = engine.insert(_SEEDS, np.stack(list(seeds.values())))
        atoms, views = [*atoms, Atom(_SEEDS, tuple(seeds))], [*views, known]
    conjunction = Conjunction(engine, atoms, (), ())
    views.append(engine.insert_nullary(UNIT))
    numbers = [conjunction.numbers[variable] for variable in variables]
    collected = _Collected(engine.workers, check)
    if conjunction.can_match(views):
        small = len(atoms) - 1 if seeds else None
        plan = conjunction.plan(views, None, numbers, small=small, again=True)
        engine.run([Call(plan, views, collected.sink([plan.layout[number] for number in numbers]))], collected)
    pieces = [piece for some in collected.pieces for piece in some]
    return sum(collected.instances), np.concatenate([np.empty((len(numbers), 0), np.int32), *pieces], axis=1)

"""All matches of a conjunction as columns of ids: no fact is made of them, and none is looked for among others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from everlog.datalog.syntax import HIDDEN, Atom, Variable
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import MemoryFacts
from everlog.engine.memory.facts.table import Ids
from everlog.engine.memory.joins.conjunction import UNIT, Conjunction
from everlog.engine.memory.joins.join_plan import Call, JoinPlan, Sink

_SEEDS: Final = f"{HIDDEN}seeds"
_REMEMBERED: Final = 1000
"""So many conjunctions are remembered for one set of facts."""
_LAST_CHANGE: Final = 64
"""After so many uses a plan stays as it is."""


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


class _Prepared:
    """A conjunction that is matched in the same facts again and again, and its plan.

    An index that was made meanwhile may make another order better: so the plan is made anew at the second use, the fourth,
    the eighth, and so on, a few times.
    """

    def __init__(self, engine: MemoryEngine, atoms: Sequence[Atom]) -> None:
        self._engine, self._atoms = engine, atoms
        self.conjunction = Conjunction(engine, atoms, (), ())
        self._plan: JoinPlan | None = None
        self._uses = 0

    def plan(self, views: Sequence[MemoryFacts], needed: Sequence[int], small: int | None) -> JoinPlan | None:
        """None if there is no match, since some atom has no facts."""
        self._uses += 1
        if self._plan is None or (self._uses <= _LAST_CHANGE and self._uses.bit_count() == 1):
            if not self.conjunction.can_match(views):
                return None
            self._plan = self.conjunction.plan(views, None, needed, small=small, again=True)
        return self._plan


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
    if len(atoms) == len(seeds) == 1:
        found = _looked_up(engine, facts, atoms[0], variables, seeds)
        if found is not None:
            check(found.shape[1])
            return found.shape[1], found
    views: list[MemoryFacts] = [facts] * len(atoms)
    if seeds:
        known = engine.insert(_SEEDS, np.stack(list(seeds.values())))
        atoms, views = [*atoms, Atom(_SEEDS, tuple(seeds))], [*views, known]
        prepared = _Prepared(engine, atoms)
    else:
        prepared = _prepared(engine, facts, tuple(atoms))
    views.append(facts if atoms else engine.insert_nullary(UNIT))
    numbers = [prepared.conjunction.numbers[variable] for variable in variables]
    collected = _Collected(engine.workers, check)
    plan = prepared.plan(views, numbers, len(atoms) - 1 if seeds else None)
    if plan is not None:
        engine.run([Call(plan, views, collected.sink([plan.layout[number] for number in numbers]))], collected)
    pieces = [piece for some in collected.pieces for piece in some]
    if len(pieces) == 1:
        return sum(collected.instances), pieces[0]
    return sum(collected.instances), np.concatenate([np.empty((len(numbers), 0), np.int32), *pieces], axis=1)


def is_prepared(engine: MemoryEngine, facts: MemoryFacts, atoms: Sequence[Atom]) -> bool:
    """Whether some atoms were matched in some facts lately: then all their constants are known."""
    return tuple(atoms) in engine.remembered.get(facts, ())


def _prepared(engine: MemoryEngine, facts: MemoryFacts, atoms: tuple[Atom, ...]) -> _Prepared:
    known = engine.remembered.setdefault(facts, {})
    found = known.get(atoms)
    if found is None:
        if len(known) >= _REMEMBERED:
            known.clear()
        found = known[atoms] = _Prepared(engine, atoms)
    assert isinstance(found, _Prepared)
    return found


def _looked_up(
    engine: MemoryEngine, facts: MemoryFacts, atom: Atom, variables: Sequence[Variable], seeds: Mapping[Variable, Ids]
) -> Ids | None:
    """The matches of an atom with known values of a variable, by an index: most steps of a path are no more than that.

    None if the atom's facts are in several tables, or if it has other constants than those that tell the table, or a
    variable twice.
    """
    (seed, values), *_ = seeds.items()
    numbers = {variable: number for number, variable in enumerate(dict.fromkeys(atom.variables()))}
    literal = engine.literal(atom, numbers)
    table = literal.static
    if table is None or table.arity != len(numbers):
        return None
    places = {literal.terms[position]: column for column, position in enumerate(table.positions)}
    if places.keys() != set(numbers.values()):
        return None
    rows = table.index((places[numbers[seed]],)).rows_with(np.unique(values), table.n)
    rows = rows[facts.contains(table, rows)]
    found: Ids = np.stack([table.cols[places[numbers[variable]], rows] for variable in variables])
    return found

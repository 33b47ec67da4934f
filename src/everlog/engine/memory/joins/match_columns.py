"""All matches of a conjunction as columns of ids: no fact is made of them, and none is looked for among others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from everlog.datalog.syntax import HIDDEN, Atom, Variable
from everlog.engine.group_numbers import distinct_numbers
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import MemoryFacts, TableView
from everlog.engine.memory.facts.table import Ids, Table
from everlog.engine.memory.joins.conjunction import UNIT, Conjunction
from everlog.engine.memory.joins.join_plan import Call, Driving, JoinPlan

_SEEDS: Final = f"{HIDDEN}seeds"
_REMEMBERED: Final = 1000
"""So many conjunctions are remembered for one set of facts."""
_NOTHING: Final[dict[object, object]] = {}
_KEPT_ROWS: Final = 1_000
"""So many rows that a plan starts with are kept with it."""
_LAST_CHANGE: Final = 64
"""After so many uses a plan stays as it is."""


class _Enough(Exception):
    """Ends a join of which so many bindings are enough."""


class _Collected:
    """The bindings of a join, block by block, until there are `enough`."""

    def __init__(
        self, workers: int, check: Callable[[int], None], slots: Sequence[int], enough: int | None = None
    ) -> None:
        self.instances = [0] * workers
        self.pieces: list[Ids] = []
        self._check, self._slots, self._enough = check, slots, enough

    def take(self, worker: int, block: Ids, n: int) -> bool:
        """The sink of the join; threads may add to the list at the same time."""
        self.instances[worker] += n
        piece = np.empty((len(self._slots), n), np.int32)
        for row, slot in enumerate(self._slots):  # one by one: NumPy takes longer to begin with all of them
            piece[row] = block[slot, :n]
        self.pieces.append(piece)
        found = sum(self.instances)
        self._check(found)
        if self._enough is not None and found >= self._enough:
            raise _Enough
        return False

    def flush(self) -> None:
        pass

    def matched(self) -> tuple[int, Ids]:
        """How many there are, and all of them."""
        pieces = self.pieces
        if len(pieces) != 1:
            pieces = [np.concatenate([np.empty((len(self._slots), 0), np.int32), *pieces], axis=1)]
        return sum(self.instances), pieces[0]


class _Prepared:
    """A conjunction that is matched in the same facts again and again, and its plan.

    An index that was made meanwhile may make another order better, and the more often it is used, the sooner one pays: so
    the plan is made anew at the second use, the fourth, the eighth, and so on, a few times. What the plan looks at is kept
    with it, as long as that is ranges of rows, and a few rows that it starts with; bits of a mask are for those who need
    them now.
    """

    def __init__(self, engine: MemoryEngine, atoms: Sequence[Atom]) -> None:
        self._engine = engine
        self._conjunction = Conjunction(engine, atoms, (), ())
        self._plan: JoinPlan | None = None
        self._spans: Mapping[tuple[int, Table], TableView] | None = None
        self._driven: Sequence[Driving] | None = None
        self._uses = 0
        self._variables: Sequence[Variable] | None = None
        self._slots: list[int] = []

    def run(
        self,
        views: Sequence[MemoryFacts],
        variables: Sequence[Variable],
        check: Callable[[int], None],
        first: int | None,
        small: int | None = None,
    ) -> tuple[int, Ids]:
        """The matches in some views, the same ones each time; `small` is the place of a view with few facts."""
        self._uses += 1
        numbers, plan = self._conjunction.numbers, self._plan
        if plan is None or (self._uses <= _LAST_CHANGE and self._uses.bit_count() == 1):
            needed = [numbers[variable] for variable in variables]
            plan = self._plan = self._conjunction.plan(views, None, needed, small=small, again=True, uses=self._uses)
            if plan is None:
                return 0, np.empty((len(variables), 0), np.int32)
            self._spans = self._driven = self._variables = None
        if self._variables is not variables:
            self._variables, self._slots = variables, [plan.layout[numbers[variable]] for variable in variables]
        collected = _Collected(self._engine.workers, check, self._slots, first)
        call = Call(plan, views, collected.take, spans=self._spans, driven=self._driven)
        if self._spans is None:
            self._spans = call.spans()
        if self._driven is None and self._spans is not None:
            driven = call.driving()
            if all(rows is not None and len(rows) <= _KEPT_ROWS for _, rows, _, _ in driven):
                self._driven = driven  # an index told them: where there is none yet, looking at rows leads to one
        try:
            self._engine.run([call], collected)
        except _Enough:
            return collected.matched()
        return collected.matched()


def match_columns(
    engine: MemoryEngine,
    facts: MemoryFacts,
    atoms: Sequence[Atom],
    variables: Sequence[Variable],
    seeds: Mapping[Variable, Ids],
    check: Callable[[int], None],
    first: int | None = None,
) -> tuple[int, Ids]:
    """How many matches some atoms have, and the values of all their variables, one match per column of the array.

    Values of variables that are not among the `seeds` are left out. `check` is told how many there are, and may raise.
    If there are more than the `first` so many, these are enough.
    """
    if len(atoms) == len(seeds) == 1:
        found = looked_up(engine, facts, atoms[0], variables, seeds)
        if found is not None:
            check(found.shape[1])
            return found.shape[1], found
    views: list[MemoryFacts] = [facts] * len(atoms)
    if not seeds:
        prepared = _prepared(engine, facts, tuple(atoms))
        return prepared.run([*views, facts if atoms else engine.insert_nullary(UNIT)], variables, check, first)
    known = engine.insert(_SEEDS, np.stack(list(seeds.values())))
    prepared = _Prepared(engine, [*atoms, Atom(_SEEDS, tuple(seeds))])
    return prepared.run([*views, known, facts], variables, check, first, len(atoms))


def matched_again(
    engine: MemoryEngine,
    facts: MemoryFacts,
    atoms: tuple[Atom, ...],
    variables: Sequence[Variable],
    check: Callable[[int], None],
    first: int | None = None,
) -> tuple[int, Ids] | None:
    """The same for atoms that were matched in these facts lately: their constants are known, and no relation is new."""
    found = engine.remembered.get(facts, _NOTHING).get(atoms)
    if not isinstance(found, _Prepared) or not atoms:
        return None
    return found.run([facts] * (len(atoms) + 1), variables, check, first)


def _prepared(engine: MemoryEngine, facts: MemoryFacts, atoms: tuple[Atom, ...]) -> _Prepared:
    known = engine.remembered.setdefault(facts, {})
    found = known.get(atoms)
    if found is None:
        if len(known) >= _REMEMBERED:
            known.clear()
        found = known[atoms] = _Prepared(engine, atoms)
    assert isinstance(found, _Prepared)
    return found


def looked_up(
    engine: MemoryEngine, facts: MemoryFacts, atom: Atom, variables: Sequence[Variable], seeds: Mapping[Variable, Ids]
) -> Ids | None:
    """The matches of an atom with known values of a variable, by an index: most steps of a path are no more than that.

    None if the atom's facts are in several tables, or if it has other constants than those that tell the table, or a
    variable twice. The constants are known.
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
    rows = table.index((places[numbers[seed]],)).rows_with(distinct_numbers(values), table.n)
    rows = rows[facts.contains(table, rows)]
    found: Ids = np.stack([table.cols[places[numbers[variable]], rows] for variable in variables])
    return found

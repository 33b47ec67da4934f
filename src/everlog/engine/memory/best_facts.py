"""The best facts of groups in memory: ids are grouped as arrays, and values ordered as `MIN` and `MAX` order them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import Constant, Rule, Variable
from everlog.engine.algebra import BestFacts, FactSet, Steps
from everlog.engine.best_rows import best_rows, kinds_of
from everlog.engine.memory.dictionary import Ids
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import ComputedFacts, as_memory_facts
from everlog.engine.memory.settled_facts import Settled, settled
from everlog.engine.memory.value_columns import column_of_ids


class MemoryBestFacts(BestFacts):
    """The best facts that one rule chooses."""

    def __init__(self, engine: MemoryEngine, rule: Rule) -> None:
        assert rule.extreme is not None, "a rule that chooses"
        self._engine, self._extreme = engine, rule.extreme
        self._head, (self._candidate,) = rule.head, rule.positive

    def best(self, candidates: FactSet, facts: FactSet) -> ComputedFacts:
        ids = self._columns(candidates, facts)
        values = column_of_ids(self._engine.dictionary, ids[self._extreme.place])
        return self._engine.insert(self._head.predicate, ids[:, best_rows(ids, values, self._extreme)])

    def kinds(self, candidates: FactSet, facts: FactSet) -> frozenset[str]:
        ids = self._columns(candidates, facts)[self._extreme.place]
        return kinds_of(column_of_ids(self._engine.dictionary, ids))

    def settled(self, candidates: FactSet, facts: FactSet, steps: Sequence[Steps]) -> ComputedFacts | None:
        ids, place = self._columns(candidates, facts), self._extreme.place
        (group,) = (at for at, term in enumerate(self._head.terms) if isinstance(term, Variable) and at != place)
        found = settled(self._engine, self._extreme, Settled(ids[group], ids[place]), steps)
        if found is None:
            return None
        rows = np.empty((len(self._head.terms), len(found.groups)), np.int32)
        for at, term in enumerate(self._head.terms):
            rows[at] = self._engine.constant(term.value) if isinstance(term, Constant) else 0
        rows[group], rows[place] = found
        return self._engine.insert(self._head.predicate, rows)

    def _columns(self, candidates: FactSet, facts: FactSet) -> Ids:
        size = len(self._head.terms)
        sets = (candidates, self._candidate), (facts, self._head)
        found: NDArray[np.int32] = np.concatenate(
            [self._engine.columns(as_memory_facts(some), atom.predicate, size) for some, atom in sets], axis=1
        )
        return found

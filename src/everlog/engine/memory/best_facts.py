"""The best facts of groups in memory: ids are grouped as arrays, and values ordered as `MIN` and `MAX` order them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import Atom, Constant, Rule, Variable
from everlog.engine.algebra import BestFacts, FactSet, Forest, Steps
from everlog.engine.best_rows import best_rows, kinds_of
from everlog.engine.both_ways import both_ways
from everlog.engine.memory import tuning
from everlog.engine.memory.dictionary import Ids
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import ComputedFacts, as_memory_facts
from everlog.engine.memory.settled_facts import settled
from everlog.engine.memory.settled_forest import SettledForest
from everlog.engine.memory.step_lists import Ends
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
        return kinds_of(column_of_ids(self._engine.dictionary, ids), self._extreme)

    def settled(
        self, candidates: FactSet, facts: FactSet, steps: Sequence[Steps]
    ) -> tuple[ComputedFacts, MemoryForest | None] | None:
        groups, given = self.given(candidates, facts)
        dictionary = self._engine.dictionary
        found = settled(dictionary, self._extreme, groups, given, self.ends(steps))
        if found is None:
            return None
        forest = SettledForest(dictionary, found, both_ways(steps))
        best, size = self.facts(*forest.values()), len(dictionary)
        sparse = size > max(tuning.UNTHOUGHT_VALUES, tuning.SPARSE_GROUPS * found.steps.used)
        return best, None if sparse else MemoryForest(self, forest)

    def ends(self, steps: Sequence[Steps]) -> list[Ends]:
        """Where steps start and end, and what they add."""
        found = []
        for step in steps:
            terms = step.atom.terms
            ids = self._engine.columns(as_memory_facts(step.facts), step.atom.predicate, len(terms))
            added = np.empty(0, np.int32) if step.added is None else ids[terms.index(step.added)]
            found.append(Ends(ids[terms.index(step.start)], ids[terms.index(step.end)], added))
        return found

    def given(self, candidates: FactSet, facts: FactSet) -> tuple[Ids, Ids]:
        """The groups, of one term, and the values of candidates and facts."""
        ids = self._columns(candidates, facts)
        return ids[self._group], ids[self._extreme.place]

    def facts(self, groups: Ids, values: Ids) -> ComputedFacts:
        """The facts of some groups with some values."""
        return self._engine.insert(self._head.predicate, self._rows(groups, values))

    def touched(self, groups: Ids, atom: Atom) -> ComputedFacts:
        """Groups as facts of an atom, which has the terms of a fact without its value."""
        rows = np.delete(self._rows(groups, groups), self._extreme.place, axis=0)
        return self._engine.insert(atom.predicate, rows)

    @property
    def _group(self) -> int:
        """The place of the one term that groups have."""
        terms = enumerate(self._head.terms)
        (group,) = (at for at, term in terms if isinstance(term, Variable) and at != self._extreme.place)
        return group

    def _rows(self, groups: Ids, values: Ids) -> Ids:
        rows = np.empty((len(self._head.terms), len(groups)), np.int32)
        for at, term in enumerate(self._head.terms):
            rows[at] = self._engine.constant(term.value) if isinstance(term, Constant) else 0
        rows[self._group], rows[self._extreme.place] = groups, values
        return rows

    def _columns(self, candidates: FactSet, facts: FactSet) -> Ids:
        size = len(self._head.terms)
        sets = (candidates, self._candidate), (facts, self._head)
        found: NDArray[np.int32] = np.concatenate(
            [self._engine.columns(as_memory_facts(some), atom.predicate, size) for some, atom in sets], axis=1
        )
        return found


class MemoryForest(Forest):
    """A forest of ids, for the facts of one rule that chooses."""

    def __init__(self, best: MemoryBestFacts, forest: SettledForest) -> None:
        self._best, self._forest = best, forest

    def lost(self, gone: Sequence[Steps], candidates: FactSet, facts: FactSet, groups: Atom) -> ComputedFacts | None:
        given, _ = self._best.given(candidates, facts)
        lost = self._forest.lost(self._best.ends(gone), given)
        return None if lost is None else self._best.touched(lost, groups)

    def resettled(
        self, candidates: FactSet, facts: FactSet, come: Sequence[Steps]
    ) -> tuple[ComputedFacts, ComputedFacts] | None:
        found = self._forest.resettled(*self._best.given(candidates, facts), self._best.ends(come))
        if found is None:
            return None
        had, has = found.old >= 0, found.new >= 0
        return (
            self._best.facts(found.groups[had], found.old[had]),
            self._best.facts(found.groups[has], found.new[has]),
        )

    def nbytes(self) -> int:
        return self._forest.nbytes()

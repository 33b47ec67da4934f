"""seq: what follows what in an order (*Modular*, Algorithms 13–15).

`R(x, y) :- P(x), P(y), x < y, NOT EXISTS z IN (P(z), x < z, z < y)`, with the items `P` in a lower stratum: its facts are
the pairs of neighbours among the items, whatever else `R` has. Items may also have keys, as the paper suggests:
`R(x, y) :- P(x, k), P(y, l), k < l, NOT EXISTS z, m IN (P(z, m), k < m, m < l)`. A change of items is one of neighbours
on both sides of it; the items are sorted anew, which costs far less than the rule.
"""

from __future__ import annotations

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import FactSet, Neighbours, Region
from everlog.reasoning.modules.module import Backbone, Oracle


class Sequence(Backbone):
    """The backbone `X` are facts of `R` from elsewhere; they stay when they are no neighbours."""

    kind = "seq"

    def __init__(self, atom: Atom, item: Atom, X: FactSet, grounded: bool, neighbours: Neighbours) -> None:
        super().__init__(atom, X, grounded)
        self._neighbours = neighbours
        self._items = Region((item,))
        self._P = X

    def begin(self, now: FactSet) -> None:
        self._P = now.within(self._items)

    def stepped(self, now: FactSet, more: FactSet, fewer: FactSet, given: FactSet) -> FactSet:
        self._note(now, given)
        if not more.within(self._items) and not fewer.within(self._items):
            return self._nothing
        return self._neighbours.facts(self._P, now)

    def halted(self, now: FactSet, more: FactSet, fewer: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        if not more.within(self._items) and not fewer.within(self._items):
            return self._nothing
        lost = self._outside(self.X, now.within(self.region))
        # Explicit facts that were neighbours when everything was computed are in no backbone.
        known = self._nothing
        known |= oracle(lost)
        self.X |= known
        lost -= known
        return lost

    def delete(self, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        self.X -= self._gone(Δ, oracle)
        return self._nothing

    def _added(self, before: FactSet, new: FactSet, now: FactSet) -> FactSet:
        return self._nothing

    def _outside(self, X: FactSet, facts: FactSet) -> FactSet:
        lost = self._neighbours.outside(self._P, facts)
        lost -= X
        return lost

    def _around(self, gone: FactSet, now: FactSet, limit: int | None = None) -> FactSet | None:
        raise AssertionError("no fact depends on another one of the relation")

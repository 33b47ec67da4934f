"""seq: what follows what in an order (*Modular*, Algorithms 13–15).

`R(x, y) :- P(x), P(y), x < y, NOT EXISTS z IN (P(z), x < z, z < y)`, with the items `P` in a lower stratum: its facts are
the pairs of neighbours among the items, whatever else `R` has. Items may also have keys, as the paper suggests:
`R(x, y) :- P(x, k), P(y, l), k < l, NOT EXISTS z, m IN (P(z, m), k < m, m < l)`.

It departs from the paper as follows. The sorted list `S^P` is not kept: when items have changed, the engine sorts them
anew, which costs far less than the rule, and all neighbours are compared with what holds, not only those beside items that
came or went. Since all items lie below the stratum, the first call of `Add` and of `Del` is the only one with work to do.
"""

from __future__ import annotations

from dataclasses import replace

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import FactSet, Neighbours, Region
from everlog.reasoning.modules.module import Backbone, Oracle, Update


class Sequence(Backbone):
    """The backbone `X` are facts of `R` from elsewhere; they stay when they are no neighbours. `P` are the items."""

    kind = "seq"

    def __init__(self, atom: Atom, item: Atom, X: FactSet, grounded: bool, neighbours: Neighbours) -> None:
        super().__init__(atom, X, grounded)
        self._neighbours = neighbours
        self._items = Region((item,))
        self.P = X

    def begin(self, update: Update) -> Update:
        """Lines 144 and 157."""
        self.P = update.now.within(self._items)
        return replace(update, more=update.more.within(self._items), fewer=update.fewer.within(self._items))

    def add_first(self, update: Update, now: FactSet, given: FactSet, own: FactSet) -> FactSet:
        """Algorithm 13, lines 145–150."""
        self._note(now, given)
        return self._neighbours.facts(self.P, now) if update.more or update.fewer else self._nothing

    def delete_first(self, update: Update, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        """Algorithm 14, lines 152–158."""
        if not update.more and not update.fewer:
            return self._nothing
        lost = self._outside(self.X, now.within(self.region))
        # Explicit facts that were neighbours when everything was computed are in no backbone.
        known = self._nothing.plus(oracle(lost))
        self.X |= known
        return lost.minus(known)

    def delete(self, update: Update, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        self.X -= self._gone(Δ, oracle)
        return self._nothing

    def _added(self, before: FactSet, new: FactSet, now: FactSet) -> FactSet:
        return self._nothing

    def _outside(self, X: FactSet, facts: FactSet) -> FactSet:
        """Lines 159–161: the facts that are no neighbours, and do not come from elsewhere."""
        return self._neighbours.outside(self.P, facts).minus(X)

    def _around(self, then: FactSet, gone: FactSet, now: FactSet, limit: int | None = None) -> FactSet | None:
        raise AssertionError("no fact depends on another one of the relation")

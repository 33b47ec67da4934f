"""stc: a symmetric and transitive relation (*Modular*, Algorithms 7–9).

Its facts are the pairs of nodes of one connected component. An edge between two components adds the pairs across; when
edges go, a component falls apart into those of the edges that are left, and the pairs across are lost. Components without
such an edge are not touched.

`Add`, `Del` and `Red` are those of `Backbone`. It departs from the paper in what is kept: `X` are the edges from elsewhere
and not the components, which the engine finds anew where it needs them. So lines 86–89 and 97 have no counterpart, and
line 99 closes `X`, which has the facts of `Y` already.
"""

from __future__ import annotations

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import Cliques, FactSet
from everlog.reasoning.modules.module import Backbone


class SymmetricTransitive(Backbone):
    """`R(y, x) :- R(x, y)` and `R(x, z) :- R(x, y), R(y, z)`."""

    kind = "stc"

    def __init__(self, atom: Atom, X: FactSet, grounded: bool, cliques: Cliques) -> None:
        super().__init__(atom, X, grounded)
        self._cliques = cliques

    def _added(self, before: FactSet, new: FactSet, now: FactSet) -> FactSet:
        """Lines 82–90: the pairs across components that new edges make one."""
        return self._cliques.joined(before, new, now)

    def _around(self, then: FactSet, gone: FactSet, now: FactSet, limit: int | None = None) -> FactSet:
        """Lines 93–95: all pairs of the components that lose an edge."""
        return self._cliques.around(self.X, gone, now.within(self.region))

    def _outside(self, X: FactSet, facts: FactSet) -> FactSet:
        """Line 99: the pairs across components."""
        return self._cliques.outside(X, facts)

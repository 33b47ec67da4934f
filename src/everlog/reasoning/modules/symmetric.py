"""stc: a symmetric and transitive relation (*Modular*, Algorithms 7–9).

Its facts are the pairs of nodes of one connected component. An edge between two components adds the pairs across; when
edges go, a component falls apart into those of the edges that are left, and the pairs across are lost. Components without
such an edge are not touched.
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
        return self._cliques.joined(before, new, now)

    def _outside(self, X: FactSet, facts: FactSet) -> FactSet:
        return self._cliques.outside(X, facts)

    def _around(self, gone: FactSet, now: FactSet, limit: int | None = None) -> FactSet:
        return self._cliques.around(self.X, gone, now.within(self.region))

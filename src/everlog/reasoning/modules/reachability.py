"""reach: reachability along a relation of a lower stratum, the chain rule that users write most.

`H(x, z) :- H(x, y), S(y, z)` makes `H` the facts of `X·S*`, where the backbone `X` are the facts of `H` from elsewhere (it
is the regular chain module of *Modular* §9 for the language `H·S*`). The steps are final when the stratum begins.
"""

from __future__ import annotations

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import FactSet, Paths, Region
from everlog.reasoning.modules.module import Module, Oracle


class Reachability(Module):
    """`H(x, z) :- H(x, y), S(y, z)`, or with the step in front."""

    kind = "reach"

    def __init__(self, atom: Atom, step: Atom, X: FactSet, paths: Paths) -> None:
        super().__init__(atom, X, grounded=True)
        self._paths = paths
        self._steps = Region((step,))
        self._T = X

    def begin(self, now: FactSet) -> None:
        self._T = now.within(self._steps)

    def _added(self, new: FactSet, now: FactSet) -> FactSet:
        X = self.X
        X |= new
        self.X = X  # paths are remembered for this very set
        return self._paths.facts(X, self._T, now)

    def stepped(self, now: FactSet, more: FactSet) -> FactSet:
        """What follows from new steps."""
        if not more.within(self._steps):
            return more.within(self._steps)
        return self._paths.facts(self.X, self._T, now)

    def halted(self, now: FactSet, fewer: FactSet, oracle: Oracle) -> FactSet:
        """What is lost with steps that are gone."""
        if not fewer.within(self._steps):
            return fewer.within(self._steps)
        return self._lost(now.within(self.region), oracle)

    def _outside(self, X: FactSet, facts: FactSet) -> FactSet:
        return self._paths.outside(X, self._T, facts)

    def _around(self, gone: FactSet, now: FactSet) -> FactSet:
        raise AssertionError("the planner makes no such module of facts that depend on the relation")

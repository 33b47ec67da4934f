"""B/F^c: B/F with the nonrecursive derivation count of each fact, and no other (*Modular-2019* §4.2).

A fact that still has a nonrecursive derivation is proved by its count; deletion stops there, and so does chaining
backwards, without a look at a rule. The lines are those of FBF (*Revisited*, Algorithm 5) in which no branch is aborted:
`B` stays empty, so that lines 63 and 64 find nothing.
"""

from __future__ import annotations

from everlog.engine.algebra import FactSet
from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning.change import Change
from everlog.reasoning.fbf import FBF
from everlog.reasoning.strategies import never


class BFc(FBF):
    """B/F that needs the nonrecursive counts."""

    def __init__(self, change: Change, stratum: CompiledStratum) -> None:
        super().__init__(change, stratum, never)

    def base(self, facts: FactSet) -> FactSet:
        """Lines 88 and 89 by counts."""
        return self.counted(facts)

    def doomed(self, N: FactSet) -> FactSet:
        """Beside modules, where nothing is proved: those that have no nonrecursive derivation."""
        return N.minus(self.counted(N))

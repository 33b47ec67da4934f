"""DRed^c: DRed with a nonrecursive and a recursive derivation count for each fact (*Modular-2019* §4.2).

Overdeletion stops at facts that still have a nonrecursive derivation, and what comes back afterwards is read off the
recursive counts: overdeletion has taken away every instance with a deleted fact, so a positive count is a proof. The
paper says so in words; the lines are those of DRed (*Revisited*, Algorithm 4), which keep the counts.
"""

from __future__ import annotations

from everlog.engine.algebra import FactSet
from everlog.reasoning.dred import DRed
from everlog.reasoning.kept import NEVER


class DRedc(DRed):
    """DRed that needs both counts."""

    def doomed(self, N: FactSet) -> FactSet:
        """Lines 47 and 49: those that have no nonrecursive derivation."""
        return N.minus(self.counted(N))

    def rederive(self, deleted: FactSet) -> FactSet:
        """Line 42: the deleted facts that have a derivation left, `C_r > 0` or `C_nr > 0`."""
        C_r = self.change.kept.recursive
        assert C_r is not None, "the counts are kept"
        return deleted.common(C_r.between(1, NEVER)).plus(self.counted(deleted))

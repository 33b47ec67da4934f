"""DRed^c: DRed with a nonrecursive and a recursive derivation count for each fact (*Modular-2019* §4.2).

Overdeletion stops at facts that still have a nonrecursive derivation, and what comes back afterwards is read off the
recursive counts: overdeletion has taken away every instance with a deleted fact, so a positive count is a proof. The
paper says so in words; the lines are those of DRed (*Revisited*, Algorithm 4), which keep the counts.
"""

from __future__ import annotations

from everlog.engine.algebra import FactSet
from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning.change import Change
from everlog.reasoning.dred import delete, insert, lost
from everlog.reasoning.kept import NEVER


def dredc(change: Change, stratum: CompiledStratum) -> None:
    """Lines 41–43: finds `D` and `A` of a stratum; needs both counts."""
    with change.phase("overdeletion"):
        deleted = overdelete(change, stratum)  # 41
    with change.phase("one_step_rederivation"):
        R = rederive(change, deleted)  # 42
    with change.phase("insertion"):
        insert(change, stratum, R)  # 43


def counted(change: Change, facts: FactSet) -> FactSet:
    """Those of some facts with `C_nr > 0`: they are explicit or have a nonrecursive derivation."""
    C_nr = change.kept.nonrecursive
    assert C_nr is not None, "the counts are kept"
    return facts.common(C_nr.between(1, NEVER))


def overdelete(change: Change, stratum: CompiledStratum) -> FactSet:
    """Lines 45–51: deletes whatever has lost a derivation and has no nonrecursive one; gives `D ∩ Out^s`."""
    deleted = change.nothing
    N = lost(change, stratum)  # 46
    while Δ := N.minus(counted(change, N)):  # 47, 49
        deleted |= Δ
        N = delete(change, stratum, Δ)  # 50, 51, 48
    return deleted


def rederive(change: Change, deleted: FactSet) -> FactSet:
    """Line 42: the deleted facts that have a derivation left, `C_r > 0` or `C_nr > 0`."""
    C_r = change.kept.recursive
    assert C_r is not None, "the counts are kept"
    return deleted.common(C_r.between(1, NEVER)).plus(counted(change, deleted))

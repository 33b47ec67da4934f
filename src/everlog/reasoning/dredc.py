"""DRed^c: DRed with a nonrecursive and a recursive derivation count for each fact (*Modular-2019* §4.2).

Overdeletion stops at facts that still have a nonrecursive derivation, and what comes back afterwards is read off the
recursive counts: overdeletion has taken away every instance with a deleted fact, so a positive count is a proof.
"""

from __future__ import annotations

from everlog.engine.algebra import FactSet
from everlog.planning.program import CompiledStratum
from everlog.reasoning.change import Change
from everlog.reasoning.kept import NEVER


def dredc(change: Change) -> None:
    """Finds `D` and `A`; needs both counts."""
    C_r = change.kept.recursive
    assert C_r is not None, "the counts are kept"
    for stratum in change.touched():
        with change.phase("overdeletion"):
            deleted = overdelete(change, stratum)
        with change.phase("one_step_rederivation"):
            R = deleted
            R &= C_r.between(1, NEVER)
        change.insert(stratum, R)


def overdelete(change: Change, stratum: CompiledStratum) -> FactSet:
    """Gives `D ∩ Out^s`."""
    C_nr = change.kept.nonrecursive
    assert C_nr is not None, "the counts are kept"
    proved = C_nr.between(1, NEVER)
    deleted = change.nothing
    Δ = change.lost(stratum)
    Δ -= proved
    while Δ:
        deleted |= Δ
        Δ = change.delete(stratum, Δ)
        Δ -= proved
    return deleted

"""DRed^c: DRed with a nonrecursive and a recursive derivation count for each fact (*Modular-2019* §4.2).

Overdeletion stops at facts that still have a nonrecursive derivation, and what comes back afterwards is read off the
recursive counts: overdeletion has taken away every instance with a deleted fact, so a positive count is a proof.
"""

from __future__ import annotations

from functools import partial

from everlog.engine.algebra import FactSet
from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning.change import Change
from everlog.reasoning.kept import NEVER
from everlog.reasoning.modular import update_stratum


def dredc(change: Change) -> None:
    """Finds `D` and `A`; needs both counts."""
    for stratum in change.touched():
        if modules := change.modules.get(stratum.index):
            known = change.counted
            phases = "overdeletion", "one_step_rederivation"
            update_stratum(change, stratum, modules, known, known, partial(rederive, change), phases)
            continue
        with change.phase("overdeletion"):
            deleted = overdelete(change, stratum)
        with change.phase("one_step_rederivation"):
            R = rederive(change, deleted)
        change.insert(stratum, R)


def rederive(change: Change, deleted: FactSet) -> FactSet:
    """The deleted facts that have a derivation left."""
    C_r = change.kept.recursive
    assert C_r is not None, "the counts are kept"
    return deleted.common(C_r.between(1, NEVER)).plus(change.counted(deleted))


def overdelete(change: Change, stratum: CompiledStratum) -> FactSet:
    """Gives `D ∩ Out^s`."""
    deleted = change.nothing
    Δ = change.lost(stratum)
    Δ -= change.counted(Δ)
    while Δ:
        deleted |= Δ
        Δ = change.delete(stratum, Δ)
        Δ -= change.counted(Δ)
    return deleted

"""DRed: delete and rederive (*Revisited*, Algorithm 4).

Set at a time as in the paper, with `D` and `A` disjoint (see `change.py`). Counts of nonrecursive derivations are kept
right where they are kept at all; those of recursive ones too, since overdeletion and insertion meet each instance once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from everlog.engine.algebra import FactSet
from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning.change import Change
from everlog.reasoning.modular import update_stratum
from everlog.reasoning.modules.module import Module


def dred(change: Change) -> None:
    """Finds `D` and `A`."""
    for stratum in change.touched():
        if modules := change.modules.get(stratum.index):
            modular(change, stratum, modules, ("overdeletion", "one_step_rederivation"))
            continue
        with change.phase("overdeletion"):
            overdeleted = overdelete(change, stratum)
        with change.phase("one_step_rederivation"):
            R = rederive(change, stratum, overdeleted)
        change.insert(stratum, R)


def modular(change: Change, stratum: CompiledStratum, modules: Sequence[Module], phases: tuple[str, str]) -> None:
    """The stratum beside modules: nothing is proved before it is deleted."""
    update_stratum(
        change,
        stratum,
        modules,
        partial(change.known, stratum),
        lambda facts: change.nothing,
        partial(rederive, change, stratum),
        phases,
    )


def overdelete(change: Change, stratum: CompiledStratum) -> FactSet:
    """Lines 46–51; gives `D ∩ Out^s`."""
    deleted = change.nothing
    Δ = change.lost(stratum)
    while Δ:
        deleted |= Δ
        Δ = change.delete(stratum, Δ)
    return deleted


def rederive(change: Change, stratum: CompiledStratum, deleted: FactSet) -> FactSet:
    """Line 42: the deleted facts that are explicit, or have a rule instance that survives."""
    return change.derivable(stratum.rules, deleted)

"""B/F^c: B/F with the nonrecursive derivation count of each fact, and no other (*Modular-2019* §4.2).

A fact that still has a nonrecursive derivation is proved by its count; deletion stops there, and so does chaining
backwards, without a look at a rule.
"""

from __future__ import annotations

from functools import partial

from everlog.reasoning.change import Change
from everlog.reasoning.dred import rederive
from everlog.reasoning.fbf import Proofs, delete_unproved
from everlog.reasoning.modular import update_stratum
from everlog.reasoning.strategies import Never


def bfc(change: Change) -> None:
    """Finds `D` and `A`; needs the nonrecursive counts."""
    for stratum in change.touched():
        if modules := change.modules.get(stratum.index):
            # Beside modules nothing is proved by chaining backwards: what they derive is not there to be looked at.
            known = change.counted
            again = partial(rederive, change, stratum)
            update_stratum(change, stratum, modules, known, known, again, ("deletion_propagation", "backward"))
            continue
        delete_unproved(change, stratum, Proofs(change, stratum, Never(), change.counted))
        change.insert(stratum, change.nothing)

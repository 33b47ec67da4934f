"""B/F^c: B/F with the nonrecursive derivation count of each fact, and no other (*Modular-2019* §4.2).

A fact that still has a nonrecursive derivation is proved by its count; deletion stops there, and so does chaining
backwards, without a look at a rule. The lines are those of FBF (*Revisited*, Algorithm 5) in which no branch is aborted:
`B` stays empty, so that lines 63 and 64 find nothing.
"""

from __future__ import annotations

from functools import partial

from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning.change import Change
from everlog.reasoning.dred import insert
from everlog.reasoning.dredc import counted
from everlog.reasoning.fbf import Proofs, delete_unproved
from everlog.reasoning.strategies import Never


def bfc(change: Change, stratum: CompiledStratum) -> None:
    """Lines 61–65: finds `D` and `A` of a stratum; needs the nonrecursive counts."""
    proofs = Proofs(change, stratum, Never(), partial(counted, change))  # 61
    delete_unproved(change, stratum, proofs)  # 62
    with change.phase("insertion"):
        insert(change, stratum, change.nothing)  # 65

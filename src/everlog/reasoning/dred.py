"""DRed: delete and rederive (*Revisited*, Algorithm 4).

Line by line as in the paper, with `D` and `A` disjoint (see `change.py`). Rounds of overdeletion end with line 48, where
the paper's begin with it: nothing of the stratum is in `D` before the first. Derivations are counted on the way where
their counts are kept: overdeletion and insertion meet each instance that goes or comes once.
"""

from __future__ import annotations

from everlog.engine.algebra import FactSet, Rules
from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning.change import Change


def dred(change: Change, stratum: CompiledStratum) -> None:
    """Lines 41–43: finds `D` and `A` of a stratum, where those of all strata below are known."""
    with change.phase("overdeletion"):
        deleted = overdelete(change, stratum)  # 41
    with change.phase("one_step_rederivation"):
        R = derivable(change, stratum.rules, deleted)  # 42
    with change.phase("insertion"):
        insert(change, stratum, R)  # 43


def derivable(change: Change, rules: Rules, facts: FactSet) -> FactSet:
    """Line 42: those of some facts that are explicit after the update or have an instance of some rules that is left."""
    R = facts.common(change.explicit)
    return R.plus(rules.provable(facts.minus(R), change.survivors, change.then_or_now))


def overdelete(change: Change, stratum: CompiledStratum) -> FactSet:
    """Lines 45–51: deletes whatever has lost a derivation; gives `D ∩ Out^s`."""
    deleted = change.nothing
    Δ = lost(change, stratum)  # 46
    while Δ:  # 47, 49
        deleted |= Δ
        Δ = delete(change, stratum, Δ)  # 50, 51, 48
    return deleted


def lost(change: Change, stratum: CompiledStratum) -> FactSet:
    """Line 46: explicit facts that are deleted, and heads of instances that changes below have taken away."""
    Π_nr, Π_r = change.rules(stratum)
    some = [(change.D, change.A)]
    explicit = change.minus.within(stratum.region)
    Π_nr.count(explicit, -1)
    return explicit.plus(Π_nr.fewer(change.I, some=some)).plus(Π_r.fewer(change.I, some=some))


def delete(change: Change, stratum: CompiledStratum, Δ: FactSet) -> FactSet:
    """Lines 50, 51 and 48: deletes `Δ`; gives the heads of the instances that go with it and are not deleted yet."""
    _, Π_r = change.rules(stratum)
    N = Π_r.fewer(change.survivors, change.then_or_now, some=[(Δ, change.nothing)])  # 50
    change.D |= Δ  # 51
    change.round_done(stratum, Δ)
    return N.minus(change.D)  # 48


def insert(change: Change, stratum: CompiledStratum, R: FactSet) -> None:
    """Lines 52–58: adds the facts `R` that come back, the facts that are new, and what follows from both."""
    _, Π_r = change.rules(stratum)
    N = arriving(change, stratum).plus(R)  # 53
    while Δ := N.minus(change.now):  # 54–56
        change.add(Δ)  # 57
        N = Π_r.more(change.now, some=[(Δ, change.nothing)])  # 58
        change.round_done(stratum, Δ)


def arriving(change: Change, stratum: CompiledStratum) -> FactSet:
    """Line 53 without `R`: explicit facts that are added, and heads of instances that changes below have brought."""
    Π_nr, Π_r = change.rules(stratum)
    now, some = change.now, [(change.A, change.D)]
    explicit = change.plus.within(stratum.region)
    Π_nr.count(explicit)
    return explicit.plus(Π_nr.more(now, some=some)).plus(Π_r.more(now, some=some))

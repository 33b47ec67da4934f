"""The framework of *Modular* (Algorithms 2 and 3): modules beside the generic rules of a stratum.

Algorithm 2 is `seminaive.py` with `Added`. Algorithm 3 is here, for strata that have modules: the generic rules are handled
as DRed or DRed^c handle them, and the modules are asked in each round for what follows, or is lost with, what the others
found. `E ∖ E⁻` and nonrecursive derivations are the oracle (Definition 16): both hold whatever happens in the stratum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from everlog.engine.algebra import FactSet
from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning.modules.module import Module, Oracle

if TYPE_CHECKING:
    from everlog.reasoning.change import Change

Modules = Mapping[int, Sequence[Module]]
"""The modules by the index of their stratum."""


class Added:
    """The modules of a stratum while facts are added, with what each derived in the last round."""

    def __init__(self, modules: Sequence[Module], nothing: FactSet, own: Sequence[FactSet] = ()) -> None:
        self.modules = modules
        self._nothing = nothing
        self._own = list(own) or [nothing] * len(modules)

    def begin(self, now: FactSet) -> FactSet:
        """What follows from what is below a stratum, before it has facts of its own."""
        J = self._nothing
        for number, module in enumerate(self.modules):
            module.begin(now)
            found = self._own[number] = module.stepped(now, now, self._nothing, self._nothing)
            J |= found
        return J

    def add(self, now: FactSet, Δ: FactSet) -> FactSet:
        """What follows from `Δ`, which is in `now`, by some module."""
        J = self._nothing
        for number, module in enumerate(self.modules):
            found = self._own[number] = module.add(now, Δ, self._own[number])
            J |= found
        return J


def update_stratum(
    change: Change,
    stratum: CompiledStratum,
    modules: Sequence[Module],
    oracle: Oracle,
    proved: Callable[[FactSet], FactSet],
    rederive: Callable[[FactSet], FactSet],
    phases: tuple[str, str],
) -> None:
    """Algorithm 3 for one stratum.

    Of the facts that lost a derivation, those that are `proved` stay; `rederive` gives the deleted facts that generic
    rules derive in one step.
    """
    for module in modules:
        module.begin(change.now)
    deleted = change.nothing  # what may be derived in another way, which an exact module knows of what it deletes
    with change.phase(phases[0]):
        Δ = change.lost(stratum)
        Δ -= proved(Δ)
        going, sure = Δ, change.nothing
        for module in modules:
            lost = module.halted(change.survivors, change.A, change.D, going, oracle)
            if module.exact:
                sure |= lost
            else:
                Δ |= lost
        while Δ or sure:
            deleted |= Δ
            sure |= Δ  # the larger one, as a rule, which is then changed in place
            Δ, sure = sure, change.nothing
            N = change.delete(stratum, Δ)
            N -= proved(N)
            for module in modules:
                lost = module.delete(change.survivors, Δ, oracle)
                if module.exact:
                    sure |= lost
                else:
                    N |= lost
            Δ = N
            Δ -= change.D
            sure -= change.D
    with change.phase(phases[1]):
        R = rederive(deleted) if deleted else deleted
        own = [module.rederive(deleted) for module in modules]
    R |= change.arriving(stratum)
    N = R
    for number, module in enumerate(modules):
        found = own[number]
        found |= module.stepped(change.now, change.A, change.D, R)
        own[number] = found
        N |= found
    change.follow(stratum, N, Added(modules, change.nothing, own))

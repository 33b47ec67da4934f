"""The framework of *Modular* (Algorithms 2 and 3): modules beside the generic rules of a stratum.

Algorithm 2 is `seminaive.py`, which asks modules through `Added`. Algorithm 3 is here; a stratum without modules is left
to the algorithm of the update. It departs from the paper in these points.

* The generic rules are handled by the algorithm of the update (`dred.py`). They are asked before the modules, and not as
  one of them: what they find out about nonrecursive derivations is the oracle that modules consult.
* `D` and `A` are disjoint (see `change.py`).
* What an *exact* module deletes is not rederived: it knows that nothing else derives it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from everlog.engine.algebra import FactSet
from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning.change import Change
from everlog.reasoning.dred import DRed
from everlog.reasoning.modules.module import Module, Update

Modules = Mapping[int, Sequence[Module]]
"""The modules by the index of their stratum."""

Asked = Sequence[tuple[Module, Update]]
"""The modules of a stratum, with what they are told of an update."""


class Added:
    """The modules of a stratum while facts are added, with what each derived in the last round: its `Δᵏ`."""

    def __init__(self, modules: Sequence[Module], nothing: FactSet, own: Sequence[FactSet] = ()) -> None:
        self.modules = modules
        self._nothing = nothing
        self._own = list(own) or [nothing] * len(modules)

    def begin(self, now: FactSet) -> FactSet:
        """Lines 11, 12 and 15: what follows from what is below a stratum, before it has facts of its own."""
        J, nothing = self._nothing, self._nothing
        for number, module in enumerate(self.modules):
            update = module.begin(Update(nothing, now, now, nothing))
            found = self._own[number] = module.add_first(update, now, nothing, nothing)
            J |= found
        return J

    def add(self, now: FactSet, Δ: FactSet) -> FactSet:
        """Lines 17, 18 and 15, or 47, 48 and 45: what follows from `Δ`, which is in `now`, by some module."""
        J = self._nothing
        for number, module in enumerate(self.modules):
            found = self._own[number] = module.add(now, Δ, self._own[number])
            J |= found
        return J


def update(algorithm: Callable[[Change, CompiledStratum], DRed], change: Change) -> None:
    """Finds `D` and `A`, stratum by stratum: by an algorithm, or by Algorithm 3 with it where there are modules."""
    for stratum in change.touched():  # 20
        generic = algorithm(change, stratum)
        if modules := change.modules.get(stratum.index):
            update_stratum(change, modules, generic)
        else:
            generic.run()


def update_stratum(change: Change, modules: Sequence[Module], generic: DRed) -> None:
    """Lines 21–23."""
    begun = Update(change.I, change.now, change.A, change.D)
    asked = [(module, module.begin(begun)) for module in modules]
    with change.phase(generic.phases[0]):
        deleted = overdelete(change, generic, asked)  # 21
    with change.phase(generic.phases[1]):
        # Line 22, which is 35–38: the deleted facts that are explicit or that generic rules derive, and those of modules.
        R = generic.rederive(deleted) if deleted else deleted
        own = [module.rederive(update, change.survivors, deleted) for module, update in asked]
    add(change, generic, asked, R, own)  # 23


def overdelete(change: Change, generic: DRed, asked: Asked) -> FactSet:
    """Lines 25–34; gives what is deleted and may be derived in another way, without what exact modules have deleted."""

    def sorted_out(N: FactSet, lost: Sequence[FactSet]) -> tuple[FactSet, FactSet]:
        """What is lost by generic rules and by modules that are not exact, and by those that are."""
        sure = change.nothing
        for (module, _), found in zip(asked, lost, strict=True):
            if module.exact:
                sure |= found
            else:
                N |= found
        return N, sure

    deleted, oracle = change.nothing, generic.oracle
    Δ = generic.doomed(generic.lost())  # 26, 28
    lost = [module.delete_first(update, change.survivors, Δ, oracle) for module, update in asked]  # 27, 28
    Δ, sure = sorted_out(Δ, lost)
    while Δ or sure:  # 29, 32
        deleted |= Δ
        Δ = sure.plus(Δ)  # 31; the exact part is the larger one, as a rule, and takes the other in
        N = generic.doomed(generic.delete(Δ))  # 30, 34
        lost = [module.delete(update, change.survivors, Δ, oracle) for module, update in asked]  # 33, 34
        N, sure = sorted_out(N, lost)
        Δ, sure = N.minus(change.D), sure.minus(change.D)
    return deleted


def add(change: Change, generic: DRed, asked: Asked, R: FactSet, own: list[FactSet]) -> None:
    """Lines 39–48: adds what came back, `R` and what each module has of its `own`, what is new, and what follows."""
    with change.phase("insertion"):
        N = given = R.plus(generic.arriving())  # 40, 42
    for number, (module, update) in enumerate(asked):  # 41, 42
        own[number] |= module.add_first(update, change.now, given, own[number])
        N |= own[number]
    added = Added([module for module, _ in asked], change.nothing, own)
    while Δ := N.minus(change.now):  # 43, 45, 46
        change.add(Δ)  # 44
        with change.phase("insertion"):
            N = generic.following(Δ).plus(added.add(change.now, Δ))  # 47, 48
        change.round_done(generic.stratum, Δ)

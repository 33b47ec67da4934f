"""The rules of a stratum that no module has, as the framework asks for them (*Modular* §5.2).

They are handled as in the algorithm of the update: its lines for lost facts, for deletion, rederivation and insertion,
and the oracle that modules consult (Definition 16). What a module derives has no instances that could be looked at, so
nothing is proved by chaining backwards here: FBF and B/F delete as DRed does.
"""

from __future__ import annotations

from everlog.engine.algebra import FactSet
from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning import dredc
from everlog.reasoning.change import Change
from everlog.reasoning.dred import arriving, delete, derivable, lost

_MANY = 8
"""So many times the explicit facts are many facts."""


class Generic:
    """The generic rules in an update by DRed."""

    phases = "overdeletion", "one_step_rederivation"

    def __init__(self, change: Change, stratum: CompiledStratum) -> None:
        self._change, self._stratum = change, stratum

    def oracle(self, facts: FactSet) -> FactSet:
        """Those of some facts that are explicit or nonrecursively derived after the update, however that is found out."""
        change, rules = self._change, self._stratum.nonrecursive
        if change.kept.nonrecursive is not None:
            return dredc.counted(change, facts)
        if len(facts) <= _MANY * len(change.E):
            return derivable(change, rules, facts)
        # To look at all there is takes less than to ask about each of so many.
        return rules.apply(change.survivors, change.then_or_now).plus(change.explicit).common(facts)

    def delete_first(self) -> FactSet:
        """What is lost with what changed below the stratum, and explicit facts that are deleted."""
        return lost(self._change, self._stratum)

    def delete(self, Δ: FactSet) -> FactSet:
        """Deletes `Δ`; gives what is lost with it."""
        return delete(self._change, self._stratum, Δ)

    def rederive(self, deleted: FactSet) -> FactSet:
        """The deleted facts that are explicit, or that a rule derives in one step."""
        return derivable(self._change, self._stratum.rules, deleted)

    def add_first(self) -> FactSet:
        """What follows from what changed below the stratum, and explicit facts that are added."""
        return arriving(self._change, self._stratum)

    def add(self, Δ: FactSet) -> FactSet:
        """What follows from `Δ`, which is added."""
        _, Π_r = self._change.rules(self._stratum)
        return Π_r.more(self._change.now, some=[(Δ, self._change.nothing)])

    def round_done(self, Δ: FactSet) -> None:
        """Reports a round."""
        self._change.round_done(self._stratum, Δ)


class GenericFBF(Generic):
    """The generic rules in an update by FBF or B/F."""

    phases = "deletion_propagation", "backward"


class GenericBFc(GenericFBF):
    """The generic rules in an update by B/F^c: what has a nonrecursive derivation, by its count, is not deleted."""

    def oracle(self, facts: FactSet) -> FactSet:
        return dredc.counted(self._change, facts)

    def delete_first(self) -> FactSet:
        N = super().delete_first()
        return N.minus(self.oracle(N))

    def delete(self, Δ: FactSet) -> FactSet:
        N = super().delete(Δ)
        return N.minus(self.oracle(N))


class GenericDRedc(GenericBFc):
    """The generic rules in an update by DRed^c: besides, the recursive counts tell what is rederived."""

    phases = Generic.phases

    def rederive(self, deleted: FactSet) -> FactSet:
        return dredc.rederive(self._change, deleted)

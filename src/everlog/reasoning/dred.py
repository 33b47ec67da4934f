"""DRed: delete and rederive (*Revisited*, Algorithm 4); what other algorithms share with it they inherit.

Line by line as in the paper, with `D` and `A` disjoint (see `change.py`). Rounds of overdeletion end with line 48, where
the paper's begin with it: nothing of the stratum is in `D` before the first. Derivations are counted on the way where
their counts are kept: overdeletion and insertion meet each instance that goes or comes once.

Where rules come and go with an update, the stratum's rules are those that stay. All instances of a rule that is gone are
taken away at once, where line 46 looks for those that a change below has taken away, and those of a rule that has come are
added in line 53; what that leads to is found by the other lines.

Where a stratum has modules, `modular.py` asks for the lines one by one, for the rules that no module has (*Modular* §5.2),
and for the oracle that modules consult (Definition 16). What a module derives has no instances that could be looked at, so
nothing is proved by chaining backwards then: FBF and B/F delete as DRed does.
"""

from __future__ import annotations

from everlog.engine.algebra import FactSet, Rules, Some
from everlog.planning.compiled_program import CompiledStratum, RuleParts
from everlog.reasoning.change import Change
from everlog.reasoning.kept import NEVER, Tallied

_MANY = 8
"""So many times the explicit facts are many facts."""


class DRed:
    """The update of one stratum, where `D` and `A` of all strata below are known."""

    phases = "overdeletion", "one_step_rederivation"

    def __init__(self, change: Change, stratum: CompiledStratum) -> None:
        self.change, self.stratum = change, stratum
        self._Π_nr = Tallied(stratum.nonrecursive, change.kept.nonrecursive)
        self._Π_r = Tallied(stratum.recursive, change.kept.recursive)
        self._gone, self._come = self._tallied(stratum.gone), self._tallied(stratum.come)

    def _tallied(self, rules: RuleParts | None) -> tuple[Tallied, Tallied] | None:
        """Recursive and nonrecursive rules that come or go."""
        if rules is None:
            return None
        kept = self.change.kept
        return Tallied(rules.recursive, kept.recursive), Tallied(rules.nonrecursive, kept.nonrecursive)

    def run(self) -> None:
        """Lines 41–43: finds `D` and `A` of the stratum."""
        with self.change.phase(self.phases[0]):
            deleted = self.overdelete()  # 41
        with self.change.phase(self.phases[1]):
            R = self.rederive(deleted)  # 42
        self.insert(R)  # 43

    def overdelete(self) -> FactSet:
        """Lines 45–51: deletes whatever is doomed by a derivation that it has lost; gives `D ∩ Out^s`."""
        deleted = self.change.nothing
        N = self.lost()  # 46
        while Δ := self.doomed(N):  # 47, 49
            deleted |= Δ
            N = self.delete(Δ)  # 50, 51, 48
        return deleted

    def lost(self) -> FactSet:
        """Line 46: explicit facts that are deleted, and heads of instances that changes below have taken away.

        So have rules that are gone.
        """
        change = self.change
        N = self._first(-1, change.minus, change.I, (change.D, change.A))
        for rules in self._gone or ():
            N |= rules.heads(-1, change.I)
        return N

    def doomed(self, N: FactSet) -> FactSet:
        """Those of some facts which have lost a derivation that are deleted, here all."""
        return N

    def delete(self, Δ: FactSet) -> FactSet:
        """Lines 50, 51 and 48: deletes `Δ`; gives the heads of the instances that go with it and are not deleted yet."""
        change = self.change
        N = self._Π_r.heads(-1, change.survivors, change.then_or_now, some=[(Δ, change.nothing)])  # 50
        change.D |= Δ  # 51
        change.round_done(self.stratum, Δ)
        return N.minus(change.D)  # 48

    def rederive(self, deleted: FactSet) -> FactSet:
        """Line 42: the deleted facts that are explicit after the update or have an instance that is left."""
        return self.derivable(self.stratum.rules, deleted)

    def derivable(self, rules: Rules, facts: FactSet) -> FactSet:
        """Those of some facts that are explicit after the update or have an instance of some rules that is left."""
        R = facts.common(self.change.explicit)
        return R.plus(rules.provable(facts.minus(R), self.change.survivors, self.change.then_or_now))

    def insert(self, R: FactSet) -> None:
        """Lines 52–58: adds the facts `R` that come back, the facts that are new, and what follows from both."""
        change = self.change
        with change.phase("insertion"):
            N = self.arriving().plus(R)  # 53
            while Δ := N.minus(change.now):  # 54–56
                change.add(Δ)  # 57
                N = self.following(Δ)  # 58
                change.round_done(self.stratum, Δ)

    def arriving(self) -> FactSet:
        """Line 53 without `R`: explicit facts that are added, and heads of instances that changes below have brought.

        So have new rules.
        """
        change = self.change
        N = self._first(1, change.plus, change.now, (change.A, change.D))
        for rules in self._come or ():
            N |= rules.heads(1, change.now)
        return N

    def following(self, Δ: FactSet) -> FactSet:
        """Line 58: what follows from `Δ`, which was added."""
        N = self._Π_r.heads(1, self.change.now, some=[(Δ, self.change.nothing)])
        if self._come is not None:
            N |= self._come[0].heads(1, self.change.now, some=[(Δ, self.change.nothing)])
        return N

    def _first(self, sign: int, explicit: FactSet, facts: FactSet, changed: Some) -> FactSet:
        """Explicit facts, each of which is a derivation, too, and heads of instances that a change below concerns."""
        explicit = explicit.within(self.stratum.region)
        if self._Π_nr.counts is not None:
            self._Π_nr.counts.add(explicit, sign)
        nonrecursive = self._Π_nr.heads(sign, facts, some=[changed])
        return explicit.plus(nonrecursive).plus(self._Π_r.heads(sign, facts, some=[changed]))

    def counted(self, facts: FactSet) -> FactSet:
        """Those of some facts with `C_nr > 0`, which is kept: they are explicit or have a nonrecursive derivation."""
        C_nr = self.change.kept.nonrecursive
        assert C_nr is not None, "the counts are kept"
        return facts.common(C_nr.between(1, NEVER))

    def oracle(self, facts: FactSet) -> FactSet:
        """Those of some facts that are explicit or nonrecursively derived after the update, however that is found out."""
        change, rules = self.change, self.stratum.nonrecursive
        if change.kept.nonrecursive is not None:
            return self.counted(facts)
        if len(facts) <= _MANY * len(change.E):
            return self.derivable(rules, facts)
        # To look at all there is takes less than to ask about each of so many.
        return rules.apply(change.survivors, change.then_or_now).plus(change.explicit).common(facts)

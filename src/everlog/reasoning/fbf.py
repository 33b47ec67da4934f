"""FBF: forward, backward, forward (*Revisited*, Algorithm 5), set at a time; B/F is FBF that never aborts a branch.

`CHECK` goes down level by level: the facts of a level are checked at once, `SATURATE` runs on them, and what stays
unproved, the *frontier*, is expanded through recursive rules into the next level. A call ends when every fact asked for is
proved or the frontier is empty. A frontier that is left over waits for the next call, since a fact whose premises were not
looked at must not be taken for disproved.

It departs from the paper where that is unsound: when a level is aborted, or a premise turns out to be blocked, all facts
that were checked and not proved are blocked, not only those that the paper's recursion is about to return to; a proof may
run through any of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from everlog.engine.algebra import FactSet
from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning.change import Change
from everlog.reasoning.dred import DRed
from everlog.reasoning.strategies import Effort, Strategy

Seen = Callable[[FactSet], None]
"""Called with the facts that have lost a derivation, and with those that proofs are searched through, before it is."""


class FBF(DRed):
    """The update of one stratum: checked facts `C`, proved `P`, delayed `Y`, blocked `B`."""

    phases = "deletion_propagation", "backward"

    def __init__(
        self, change: Change, stratum: CompiledStratum, strategy: Strategy, seen: Seen = lambda facts: None
    ) -> None:
        super().__init__(change, stratum)
        self._strategy, self._seen = strategy, seen
        self.C = self.P = self.Y = self.B = self._frontier = change.nothing  # 61
        self._before = dict(change.derivations)
        self._expanded = 0

    def run(self) -> None:
        """Lines 61–65: finds `D` and `A` of the stratum."""
        deleted = self.delete_unproved()  # 62
        self.insert(self._unblocked(deleted))  # 63–65

    def _unblocked(self, deleted: FactSet) -> FactSet:
        """Lines 63 and 64: deleted facts that were blocked are back if they are proved; gives those that are rederived."""
        if not self.B:
            return self.B
        change, blocked = self.change, deleted.common(self.B)
        change.D -= blocked & self.P  # 63
        unknown = blocked.minus(self.P)
        if not unknown:
            return unknown
        R = unknown.common(change.explicit | self.Y)  # 64
        with change.phase("backward"):
            return R.plus(self.stratum.rules.provable(unknown.minus(R), change.survivors, change.then_or_now))

    def delete_unproved(self) -> FactSet:
        """Lines 67–76: deletes whatever has lost a derivation and is not proved; gives `D ∩ Out^s`."""
        change, deleted = self.change, self.change.nothing
        with change.phase("deletion_propagation"):
            N = self.lost()  # 68
        while N:  # 69
            self._seen(N)
            self.check(N)  # 71, 72
            Δ = N.minus(self.P)  # 73
            if not Δ:  # 74
                break
            deleted |= Δ
            with change.phase("deletion_propagation"):
                N = self.delete(Δ)  # 75, 76, and what is not in D of line 71
        return deleted

    def base(self, facts: FactSet) -> FactSet:
        """Those of some facts that are explicit or have a nonrecursive instance, after the update of the strata below."""
        return self.derivable(self.stratum.nonrecursive, facts)

    def _spent(self, phase: str) -> int:
        return self.change.derivations.get(phase, 0) - self._before.get(phase, 0)

    def _aborts(self, level: int, asked: FactSet, expected: int = 0) -> bool:
        """`ABORTBRANCH` for a level of facts, where to expand it is expected to take some rule instances."""
        chaining = self._spent("backward") + self._spent("forward")
        return self._strategy(Effort(level, len(asked), chaining, self._spent("deletion_propagation"), expected))

    def check(self, asked: FactSet) -> None:
        """Lines 77–85 for many facts at once: looks for proofs of the facts asked for."""
        change, level = self.change, 0
        facts = asked.minus(self.C)  # 78
        while True:
            if self._aborts(level, asked):  # 79
                self.B |= facts
                self.B |= self.C - self.P
                return
            self._seen(facts)
            self.C |= facts  # 87
            with change.phase("forward"):
                self._saturate(facts)  # 80
            self._frontier |= facts
            self._frontier -= self.P
            if not self._frontier or not asked - self.P:  # 85
                return
            # Each fact of the frontier is taken to have as many instances as those before it had.
            frontier = len(self._frontier)
            if self._aborts(level, asked, frontier * self._spent("backward") // max(self._expanded, 1)):
                self.B |= self.C - self.P
                return
            self._expanded += frontier
            with change.phase("backward"):
                # A fact that is deleted for good is no premise.
                premises = self.stratum.recursive.premises(  # 81, 82
                    self._frontier, change.I - (change.D - self.B), change.then_or_now, self.stratum.region
                )
            if premises & (self.B - self.P):  # 84
                self.B |= self.C - self.P
            facts = premises.minus(self.C)  # 83, 78
            self._frontier = change.nothing
            level += 1

    def _saturate(self, facts: FactSet) -> None:
        """Lines 86–95: proves what follows, within `C`, from those of some facts that hold without recursive rules."""
        change = self.change
        N = facts.common(self.Y)
        N |= self.base(facts.minus(N))  # 88, 89
        while N:  # 90
            Δ = N.common(self.C).minus(self.P)  # 91
            self.Y |= N - self.C
            if not Δ:  # 92
                return
            self.P |= Δ  # 93
            N = self.stratum.recursive.apply(  # 94
                self.P | (self._lower - change.D), change.then_or_now, some=[(Δ, change.nothing)], excluding=self.P
            )

    @cached_property
    def _lower(self) -> FactSet:
        """`I ∖ Out^s`: what recursive rules of the stratum may use besides proved facts."""
        return self.change.I - self.change.I.within(self.stratum.region)

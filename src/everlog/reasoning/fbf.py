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
from functools import partial

from everlog.engine.algebra import FactSet
from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning.change import Change
from everlog.reasoning.dred import modular
from everlog.reasoning.strategies import Effort, Strategy

Base = Callable[[FactSet], FactSet]
"""The facts among some that are explicit or have a nonrecursive instance, after the update of the strata below."""


def fbf(change: Change, strategy: Strategy) -> None:
    """Finds `D` and `A`."""
    explicit = change.E - change.minus
    for stratum in change.touched():
        if modules := change.modules.get(stratum.index):
            modular(change, stratum, modules, ("deletion_propagation", "backward"))
            continue
        proofs = Proofs(change, stratum, strategy, partial(change.derivable, stratum.nonrecursive))
        deleted = delete_unproved(change, stratum, proofs)
        change.insert(stratum, proofs.rederived(deleted, explicit))


def delete_unproved(change: Change, stratum: CompiledStratum, proofs: Proofs) -> FactSet:
    """Lines 67–76; gives `D ∩ Out^s`."""
    deleted = change.nothing
    with change.phase("deletion_propagation"):
        N = change.lost(stratum)
    while N:
        proofs.check(N)
        Δ = N.minus(proofs.P)
        if not Δ:
            break
        deleted |= Δ
        with change.phase("deletion_propagation"):
            N = change.delete(stratum, Δ)
    return deleted


class Proofs:
    """The search for proofs in one stratum: checked facts `C`, proved `P`, delayed `Y`, blocked `B`."""

    def __init__(self, change: Change, stratum: CompiledStratum, strategy: Strategy, base: Base) -> None:
        self._change, self._stratum, self._strategy, self._base = change, stratum, strategy, base
        self.C = self.P = self.Y = self.B = self._frontier = change.nothing
        self._before = dict(change.derivations)
        self._below: FactSet | None = None
        self._expanded = 0

    def _spent(self, phase: str) -> int:
        return self._change.derivations.get(phase, 0) - self._before.get(phase, 0)

    def _aborts(self, level: int, asked: FactSet, expected: int = 0) -> bool:
        chaining = self._spent("backward") + self._spent("forward")
        return self._strategy.aborts(Effort(level, len(asked), chaining, self._spent("deletion_propagation"), expected))

    def check(self, asked: FactSet) -> None:
        """Lines 77–85 for many facts at once."""
        change, level = self._change, 0
        facts = asked.minus(self.C)
        while True:
            if self._aborts(level, asked):
                self.B |= facts
                self.B |= self.C - self.P
                return
            self.C |= facts
            with change.phase("forward"):
                self._saturate(facts)
            self._frontier |= facts
            self._frontier -= self.P
            if not self._frontier or not asked - self.P:
                return
            # Each fact of the frontier is taken to have as many instances as those before it had.
            frontier = len(self._frontier)
            if self._aborts(level, asked, frontier * self._spent("backward") // max(self._expanded, 1)):
                self.B |= self.C - self.P
                return
            self._expanded += frontier
            with change.phase("backward"):
                # Line 81: a fact that is deleted for good is no premise.
                facts = self._stratum.recursive.premises(
                    self._frontier, change.I - (change.D - self.B), change.then_or_now, self._stratum.region
                )
            if facts & (self.B - self.P):
                self.B |= self.C - self.P
            facts -= self.C
            self._frontier = change.nothing
            level += 1

    def _saturate(self, facts: FactSet) -> None:
        """Lines 86–95."""
        change = self._change
        N = facts.common(self.Y)
        N |= self._base(facts.minus(N))
        while N:
            Δ = N.common(self.C).minus(self.P)
            self.Y |= N - self.C
            if not Δ:
                return
            self.P |= Δ
            N = self._stratum.recursive.apply(
                self.P | (self._lower() - change.D), change.then_or_now, some=[(Δ, change.nothing)], excluding=self.P
            )

    def _lower(self) -> FactSet:
        """`I ∖ Out^s`: what recursive rules of the stratum may use besides proved facts."""
        if self._below is None:
            self._below = self._change.I - self._change.I.within(self._stratum.region)
        return self._below

    def rederived(self, deleted: FactSet, explicit: FactSet) -> FactSet:
        """Lines 63 and 64: blocked facts that were deleted and are proved are back; of the others some can be rederived."""
        change = self._change
        blocked = deleted.common(self.B)
        change.D -= blocked & self.P
        unknown = blocked.minus(self.P)
        if not unknown:
            return change.nothing
        R = unknown.common(explicit | self.Y)
        with change.phase("backward"):
            return R.plus(self._stratum.rules.provable(unknown.minus(R), change.survivors, change.then_or_now))

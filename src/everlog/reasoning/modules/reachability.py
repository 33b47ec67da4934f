"""reach: reachability along a relation of a lower stratum, the chain rule that users write most.

`H(x, z) :- H(x, y), S(y, z)` makes `H` the facts of `X·S*`, where the backbone `X` are the facts of `H` from elsewhere. It
is the regular chain module of *Modular* §9 for the language `H·S*`, whose automaton has one state besides the start: its
q-facts `q(u, v)` are the facts `H(u, v)`, so that Algorithms 10–12 become those of `Backbone`, with steps `T` along `S`,
which are final when the stratum begins. The lines beside the code are those of Algorithms 10 and 11. As in
`transitive.py`, a few facts are followed step by step, and where they are many all paths are computed as a whole.
"""

from __future__ import annotations

from everlog.datalog.substitution import pattern
from everlog.datalog.syntax import Atom, Rule
from everlog.engine.algebra import FactSet, Labelled, Matcher, Paths, Region
from everlog.reasoning.modules.module import Along, Oracle, Update, followed


class Reachability(Along):
    """`H(x, z) :- H(x, y), S(y, z)`, or with the step in front."""

    kind = "reach"

    def __init__(self, atom: Atom, step: Atom, rule: Rule, X: FactSet, paths: Paths, matcher: Matcher) -> None:
        super().__init__(atom, X, True, Region((step,)))
        self._paths, self._matcher = paths, matcher
        first, second = rule.positive
        self._from, self._step = (second, first) if pattern(first) == pattern(step) else (first, second)
        self._to = rule.head

    def add_first(self, update: Update, now: FactSet, given: FactSet, own: FactSet) -> FactSet:
        """Algorithm 10 for new steps."""
        self._note(now, given)
        new = update.more
        if not new or not self.X or self.closed is not None:
            return self._nothing
        now = now | own  # what was rederived is about to hold again, and steps lead on from it
        if self._few(new) and (J := self._led_to(self._joined(now, new, now), now)) is not None:  # 111, 112
            return J
        if update.before is None:
            return self._paths.facts(self.X, self.T, now)
        if self._given and update.before[0] is self.X and not update.fewer:
            # Nothing was lost that these facts could bring back, so all that is new is found at once.
            self.X |= self._given
            self._given = self._nothing
        # What followed before and follows now was not lost, or was rederived.
        return self._paths.more(self.X, self.T, update.before, now)

    def _added(self, before: FactSet, new: FactSet, now: FactSet) -> FactSet:
        """Algorithm 10 for new facts of `H`; line 108 has been done."""
        if self._few(new) and (J := self._led_to(new, now)) is not None:
            return J
        return self._paths.more(self.X, self.T, (before, self.T), now)

    def _led_to(self, start: FactSet, now: FactSet) -> FactSet | None:
        """Lines 113–116: what steps lead to from some facts, but for what holds now; None if that is too much."""
        J = followed(start, lambda Q, found: self._joined(Q, self.T, now | found), self._limit())
        return None if J is None else J.minus(now)

    def delete_first(self, update: Update, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        """Algorithm 11 for steps that are gone, and at once for the facts of `H` that are about to go."""
        gone = update.fewer
        if not gone or self.closed is not None:
            return self._nothing
        going, around = self._gone(Δ, oracle), None
        if self._few(gone) and self._few(going):
            start = self._joined(now, gone, self._nothing).plus(going)  # 119–123
            around = self._followed(start, gone, now)
        self.X -= going  # 135
        facts = now.within(self.region) if around is None else around
        if update.before is None:
            return self._outside(self.X, facts)
        return self._paths.fewer(self.X, self.T, update.before, facts)

    def _followed(self, start: FactSet, gone: FactSet, now: FactSet) -> FactSet | None:
        """Lines 124–128: what holds now and steps lead to, those that are gone included; None if that is too much."""
        T = self.T | gone
        found = followed(start, lambda Q, seen: self._joined(Q, T, seen), self._limit())
        return None if found is None else found.common(now)

    def _around(self, then: FactSet, gone: FactSet, now: FactSet, limit: int | None = None) -> FactSet | None:
        return self._followed(gone, self._nothing, now)

    def _joined(self, facts: FactSet, steps: FactSet, excluding: FactSet) -> FactSet:
        """What steps lead to from some facts."""
        literals = [Labelled(self._from, facts), Labelled(self._step, steps)]
        return self._matcher.match(literals).facts(self._to, excluding)

    def _outside(self, X: FactSet, facts: FactSet) -> FactSet:
        return self._paths.outside(X, self.T, facts)

    def _fewer(self, before: FactSet, facts: FactSet) -> FactSet:
        return self._paths.fewer(self.X, self.T, (before, self.T), facts)

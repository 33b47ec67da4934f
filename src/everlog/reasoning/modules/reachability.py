"""reach: reachability along a relation of a lower stratum, the chain rule that users write most.

`H(x, z) :- H(x, y), S(y, z)` makes `H` the facts of `X·S*`, where the backbone `X` are the facts of `H` from elsewhere (it
is the regular chain module of *Modular* §9 for the language `H·S*`). The steps are final when the stratum begins.
"""

from __future__ import annotations

from everlog.datalog.substitution import pattern
from everlog.datalog.syntax import Atom, Rule
from everlog.engine.algebra import FactSet, Labelled, Matcher, Paths, Region
from everlog.reasoning.modules.module import Along, Oracle, followed


class Reachability(Along):
    """`H(x, z) :- H(x, y), S(y, z)`, or with the step in front."""

    kind = "reach"

    def __init__(self, atom: Atom, step: Atom, rule: Rule, X: FactSet, paths: Paths, matcher: Matcher) -> None:
        super().__init__(atom, X, True, Region((step,)))
        self._paths, self._matcher = paths, matcher
        first, second = rule.positive
        self._from, self._step = (second, first) if pattern(first) == pattern(step) else (first, second)
        self._to = rule.head

    def _added(self, before: FactSet, new: FactSet, now: FactSet) -> FactSet:
        if self._few(new) and (J := self._led_to(new, now)) is not None:
            return J
        return self._paths.more(self.X, self._T, (before, self._T), now)

    def stepped(self, now: FactSet, more: FactSet, fewer: FactSet, given: FactSet) -> FactSet:
        self._note(now, given)
        new = more.within(self._below)
        if not new or not self.X:
            return self._nothing
        now = now | self._back
        if self._few(new):
            J = self._led_to(self._joined(now, new, now), now)
            if J is not None:
                return J
        if self._then is None:
            return self._paths.facts(self.X, self._T, now)
        if self._given and self._then[0] is self.X and not fewer.within(self._below):
            # Nothing was lost that these facts could bring back, so all that is new is found at once.
            self.X |= self._given
            self._given = self._nothing
        # What followed before and follows now was not lost, or was rederived.
        return self._paths.more(self.X, self._T, self._then, now)

    def halted(self, now: FactSet, more: FactSet, fewer: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        gone = fewer.within(self._below)
        if not gone:
            if self._then is not None and not more.within(self._below):
                self._T = self._then[1]  # paths are remembered for this very set
            return gone
        going = self._gone(Δ, oracle)
        around = None
        if self._few(gone) and self._few(going):
            start = self._joined(now, gone, self._nothing)
            start |= going
            around = self._followed(start, gone)
        if around is not None:
            around &= now
        self.X -= going
        facts = now.within(self.region) if around is None else around
        if self._then is None:
            return self._outside(self.X, facts)
        return self._paths.fewer(self.X, self._T, self._then, facts)

    def _led_to(self, start: FactSet, now: FactSet) -> FactSet | None:
        """What steps lead to from some facts, but for what holds now; None if that is too much."""
        J = followed(start, lambda Q, found: self._joined(Q, self._T, now | found), self._limit())
        if J is not None:
            J -= now
        return J

    def _followed(self, start: FactSet, gone: FactSet) -> FactSet | None:
        """What steps lead to from some facts, those that are gone included; None if that is too much."""
        T = self._T | gone
        return followed(start, lambda Q, found: self._joined(Q, T, found), self._limit())

    def _joined(self, facts: FactSet, steps: FactSet, excluding: FactSet) -> FactSet:
        return self._matcher.match([Labelled(self._from, facts), Labelled(self._step, steps)]).facts(
            self._to, excluding
        )

    def _outside(self, X: FactSet, facts: FactSet) -> FactSet:
        return self._paths.outside(X, self._T, facts)

    def _fewer(self, before: FactSet, facts: FactSet) -> FactSet:
        return self._paths.fewer(self.X, self._T, (before, self._T), facts)

    def _around(self, gone: FactSet, now: FactSet, limit: int | None = None) -> FactSet | None:
        found = self._followed(gone, self._nothing)
        if found is not None:
            found &= now
        return found

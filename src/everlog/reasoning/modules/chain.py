"""rch: relations that regular chain rules derive (*Modular*, Algorithms 10–12).

An automaton for each head accepts the words of relations that lead to it, and its facts are the ends of the paths that
spell such a word in the *backbone*: the facts of the stratum that come from elsewhere (`X`), and those of the relations
below it (`T`), which are final when the stratum begins. The paper keeps a fact for each partial match (`I^q`), so that it
can go on from there; here the product of the automata with the graph is searched, as a whole, or from those sources only
from which a path leads through what has changed. That needs no memory, and nothing in it can be out of date: the facts
that Example 31 warns of do not exist.
"""

from __future__ import annotations

from collections.abc import Sequence

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import Chains, FactSet, Region, Rules
from everlog.reasoning.modules.module import Along, Oracle

_TRY = 4
"""Up to one fact for so many of the backbone is found by rules; more takes the product."""


class RegularChains(Along):
    """Rules with some heads; `inside` are the relations of the stratum in them, `below` those of lower ones."""

    kind = "rch"

    def __init__(
        self,
        heads: Sequence[Atom],
        inside: Sequence[Atom],
        below: Sequence[Atom],
        X: FactSet,
        grounded: bool,
        chains: Chains,
        rules: Rules | None,
    ) -> None:
        super().__init__(heads[0], X, grounded, Region(tuple(below)))
        self.heads = tuple(heads)
        self.region = Region(tuple(inside))
        self._chains, self._rules = chains, rules
        self._needed = rules is None
        """Whether the product was searched because rules found too much."""

    def halted(self, now: FactSet, more: FactSet, fewer: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        gone = fewer.within(self._below)
        if not gone:
            if self._then is not None and not more.within(self._below):
                self._T = self._then[1]  # the product is remembered for this very set
            return gone
        held = now.within(self.region)
        if self._then is not None:
            held = self._chains.around(self.X, self._then[1], gone, held)
        return self._deleted(held, oracle)

    def stepped(self, now: FactSet, more: FactSet, fewer: FactSet, given: FactSet) -> FactSet:
        self._note(now, given)
        new = more.within(self._below)
        if not new or not self.X:
            return self._nothing  # no word is spelt by what is below alone
        now = now | self._back
        J = self._tried(new, now)
        if J is None:
            J = self._chains.through(self.X, self._T, new, now)
        if J is None and self._then is not None:
            # What followed before and follows now was not lost, or was rederived.
            return self._chains.more(self.X, self._T, self._then, now)
        return self._chains.facts(self.X, self._T, now) if J is None else J

    def delete(self, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        gone = self._gone(Δ, oracle)
        if not gone:
            return gone
        around = self._around(gone, now)
        self.X -= gone
        return self._deleted(around, oracle)

    def _deleted(self, around: FactSet, oracle: Oracle) -> FactSet:
        """Those of the facts around something that is gone that no longer follow, as far as that is known."""
        if self._grounded:
            return self._outside(self.X, around)
        # Facts of the backbone may be lost later, in a circle: only what is known to hold proves anything.
        known = self._nothing
        known |= oracle(around)
        lost = self._outside(known, around)
        self.X |= known
        return lost

    def _added(self, before: FactSet, new: FactSet, now: FactSet) -> FactSet:
        J = self._tried(new, now)
        if J is None:
            J = self._chains.through(self.X, self._T, new, now)
        return self._chains.more(self.X, self._T, (before, self._T), now) if J is None else J

    def _tried(self, new: FactSet, now: FactSet) -> FactSet | None:
        """What follows from some facts by the rules themselves, round by round; None if that is much.

        The product has an edge for each fact of the backbone and each state that it moves. Where less than a part of that
        follows, the rules find it sooner; where more does, they are given up, and little time is lost.
        """
        if self._rules is None:
            return None
        found, Q, limit = self._nothing, new, (len(self.X) + len(self._T)) // _TRY
        while Q:
            if len(found) > limit:
                self._needed = True
                return None
            Q = self._rules.apply(now | found, some=[(Q, self._nothing)], excluding=now | found)
            found |= Q
        return found

    def pays(self, I: FactSet) -> bool:
        """Whether rules alone were too slow, and most facts are its own and not of the backbone."""
        return self._needed and 2 * len(self.X) <= len(I.within(self.region))

    def _outside(self, X: FactSet, facts: FactSet) -> FactSet:
        return self._chains.outside(X, self._T, facts)

    def _around(self, gone: FactSet, now: FactSet, limit: int | None = None) -> FactSet:
        return self._chains.around(self.X, self._T, gone, now.within(self.region))

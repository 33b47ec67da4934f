"""rch: relations that regular chain rules derive (*Modular*, Algorithms 10–12).

An automaton for each head accepts the words of relations that lead to it, and its facts are the ends of the paths that
spell such a word in the *backbone*: the facts of the stratum that come from elsewhere (`X`), and those of the relations
below it (`T`), which are final when the stratum begins.

It departs from the paper in what is kept. The paper has a fact `q(u, v)` for each partial match, so that it can go on from
there (`I^q`; `Δ^q` and `Z` while it deletes). Here the product of the automata with the graph of the backbone is searched:
as a whole, or from those sources only from which a path leads through what has changed. That needs no memory, and nothing
in it can be out of date: the facts that Example 31 warns of do not exist. The lines become the following.

* `AddEdges` for facts that are new (lines 102–117) is `_led_to`: `through` searches from the sources of the product that
  the facts concern, which lines 107–112 enter, and `more` or `facts` searches all of it (lines 113–116). The ends of
  accepted paths that do not hold yet are line 104. Where little follows, the rules themselves find it sooner (`_tried`).
* Lines 119–128 of `Del` are `around`: the facts from whose first ends a path leads through what is gone. Lines 129–134,
  which ask the oracle, are `delete` of `Backbone`.
* `Red` (lines 137–142) is that of `Backbone`: a deleted fact is back if an accepted path connects its ends.

A change below the stratum is a change of `T`; the first calls of `Add` and `Del` look at it.
"""

from __future__ import annotations

from collections.abc import Sequence

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import Chains, FactSet, Region, Rules
from everlog.reasoning.modules.module import Along, Oracle, Update

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

    def add_first(self, update: Update, now: FactSet, given: FactSet, own: FactSet) -> FactSet:
        """Algorithm 10 for facts below the stratum."""
        self._note(now, given)
        if not update.more or not self.X:
            return self._nothing  # no word is spelt by what is below alone
        # What was rederived is about to hold again. What followed before and follows now was not lost, or is among that.
        return self._led_to(update.more, update.before, now | own)

    def _added(self, before: FactSet, new: FactSet, now: FactSet) -> FactSet:
        """Algorithm 10 for facts of the stratum; line 108 has been done."""
        return self._led_to(new, (before, self.T), now)

    def _led_to(self, new: FactSet, before: tuple[FactSet, FactSet] | None, now: FactSet) -> FactSet:
        """Lines 102–117: what follows from new facts, but for what holds now, as all does that followed from `before`."""
        J = self._tried(new, now)
        if J is None:
            J = self._chains.through(self.X, self.T, new, now)
        if J is not None:
            return J
        if before is None:
            return self._chains.facts(self.X, self.T, now)
        return self._chains.more(self.X, self.T, before, now)

    def _tried(self, new: FactSet, now: FactSet) -> FactSet | None:
        """What follows from some facts by the rules themselves, round by round; None if that is much.

        The product has an edge for each fact of the backbone and each state that it moves. Where less than a part of that
        follows, the rules find it sooner; where more does, they are given up, and little time is lost.
        """
        if self._rules is None:
            return None
        found, Q, limit = self._nothing, new, (len(self.X) + len(self.T)) // _TRY
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

    def delete_first(self, update: Update, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        """Algorithm 11 for facts below the stratum."""
        if not update.fewer:
            return self._nothing
        held = now.within(self.region)
        if update.before is not None:
            _, T = update.before
            held = self._chains.around(self.X, T, update.fewer, held)  # 119–128
        # Lines 129–134: those that no longer follow, as far as is known.
        return self._outside(self.X, held) if self._grounded else self._doubted(held, oracle)

    def _few(self, facts: FactSet) -> bool:
        """What is around them is asked for, however many they are."""
        return True

    def _around(self, then: FactSet, gone: FactSet, now: FactSet, limit: int | None = None) -> FactSet:
        """Lines 119–128."""
        return self._chains.around(self.X, self.T, gone, now.within(self.region))

    def _outside(self, X: FactSet, facts: FactSet) -> FactSet:
        """Line 142: the facts whose ends no accepted path connects."""
        return self._chains.outside(X, self.T, facts)

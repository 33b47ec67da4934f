"""What a module is to the framework (*Modular*, Definition 11): `Add`, `Del` and `Red` over sets of facts.

The first call of `Add` or `Del` in an update is told what has changed below the stratum, the later ones are not; they are
methods of their own here. `now` is what holds by then: `(I ∖ Δ⁻) ∪ Δ⁺` of the paper's `Add` and `Iⁿ ∖ Δ⁻` of its `Del`.

Most modules keep a *backbone* `X`: the facts of their relation that came from elsewhere, explicit ones or those that
other rules derive. What follows from the backbone is the relation. `Backbone` has what Algorithms 4–12 have in common; the
lines in its comments are those of Algorithms 4–6. It departs from the paper in deletion.

* Where nothing that feeds the relation depends on it (the module is *grounded*), `X` has all facts from elsewhere, and what
  is lost is exactly what no longer follows from it. The oracle is asked about the few facts that `X` loses.
* Otherwise a fact of `X` may owe its derivation to a fact that is about to be lost. So all facts around those that are gone
  are lost, but for what follows from facts that an oracle knows to hold; these go into `X` at once, not by way of `Y`.
* A call of `delete` may give less than the lower bound of Table 1: what other rules delete of `X` later is lost later.

A relation that no other rule asks about need not be derived at all, nor one that only rules above ask about which know an
end of each pair. If an engine can tell its facts in less room than they take, the module is *closed*: `I` has the
backbone and no more, the calls of the paper find nothing, and after an update `settle` closes the backbone again. Everybody
else sees `I` together with such closures.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from everlog.datalog.syntax import Atom, Rule
from everlog.engine.algebra import Closed, Closing, FactSet, Region
from everlog.planning.modules.module_rules import Identity

_FEW = 4
"""Up to one fact in so many of the backbone is followed step by step; more is computed as a whole."""

Oracle = Callable[[FactSet], FactSet]
"""Those of some facts that are known to hold after the update (*Modular*, Definition 16)."""


@dataclass(frozen=True)
class Update:
    """What a module is told of an update below its stratum; when everything is computed, all that holds there has come."""

    then: FactSet
    """`I°`: what held before the update."""
    now: FactSet
    """What holds when the stratum begins."""
    more: FactSet
    """What came below the stratum: `A ∖ D` of lines 28 and 42."""
    fewer: FactSet
    """What went there: `D ∖ A`."""
    before: tuple[FactSet, FactSet] | None = None
    """The module's own `X` and `T` before the update, where it has them and they are known."""

    @property
    def then_or_now(self) -> FactSet:
        """`I° ∪ A`, outside of which negative atoms hold before and after the update."""
        return self.then | self.more


class Module(ABC):
    """Some rules with an algorithm of their own, whose heads are facts of one atom."""

    kind: str
    exact = False
    """Whether what it deletes has no derivation left, so that it need not be rederived."""

    def __init__(self, atom: Atom, nothing: FactSet) -> None:
        self.atom = atom
        self.heads: tuple[Atom, ...] = (atom,)
        self._nothing = nothing
        self.rules: Sequence[Rule] = ()
        self.identity: Identity = "", ()
        """That of what was planned for it."""
        self.about: dict[str, object] = {}
        """Its rules, and why they are a module, for people."""

    def begin(self, update: Update) -> Update:
        """Takes over what is final below the stratum; gives as much of it as the calls of the update are to be told."""
        return update

    def delete_first(self, update: Update, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        """Line 28: what no longer follows since facts below the stratum came and went.

        `Δ`, which is in `now`, is about to be deleted; a module may look at both at once, or wait for `delete`.
        """
        return self._nothing

    @abstractmethod
    def delete(self, update: Update, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        """Line 34: what is lost with `Δ`, which is not in `now`."""

    @abstractmethod
    def rederive(self, update: Update, now: FactSet, deleted: FactSet) -> FactSet:
        """Line 37: the deleted facts that follow from what is left."""

    def add_first(self, update: Update, now: FactSet, given: FactSet, own: FactSet) -> FactSet:
        """Lines 12 and 42: what follows since facts below the stratum came and went; `own` is what it has rederived.

        Rules and explicit facts have `given` some facts, of which those that are not in `now` are about to be added; a
        module may look at both at once, or wait for `add`.
        """
        return self._nothing

    @abstractmethod
    def add(self, now: FactSet, Δ: FactSet, own: FactSet) -> FactSet:
        """Lines 18 and 48: what follows from adding `Δ`, which is in `now`; `own` is what this module derived of it."""

    def savepoint(self) -> Callable[[], None]:
        """A function that brings back the state of now."""
        return restoring(self)

    def rebuild(self, I: FactSet) -> None:  # noqa: B027
        """Computes what a store does not keep, from facts that were materialised earlier."""

    def nbytes(self) -> int:
        """The memory of what it keeps besides facts of the materialisation."""
        return 0

    def described(self) -> dict[str, object]:
        """What a report says of it besides its kind and its relation."""
        return dict(self.about)


class Backbone(Module):
    """Rules about the relation of one atom; `X` is its backbone."""

    def __init__(self, atom: Atom, X: FactSet, grounded: bool) -> None:
        super().__init__(atom, X)
        self.region = Region((atom,))
        self.X = X
        self.exact = self._grounded = grounded
        self._given = X
        """Facts of the relation that came from elsewhere with the first call of `Add`, and enter `X` with the next."""
        self._derived = 0
        """How many facts follow from the backbone, which tells how far a change of it spreads."""
        self.closing: Closing | None = None
        """What can close the relation, if no other rule asks about it."""
        self.closed: Closed | None = None
        """All its facts, if these are not derived."""
        self.closing_first: Callable[[FactSet, FactSet], Closed | None] | None = None
        """What closes the relation where that is worth it: it is there while everything is computed."""
        self.concerned = self.region
        """The facts that the relation depends on."""

    @property
    def steps(self) -> FactSet:
        """What leads on from the backbone."""
        return self.X

    def rebuild(self, I: FactSet) -> None:
        self._derived = 0 if self.closed is not None else len(I.within(self.region)) - len(self.X)

    def settle(self, I: FactSet, come: FactSet, gone: FactSet) -> None:
        """Closes what is closed again, after facts came to `I` and went."""
        if self.closing is None or self.closed is None:
            return
        come, gone = come.within(self.concerned), gone.within(self.concerned)
        if come or gone:
            self.X = I.within(self.region)
            self.closed = self.closing.changed(self.closed, self.X, self.steps_in(I), come, gone)

    def close(self, I: FactSet) -> bool:
        """Closes the relation, of which `I` has the backbone; tells whether that can be done."""
        if self.closing is None:
            return False
        self.closed = self.closing.closed(self.X, self.steps_in(I), always=True)
        return self.closed is not None

    def steps_in(self, I: FactSet) -> FactSet:
        """The facts of `I` that lead on."""
        return self.X

    def add_first(self, update: Update, now: FactSet, given: FactSet, own: FactSet) -> FactSet:
        self._note(now, given)
        return self._nothing

    def _note(self, now: FactSet, given: FactSet) -> None:
        """Notes facts of the relation from elsewhere for the next call of `add`, where `X` has all of these.

        There may be no such call if they hold already; then they enter the backbone here.
        """
        self._given = given.within(self.region) if self._grounded and self.closed is None else self._nothing
        if self._given:
            self._given -= self.X
            if self._given and not self._given.minus(now):
                self.X |= self._given
                self._given = self._nothing

    def add(self, now: FactSet, Δ: FactSet, own: FactSet) -> FactSet:
        if self.closed is not None:
            return self._nothing
        new = Δ.within(self.region).minus(own)  # 49
        if self._grounded:
            new -= self.X
        given, self._given = self._given, self._nothing
        if not new and not given:
            return new
        # What was computed last is remembered for the sets that it was asked for, which are kept as they are.
        before = self.X
        self.X = before.plus(given).plus(new)  # 50
        if not new:
            return new
        if self.closing_first is not None and not before:
            self.closed = self.closing_first(self.X, self.steps)
            if self.closed is not None:
                return self._nothing
        J = self._added(before, new, now)  # 51–57
        self._derived += len(J)
        return J

    def delete(self, update: Update, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        if self.closed is not None:
            return self._nothing
        gone = self._gone(Δ, oracle)  # 59
        if not gone:
            return gone
        around = None
        if not self._grounded:
            around = self._around(update.then, gone, now)  # 60–71
        elif self._few(gone):
            around = self._around(update.then, gone, now, self._limit())
        before = self.X
        self.X -= gone  # 74
        held = now.within(self.region) if around is None else around
        lost = self._fewer(before, held) if self._grounded else self._doubted(held, oracle)
        self._derived -= len(lost)
        return lost

    def _gone(self, Δ: FactSet, oracle: Oracle) -> FactSet:
        """The facts that the backbone loses with `Δ`."""
        gone = Δ.within(self.region).common(self.X)
        return gone.minus(oracle(gone)) if gone and self._grounded else gone

    def _doubted(self, around: FactSet, oracle: Oracle) -> FactSet:
        """What is around facts that are gone, but for what follows from facts that hold, which go into the backbone.

        Other facts of the backbone may be lost later, in a circle, and prove nothing.
        """
        known = self._nothing.plus(oracle(around))  # 65, 72
        if not known:
            return around
        self.X |= known  # 66, 73, 76
        return self._outside(known, around)

    def rederive(self, update: Update, now: FactSet, deleted: FactSet) -> FactSet:
        if self.closed is not None:
            return self._nothing
        mine = deleted.within(self.region)
        return mine.minus(self._outside(self.X, mine)) if mine else mine  # 78–81

    def nbytes(self) -> int:
        return 0 if self.closed is None else self.closed.nbytes()

    def described(self) -> dict[str, object]:
        if self.closed is None:
            return super().described()
        return {**super().described(), "closed": {"facts": len(self.closed), "bytes": self.closed.nbytes()}}

    def _limit(self) -> int:
        """Up to how many facts are followed step by step."""
        return len(self.X) // _FEW

    def _few(self, facts: FactSet) -> bool:
        """Whether it is worth a try to follow some facts step by step, if each leads to as much as others of `X` do."""
        spread = 1 + max(0, self._derived) / max(1, len(self.X))
        return len(facts) <= max(8, self._limit() / spread)

    @abstractmethod
    def _added(self, before: FactSet, new: FactSet, now: FactSet) -> FactSet:
        """What follows from `X` and not from what it was before `new` was in it, but for what holds now."""

    @abstractmethod
    def _outside(self, X: FactSet, facts: FactSet) -> FactSet:
        """Those of the relation's facts that do not follow from a backbone."""

    def _fewer(self, before: FactSet, facts: FactSet) -> FactSet:
        """Those of the relation's facts, all of which followed from what `X` was before, that no longer follow."""
        return self._outside(self.X, facts)

    @abstractmethod
    def _around(self, then: FactSet, gone: FactSet, now: FactSet, limit: int | None = None) -> FactSet | None:
        """The facts of the relation in `now` that may be derived from `X` with facts that are gone; None beyond a limit.

        They may also use what held `then` and is deleted by now: it may come back.
        """


class Along(Backbone):
    """Rules that lead on from the backbone along relations of lower strata: `T` are their facts, final when it begins."""

    def __init__(self, atom: Atom, X: FactSet, grounded: bool, below: Region) -> None:
        super().__init__(atom, X, grounded)
        self._below = below
        self.concerned = Region((*self.region.patterns, *below.patterns))
        self.T = X
        self._begun = False
        """Whether `T` is known."""

    @property
    def steps(self) -> FactSet:
        return self.T

    def steps_in(self, I: FactSet) -> FactSet:
        return I.within(self._below)

    def begin(self, update: Update) -> Update:
        """Takes over `T`; where it is as it was, it stays the very set for which an engine remembers what follows."""
        before = (self.X, self.T) if self._begun else None
        more, fewer = update.more.within(self._below), update.fewer.within(self._below)
        if before is None or more or fewer:
            self.T = update.now.within(self._below)
        self._begun = True
        return replace(update, more=more, fewer=fewer, before=before)


def restoring(thing: object) -> Callable[[], None]:
    """A function that brings back the attributes that something has now, which are values: none changes in place."""
    before = dict(vars(thing))
    return lambda: vars(thing).update(before)


def followed(start: FactSet, step: Callable[[FactSet, FactSet], FactSet], limit: int | None) -> FactSet | None:
    """What steps from the last facts and all so far lead to, the first included; None if that is more than a limit."""
    found = Q = start
    while Q:
        if limit is not None and len(found) > limit:
            return None
        Q = step(Q, found)
        found |= Q
    return found

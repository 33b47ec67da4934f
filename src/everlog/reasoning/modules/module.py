"""What a module is to the framework (*Modular*, Definition 11): `add`, `delete` and `rederive` over sets of facts.

Most modules keep a *backbone* `X`: the facts of their relation that came from elsewhere, explicit ones or those that
other rules derive. What follows from the backbone is the relation.

Deletion takes facts out of `X`. Where nothing that feeds the relation depends on it (it is *grounded*), `X` has all facts
from elsewhere, also those that held before they came from there; what is lost is what no longer follows from `X`, exactly,
and nothing of it has to be rederived. So the oracle is asked about the few facts that `X` loses. Otherwise a fact of `X`
may owe its derivation to a fact that is about to be lost; then all facts around those that are gone are lost, but for what
follows from facts that an oracle knows to hold. Such facts go into `X` at once; the paper remembers them in `Y` until
rederivation.
So a single call of `delete` may give less than the lower bound of Table 1: a fact of `X` that other rules delete later is
lost with that later call. All calls of an update together give at least what the bound asks for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from everlog.datalog.syntax import Atom, Rule
from everlog.engine.algebra import FactSet, Region

_FEW = 4
"""Up to one fact in so many of the backbone is followed step by step; more is computed as a whole."""

Oracle = Callable[[FactSet], FactSet]
"""Those of some facts that are known to hold after the update (*Modular*, Definition 16)."""


class Module(ABC):
    """Some rules with an algorithm of their own, whose heads are facts of one atom."""

    kind: str
    exact = False
    """Whether nothing that it deletes can come back but by what is added."""

    def __init__(self, atom: Atom, nothing: FactSet) -> None:
        self.atom = atom
        self.heads: tuple[Atom, ...] = (atom,)
        self._nothing = nothing
        self.rules: Sequence[Rule] = ()
        self.about: dict[str, object] = {}
        """Its rules, and why they are a module, for people."""

    def begin(self, now: FactSet) -> None:  # noqa: B027
        """Tells what holds below the stratum, before anything else is asked."""

    def stepped(self, now: FactSet, more: FactSet, fewer: FactSet, given: FactSet) -> FactSet:
        """What follows since there are more facts below the stratum, and fewer.

        Rules and explicit facts have `given` some facts, of which those that are not in `now` are about to be added; a
        module may look at both at once, or wait for `add`.
        """
        return self._nothing

    def halted(self, now: FactSet, more: FactSet, fewer: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        """What no longer follows since there are more facts below the stratum, and fewer.

        `Δ`, which is in `now`, is about to be deleted; a module may look at both at once, or wait for `delete`.
        """
        return self._nothing

    @abstractmethod
    def add(self, now: FactSet, Δ: FactSet, own: FactSet) -> FactSet:
        """What follows from adding `Δ`, which is in `now`; `own` are those of it that this module has derived."""

    @abstractmethod
    def delete(self, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        """What is lost with `Δ`, which is not in `now`."""

    @abstractmethod
    def rederive(self, deleted: FactSet) -> FactSet:
        """The deleted facts that follow from what is left."""

    @abstractmethod
    def savepoint(self) -> Callable[[], None]:
        """A function that brings back the state of now."""

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
        """The facts of the relation that came from elsewhere in the update and are not in `X` yet."""
        self._derived = 0
        """How many facts follow from the backbone, which tells how far a change of it spreads."""

    def savepoint(self) -> Callable[[], None]:
        before = self.X, self._derived

        def undo() -> None:
            self.X, self._derived = before

        return undo

    def rebuild(self, I: FactSet) -> None:
        self._derived = len(I.within(self.region)) - len(self.X)

    def stepped(self, now: FactSet, more: FactSet, fewer: FactSet, given: FactSet) -> FactSet:
        self._note(now, given)
        return self._nothing

    def _note(self, now: FactSet, given: FactSet) -> None:
        """Notes the facts that came from elsewhere; if all of them hold, they are put into the backbone here."""
        self._given = given.within(self.region) if self._grounded else self._nothing
        if self._given:
            self._given -= self.X
            coming = self._given
            coming -= now
            if self._given and not coming:
                self.X |= self._given
                self._given = self._nothing

    def add(self, now: FactSet, Δ: FactSet, own: FactSet) -> FactSet:
        """What follows from adding `Δ`, which is in `now`; `own` are those of it that this module has derived."""
        new = Δ.within(self.region)
        new -= own
        if self._grounded:
            new -= self.X
        given, self._given = self._given, self._nothing
        if not new and not given:
            return new
        # What was computed last is remembered for the sets that it was asked for, which are kept as they are.
        before, X = self.X, self.X
        X |= given
        X |= new
        self.X = X
        if not new:
            return new
        J = self._added(before, new, now)
        self._derived += len(J)
        return J

    def delete(self, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        """What is lost with `Δ`, which is not in `now`."""
        gone = self._gone(Δ, oracle)
        lost = self._given_up(gone, now, oracle) if gone else gone
        self._derived -= len(lost)
        return lost

    def _given_up(self, gone: FactSet, now: FactSet, oracle: Oracle) -> FactSet:
        if self._grounded:
            around = self._around(gone, now, self._limit()) if self._few(gone) else None
            before = self.X
            self.X -= gone
            return self._fewer(before, now.within(self.region) if around is None else around)
        lost = self._around(gone, now)
        assert lost is not None, "there is no limit"
        self.X -= gone
        known = self._nothing
        known |= oracle(lost)
        if known:
            lost = self._outside(known, lost)
            self.X |= known
        return lost

    def _gone(self, Δ: FactSet, oracle: Oracle) -> FactSet:
        """The facts that the backbone loses with `Δ`."""
        gone = Δ.within(self.region)
        gone &= self.X
        if gone and self._grounded:
            gone -= oracle(gone)
        return gone

    def _limit(self) -> int:
        """Up to how many facts are followed step by step."""
        return len(self.X) // _FEW

    def _few(self, facts: FactSet) -> bool:
        """Whether it is worth a try to follow what some facts lead to: each to as many as those of the backbone did."""
        spread = 1 + max(0, self._derived) / max(1, len(self.X))
        return len(facts) <= max(8, self._limit() / spread)

    def rederive(self, deleted: FactSet) -> FactSet:
        """The deleted facts that follow from the backbone."""
        mine = deleted.within(self.region)
        if mine:
            mine -= self._outside(self.X, mine)
        return mine

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
    def _around(self, gone: FactSet, now: FactSet, limit: int | None = None) -> FactSet | None:
        """The facts that hold now, of the relation, whose derivations from `X` may use facts that are gone.

        Such a derivation may lead through facts that the update has deleted and that may come back, since they follow
        from `X` as well. None if there are more than a limit.
        """


class Along(Backbone):
    """Rules that lead on from the backbone along relations of lower strata: `T` are their facts, final when it begins."""

    def __init__(self, atom: Atom, X: FactSet, grounded: bool, below: Region) -> None:
        super().__init__(atom, X, grounded)
        self._below = below
        self._T = X
        self._then: tuple[FactSet, FactSet] | None = None
        """`X` and `T` before the update, if they are known."""
        self._back = X
        """What was rederived in the update: it is about to hold again, and steps lead on from it."""
        self._begun = False

    def savepoint(self) -> Callable[[], None]:
        undo_backbone, before = super().savepoint(), (self._T, self._begun)

        def undo() -> None:
            undo_backbone()
            self._T, self._begun = before

        return undo

    def begin(self, now: FactSet) -> None:
        self._then = (self.X, self._T) if self._begun else None
        self._T, self._back = now.within(self._below), self._nothing
        self._begun = True

    def rederive(self, deleted: FactSet) -> FactSet:
        back = super().rederive(deleted)
        self._back = back
        return back


def followed(start: FactSet, step: Callable[[FactSet, FactSet], FactSet], limit: int | None) -> FactSet | None:
    """What steps lead to from some facts, these included; None if that is more than a limit.

    `step` takes the facts that came last and all facts so far, and gives those that come next.
    """
    found = Q = start
    while Q:
        if limit is not None and len(found) > limit:
            return None
        Q = step(Q, found)
        found |= Q
    return found

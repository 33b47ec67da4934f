"""Recursive counting (*Revisited*, Algorithms 2 and 3), with stages in place of reconstructed sets.

The paper rebuilds `I_o` and `I_n`, the materialisations before and after the update as they were after each iteration, at
a cost of `|I|` however small the update is. Here neither exists. Every fact has a *stage*, the first iteration of its
stratum that derives it, before and after the update; `I_o` at iteration `i` is the view of all facts whose old stage is at
most `i`. What is computed are the facts whose stages differ, and the differences of lines 23, 24, 36 and 37, which are
driven by those facts. An instance is considered where the paper considers it, and nowhere else.

Of rules that come or go with an update all instances of an iteration are considered, and of the others what has changed.

`on` and `no` are the paper's `I_on` and `I_no`; for the strata below they are `D` and `A`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from everlog.engine.algebra import Annotation, Counted, Engine, FactSet, Rules
from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning.boundaries import NO_BOUNDARIES, Boundaries
from everlog.reasoning.change import Change, Progress
from everlog.reasoning.kept import NEVER, Kept, Trace
from everlog.reasoning.modular import Added, Modules
from everlog.reasoning.modules.asked_closures import NOBODY_ASKS, AskedAbove, with_closures

_Side = tuple[FactSet, Annotation, FactSet]
"""The facts before or after an update, their stages, and those that are on this side only."""


def materialise_counted(
    strata: Iterable[CompiledStratum],
    E: FactSet,
    engine: Engine,
    progress: Progress,
    modules: Modules,
    kept: Kept,
    boundaries: Boundaries = NO_BOUNDARIES,
    asked: AskedAbove = NOBODY_ASKS,
) -> tuple[FactSet, int]:
    """Algorithm 2: `mat(Π, E)` and the number of rounds; fills whatever is to be kept.

    Of relations that are closed, the set has the backbones.
    """
    I = nothing = engine.empty()  # 9
    rounds = 0
    for place, stratum in enumerate(strata):  # 10
        found, number = boundaries.begin(stratum, I, E, nothing, progress)
        I |= found
        rounds += number
        explicit = E.within(stratum.region)  # 12
        derived = stratum.nonrecursive.apply_counted(I)
        if kept.nonrecursive is not None:
            kept.nonrecursive.add(explicit)
            kept.nonrecursive.add(derived)
        if kept.trace is not None:
            kept.trace.change(engine, place, 1, derived + explicit)
        Δ = explicit.plus(derived.support())  # 14
        mine = Added(modules.get(stratum.index, ()), nothing)
        Δ |= mine.begin(I)
        i = 1  # 11
        while Δ:  # 13, 15
            I |= Δ  # 16
            progress(stratum.index, i - 1, len(Δ))
            if kept.trace is not None:
                kept.trace.old[place].set(Δ, i)
                kept.trace.new[place].set(Δ, i)
            if not stratum.recursive.rules and not mine.modules:
                break
            i += 1  # 17
            again = stratum.recursive.apply_counted(I, some=[(Δ, nothing)])  # 18
            if kept.recursive is not None:
                kept.recursive.add(again)
            if kept.trace is not None and again:
                kept.trace.change(engine, place, i, again)
            N = again.support().minus(I)  # 14
            Δ = N.plus(mine.add(I, Δ))
        rounds += i - 1
        I = with_closures(engine, I, asked.get(stratum.index, ()))
    return I.base, rounds


def count_derivations(strata: Sequence[CompiledStratum], E: FactSet, I: FactSet, kept: Kept) -> None:
    """Fills the counts that are to be kept, given the materialisation."""
    for stratum in strata:
        if kept.nonrecursive is not None:
            kept.nonrecursive.add(E.within(stratum.region))
            kept.nonrecursive.add(stratum.nonrecursive.apply_counted(I))
        if kept.recursive is not None:
            kept.recursive.add(stratum.recursive.apply_counted(I))


def counting(change: Change) -> None:
    """Algorithm 3: finds `D` and `A`, and brings the trace up to date."""
    trace = change.kept.trace
    assert trace is not None, "the trace is kept"
    for place, stratum in enumerate(change.touched()):
        _Stratum(change, trace, place, stratum).update()


class _Stratum:
    """The iterations of one stratum."""

    def __init__(self, change: Change, trace: Trace, place: int, stratum: CompiledStratum) -> None:
        self._change, self._trace, self._place, self._stratum = change, trace, place, stratum
        self._old, self._new = trace.old[place], trace.new[place]
        self._changed = change.nothing
        """Facts of the stratum whose new stage differs from the old one, as far as that is known."""
        self._lost = change.nothing
        """Those that have no new stage yet."""

    def update(self) -> None:
        """Lines 21–38: iteration 1, which only nonrecursive rules and explicit facts change, and those after it."""
        change, stratum, kept = self._change, self._stratum, self._change.kept
        with change.phase("deleted"):
            gone = change.minus.within(stratum.region)
            fewer = stratum.nonrecursive.apply_counted(change.I, some=[(change.D, change.A)]) + gone  # 23
            if stratum.gone is not None:
                fewer += stratum.gone.nonrecursive.apply_counted(change.I)
        with change.phase("added"):
            come = change.plus.within(stratum.region)
            more = stratum.nonrecursive.apply_counted(change.now, some=[(change.A, change.D)]) + come  # 24
            if stratum.come is not None:
                more += stratum.come.nonrecursive.apply_counted(change.now)
        self._count(kept.nonrecursive, more, fewer)
        self._settle(1, more, fewer)
        i, known = 1, len(self._trace.totals[self._place])
        parts = [part.recursive for part in (stratum.gone, stratum.come) if part is not None]
        if stratum.recursive.rules or any(part.rules for part in parts):
            # The old trace has nothing after `known`; the new one goes on as long as facts come later than before.
            while self._anything() and (i <= known or self._changed & self._new.between(i, i)):
                i += 1  # 34
                more, fewer = self._differences(i - 1)  # 36, 37
                self._count(kept.recursive, more, fewer)
                self._settle(i, more, fewer)
        change.D |= self._lost
        self._old.assign(self._changed, self._new)
        self._trace.shorten(self._place)

    def _anything(self) -> bool:
        """Whether an iteration may differ from what it was."""
        other_rules = self._stratum.gone is not None or self._stratum.come is not None
        return bool(other_rules or self._changed or self._change.D or self._change.A)

    @staticmethod
    def _count(counts: Annotation | None, more: Counted, fewer: Counted) -> None:
        if counts is not None:
            counts.add(more)
            counts.add(fewer, -1)

    def _differences(self, last: int) -> tuple[Counted, Counted]:
        """Lines 36 and 37: instances of the iteration after `last` that are there only after the update, or only before."""
        change, old, new = self._change, self._old, self._new
        # Facts that are in one of both after iteration `last` and not in the other.
        on = ((self._changed & old.between(0, last)) & new.between(last + 1, NEVER)).plus(change.D)
        no = ((self._changed & old.between(last + 1, NEVER)) & new.between(0, last)).plus(change.A)
        with change.phase("deleted"):
            fewer = self._only((change.I, old, on), (change.now, new, no), last)  # 36
            if self._stratum.gone is not None:
                fewer += self._all(self._stratum.gone.recursive, change.I, old, last)
        with change.phase("added"):
            more = self._only((change.now, new, no), (change.I, old, on), last)  # 37
            if self._stratum.come is not None:
                more += self._all(self._stratum.come.recursive, change.now, new, last)
        return more, fewer

    def _all(self, rules: Rules, I: FactSet, stage: Annotation, last: int) -> Counted:
        """All instances of some rules in the iteration after `last`, on one side of the update."""
        came = I & stage.between(last, last), self._change.nothing
        return rules.apply_counted(I & stage.between(0, last), I, some=[came])

    def _only(self, here: _Side, there: _Side, last: int) -> Counted:
        """The instances of the iteration after `last` on one side of the update that are not there on the other.

        A part of them has changed because a fact of their bodies came or went; in the others, a fact that was there before
        and after the update came sooner or later, so that they belong to another iteration.
        """
        (I, stage, mine), (other, other_stage, theirs) = here, there
        rules, nothing = self._stratum.recursive, self._change.nothing
        came = I & stage.between(last, last), nothing
        found = rules.apply_counted(I & stage.between(0, last), I, some=[(mine, theirs), came])
        sooner = other_stage.between(0, last - 1)
        moved = (self._changed & stage.between(last, last)) & sooner
        if moved:
            early = (other & sooner) - theirs.common(sooner)
            found += rules.apply_counted(early, self._change.then_or_now, some=[(moved, nothing)])
        return found

    def _settle(self, i: int, more: Counted, fewer: Counted) -> None:
        """Changes `N_i`, and decides the stages that depend on it: of its facts, and of facts that have none as yet."""
        change, old, new = self._change, self._old, self._new
        if not (more or fewer or self._lost):
            return
        counts = self._trace.change(change.engine, self._place, i, more, fewer)
        derived = counts.between(1, NEVER)
        heads = more.support().plus(fewer.support())
        come = heads.plus(self._lost).common(derived).minus(change.now & new.between(0, i))
        gone = heads.common(change.I & old.between(i, i)).common(new.between(i, i)).minus(derived)
        if come:
            fresh = come.minus(change.I)
            old.set(fresh, NEVER)
            new.set(come, i)
            change.A |= fresh
            self._changed |= come
            self._lost -= come
        if gone:
            new.set(gone, NEVER)
            self._changed |= gone
            self._lost |= gone
        if come or gone:
            change.round_done(self._stratum, come)

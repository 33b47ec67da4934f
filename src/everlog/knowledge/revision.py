"""A materialisation when rules of its program come and go, perhaps together with explicit facts.

First the rules go, in the strata of the old program, and then others come, in those of the new one, each by the algorithm
of the update (`CompiledStratum` has rules that go or come beside those that stay). In between everything that is kept goes
over to the new strata (`reasoning/handing_over.py`). Whatever fails on the way leaves the old materialisation as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from everlog import clock, interrupts
from everlog.datalog.syntax import Rule
from everlog.engine.algebra import FactSet
from everlog.engine.backend import Difference
from everlog.knowledge.materialisation import Accept, Materialisation, Outcome, difference, measured, staged
from everlog.knowledge.resuming import Unresumable
from everlog.planning.compiled_program import CompiledMinima, CompiledStratum
from everlog.planning.modules.module_rules import Module as PlannedModule
from everlog.planning.modules.unread_relations import is_unread
from everlog.planning.rule_changes import Planned, RuleChange, gaining, losing, planned_in
from everlog.reasoning.algorithms import Algorithm
from everlog.reasoning.boundaries import Boundaries
from everlog.reasoning.change import Allowance, Change, Progress, guarded
from everlog.reasoning.handing_over import (
    Entangled,
    OtherIterations,
    begin_modules,
    move_counts,
    move_explicit,
    moved_trace,
)
from everlog.reasoning.minima import Minima
from everlog.reasoning.modular import Modules
from everlog.reasoning.modules.make_modules import planned_modules, restrict_exactness
from everlog.reasoning.modules.module import Backbone
from everlog.reasoning.profiled import Profiler

_NOTHING: Final[Mapping[Rule, Rule]] = {}

_AGAIN: Final = "everything was computed anew, since "
_SEQUENCES: Final = f"{_AGAIN}a rule about neighbours in an order came or went"
_ENTANGLED: Final = f"{_AGAIN}two modules derive the same relation, and one of them is new"
_CLOSED: Final = f"{_AGAIN}rules of a relation that is closed changed, or a rule asks about it"
_ITERATIONS: Final = (
    f"{_AGAIN}rules are recursive now that were not, or no longer, and derivations are counted by iteration"
)


class Run(NamedTuple):
    """How an update is made, and who looks on."""

    algorithm: Algorithm
    progress: Progress
    allowed: Allowance | None
    accept: Accept | None
    watch: Callable[[], None] | None
    profiler: Profiler | None


class _Shape(NamedTuple):
    """What evaluates the rules while an update is made."""

    strata: Sequence[CompiledStratum]
    modules: Modules
    boundaries: Boundaries


def revise(
    old: Materialisation,
    new: Materialisation,
    minus: FactSet,
    plus: FactSet,
    run: Run,
    minima: Callable[[CompiledMinima], Minima],
    exchanged: Mapping[Rule, Rule] = _NOTHING,
) -> tuple[Outcome, Difference[FactSet]]:
    """Makes `new`, which has rules and nothing else, the materialisation after an update of `old`.

    Rules that are `exchanged` for others have the same instances as these before the update: nothing goes with them.
    `Unresumable` if it cannot go on with what is kept; `TooCostly` if it takes more than is allowed.
    """
    old.check_needs(run.algorithm)
    return _Revision(old, new, run, minima, exchanged).made(minus, plus)


class _Revision:
    """The way from one program to another."""

    def __init__(
        self,
        old: Materialisation,
        new: Materialisation,
        run: Run,
        minima: Callable[[CompiledMinima], Minima],
        exchanged: Mapping[Rule, Rule],
    ) -> None:
        self._old, self._new, self._run, self._minima = old, new, run, minima
        self._engine, self._compiled = old.engine, new.compiler
        self._rules = RuleChange.between(old.every_rule, new.every_rule).but_for(exchanged)
        self._kept = old.kept.without(*(old.kept.names() - run.algorithm.keeps))
        self._dropped = self._kept.dropped
        self._E, self._I = old.E, old.I
        self._changes: list[Change] = []
        self._begun = self._engine.derivations, clock.now()

    def made(self, minus: FactSet, plus: FactSet) -> tuple[Outcome, Difference[FactSet]]:
        old, new, gone, run = self._old, self._new, self._rules.gone, self._run
        self._refuse_closed()
        explicit, nothing = (minus, plus), (self._engine.empty(), self._engine.empty())
        # As in `Change`: what is deleted and not explicit, or added as well, and what is added and explicit.
        minus, plus = minus.common(old.E).minus(plus), plus.minus(old.E)
        known = plus.common(old.I)
        with self._kept.staged(), staged(old.module_list()), guarded(self._engine, run.allowed, run.watch):
            shape = _Shape(old.strata, old.modules, old.boundaries)
            # What only goes takes facts along; otherwise they come with the rules.
            alone = bool(gone) and not self._rules.come
            if gone:
                shape = self._lose(shape, explicit if alone else nothing)
            shape = self._hand_over(shape)
            if not alone:
                self._apply(shape, explicit)
            self._finish(shape)
            A, D = self._sums()
            found = difference(A, D, minus, plus, self._E | minus, known)
            found = new.settled(self._I, found, old.closures)
            if run.accept is not None:
                run.accept(self._engine.closing(self._I, new.closures), found)
        interrupts.settle()
        new.E, new.I, new.kept = self._E, self._I, self._kept
        new.backbones_before = [module.X for module in new.backbones()]
        new.cost, new.made = old.cost, old.made & new.kept.names()
        return self._outcome(), found

    def _refuse_closed(self) -> None:
        """Relations that are closed have to be what they are, and no other rule may ask about them."""
        new_rules = RuleChange.between(self._old.every_rule, self._new.every_rule).come
        going_on = set(map(id, self._new.module_list()))
        asked = {id(module) for some in self._old.asked_closures.values() for module in some}
        for planned, module in planned_modules(self._old.strata, self._old.modules):
            if not isinstance(module, Backbone) or module.closed is None:
                continue
            assert isinstance(planned, PlannedModule), "what a backbone was planned as"
            # If a rule that stays asks about it, so did one before.
            if id(module) not in going_on or id(module) in asked or not is_unread(planned, new_rules):
                raise Unresumable(_CLOSED)

    def _lose(self, shape: _Shape, explicit: tuple[FactSet, FactSet]) -> _Shape:
        gone, old = self._rules.gone, self._old
        strata, opened = losing(old.strata, gone, self._compiled)
        _refuse_sequences(opened)
        modules = _without(strata, shape)
        losing_shape = _Shape(strata, modules, shape.boundaries.losing(strata, gone, self._minima))
        move_counts(old.strata, strata, frozenset(), self._I, self._kept, self._compiled)
        self._apply(losing_shape, explicit)
        return losing_shape

    def _hand_over(self, shape: _Shape) -> _Shape:
        """Everything that is kept goes over to the strata of the new program."""
        new, (gone, come) = self._new, self._rules
        if self._kept.trace is not None:
            try:
                trace = moved_trace(self._kept.trace, shape.strata, new.strata, self._I, self._engine)
            except OtherIterations:
                raise Unresumable(_ITERATIONS) from None
            self._kept = replace(self._kept, trace=trace)
        known = {id(module) for module in self._old.module_list()}
        restrict_exactness(new.modules, known)
        new_ones = [one for one, module in planned_modules(new.strata, new.modules) if id(module) not in known]
        strata, opened = gaining(new.strata, come, self._compiled, lambda one: one in new_ones)
        _refuse_sequences(opened)
        move_counts(shape.strata, strata, gone | come, self._I, self._kept, self._compiled)
        move_explicit(shape.strata, strata, self._E, self._kept)
        whole = _Shape(new.strata, new.modules, new.boundaries)
        return _Shape(strata, _without(strata, whole), new.boundaries.gaining(come))

    def _finish(self, shape: _Shape) -> None:
        """Modules that are new get what they keep."""
        new = self._new
        known = {id(module) for module in self._old.module_list()}
        move_counts(shape.strata, new.strata, frozenset(), self._I, self._kept, self._compiled)
        fresh = [module for module in new.module_list() if id(module) not in known]
        try:
            begin_modules(new.strata, new.modules, fresh, self._E, self._I, self._compiled)
        except Entangled:
            raise Unresumable(_ENTANGLED) from None

    # ------------------------------------------------------------------------------------ one of both updates

    def _apply(self, shape: _Shape, explicit: tuple[FactSet, FactSet]) -> None:
        """An update of explicit facts, and of rules where strata have some that come or go."""
        run = self._run
        strata, measured_modules, boundaries = measured(shape.strata, shape.boundaries, run.profiler)
        modules = measured_modules(shape.modules)
        sets = self._E, self._I, *explicit
        change = Change(strata, self._engine, *sets, self._kept, run.progress, modules, boundaries)
        run.algorithm.run(change)
        E, I = self._E, self._I
        E -= change.minus
        E |= change.plus
        I -= change.D
        I |= change.A
        self._E, self._I = E, I
        self._changes.append(change)

    def _sums(self) -> tuple[FactSet, FactSet]:
        """What came to the materialisation in all, and what left it."""
        A = D = self._engine.empty()
        for change in self._changes:
            A, D = A.minus(change.D).plus(change.A.minus(D)), D.minus(change.A).plus(change.D.minus(A))
        return A, D

    def _outcome(self) -> Outcome:
        derivations, seconds = Counter[str](), dict[int, float]()
        for change in self._changes:
            derivations.update(change.derivations)
            for index, taken in change.seconds.items():
                seconds[index] = seconds.get(index, 0.0) + taken
        total, past = clock.now() - self._begun[1], self._old.past
        self._new.past = replace(past, seconds=past.seconds + total)
        rounds = sum(change.rounds for change in self._changes)
        work = None if self._run.profiler is None else self._run.profiler.work()
        return Outcome(self._run.algorithm.name, dict(derivations), rounds, total, seconds, self._dropped, work)


def _without(strata: Sequence[CompiledStratum], shape: _Shape) -> Modules:
    """The modules of a shape that strata have, of which some are open."""
    found = planned_modules(shape.strata, shape.modules)
    return {
        stratum.index: [module for planned in planned_in(stratum) for one, module in found if one is planned]
        for stratum in strata
        if stratum.modules or stratum.trees
    }


def _refuse_sequences(opened: Sequence[Planned]) -> None:
    """Rules with `NOT EXISTS` that modules have are no rules like others."""
    if any(isinstance(one, PlannedModule) and one.kind == "seq" for one in opened):
        raise Unresumable(_SEQUENCES)

"""A materialisation and its upkeep: the strata of a program, `E`, `I`, the kept state, and the algorithms on them.

It knows the algebra and no engine in particular. Whatever fails on the way of an update leaves it as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from time import process_time
from typing import TypeAlias

from everlog import clock, interrupts
from everlog.datalog.syntax import Atom, Rule
from everlog.engine.algebra import Closed, Engine, FactSet
from everlog.engine.backend import Difference, KeptState, Recovered
from everlog.engine.kept_kinds import BACKBONE, HIDDEN_FACTS
from everlog.errors import EverlogError
from everlog.knowledge.saved_kinds import CLOSED, DECOMPOSED, MODULE, module_key, tree_key
from everlog.planning.compiled_program import CompiledStratum, Compiler
from everlog.planning.modules.module_choice import LeftOut
from everlog.planning.modules.module_rules import Module as PlannedModule
from everlog.planning.modules.unread_relations import is_unread
from everlog.planning.rule_changes import every_rule
from everlog.reasoning.algorithms import Algorithm
from everlog.reasoning.boundaries import NO_BOUNDARIES, Boundaries
from everlog.reasoning.bounds import Bounds
from everlog.reasoning.change import Allowance, Change, Progress
from everlog.reasoning.counting import count_derivations, materialise_counted
from everlog.reasoning.kept import Kept
from everlog.reasoning.modular import Modules
from everlog.reasoning.modules.asked_closures import AskedAbove, with_closures
from everlog.reasoning.modules.make_modules import planned_modules
from everlog.reasoning.modules.module import Backbone, Module
from everlog.reasoning.profiled import Profiler, Work
from everlog.reasoning.seminaive import materialise
from everlog.reasoning.stratum_seconds import timed

_NO_MODULES: Mapping[int, Sequence[Module]] = {}


@dataclass(frozen=True)
class Outcome:
    """What a materialisation or an update did."""

    algorithm: str
    derivations: dict[str, int]
    rounds: int
    seconds: float
    strata: dict[int, float] = field(default_factory=dict)
    """Seconds by stratum."""
    warnings: list[str] = field(default_factory=list)
    work: list[Work] | None = None
    """What rules and modules did, if that was measured."""

    def warned(self, warnings: Sequence[str]) -> Outcome:
        """With more warnings."""
        return replace(self, warnings=[*self.warnings, *warnings]) if warnings else self

    def above(self, derivations: Mapping[str, int], rounds: int, seconds: float) -> Outcome:
        """The outcome of this and of what was done before it: the numbers of both are added up."""
        joint = dict(derivations)
        for phase, number in self.derivations.items():
            joint[phase] = joint.get(phase, 0) + number
        return replace(self, derivations=joint, rounds=self.rounds + rounds, seconds=self.seconds + seconds)


Accept: TypeAlias = Callable[[FactSet, Difference[FactSet]], None]
"""Looks at `I` after an update, and at what that changes."""


@dataclass(frozen=True)
class Past:
    """What earlier updates tell about the next."""

    seconds: float = 0.0
    """What they took since everything was computed, with those that were given up."""
    spread: int | None = None
    """Deleting so many facts was given up."""
    grown: int | None = None
    """Adding so many facts was given up."""
    untried: int = 0
    """So many additions were not tried since."""
    rules: frozenset[Rule] = frozenset()
    """Rules that came or went when that was given up, and did not since."""


class Materialisation:
    """`E`, `I = mat(Π, E)` once it is computed, and what is kept for updates."""

    def __init__(
        self,
        strata: Sequence[CompiledStratum],
        engine: Engine,
        E: FactSet,
        names: frozenset[str],
        modules: Modules = _NO_MODULES,
        boundaries: Boundaries = NO_BOUNDARIES,
        bounds: Bounds | None = None,
        equated: frozenset[str] = frozenset(),
        compiler: Compiler | None = None,
    ) -> None:
        self.strata, self.engine, self.E, self.modules = strata, engine, E, modules
        self._compiler = compiler
        self.equated = equated
        """The predicates that rules about equality were made for, where equality is a matter of rules."""
        self._bounds, self.boundaries = bounds, boundaries
        self.I = engine.empty()
        self.kept = Kept.empty(engine, strata, names)
        self.cost: Allowance | None = None
        """What computing everything took last time, if that is known."""

        self.past = Past()
        self.made: frozenset[str] = frozenset()
        """The kept state that nobody asked for: it is there to make updates faster, and is not stored."""

        self.backbones_before: list[FactSet] = []
        """The modules' backbones before the last update."""

    @property
    def compiler(self) -> Compiler:
        """What the rules were compiled by; it knows those that it has compiled."""
        assert self._compiler is not None, "the rules of a reasoner are compiled by its backend"
        return self._compiler

    @cached_property
    def every_rule(self) -> frozenset[Rule]:
        """All rules as they are compiled, whoever evaluates them."""
        return frozenset(every_rule(self.strata))

    @cached_property
    def only_grows(self) -> bool:
        """Whether facts that are added take none away."""
        return not any(
            stratum.groupings
            or stratum.minima is not None
            or any(rule.negative for rule in stratum.rules.rules)
            or any(tree.rule.negative for tree in stratum.trees)
            for stratum in self.strata
        )

    @cached_property
    def modules_wait(self) -> bool:
        """Whether what a module derives may lead to more of what it starts from, so that it is asked round by round."""
        return any(stratum.modules and (stratum.recursive.rules or stratum.modules[1:]) for stratum in self.strata)

    def module_list(self) -> list[Module]:
        """The modules in the order of their strata."""
        return [module for some in self.modules.values() for module in some]

    def left_out(self) -> list[LeftOut]:
        """The modules that were found and are not used."""
        return [one for stratum in self.strata for one in stratum.left_out]

    def backbones(self) -> list[Backbone]:
        """Those of them that have a backbone, in the order of their names."""
        return list(self._ordered)

    @cached_property
    def _ordered(self) -> tuple[Backbone, ...]:
        found = (module for module in self.module_list() if isinstance(module, Backbone))
        return tuple(sorted(found, key=lambda module: module_key(*module.identity)))

    @property
    def closures(self) -> dict[Atom, Closed]:
        """The relations that are closed: `I` has their backbones and no more."""
        return {module.atom: module.closed for module in self.backbones() if module.closed is not None}

    @cached_property
    def asked_closures(self) -> AskedAbove:
        """The modules whose relations may be closed though rules above ask about them, by stratum."""
        found: dict[int, list[Backbone]] = {}
        for stratum in self.strata:
            for planned, module in planned_modules([stratum], self.modules):
                if (
                    isinstance(planned, PlannedModule)
                    and isinstance(module, Backbone)
                    and module.closing is not None
                    and not is_unread(planned, self.every_rule)
                ):
                    found.setdefault(stratum.index, []).append(module)
        return found

    @property
    def holding(self) -> FactSet:
        """`I` with all facts of relations that are closed."""
        return self.engine.closing(self.I, self.closures)

    def keys(self) -> dict[str, Backbone]:
        """Names for the modules that have backbones: what a store keeps for one is of use to no other."""
        return {module_key(*module.identity): module for module in self.backbones()}

    def heads(self) -> frozenset[str]:
        """The predicates that rules outside of modules derive."""
        found = {rule.head.predicate for stratum in self.strata for rule in stratum.rules.rules}
        return frozenset(found | {tree.rule.head.predicate for stratum in self.strata for tree in stratum.trees})

    def tree_keys(self) -> frozenset[str]:
        """Names for the rules that are decomposed: where derivations are counted, theirs are not."""
        return frozenset(tree_key(tree.rule) for stratum in self.strata for tree in stratum.trees)

    def kinds(self) -> frozenset[str]:
        """The kinds of relations that a store has for updates of this, and what it has to say about modules and rules."""
        found = self.asked().names() | {HIDDEN_FACTS, DECOMPOSED, *self.tree_keys()}
        names = {atom.predicate for atom in self.closures if len(atom.terms) == 2}
        found |= {f"{CLOSED}{name}" for name in names}
        return found | {BACKBONE, *self.keys()} if self.backbones() else found

    def fits(self, kinds: frozenset[str]) -> bool:
        """Whether a store that has kept some kinds of state has it for just these modules."""
        return {kind for kind in kinds if kind.startswith(MODULE)} == set(self.keys())

    def materialise(self, progress: Progress, profiler: Profiler | None = None) -> Outcome:
        """Computes `I`, and what is to be kept."""
        of_strata, measured_modules, boundaries = measured(self.strata, self.boundaries, profiler)
        begun, before, used_before = clock.now(), self.engine.derivations, process_time()
        modules = self.modules if self._bounds is None else self._bounds.checked(self.modules, self.E)
        seconds = dict[int, float]()
        strata = timed(of_strata, seconds)
        asked = [module for some in self.asked_closures.values() for module in some]
        for module in self.backbones():
            if module.closing is not None:
                module.closing_first = partial(module.closing.closed, asked=module in asked)
        if self.kept.names():
            self.I, rounds = materialise_counted(
                strata,
                self.E,
                self.engine,
                progress,
                measured_modules(modules),
                self.kept,
                boundaries,
                self.asked_closures,
            )
        else:
            used = measured_modules(modules)
            self.I, rounds = materialise(strata, self.E, self.engine, progress, used, boundaries, self.asked_closures)
        self.boundaries.hold(self.I)
        for module in self.backbones():
            module.closing_first = None
        if self._bounds is not None:
            self._bounds.finish(modules, self.I)
        took = clock.now() - begun
        waited = max(1.0, took / max(process_time() - used_before, 1e-6))
        self.cost = Allowance(self.engine.derivations - before, took, waited)
        outcome = Outcome("remat", {"materialise": self.cost.instances}, rounds, self.cost.seconds, seconds)
        return outcome if profiler is None else replace(outcome, work=profiler.work())

    def settled(self, I: FactSet, found: Difference[FactSet], then: Mapping[Atom, Closed]) -> Difference[FactSet]:
        """Closes relations again after an update of what is listed, and gives all that it changed."""
        for module in self.backbones():
            if module.closed is then.get(module.atom):  # else it was closed again already
                module.settle(I, found.added, found.deleted)
        now = self.closures
        if not now:
            return found
        closing, listed = self.engine.closing, (found.added, found.deleted, found.derived_added, found.derived_deleted)
        explicit = found.explicit_added, found.explicit_deleted
        return Difference(*explicit, *self.engine.changed(closing(I, then), closing(I, now), explicit, listed))

    def asked(self) -> Kept:
        """What is kept because somebody asked for it."""
        return self.kept.without(*self.made)

    def count(self, names: frozenset[str]) -> None:
        """Counts derivations, of the kinds that have some names, to be kept from now on."""
        kept = Kept.empty(self.engine, self.strata, names)
        asked = [module for some in self.asked_closures.values() for module in some]
        count_derivations(self.strata, self.E, with_closures(self.engine, self.I, asked), kept)
        self.kept, self.made = kept, names

    def kept_state(self) -> KeptState:
        """What is kept for updates, as far as somebody asked for it."""
        kept, backbones = self.asked(), [module.X for module in self.backbones()]
        return KeptState(self.I, kept.placed(), backbones, kept.forgotten(), self.backbones_before)

    def recover(
        self,
        I: FactSet,
        recovered: Callable[[frozenset[str], FactSet], Recovered],
        closed: Collection[str] = (),
    ) -> bool:
        """Takes over what was computed earlier, and what was kept, of the kinds that there is a use for.

        Relations of some predicates are `closed`, though `I` has their backbones alone; False if they cannot be.
        """
        kept, backbones = self.kept, self.backbones()
        found = recovered(kept.names() | ({BACKBONE} if backbones else set()), I)
        closures, closing = I.closures, [module for module in backbones if module.closing is not None]
        if closures.keys() <= {module.atom for module in closing}:
            I = I.base
            for module in closing:
                module.closed = closures.get(module.atom)
        I |= found.hidden
        for kind, counts in found.counts.items():
            getattr(kept, kind).add(counts)
        for number, X in found.backbones.items():
            backbones[number].X |= X
        again = [module for module in closing if module.atom.predicate in closed and len(module.atom.terms) == 2]
        if {module.atom.predicate for module in again} != set(closed):
            return False
        for module in again:
            if not module.close(I):
                return False
        self.restore(I)
        if kept.trace is not None:
            for (place, i), counts in sorted(found.trace.items(), key=lambda one: one[0]):
                kept.trace.change(self.engine, place, i, counts)
            for place, stages in found.stages.items():
                kept.trace.old[place].add(stages)
                kept.trace.new[place].add(stages)
        return True

    def restore(self, I: FactSet) -> None:
        """Takes over what was computed earlier; what modules did not store is computed again."""
        self.I = I
        for module in self.module_list():
            module.rebuild(I)

    def state_bytes(self) -> int:
        """The memory of what is kept for updates besides the facts; 0 where that is unknown."""
        return self.kept.nbytes() + sum(module.nbytes() for module in self.module_list()) + self.boundaries.nbytes()

    def check_needs(self, algorithm: Algorithm) -> None:
        """Refuses an algorithm that needs what is not kept."""
        if algorithm.needs - self.kept.names():
            raise EverlogError(
                f"the algorithm {algorithm.name} needs counts that are not kept: a knowledge base or store that is made "
                f"with the algorithm {algorithm.name} has them, and gets them back by remat after other algorithms"
            )

    def update(
        self,
        minus: FactSet,
        plus: FactSet,
        algorithm: Algorithm,
        progress: Progress,
        allowed: Allowance | None = None,
        accept: Accept | None = None,
        watch: Callable[[], None] | None = None,
        profiler: Profiler | None = None,
    ) -> tuple[Outcome, Difference[FactSet]]:
        """Deletes `minus` from `E` and adds `plus`; `TooCostly` if that takes more than is allowed.

        `accept` sees the result before it counts, and `watch` is called while rules are applied; what they raise undoes
        the update.
        """
        self.check_needs(algorithm)
        strata, measured_modules, boundaries = measured(self.strata, self.boundaries, profiler)
        begun = clock.now()
        kept = self.kept.without(*(self.kept.names() - algorithm.keeps))
        modules = self.modules
        if self._bounds is not None:
            E = self.E
            E -= minus - plus
            E |= plus
            modules = self._bounds.checked(modules, E)
        used = measured_modules(modules)
        sets = self.E, self.I, minus, plus
        asked, then = self.asked_closures, self.closures
        change = Change(strata, self.engine, *sets, kept, progress, used, boundaries, allowed, watch, asked)
        before = [module.X for module in self.backbones()]
        with kept.staged(), staged(self.module_list()):
            with change.guarded():
                algorithm.run(change)
            change.open_closures()
            if self._bounds is not None:
                self._bounds.finish(modules, change.now)
            # The differences first: a large set is changed in place, and its old value then costs a copy.
            known = change.plus.common(change.I)
            found = difference(change.A, change.D, change.minus, change.plus, change.E, known)
            E, I = change.E, change.I
            E -= change.minus
            E |= change.plus
            I -= change.D
            I |= change.A
            found = self.settled(I, found, then)
            if accept is not None:
                accept(self.engine.closing(I, self.closures), found)
        interrupts.settle()
        self.E, self.I, self.kept, self.backbones_before = E, I, kept, before
        self.boundaries.hold(I)
        seconds = clock.now() - begun
        self.past = replace(self.past, seconds=self.past.seconds + seconds)
        work = None if profiler is None else profiler.work()
        outcome = Outcome(
            algorithm.name, change.derivations, change.rounds, seconds, change.seconds, kept.dropped, work
        )
        return outcome, found


def measured(
    strata: Sequence[CompiledStratum], boundaries: Boundaries, profiler: Profiler | None
) -> tuple[Sequence[CompiledStratum], Callable[[Modules], Modules], Boundaries]:
    """Strata, what makes modules, groups and best facts, that are measured if somebody wants to."""
    if profiler is None:
        return strata, lambda modules: modules, boundaries
    return profiler.strata(strata), profiler.modules, profiler.boundaries(boundaries)


@contextmanager
def staged(modules: Sequence[Module]) -> Iterator[None]:
    """Brings back what modules keep if an exception ends the block."""
    undo = [module.savepoint() for module in modules]
    try:
        yield
    except BaseException:
        for one in undo:
            one()
        raise


def difference(
    A: FactSet, D: FactSet, minus: FactSet, plus: FactSet, E: FactSet, known: FactSet
) -> Difference[FactSet]:
    """An update that adds `A` to the materialisation and takes `D` away; of the new explicit facts, some were `known`."""
    gained = A
    gained -= plus
    gained |= minus - D
    lost = D
    lost -= E
    lost |= known
    return Difference(plus, minus, A, D, gained, lost)

"""Reasoning where equal constants are rewritten to one of them.

Two layers: the r-materialisation `(π, I)` of the rules that equality depends on (`rewriting.py`), kept up to date by
B/F≈; and above it an ordinary materialisation, whose explicit facts are that `I`. `E` has the names that were
given, `I` those of representatives. Seen from outside nothing is rewritten: facts are expanded by the classes of their
constants where they are asked for, and counted without that (`Names` of the backend).

In most data no two names are equal, most of the time. Every constant then represents itself: the rules that equality
depends on and those above are one ordinary program, in which no equality holds, and an update is that of an ordinary
materialisation. That is the phase `apart`. An update that derives an equality is undone, before it derives many, and made
in the phase `rewritten`; from there nobody comes back before everything is computed anew, or read. What one phase knows
goes to the other as if it had been stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Generic, Literal, NamedTuple, Self, TypeAlias

from everlog import clock, interrupts
from everlog.datalog.arities import program_arities
from everlog.datalog.syntax import Program, Rule
from everlog.datalog.values import SAME_AS
from everlog.engine.algebra import Classes, FactSet
from everlog.engine.backend import Backend, Batch, Difference, Listed, Names, Part, Which, World
from everlog.engine.contradictions import CONTRADICTORY, Contradiction
from everlog.engine.kept_kinds import CLASSES, NONRECURSIVE, RECURSIVE, TRACE
from everlog.knowledge.choice import Choice, OtherRules
from everlog.knowledge.materialisation import Materialisation, Outcome
from everlog.knowledge.new_materialisation import Evaluated, new_materialisation, without_poor_chains
from everlog.knowledge.reasoner import Literals, Reasoner, spreads_too_far
from everlog.knowledge.report import Report
from everlog.knowledge.request import Request
from everlog.knowledge.resuming import Unresumable
from everlog.knowledge.revision import Run, revise
from everlog.knowledge.settings import Settings
from everlog.planning.equality_rules import (
    DIFFERENCES,
    EQUALITIES,
    OCCURS,
    asking,
    asks_what_occurs,
    may_tell_apart,
    over_representatives,
    with_keys,
    without_reflexive_heads,
)
from everlog.planning.hidden_predicates import is_plain
from everlog.reasoning.algorithms import needed
from everlog.reasoning.change import Progress, TooCostly, guarded
from everlog.reasoning.deletion import Deletions
from everlog.reasoning.equality.rewriting import RMaterialisation
from everlog.reasoning.profiled import Profiler

Phase: TypeAlias = Literal["new", "apart", "rewritten"]
"""`new` until the first update, which decides."""

_NEW_PREDICATE: Final = "everything was computed anew, since there is a new predicate"
_OTHER_RULES: Final = "everything was computed anew, since rules came or went that equality depends on"
_LITERALS: Final = "everything was computed anew, since literals became values of object properties"
_BECAME_EQUAL: Final = "names became equal, and are rewritten from now on"


class _Equal(Exception):
    """There is an equality."""


class _Core(NamedTuple):
    """The r-materialisation, the predicates that there were when it was made, and how it loses facts."""

    rewritten: RMaterialisation
    predicates: frozenset[str]
    deletions: Deletions


class _Computed(NamedTuple):
    """The layers, and what computing them took."""

    core: _Core
    above: Materialisation
    outcome: Outcome
    planned: float


class RewritingReasoner(Reasoner[Batch, Listed, Part]):
    """`E`, and `(π, I)` with what is above it."""

    def __init__(
        self,
        backend: Backend[Batch, Listed, Part],
        E: FactSet | None = None,
        I: FactSet | None = None,
        kept: Callable[[], Mapping[str, Listed]] = dict,
        kinds: frozenset[str] = frozenset(),
        names: Names[Batch, Listed, Part] | None = None,
        phase: Phase = "new",
    ) -> None:
        super().__init__(backend, E, I, kept, kinds, names)
        self.phase = phase
        self._core: _Core | None = None
        self._total: int | None = None

    @classmethod
    def restored(
        cls,
        backend: Backend[Batch, Listed, Part],
        E: FactSet,
        I: FactSet,
        kept: Callable[[], Mapping[str, Listed]],
        kinds: frozenset[str],
        pairs: Callable[[], Listed | None],
    ) -> Self:
        if CLASSES not in kinds:
            return cls(backend, E, I, kept, kinds)  # nothing was materialised yet
        names = backend.names()
        names.restore(pairs())
        names.classes.separate(E)
        I -= names.classes.outdated(E)
        return cls(backend, E, I, kept, kinds, names)

    @property
    def names(self) -> Names[Batch, Listed, Part]:
        """Facts in all names."""
        assert self._names is not None, "nothing is materialised"
        return self._names

    @property
    def classes(self) -> Classes:
        """`π`."""
        return self.names.classes

    # ------------------------------------------------------------------------------------ materialising

    def materialise(self, request: Request[Batch]) -> Report:
        self._literals = Literals()
        found = self._computed(request, self.E)
        names = self.backend.names(found.core.rewritten.classes)
        if names.merged_apart(self.E, found.above.I) and any(
            may_tell_apart(rule.head) for rule in request.program.rules
        ):
            # It may have been merged before a rule said so: what is different without equality is told apart first.
            found = self._computed(request, self.E | self._apart_by_rules(request))
            names = self.backend.names(found.core.rewritten.classes)
        outcome = found.outcome.warned(names.clashes(found.above.I))
        try:
            self._core, self.materialisation, self.I = found.core, found.above, found.above.I
            self._names, self._total, self._counts = names, None, {}
            return self._report(request, outcome, found.planned, self.total(), 0)
        except BaseException:
            self.forget()
            raise

    def forget(self) -> None:
        super().forget()
        self._core = self._names = self._total = None

    def _computed(self, request: Request[Batch], apart: FactSet) -> _Computed:
        """Everything; names that `apart` tells apart are not merged."""
        begun, before, profiler = clock.now(), self.engine.derivations, self._profiler(request)
        core = self._core_of(request.program, self.backend.names().classes)
        core.rewritten.classes.separate(apart)
        with _measuring_core(core.rewritten, request.progress, profiler) as progress:
            core.rewritten.add(self.E, progress)
        instances, seconds = self.engine.derivations - before, clock.now() - begun
        begun, rules = clock.now(), _above(core.rewritten)
        kinds = needed(request.settings.algorithm) | needed(request.algorithm) | self._kinds
        compiled = new_materialisation(self.backend, rules, request.settings, kinds)
        planned = clock.now() - begun
        outcome = compiled.materialise(request.progress, profiler)
        above = without_poor_chains(self.backend, compiled, rules, request.settings, self._kinds)
        assert above.cost is not None, "it has been materialised"
        above.cost = replace(
            above.cost, instances=above.cost.instances + instances, seconds=above.cost.seconds + seconds
        )
        rounds = core.rewritten.rounds
        return _Computed(core, above, outcome.above({"materialise": instances}, rounds, seconds), planned)

    def _core_of(self, program: Program, classes: Classes) -> _Core:
        rules = self._rules_of(program)
        self.backend.prepare(rules)
        found = RMaterialisation(rules, self.backend.compiler(), self.engine, classes)
        return _Core(found, frozenset({*self.backend.arities(), *program_arities(program)}), Deletions())

    def _rules_of(self, program: Program) -> Sequence[Rule]:
        """The rules of a program as an r-materialisation takes them."""
        return with_keys(asking(self.plain_rules(program), self.backend.arities()))

    def _apart_by_rules(self, request: Request[Batch]) -> FactSet:
        """What would be different if owl:sameAs were a property like others."""
        backend = self.backend.fresh()
        plain = Reasoner(backend, backend.taken(self.E, self.backend))
        settings = replace(request.settings, equality="off", algorithm="auto")
        evaluated = plain.evaluated(request.program, settings)
        found = new_materialisation(backend, evaluated, settings, frozenset())
        found.materialise(request.progress)
        return self.backend.taken(found.I.within(DIFFERENCES), backend, new=False)

    def evaluated(self, program: Program, settings: Settings) -> Evaluated:
        if self.phase == "apart":
            return Evaluated(
                [
                    made
                    for rule in with_keys(asking(self.plain_rules(program), {}))
                    for made in without_reflexive_heads(rule)
                ],
                self.E,
            )
        assert self._core is not None, "there is an r-materialisation"
        return _above(self._core.rewritten)

    # ------------------------------------------------------------------------------------ updates

    def _changed(self, request: Request[Batch], minus: FactSet) -> tuple[Self, Report]:
        if request.algorithm == "remat":
            return self._started_again(request, minus, [])
        if self.phase == "new":
            programs = (one for one in (request.program, request.earlier) if one is not None)
            if request.algorithm == "auto" and all(self._stays_apart(one, request.settings) for one in programs):
                return self._in_phase("apart")._changed(request, minus)
            self.phase = "rewritten"
        return self._changed_apart(request, minus) if self.phase == "apart" else self._rewritten(request, minus)

    def _stays_apart(self, program: Program, settings: Settings) -> bool:
        """Whether nothing is equal and nothing is to be counted.

        Where predicates are hidden whose names or facts depend on all that is known, constants are rewritten.
        """
        counted = self.kept_kinds() & {NONRECURSIVE, RECURSIVE, TRACE}
        if not self.backend.policy.keeps_names_apart or settings.checked or counted:
            return False
        hidden = (not is_plain(negation) for rule in program.rules for negation in rule.negative)
        if self.names.several() or any(hidden) or asks_what_occurs(program.rules):
            return False
        return not self.I.within(EQUALITIES)

    def _in_phase(self, phase: Phase) -> Self:
        """A reasoner with the facts and the engine of this one, as if it had been stored."""
        kept = self.kept()
        after = type(self)(self.backend, self.E, self.I, lambda: kept, self.kept_kinds(), self._names, phase)
        after._remember(self)
        return after

    def _changed_apart(self, request: Request[Batch], minus: FactSet) -> tuple[Self, Report]:
        before = self.backend.mentions(SAME_AS)

        def watch() -> None:
            # Where there is a row there may be no fact yet, but who made it is about to say so; there could be one a pair.
            if self.backend.mentions(SAME_AS) > before:
                raise _Equal

        def accept(I: FactSet, sets: Difference[FactSet]) -> None:
            if sets.added.within(EQUALITIES):
                raise _Equal

        try:
            return self._maintained(request, minus, accept, watch)
        except _Equal:
            after = self._in_phase("rewritten")
            if needed(request.algorithm):  # no derivations are counted there yet
                request = replace(request, asked="auto")
            found, report = after._changed(request, minus)
            return found, replace(report, reasons=[*report.reasons, _BECAME_EQUAL])

    def _rewritten(self, request: Request[Batch], minus: FactSet) -> tuple[Self, Report]:
        if self.classes.refused(self.I) or self.names.merged_apart(self.E, self.I):
            return self._started_again(request, minus, [CONTRADICTORY])
        try:
            above = self._resumed(request.earlier or request.program, request.settings)
        except Unresumable as reason:
            return self._started_again(request, minus, [str(reason)])
        core = self._core
        assert core is not None, "it has been resumed"
        changed: RMaterialisation | None = core.rewritten
        if request.earlier is not None:
            changed = core.rewritten.with_other_rules_above(self._rules_of(request.program))
        if changed is None:
            return self._started_again(request, minus, [_OTHER_RULES])
        if core.rewritten.derives(OCCURS) and not self.backend.predicates(request.added) <= core.predicates:
            return self._started_again(request, minus, [_NEW_PREDICATE])
        entered = self.backend.entered(request.added)
        free = self.plain_rules(request.program)
        if self.plain_rules(request.program, entered) is not free:
            return self._started_again(request, minus, [_LITERALS])
        given, minus, plus = minus, *self._proper(minus, entered)
        other = None
        if request.earlier is not None:
            other = OtherRules(frozenset(set(request.program.rules) ^ set(request.earlier.rules)))
        choice = self._choice(request, above, minus, plus, other)
        if choice.again:
            return self._given_up(request, given, choice, 0.0, choice.reasons)
        tried, after, profiler = clock.now(), changed.copy(), self._profiler(request)
        try:
            with (
                guarded(self.engine, choice.allowed),
                _measuring_core(after, request.progress, profiler) as progress,
            ):
                phases = core.deletions.update(after, self.E, minus, plus, progress)
            below = clock.now() - tried
            if after.classes.refused(after.I):
                raise Contradiction
            found = self._followed(core.rewritten, after, minus, plus, request, choice, profiler)
        except Contradiction:
            return self._started_again(request, given, [CONTRADICTORY])
        except Unresumable as reason:
            return self._started_again(request, given, [str(reason)])
        except TooCostly:
            why = [spreads_too_far("B/F≈")]
            return self._given_up(request, given, choice, clock.now() - tried, why)
        self.E, self.I, self.materialisation = found.E, found.above.I, found.above
        self._core, self._counts = core._replace(rewritten=after), {}
        if request.earlier is not None:
            known = core.predicates | program_arities(request.program).keys()
            self._core, self._revised = self._core._replace(predicates=known), True
        self._names, self._names_before = found.names, self._names
        self._difference, self._sets, self._kept_change = found.difference, found.sets, None
        added, deleted = self.changed()
        if self._total is not None:
            self._total += added - deleted
        outcome = found.outcome.above(phases, after.rounds, below)
        return self, self._report(request, outcome, 0.0, added, deleted, choice.reasons)

    def _proper(self, minus: FactSet, plus: FactSet) -> tuple[FactSet, FactSet]:
        """`E⁻ ⊆ E` and `E⁺`, disjoint with `E`; a fact that is added is not deleted."""
        minus &= self.E
        minus -= plus
        plus -= self.E
        return minus, plus

    def _followed(
        self,
        core: RMaterialisation,
        after: RMaterialisation,
        minus: FactSet,
        plus: FactSet,
        request: Request[Batch],
        choice: Choice,
        profiler: Profiler | None,
    ) -> _Followed[Batch, Listed, Part]:
        """What is above follows the r-materialisation; if constants of its rules are others now, it is computed anew.

        Nothing of that counts if it merged what is different, or if anything fails before all is known about it.
        """
        above, trail, names = self.materialisation, after.trail, self.backend.names(after.classes)
        assert above is not None, "it has been resumed"
        assert trail is not None, "it is a copy"
        then, E = self.world, (self.E - minus) | plus
        found, warnings = list[tuple[Difference[Part], FactSet]](), list[str]()

        def accept(I: FactSet, gone: FactSet, new: FactSet) -> None:
            if names.merged_apart(E, I):
                raise Contradiction
            now = World(self.backend, E, I, names)
            warnings.extend(names.clashes(I))
            difference = names.changed(then, now, gone, new, minus, plus)
            if request.guard is not None:
                after_it = partial(type(self), self.backend, E, I, names=names)
                request.guard.check_update(self.backend, difference.added, after_it)
            # Last, since nobody asks for the old set any more: it changes in place, and would have to be recovered.
            explicit = self.E
            explicit -= minus
            explicit |= plus
            found.append((difference, explicit))

        run = Run(
            choice.algorithm,
            request.progress,
            choice.allowed,
            lambda I, sets: accept(I, sets.deleted, sets.added),
            None,
            profiler,
        )
        if request.earlier is not None:
            kinds = above.kept.names()
            changed = new_materialisation(self.backend, _above(after), request.settings, kinds, before=above)
            outcome, sets = revise(above, changed, trail.left, trail.came, run, self._minima)
            return _Followed(changed, outcome.warned(warnings), names, *found[0], sets)
        if core.above() == after.above():
            outcome, sets = above.update(trail.left, trail.came, *run)
            return _Followed(above, outcome.warned(warnings), names, *found[0], sets)
        anew = new_materialisation(self.backend, _above(after), request.settings, needed(request.algorithm))
        outcome = anew.materialise(request.progress, profiler)
        accept(anew.I, above.I - anew.I, anew.I - above.I)
        interrupts.settle()
        return _Followed(anew, outcome.warned(warnings), names, *found[0], None)

    def _resumed(self, program: Program, settings: Settings) -> Materialisation:
        if self._core is None and self.phase != "apart":
            kept = self._kept()
            self._kept = lambda: kept
            I = self.I
            I |= self.backend.recovered(kept, frozenset(), I).hidden
            core = self._core_of(program, self.classes)
            core.rewritten.resume(self.E, I)
            self._core = core
        return super()._resumed(program, settings)

    def _heads(self, compiled: Materialisation) -> frozenset[str]:
        core = () if self._core is None else self._core.rewritten.rules
        return compiled.heads() | {rule.head.predicate for rule in core}

    def _not_explicit(self, deleted: Sequence[Batch], minus: FactSet) -> int:
        if self.phase == "apart":
            return super()._not_explicit(deleted, minus)
        return self.names.derived(deleted, self.E, self.I)

    def compacted(self) -> Self:
        after = super().compacted()
        after.phase = "apart" if self.phase == "apart" else "new"
        return after

    def _alive(self) -> int:
        return len(self.I) + len(self.E)  # explicit facts may be facts of I as well

    def _facts(self) -> dict[str, int]:
        return {**super()._facts(), "representatives": self.backend.count(self.I)}

    # ------------------------------------------------------------------------------------ what is kept

    def kept_kinds(self) -> frozenset[str]:
        return super().kept_kinds() | {CLASSES}

    # ------------------------------------------------------------------------------------ facts out

    def total(self) -> int:
        if not self.names.several():
            return self.backend.count(self.I)
        if self._total is None:
            self._total = sum(self._sizes("all").values())
        return self._total

    def _sizes(self, which: Which) -> Mapping[str, int]:
        self._chosen(which)  # refuses what is none
        if which not in self._counts and which != "explicit" and self._names is not None:
            known = self.names.sizes(self.E, self.I)
            explicit = super()._sizes("explicit")
            derived = {predicate: n - explicit.get(predicate, 0) for predicate, n in known.items()}
            self._counts |= {"all": known, "derived": derived}
        return super()._sizes(which)

    def stored_counts(self, counts: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
        """In all names, and `representatives` as the facts that `I` has."""
        stored = self.backend.counts(self.I)
        return {
            name: {
                "explicit": self.size(name, "explicit"),
                "derived": self.size(name, "derived"),
                "representatives": stored.get(name, 0),
            }
            for name in counts
        }

    def listed(self, predicate: str, which: Which, arity: int) -> Listed:
        self._chosen(which)  # refuses what is none
        if which == "explicit" or self._names is None:
            return super().listed(predicate, which, arity)
        return self.names.listed(self.E, self.I, predicate, which, arity)

    def few(self, which: Which) -> bool:
        return self.backend.few(lambda: sum(self._sizes(which).values()))

    def _contradictions(self, I: FactSet, settings: Settings) -> list[str]:
        return self.names.clashes(I)

    def clashes(self) -> list[str]:
        return [] if self._names is None else self.names.clashes(self.I)


@dataclass(frozen=True)
class _Followed(Generic[Batch, Listed, Part]):
    """What is above after an update, what it changed in all names, and as sets, unless all above was computed anew."""

    above: Materialisation
    outcome: Outcome
    names: Names[Batch, Listed, Part]
    difference: Difference[Part]
    E: FactSet
    sets: Difference[FactSet] | None


def _above(core: RMaterialisation) -> Evaluated:
    """The rules above an r-materialisation, and its facts."""
    return Evaluated([made for rule in core.above() for made in over_representatives(rule)], core.I)


@contextmanager
def _measuring_core(core: RMaterialisation, progress: Progress, profiler: Profiler | None) -> Iterator[Progress]:
    """Measures the rules that equality depends on, which are evaluated together, if somebody wants to."""
    if profiler is None:
        yield progress
        return
    work = profiler.noted(0, "equality", core.core)

    def counted(stratum: int, number: int, new: int) -> None:
        work.facts += new
        progress(stratum, number, new)

    with profiler.measuring(work):
        yield counted

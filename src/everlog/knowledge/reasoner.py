"""Reasoning for a knowledge base: explicit facts, what follows from them, and its upkeep, in the engine of a backend.

An update changes a reasoner in place, at its end and as a whole; where starting again is cheaper, or asked for, it makes a
new one and leaves the old one as it is. Either way the one to go on with is what `updated` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter, process_time
from typing import Any, Final, Generic, NamedTuple, Self

from everlog import clock, interrupts
from everlog.datalog.arities import program_arities
from everlog.datalog.substitution import pattern
from everlog.datalog.syntax import TRIPLE, Atom, Program, Rule
from everlog.engine.algebra import Engine, FactSet, Region
from everlog.engine.backend import (
    Backend,
    Batch,
    Difference,
    KeptState,
    Listed,
    Names,
    Part,
    Which,
    World,
)
from everlog.engine.kept_kinds import CLASSES
from everlog.errors import EverlogError
from everlog.knowledge.choice import Choice, OtherRules, choose, given_up
from everlog.knowledge.materialisation import Accept, Materialisation, Outcome, Past
from everlog.knowledge.new_materialisation import Evaluated, new_materialisation, without_poor_chains
from everlog.knowledge.report import Report, peak_rss_bytes
from everlog.knowledge.request import Request
from everlog.knowledge.resuming import Unresumable, refuse_undefined, resumed
from everlog.knowledge.revision import Run, revise
from everlog.knowledge.rule_profile import profile_of
from everlog.knowledge.saved_kinds import CLOSED
from everlog.knowledge.settings import Settings
from everlog.planning.compiled_program import CompiledMinima
from everlog.planning.equality_rules import UNEQUATED, axiomatised
from everlog.planning.literal_places import Place, literal_flow
from everlog.planning.modules.module_rules import relation_name
from everlog.planning.rule_changes import RuleChange
from everlog.reasoning.algorithms import needed
from everlog.reasoning.change import Allowance, TooCostly
from everlog.reasoning.minima import Minima
from everlog.reasoning.profiled import Profiler

_NOT_CLOSED: Final = "a relation that was closed cannot be closed again"
_CHECKED: Final = "rules look out for literals from now on, since properties got some whose values rules make subjects"
_DROPPED: Final = "an update by another algorithm dropped the counts that {name} needs; remat brings them back"


class Literals(NamedTuple):
    """The places at which somebody has looked for literals in explicit facts, and those that have some."""

    looked: frozenset[Place] = frozenset()
    found: frozenset[Place] = frozenset()


class Reasoner(Generic[Batch, Listed, Part]):
    """`E` and, once `materialise` ran, `I`.

    One that was stored has `I` already, and gets what else was `kept`, of some `kinds`, before its first update.
    """

    def __init__(
        self,
        backend: Backend[Batch, Listed, Part],
        E: FactSet | None = None,
        I: FactSet | None = None,
        kept: Callable[[], Mapping[str, Listed]] = dict,
        kinds: frozenset[str] = frozenset(),
        names: Names[Batch, Listed, Part] | None = None,
    ) -> None:
        nothing = backend.engine.empty()
        self.backend = backend
        self.E: FactSet = nothing if E is None else E
        self.I: FactSet = nothing if I is None else I
        self.materialisation: Materialisation | None = None
        self._kept, self._kinds = kept, kinds
        self._names = names
        """Facts in all names, where constants are rewritten, once something is materialised."""
        self._names_before: Names[Batch, Listed, Part] | None = None
        """The same before the last update, if it rewrote."""
        self._sets: Difference[FactSet] | None = None
        self._difference: Difference[Part] | None = None
        """What the last update did, as sets of the engine and as parts; these are made when somebody asks."""
        self._kept_change: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None
        self._revised = False
        """Whether rules came or went since a store had what is kept."""
        self._cost: Allowance | None = None
        self._past = Past()
        """What computing everything took, if that is known, and earlier updates, before there is a materialisation."""
        self._counts: dict[Which, Mapping[str, int]] = {}
        self._unread: tuple[frozenset[str], Callable[[], FactSet]] | None = None
        """Predicates of closed relations, of which a store's facts were not read, and what reads them."""
        self._literals = Literals()

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
        """What was materialised and stored; `pairs` gives the constants that others represent, if any can."""
        return cls(backend, E, I, kept, kinds)

    def leave_unread(self, predicates: frozenset[str], read: Callable[[], FactSet]) -> None:
        """Is told that `I` has no more than the backbones of closed relations, until `complete` is called."""
        self._unread = predicates, read

    def complete(self, program: Program, settings: Settings) -> None:
        """Closes relations that a store had closed; where that cannot be done, their facts are read after all."""
        if self._unread is None:
            return
        try:
            self.I = self._resumed(program, settings).holding
        except Unresumable:
            I = self.I
            I |= self._unread[1]()
            self.I, self._kinds = I, frozenset(kind for kind in self._kinds if not kind.startswith(CLOSED))
        self._unread = None

    @property
    def engine(self) -> Engine:
        """Where the facts are."""
        return self.backend.engine

    @property
    def world(self) -> World[Batch, Listed, Part]:
        """What holds."""
        return World(self.backend, self.E, self.I, self._names)

    # ------------------------------------------------------------------------------------ materialising

    def insert(self, batches: Sequence[Batch]) -> None:
        """Makes facts explicit: all of them, or none if it is given up."""
        E = self.E
        E |= self.backend.entered(batches, excluding=E)
        self.E, self._counts = E, {}

    def materialise(self, request: Request[Batch]) -> Report:
        """Computes everything that follows from the explicit facts."""
        begun, self._literals = clock.now(), Literals()
        rules = self.evaluated(request.program, request.settings)
        kinds = needed(request.settings.algorithm) | needed(request.algorithm) | self._kinds
        compiled = new_materialisation(self.backend, rules, request.settings, kinds)
        planned = clock.now() - begun
        outcome = compiled.materialise(request.progress, self._profiler(request))
        outcome = outcome.warned(self._contradictions(compiled.I, request.settings))
        try:
            self.materialisation = without_poor_chains(self.backend, compiled, rules, request.settings, self._kinds)
            self.I, self._counts = self.materialisation.holding, {}
            return self._report(request, outcome, planned, self.total(), 0)
        except BaseException:
            self.forget()  # there is none before it is whole
            raise

    def forget(self) -> None:
        """Goes back to explicit facts alone."""
        self.materialisation, self.I, self._counts = None, self.engine.empty(), {}

    def evaluated(self, program: Program, settings: Settings) -> Evaluated:
        """The rules that are evaluated, and over which facts."""
        rules = self.plain_rules(program)
        if settings.equality != "axioms":
            return Evaluated(rules, self.E)
        known = self.backend.arities()
        rules = axiomatised(rules, known)
        return Evaluated(rules, self.E, frozenset({TRIPLE, *known, *program_arities(program)}))

    def plain_rules(self, program: Program, more: FactSet | None = None) -> Sequence[Rule]:
        """The rules of a program without conditions that always hold, since no literal comes there.

        With `more`, with the explicit facts that these will be; they are then noted to have such literals.
        """
        flow = literal_flow(program.rules)
        if flow is None:
            if more is not None:  # nobody looks at these, so that what was seen before may no longer be all
                self._literals = Literals()
            return program.rules
        looked, found = self._literals
        if new := flow.asked - looked:
            looked, found = looked | new, found | self.backend.literals(self.E, new)
        if more is not None:
            found |= self.backend.literals(more, looked - found)
        self._literals = Literals(looked, found)
        return flow.needed(found)

    # ------------------------------------------------------------------------------------ updates

    def updated(self, request: Request[Batch]) -> tuple[Self, Report]:
        """The reasoner after an update, which is this one or a new one, and a report; a failure leaves this as it was."""
        minus = self.backend.present(request.deleted)
        derived, literals = self._not_explicit(request.deleted, minus), self._literals
        try:
            after, report = self._changed(request, minus)
        except BaseException:
            self._literals = literals
            raise
        if derived:
            why = f"{derived:,} of the facts to be deleted are not explicit but follow from others, and stay"
            report = replace(report, warnings=[why, *report.warnings])
        # Who wants to stop is not kept waiting for that; the next update does it.
        compacted = interrupts.attempt(after.compacted) if after.backend.wasteful(after._alive()) else None
        return compacted or after, report

    def _not_explicit(self, deleted: Sequence[Batch], minus: FactSet) -> int:
        """How many of the facts to be deleted only follow from others."""
        if self.I.closures:  # of which facts that hold may be known to nobody
            minus = self.backend.entered(deleted)
        return len((minus & self.I) - self.E) if minus else 0

    def _changed(self, request: Request[Batch], minus: FactSet) -> tuple[Self, Report]:
        """An update; `minus` are those of the facts to be deleted that the engine knows."""
        return self._maintained(request, minus)

    def _maintained(
        self,
        request: Request[Batch],
        minus: FactSet,
        accept: Accept | None = None,
        watch: Callable[[], None] | None = None,
    ) -> tuple[Self, Report]:
        """An update by an algorithm that maintains the materialisation, or from the beginning.

        `accept` looks at what it would do, and `watch` while rules are applied; what they raise undoes the update.
        """
        settings, begun = request.settings, clock.now()
        if request.algorithm == "remat":
            return self._started_again(request, minus, [])
        try:
            materialisation = self._resumed(request.earlier or request.program, settings)
        except Unresumable as reason:
            return self._started_again(request, minus, [str(reason)])
        if (
            request.earlier is None
            and settings.equality == "axioms"
            and not self.backend.predicates(request.added) <= materialisation.equated
        ):
            return self._started_again(request, minus, [UNEQUATED])
        plus = self.backend.entered(request.added)
        after, free = materialisation, self.plain_rules(request.program)
        checked = self.plain_rules(request.program, plus)
        exchanged = dict(zip(free, checked, strict=True)) if request.earlier is None and checked is not free else {}
        if exchanged or request.earlier is not None:
            after = self._with_rules(request, materialisation)
        planned = clock.now() - begun
        other = None if after is materialisation else self._other_rules(materialisation, after, exchanged)
        choice = self._choice(request, materialisation, minus, plus, other)
        if exchanged:
            choice = replace(choice, reasons=(*choice.reasons, _CHECKED))
        if choice.again:
            return self._given_up(request, minus, choice, 0.0, choice.reasons)
        tried, warnings = clock.now(), list[str]()

        def accepted(I: FactSet, sets: Difference[FactSet]) -> None:
            if accept is not None:
                accept(I, sets)
            if request.guard is not None:
                added = self.backend.part(sets.added.within(request.guard.region))
                then = partial(self._then, minus, plus, I)
                request.guard.check_update(self.backend, added, then)
            warnings.extend(self._contradictions(I, settings))

        run = Run(choice.algorithm, request.progress, choice.allowed, accepted, watch, self._profiler(request))
        try:
            if after is materialisation:
                outcome, sets = materialisation.update(minus, plus, *run)
            else:
                outcome, sets = revise(materialisation, after, minus, plus, run, self._minima, exchanged)
                self.materialisation, self._revised = after, True
        except Unresumable as reason:
            return self._started_again(request, minus, [str(reason)])
        except TooCostly:
            why = [spreads_too_far(choice.algorithm.name)]
            return self._given_up(request, minus, choice, clock.now() - tried, why)
        self.E, self.I, self._counts = after.E, after.holding, {}
        self._sets, self._difference = sets, None
        added, deleted = self.backend.count(sets.added), self.backend.count(sets.deleted)
        return self, self._report(request, outcome.warned(warnings), planned, added, deleted, choice.reasons)

    def _with_rules(self, request: Request[Batch], before: Materialisation) -> Materialisation:
        """A materialisation, without facts yet, of the program after an update of one that has other rules."""
        evaluated = self.evaluated(request.program, request.settings)
        return new_materialisation(self.backend, evaluated, request.settings, before.kept.names(), before=before)

    def _minima(self, compiled: CompiledMinima) -> Minima:
        backend = self.backend
        return Minima(compiled, backend.engine, backend.graphs(), backend.matcher(), backend.compiler())

    def _then(self, minus: FactSet, plus: FactSet, I: FactSet) -> Self:
        """What would hold after an update, to be looked at; the old `E` may have to be copied for it."""
        return type(self)(self.backend, (self.E - minus) | plus, I)

    def _profiler(self, request: Request[Batch]) -> Profiler | None:
        """What measures rules and modules, if that is asked for."""
        if not request.profiled:
            return None
        apart = self.backend.policy.measures_rules_apart
        return Profiler(self.engine, self.backend.compiler() if apart else None)

    def _contradictions(self, I: FactSet, settings: Settings) -> list[str]:
        """What equality contradicts in a materialisation that does not count yet."""
        return [] if settings.equality == "off" else self.backend.clashes(I)

    def _resumed(self, program: Program, settings: Settings) -> Materialisation:
        """What is to be updated; of what was stored it is made before the first update."""
        if self.materialisation is None:
            evaluated = self.evaluated(program, settings)
            compiled = resumed(
                lambda options, *chosen: new_materialisation(self.backend, evaluated, options, self._kinds, *chosen),
                settings,
                self._kinds,
            )
            compiled.cost, compiled.past = self._cost, self._past
            kept = self._kept()
            refuse_undefined(kept, self._heads(compiled))
            closed = frozenset() if self._unread is None else self._unread[0]
            if not compiled.recover(self.I, partial(self.backend.recovered, kept), closed):
                raise Unresumable(_NOT_CLOSED)
            self.materialisation, self._kept = compiled, dict
            self.note_stored()
        return self.materialisation

    def _heads(self, compiled: Materialisation) -> frozenset[str]:
        """The predicates that rules derive."""
        return compiled.heads()

    def _other_rules(self, old: Materialisation, new: Materialisation, exchanged: Mapping[Rule, Rule]) -> OtherRules:
        """The rules that come or go; of some it is known that they have many instances.

        A rule with one condition has as many as there are facts that fulfil it. All facts of a relation are looked at if a
        rule of its module comes or goes, and those that are not explicit go with the last rule that does not need others.
        """
        gone, come = RuleChange.between(old.every_rule, new.every_rule).but_for(exchanged)
        if not self.backend.policy.counts_on_demand:
            return OtherRules(gone | come)
        looked_at = [rule.body[0] for rule in gone | come if len(rule.body) == 1 and isinstance(rule.body[0], Atom)]
        modules = (module for stratum in (*old.strata, *new.strata) for module in stratum.modules)
        looked_at += [rule.head for module in modules for rule in module.rules if rule in gone | come]
        ended = {pattern(rule.head): rule.head for rule in gone}
        for rule in new.every_rule if gone else ():
            if not ended:
                break
            if (head := pattern(rule.head)) in ended and not _needs_others(rule):
                del ended[head]
        instances = sum(len(old.I.within(region)) for region in map(_region, _different(looked_at)))
        for region in map(_region, ended.values()):
            instances += len(old.I.within(region)) - len(old.E.within(region))
        return OtherRules(gone | come, instances)

    def _choice(
        self,
        request: Request[Batch],
        materialisation: Materialisation,
        minus: FactSet,
        plus: FactSet,
        other: OtherRules | None = None,
    ) -> Choice:
        """The algorithm of an update, with which rules may come and go; what it needs is counted."""
        name, lacking = request.algorithm, list[str]()
        if request.asked is None and needed(name) - materialisation.kept.names():
            lacking, name = [_DROPPED.format(name=name)], "auto"
        if self.backend.policy.counts_on_demand:
            deleted = len(minus)
            choice = choose(name, materialisation, deleted, 0 if deleted else len(plus), other)
            if choice.counts and not choice.again:
                materialisation.count(choice.algorithm.needs)
        else:
            choice = choose(name, materialisation)
        return replace(choice, reasons=(*lacking, *choice.reasons))

    def _given_up(
        self,
        request: Request[Batch],
        minus: FactSet,
        choice: Choice,
        seconds: float,
        why: Sequence[str],
    ) -> tuple[Self, Report]:
        """Computes everything anew instead of an update, and remembers what it was like."""
        assert self.materialisation is not None, "an update was given up"
        past = given_up(choice, self.materialisation.past, seconds)
        after, report = self._started_again(request, minus, why)
        assert after.materialisation is not None, "it has been materialised"
        after.materialisation.past = past
        return after, report

    def _started_again(self, request: Request[Batch], minus: FactSet, reasons: Sequence[str]) -> tuple[Self, Report]:
        """A new reasoner with the explicit facts `(E ∖ deleted) ∪ added`, materialised; ids keep their meaning."""
        backend, begun = self.backend.fresh(), process_time()
        E = backend.taken(self.E - minus, self.backend)
        E |= backend.entered(request.added, excluding=E)
        after = type(self)(backend, E, kinds=self.kept_kinds())
        report = after.materialise(request)
        after._difference = backend.compared(self.world, after.world, request.deleted, request.added)
        if request.guard is not None:
            request.guard.check_update(backend, after._difference.added, lambda: after)
        added, deleted = after.changed()
        known = after.materialisation
        if known is not None and known.cost is not None:
            known.cost = replace(known.cost, whole=process_time() - begun)
        seconds = {**report.seconds, "total": perf_counter() - request.started}
        return after, replace(report, added=added, deleted=deleted, seconds=seconds, reasons=[*reasons])

    def compacted(self) -> Self:
        """The same in a new engine, without the rows of facts that are gone."""
        backend, kept = self.backend.fresh(), self.kept()
        E = backend.taken(self.E, self.backend)
        I = E
        I |= backend.taken(self.I.base - self.E, self.backend)
        I = backend.engine.closing(I, self.I.closures)
        after = self.restored(backend, E, I, lambda: kept, self.kept_kinds(), self._pairs)
        after._difference, after._kept_change = self.difference, self.kept_change()
        after._remember(self)
        return after

    def _alive(self) -> int:
        """How many rows belong to facts, at most."""
        return len(self.I.base)

    def _pairs(self) -> Listed | None:
        """The constants that others represent, if any can."""
        return None if self._names is None else self._names.pairs()

    def _remember(self, before: Self) -> None:
        """Takes over what another reasoner knows about the time that things take."""
        known = before.materialisation
        self._cost, self._past = (before._cost, before._past) if known is None else (known.cost, known.past)

    def _report(
        self,
        request: Request[Batch],
        outcome: Outcome,
        planned: float,
        added: int,
        deleted: int,
        reasons: Sequence[str] = (),
    ) -> Report:
        known = self.materialisation
        assert known is not None, "there is a materialisation"
        return Report(
            engine=self.backend.name,
            algorithm=outcome.algorithm,
            facts=self._facts(),
            derivations=outcome.derivations,
            seconds={
                **request.work.seconds(),
                "planning": planned,
                "reasoning": outcome.seconds,
                "total": perf_counter() - request.started,
            },
            rounds=outcome.rounds,
            added=added,
            deleted=deleted,
            modules=[
                {"kind": one.kind, "predicates": [relation_name(atom) for atom in one.heads], **one.described()}
                for one in known.module_list()
            ],
            left_out=[one.described() for one in known.left_out()],
            strata=outcome.strata,
            state_bytes=known.state_bytes(),
            peak_rss_bytes=peak_rss_bytes(),
            warnings=list(outcome.warnings),
            reasons=list(reasons),
            profile=None if outcome.work is None else profile_of(outcome.work, outcome.strata, request.program),
        )

    def _facts(self) -> dict[str, int]:
        """How many facts there are, for a report."""
        return {"explicit": self.backend.count(self.E), "total": self.total()}

    # ------------------------------------------------------------------------------------ what changed, what is kept

    @property
    def difference(self) -> Difference[Part]:
        """What the last update did."""
        if self._difference is None and self._sets is not None:
            self._difference = self._sets.map(self.backend.part)
        nothing = self.backend.part(self.engine.empty())
        return self._difference or Difference(nothing, nothing, nothing, nothing, nothing, nothing)

    def changed(self) -> tuple[int, int]:
        """How many facts the last update added to the materialisation, and how many it deleted."""
        return self.backend.part_size(self.difference.added), self.backend.part_size(self.difference.deleted)

    def kept(self) -> Mapping[str, Listed]:
        """What is kept for updates, as relations."""
        known, pairs = self.materialisation, self._pairs()
        kept = self._kept() if known is None else self.backend.kept(known.kept_state())
        return kept if pairs is None else {**kept, CLASSES: pairs}

    def kept_change(self, once: bool = True) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
        """What was added to what is kept since a store had it, and what was deleted; None if that is not known.

        There was one update since, or, if `once` is false, any number of them.
        """
        if self.materialisation is None:
            return self._kept_change if once else None
        if self._revised:
            return None
        state, now = self.materialisation.kept_state(), self._names
        names = None if now is None else (self._names_before or now, now)
        return self.backend.kept_change(state, self._sets, self.kept_kinds(), names, once)

    def to_keep(self) -> tuple[KeptState | None, Names[Batch, Listed, Part] | None, Callable[[], Mapping[str, Listed]]]:
        """What is kept, the names of constants where they are rewritten, and what was stored or is kept as relations."""
        known = self.materialisation
        return None if known is None else known.kept_state(), self._names, self.kept

    @property
    def is_untouched(self) -> bool:
        """Whether it was opened and has not been updated since."""
        return self.materialisation is None and self._sets is None and self._difference is None

    def kept_kinds(self) -> frozenset[str]:
        """The kinds of what is kept (`engine/kept_kinds.py`), and what a store has to say about modules and rules."""
        return self._kinds if self.materialisation is None else self.materialisation.kinds()

    def note_stored(self) -> None:
        """What is kept now is what a store has."""
        if self.materialisation is not None:
            self._revised = False
            self.backend.note_stored(self.materialisation.kept_state(), self._names)

    # ------------------------------------------------------------------------------------ facts out

    def _chosen(self, which: Which) -> FactSet:
        if which == "all":
            return self.world.holding
        if which == "explicit":
            return self.E
        if which == "derived":
            return self.I - self.E
        raise EverlogError(f"which={which!r} is not supported; choose one of: all, explicit, derived")

    def total(self) -> int:
        """How many facts there are."""
        return self.backend.count(self.I)

    def size(self, predicate: str, which: Which) -> int:
        """How many facts of a predicate there are."""
        return self._sizes(which).get(predicate, 0)

    def _sizes(self, which: Which) -> Mapping[str, int]:
        if which not in self._counts:
            self._counts[which] = self.backend.counts(self._chosen(which))
        return self._counts[which]

    def derived(self) -> FactSet:
        """`I ∖ E`: the derived facts as a store has them."""
        if self.I.closures:
            return self.I - self.E
        found = self.I
        found -= self.E
        return found

    def stored_counts(self, counts: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
        """How many facts of each predicate a store has to say there are; it has so many explicit and derived ones."""
        return counts

    def listed(self, predicate: str, which: Which, arity: int) -> Listed:
        """The facts of a predicate, as ids."""
        return self.backend.listed(self._chosen(which), predicate, arity)

    def few(self, which: Which) -> bool:
        """Whether facts are few enough to be fetched directly."""
        return self.backend.few(lambda: len(self._chosen(which)))

    def clashes(self) -> list[str]:
        """What equality contradicts, with facts."""
        return self.backend.clashes(self.I)


def spreads_too_far(algorithm: str) -> str:
    """Why an update is given up."""
    return f"{algorithm} was given up, since the change spreads too far; everything was computed anew"


def _needs_others(rule: Rule) -> bool:
    """Whether a rule derives facts of a relation from others of it."""
    return pattern(rule.head) in map(pattern, rule.positive)


def _different(atoms: Iterable[Atom]) -> Iterable[Atom]:
    """Atoms of different forms."""
    return {pattern(atom): atom for atom in atoms}.values()


def _region(atom: Atom) -> Region:
    return Region((atom,))

"""Reasoning for a knowledge base: explicit facts, what follows from them, and its upkeep, in the engine of a backend.

An update changes a reasoner in place, at its end and as a whole; where starting again is cheaper, or asked for, it makes a
new one and leaves the old one as it is. Either way the one to go on with is what `updated` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Self

from everlog import clock, interrupts
from everlog.datalog.arities import program_arities
from everlog.datalog.syntax import HIDDEN, TRIPLE, Atom, BodyLiteral, Constant, Program, Rule, Variable
from everlog.datalog.values import Value
from everlog.engine.algebra import Engine, FactSet
from everlog.engine.backend import (
    Backend,
    Batch,
    Counts,
    Difference,
    KeptState,
    Listed,
    Matched,
    Matching,
    Names,
    Part,
    Progress,
    Which,
    World,
)
from everlog.engine.kept_kinds import CLASSES, TRACE
from everlog.errors import EverlogError
from everlog.explaining.equal_facts import EqualFacts, EqualNames, RepresentativeRules
from everlog.explaining.held_facts import HeldFacts
from everlog.explaining.rule_index import RuleIndex
from everlog.knowledge.choice import Choice, choose, given_up
from everlog.knowledge.goals import WORTH_SORTING, answer_variables, in_order, part_of
from everlog.knowledge.materialisation import Accept, Materialisation, Outcome, Past
from everlog.knowledge.report import Report, peak_rss_bytes
from everlog.knowledge.request import Request
from everlog.knowledge.resuming import Chosen, Unresumable, refuse_undefined, resumed
from everlog.knowledge.revision import Run, revise
from everlog.knowledge.rule_profile import profile_of
from everlog.knowledge.settings import Settings
from everlog.planning.compiled_program import CompiledMinima, Decomposing, compile_program, prepared
from everlog.planning.decomposition.decomposition_choice import Decomposer
from everlog.planning.decomposition.size_estimates import Statistics
from everlog.planning.equality_rules import UNEQUATED, axiomatised, mergeable, same
from everlog.planning.modules.module_choice import Verdicts, refusing
from everlog.planning.modules.module_rules import relation_name
from everlog.planning.rule_changes import Planned, decided_trees, decided_verdicts
from everlog.reasoning.algorithms import needed
from everlog.reasoning.boundaries import make_boundaries
from everlog.reasoning.bounds import Bounds
from everlog.reasoning.change import Allowance, TooCostly
from everlog.reasoning.minima import Minima
from everlog.reasoning.modules.chain import RegularChains
from everlog.reasoning.modules.make_modules import make_modules, planned_modules
from everlog.reasoning.modules.module import Module
from everlog.reasoning.profiled import Profiler

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from everlog.engine.memory.dictionary import Dictionary
    from everlog.sources.fact_columns import Columns

_DROPPED: Final = "an update by another algorithm dropped the counts that {name} needs; remat brings them back"
_POOR: Final = "the rules found what follows as soon"


class Evaluated(NamedTuple):
    """Rules, the facts that they are applied to, and the predicates that rules about equality are made for."""

    rules: Sequence[Rule]
    given: FactSet
    equated: frozenset[str] = frozenset()


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
        self._equal_names: tuple[RuleIndex, FactSet, RepresentativeRules, EqualNames] | None = None
        """What explanations were made of last, where equality is a matter of rules: rules, facts, and what follows."""

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
        begun = clock.now()
        rules = self._evaluated(request.program, request.settings)
        kinds = needed(request.settings.algorithm) | needed(request.algorithm) | self._kinds
        compiled = self._compiled(rules, request.settings, kinds)
        planned = clock.now() - begun
        outcome = compiled.materialise(request.progress, self._profiler(request))
        outcome = outcome.warned(self._contradictions(compiled.I, request.settings))
        try:
            self.materialisation = self._reconsidered(compiled, rules, request.settings)
            self.I, self._counts = compiled.I, {}
            return self._report(request, outcome, planned, self.total(), 0)
        except BaseException:
            self.forget()  # there is none before it is whole
            raise

    def forget(self) -> None:
        """Goes back to explicit facts alone."""
        self.materialisation, self.I, self._counts = None, self.engine.empty(), {}

    def _evaluated(self, program: Program, settings: Settings) -> Evaluated:
        if settings.equality != "axioms":
            return Evaluated(program.rules, self.E)
        known = self.backend.arities()
        rules = axiomatised(program.rules, known)
        return Evaluated(rules, self.E, frozenset({TRIPLE, *known, *program_arities(program)}))

    def _compiled(
        self,
        evaluated: Evaluated,
        settings: Settings,
        kinds: frozenset[str],
        verdicts: Verdicts | None = None,
        trees: Chosen | None = None,
        before: Materialisation | None = None,
    ) -> Materialisation:
        """A materialisation without facts; if modules are to be chosen and nobody has done so, it is done here.

        What was decided, compiled and made for the rules that one `before` has is taken over.
        """
        backend, (rules, given, equated) = self.backend, evaluated
        backend.prepare(rules)
        graphs, traced = backend.graphs(), TRACE in kinds
        compiler = backend.compiler() if before is None else before.compiler
        decomposer: Decomposing = Decomposer(
            settings.hypertree if settings.decomposed and not traced else "off",
            lambda: Statistics(prepared(rules), backend.statistics(given)),
            backend.policy.decomposed_from,
            trees,
        )
        modular = settings.modular and not traced
        if modular and verdicts is None and settings.modules == "auto":
            verdicts = backend.verdicts(rules, given)
        known: list[tuple[Planned, Module]] = []
        if before is not None:
            known = planned_modules(before.strata, before.modules)
            used = {(module.kind, module.heads) for _, module in known}
            left_out: dict[tuple[str, tuple[Atom, ...]], str | None] = {}
            left_out.update({(one.module.kind, one.module.heads): one.why for one in before.left_out()})
            verdicts = decided_verdicts(used, left_out, verdicts)
            decomposer = decided_trees(before.strata, decomposer)
        strata = compile_program(
            rules,
            compiler,
            settings.stratification,
            settings.kinds if modular else (),
            decomposer,
            verdicts,
            () if before is None else before.strata,
        )
        forced = settings.modules != "auto" or not backend.policy.tries_rules_before_chains
        matcher = backend.matcher()
        modules = make_modules(strata, backend.engine, graphs, matcher, compiler, forced, known)
        boundaries = make_boundaries(strata, backend.engine, graphs, matcher, compiler)
        if before is not None:
            boundaries = boundaries.taking_over(before.boundaries)
        bounds = None
        if settings.checked and modules:
            bounds = Bounds(compile_program(rules, compiler, settings.stratification), backend.engine, compiler)
        return Materialisation(strata, backend.engine, given, kinds, modules, boundaries, bounds, equated, compiler)

    def _reconsidered(self, before: Materialisation, rules: Evaluated, settings: Settings) -> Materialisation:
        """The materialisation, with regular chains left to the rules, for updates, if they turned out to derive little."""
        if settings.modules != "auto" or not self.backend.policy.tries_rules_before_chains:
            return before
        if before.kept.names() or len(before.module_list()) != len(before.backbones()):
            return before
        chains = [module for module in before.backbones() if isinstance(module, RegularChains)]
        poor = [module for module in chains if not module.pays(before.I)]
        if not poor:
            return before
        reasons: dict[tuple[str, tuple[Atom, ...]], str] = {}
        reasons.update({(one.module.kind, one.module.heads): one.why for one in before.left_out()})
        reasons.update({(module.kind, module.heads): _POOR for module in poor})
        after = self._compiled(rules, settings, self._kinds, refusing(reasons))
        for key, module in after.keys().items():
            module.X = before.keys()[key].X
        after.restore(before.I)
        after.cost = before.cost
        return after

    # ------------------------------------------------------------------------------------ updates

    def updated(self, request: Request[Batch]) -> tuple[Self, Report]:
        """The reasoner after an update, which is this one or a new one, and a report; a failure leaves this as it was."""
        minus = self.backend.present(request.deleted)
        derived = self._not_explicit(request.deleted, minus)
        after, report = self._changed(request, minus)
        if derived:
            why = f"{derived:,} of the facts to be deleted are not explicit but follow from others, and stay"
            report = replace(report, warnings=[why, *report.warnings])
        # Who wants to stop is not kept waiting for that; the next update does it.
        compacted = interrupts.attempt(after.compacted) if after.backend.wasteful(after._alive()) else None
        return compacted or after, report

    def _not_explicit(self, deleted: Sequence[Batch], minus: FactSet) -> int:
        """How many of the facts to be deleted only follow from others."""
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
        after = materialisation if request.earlier is None else self._with_rules(request, materialisation)
        planned = clock.now() - begun
        choice = self._choice(request, materialisation, minus, plus)
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
                outcome, sets = revise(materialisation, after, minus, plus, run, self._minima)
                self.materialisation, self._revised = after, True
        except Unresumable as reason:
            return self._started_again(request, minus, [str(reason)])
        except TooCostly:
            why = [spreads_too_far(choice.algorithm.name)]
            return self._given_up(request, minus, choice, clock.now() - tried, why)
        self.E, self.I, self._counts = after.E, after.I, {}
        self._sets, self._difference = sets, None
        added, deleted = self.backend.count(sets.added), self.backend.count(sets.deleted)
        return self, self._report(request, outcome.warned(warnings), planned, added, deleted, choice.reasons)

    def _with_rules(self, request: Request[Batch], before: Materialisation) -> Materialisation:
        """A materialisation, without facts yet, of the program after an update of one that has other rules."""
        evaluated = self._evaluated(request.program, request.settings)
        return self._compiled(evaluated, request.settings, before.kept.names(), before=before)

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
            evaluated = self._evaluated(program, settings)
            compiled = resumed(
                lambda options, verdicts, trees: self._compiled(evaluated, options, self._kinds, verdicts, trees),
                settings,
                self._kinds,
            )
            compiled.cost, compiled.past = self._cost, self._past
            kept = self._kept()
            refuse_undefined(kept, self._heads(compiled))
            compiled.recover(self.I, partial(self.backend.recovered, kept))
            self.materialisation, self._kept = compiled, dict
            self.note_stored()
        return self.materialisation

    def _heads(self, compiled: Materialisation) -> frozenset[str]:
        """The predicates that rules derive."""
        return compiled.heads()

    def _choice(
        self, request: Request[Batch], materialisation: Materialisation, minus: FactSet, plus: FactSet
    ) -> Choice:
        """The algorithm of an update; what it needs is counted."""
        name, lacking = request.algorithm, list[str]()
        if request.asked is None and needed(name) - materialisation.kept.names():
            lacking, name = [_DROPPED.format(name=name)], "auto"
        if self.backend.policy.counts_on_demand:
            deleted = len(minus)
            rules = request.earlier is not None
            choice = choose(name, materialisation, deleted, 0 if deleted else len(plus), rules)
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
        backend = self.backend.fresh()
        E = backend.taken(self.E - minus, self.backend)
        E |= backend.entered(request.added, excluding=E)
        after = type(self)(backend, E, kinds=self.kept_kinds())
        report = after.materialise(request)
        after._difference = backend.compared(self.world, after.world, request.deleted, request.added)
        if request.guard is not None:
            request.guard.check_update(backend, after._difference.added, lambda: after)
        added, deleted = after.changed()
        seconds = {**report.seconds, "total": perf_counter() - request.started}
        return after, replace(report, added=added, deleted=deleted, seconds=seconds, reasons=[*reasons])

    def compacted(self) -> Self:
        """The same in a new engine, without the rows of facts that are gone."""
        backend, kept = self.backend.fresh(), self.kept()
        E = backend.taken(self.E, self.backend)
        I = E
        I |= backend.taken(self.I - self.E, self.backend)
        after = self.restored(backend, E, I, lambda: kept, self.kept_kinds(), self._pairs)
        after._difference, after._kept_change = self.difference, self.kept_change()
        after._remember(self)
        return after

    def _alive(self) -> int:
        """How many rows belong to facts, at most."""
        return len(self.I)

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
            return self.I if self.I else self.E
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
        """`I ∖ E`, computed: the derived facts as a store has them."""
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

    def answers(
        self, goal: Sequence[BodyLiteral], limit: int | None = None, after: int | None = None
    ) -> tuple[list[tuple[Value, ...]], int | None]:
        """The answers to a goal: distinct bindings of its variables, sorted by kind and value; and how many there are.

        With a `limit`, the first ones or, where there are many thousands, any. Where it is none, nobody counts. With a
        limit they may come `after` so many others, in an order that is the same for every part of the answers.
        """
        answer = Atom(f"{HIDDEN}answer", tuple(answer_variables(goal)))
        with self.backend.scratch() as scratch:
            found = self._with_answers(scratch, Rule(answer, tuple(goal)), self._chosen("all"))
            arity = len(answer.terms)
            listed = scratch.listed(found, answer.predicate, arity)
            number = None if limit is None else scratch.size(listed)
            if number is not None and limit is not None and number > WORTH_SORTING:
                if after is not None:
                    return scratch.rows(scratch.first(listed, limit, after), arity, few=True), number
                if number > limit:
                    return in_order(scratch.rows(scratch.first(listed, limit), arity, few=True)), number
            rows = scratch.rows(listed, arity, scratch.few(lambda: len(found)))
            return part_of(in_order(rows), limit, after), number

    def found_beside(
        self, rules: Sequence[Rule], facts: Mapping[str, Columns], predicates: Mapping[str, int], progress: Progress
    ) -> list[tuple[Value, ...]]:
        """What more rules, with more facts, would derive of some predicates; nothing of it is kept."""
        with self.backend.scratch() as scratch:
            given = self._chosen("all")
            given |= scratch.entered(scratch.encoded(facts), excluding=given)
            scratch.prepare(rules)
            compiler, engine = scratch.compiler(), scratch.engine
            strata = compile_program(rules, compiler)
            parts = scratch.engine, scratch.graphs(), scratch.matcher(), compiler
            modules, boundaries = make_modules(strata, *parts, False), make_boundaries(strata, *parts)
            found = Materialisation(strata, engine, given, frozenset(), modules, boundaries)
            found.materialise(progress)
            few = scratch.few(lambda: len(found.I))
            listed = ((scratch.listed(found.I, name, arity), arity) for name, arity in predicates.items())
            return [row for facts_of, arity in listed for row in scratch.rows(facts_of, arity, few)]

    def matches(
        self,
        atoms: Sequence[Atom],
        variables: Sequence[Variable],
        seeds: Mapping[Variable, NDArray[np.int32]],
        dictionary: Dictionary,
        check: Callable[[int], None],
    ) -> Matched:
        """The matches of some atoms, as ids of a dictionary that the backend has given for them."""
        with self.backend.scratch() as scratch:
            asked = Matching(self._chosen("all"), self.E, atoms, variables, check, seeds)
            return scratch.matches(asked, dictionary, self._names)

    def counted(
        self,
        atoms: Sequence[Atom],
        variables: Sequence[Variable],
        keys: int,
        dictionary: Dictionary,
        check: Callable[[int], None],
    ) -> Counts | None:
        """How many matches there are for each value of the first variables; None if it depends on equal names."""
        if self._names is not None:
            return None
        with self.backend.scratch() as scratch:
            return scratch.counted(Matching(self._chosen("all"), self.E, atoms, variables, check), keys, dictionary)

    def _with_answers(self, backend: Backend[Batch, Listed, Part], rule: Rule, facts: FactSet) -> FactSet:
        """Some facts, and what a rule derives from them."""
        backend.prepare([rule])
        for stratum in compile_program([rule], backend.compiler()):
            facts |= stratum.nonrecursive.apply(facts, excluding=facts)
        return facts

    def held(self, rules: RuleIndex, settings: Settings) -> HeldFacts:
        """What proofs are made of."""
        I = self._chosen("all")
        if settings.equality != "axioms":
            return HeldFacts(self.backend, self.E, I, rules)
        known = self._equal_names
        if known is None or known[0] is not rules or known[1] is not self.I:
            pairs, _ = self.answers([same(Variable("x"), Variable("y"))])
            names = EqualNames.closed(
                (Constant(one), Constant(other)) for one, other in pairs if mergeable(one) and mergeable(other)
            )
            known = self._equal_names = rules, self.I, RepresentativeRules(rules, names), names
        return EqualFacts(self.backend, self.E, I, *known[2:])

    def clashes(self) -> list[str]:
        """What equality contradicts, with facts."""
        return self.backend.clashes(self.I)


def spreads_too_far(algorithm: str) -> str:
    """Why an update is given up."""
    return f"{algorithm} was given up, since the change spreads too far; everything was computed anew"

"""The facts of a knowledge base in the memory engine: explicit ones, and what follows from them.

An update changes the state in place, at its end and as a whole; where starting again is cheaper, or asked for, it makes a
new state and leaves the old one as it is. Either way the state to go on with is what `updated` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog import interrupts
from everlog.datalog.syntax import HIDDEN, Atom, BodyLiteral, Program, Rule
from everlog.datalog.values import Value
from everlog.engine.algebra import FactSet
from everlog.engine.memory.clashes import clashes
from everlog.engine.memory.dictionary import Dictionary
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids
from everlog.engine.memory.graphs.graphs import MemoryGraphs
from everlog.engine.memory.joins.matcher import MemoryMatcher
from everlog.engine.memory.joins.rules import MemoryCompiler
from everlog.engine.memory.statistics import memory_facts
from everlog.engine.memory.warm_up import start_engine, start_graphs
from everlog.errors import EverlogError
from everlog.knowledge import saved
from everlog.knowledge.choice import choose, given_up
from everlog.knowledge.fact_columns import Columns
from everlog.knowledge.goals import answer_variables, in_order
from everlog.knowledge.materialisation import Difference, Materialisation, Outcome, Past
from everlog.knowledge.report import Report, peak_rss_bytes
from everlog.knowledge.request import Request
from everlog.knowledge.resuming import Chosen, Unresumable, refuse_undefined, resumed
from everlog.knowledge.settings import Settings
from everlog.planning.compiled_program import compile_program, prepared
from everlog.planning.decomposition.decomposition_choice import TREES, Decomposer
from everlog.planning.decomposition.size_estimates import Statistics
from everlog.planning.equality_rules import UNEQUATED, axiomatised
from everlog.planning.modules.module_choice import PathCounts, Verdicts, judged, refusing
from everlog.planning.modules.module_rules import Module as PlannedModule
from everlog.planning.modules.module_rules import meets, relation_name
from everlog.reasoning.algorithms import TRACE, needed
from everlog.reasoning.bounds import Bounds
from everlog.reasoning.change import Allowance, Progress, TooCostly
from everlog.reasoning.modules.chain import RegularChains
from everlog.reasoning.modules.make_modules import make_modules
from everlog.reasoning.modules.module import Module

if TYPE_CHECKING:
    from everlog.knowledge.memory_base import Which

_FEW_ROWS = 100_000
"""Up to this many rows nothing is gained by leaving dead ones out."""

_PIECE = 1 << 17
"""So many facts become Python values at a time."""

_POOR = "the rules found what follows as soon"

Batch: TypeAlias = tuple[str, Ids]
"""Facts of a predicate, one per column of the array."""

ByPredicate: TypeAlias = dict[str, Ids]


@dataclass(frozen=True)
class Change:
    """What an update did, by predicate: to the explicit facts `E`, to the materialisation `I`, and to `I ∖ E`."""

    explicit_added: ByPredicate = field(default_factory=dict)
    explicit_deleted: ByPredicate = field(default_factory=dict)
    added: ByPredicate = field(default_factory=dict)
    deleted: ByPredicate = field(default_factory=dict)
    derived_added: ByPredicate = field(default_factory=dict)
    derived_deleted: ByPredicate = field(default_factory=dict)

    def sizes(self) -> tuple[int, int]:
        """How many facts came to `I`, and how many went."""
        added, deleted = (sum(ids.shape[1] for ids in part.values()) for part in (self.added, self.deleted))
        return added, deleted


class MemoryState:
    """An engine with its explicit facts `E` and, once `materialise` ran, the materialisation `I`."""

    def __init__(self, engine: MemoryEngine | None = None, workers: int | None = None) -> None:
        self._compilation = 0.0
        if engine is None:
            engine, self._compilation = start_engine(workers)
        self.engine = engine
        self._E: ComputedFacts = engine.empty()
        self._I: MemoryFacts = engine.empty()
        self.materialisation: Materialisation | None = None
        self._change: Change | None = Change()
        self._difference: Difference | None = None
        """What the last update did, and the same as sets; it is looked up by predicate when somebody asks."""
        self._kept_change: tuple[ByPredicate, ByPredicate] | None = None
        self._kept: Callable[[], Iterable[Batch]] = tuple
        self._kinds: frozenset[str] = frozenset()
        """What a store has for the first update, of which kinds."""
        self._equated: frozenset[str] = frozenset()
        """The predicates that rules about equality are made for."""
        self._found: tuple[Sequence[Batch], FactSet] | None = None
        """The facts that the next update is to delete, as they were given and as a set."""
        self._cost: Allowance | None = None
        self._past = Past()
        """What computing everything took, if that is known, and earlier updates, before there is a materialisation."""

    # ------------------------------------------------------------------------------------ facts in

    @classmethod
    def restored(
        cls,
        dictionary: Dictionary,
        explicit: Iterable[Batch],
        derived: Iterable[Batch],
        workers: int | None = None,
        kept: Callable[[], Iterable[Batch]] | None = None,
        kinds: frozenset[str] = frozenset(),
    ) -> Self:
        """A state that was materialised earlier: nothing is derived again.

        `kept` gives what else was stored (see `saved.py`), of some kinds; it is called before the first update.
        """
        started, compilation = start_engine(workers)
        state = cls(MemoryEngine(dictionary, started.workers))
        state._compilation = compilation
        # What is stored is distinct, and derived facts are not explicit: nothing has to be looked for.
        for predicate, ids in explicit:
            state._E |= state.engine.append(predicate, ids)
        I = state._E
        for predicate, ids in derived:
            I |= state.engine.append(predicate, ids)
        state._I = I
        state._kept, state._kinds = kept or tuple, kinds
        return state

    def encoded(self, facts: Mapping[str, Columns]) -> list[Batch]:
        """Facts as ids; nothing is stored, so a value that cannot be is found before anything happened."""
        return [(predicate, self._ids(columns)) for predicate, columns in facts.items()]

    def _ids(self, columns: Columns) -> Ids:
        if not columns.columns:
            return np.empty((0, min(columns.height, 1)), np.int32)
        return np.array([column.encoded(self.engine.dictionary) for column in columns.columns], np.int32)

    def insert(self, batches: Iterable[Batch]) -> None:
        """Makes facts explicit: all of them, or none if it is given up."""
        E = self._E
        for predicate, ids in batches:
            E |= self.engine.insert(predicate, ids, excluding=E)
        self._E = E

    # ------------------------------------------------------------------------------------ reasoning

    def materialise(self, program: Program, settings: Settings, progress: Progress, started: float) -> Report:
        """Computes `I`."""
        begun = perf_counter()
        materialisation = self._compiled(program, settings, needed(settings.algorithm) | self._kinds)
        planned = perf_counter() - begun
        try:
            outcome = materialisation.materialise(progress)
            self._I = as_memory_facts(materialisation.I)
            if settings.modules == "auto":
                self._reconsider(program, settings)
            report = self._report(outcome, planned, started, self.total(), 0)
            warnings = [] if settings.equality == "off" else self.clashes()
        except BaseException:
            self.materialisation, self._I = None, self.engine.empty()  # there is none before it is whole
            raise
        return replace(report, warnings=[*report.warnings, *warnings])

    def _reconsider(self, program: Program, settings: Settings) -> None:
        """Leaves regular chains to the rules, for updates, if they turned out to derive little."""
        before = self.materialisation
        assert before is not None, "there is a materialisation"
        if before.kept.names() or len(before.module_list()) != len(before.backbones()):
            return
        chains = [module for module in before.backbones() if isinstance(module, RegularChains)]
        poor = [module for module in chains if not module.pays(before.I)]
        if not poor:
            return
        reasons: dict[tuple[str, tuple[Atom, ...]], str] = {}
        reasons.update({(one.module.kind, one.module.heads): one.why for one in before.left_out()})
        reasons.update({(module.kind, module.heads): _POOR for module in poor})
        after = self._compiled(program, settings, self._kinds, refusing(reasons))
        for key, module in after.keys().items():
            module.X = before.keys()[key].X
        after.restore(before.I)
        after.cost = before.cost

    def updated(self, request: Request[Batch]) -> tuple[MemoryState, Report]:
        """The state after an update, which is this one or a new one, and a report; a failure leaves this one as it was."""
        warnings = self._not_explicit(request.deleted)
        state, report = self._changed(request)
        if request.settings.equality == "axioms" and report.algorithm != "remat":
            warnings += state.clashes()
        report = replace(report, warnings=[*warnings, *report.warnings])
        # Who wants to stop is not kept waiting for that; the next update does it.
        compacted = interrupts.attempt(state._compacted) if state._mostly_dead() else None
        return compacted or state, report

    def _changed(self, request: Request[Batch]) -> tuple[MemoryState, Report]:
        settings = request.settings
        if settings.algorithm == "remat":
            return self._started_again(request, [])
        begun = perf_counter()
        try:
            materialisation = self._resumed(request.program, settings)
        except Unresumable as reason:
            return self._started_again(request, [str(reason)])
        if settings.equality == "axioms" and any(predicate not in self._equated for predicate, _ in request.added):
            return self._started_again(request, [UNEQUATED])
        planned = perf_counter() - begun
        minus, plus = self._sets(request)
        size, past = len(minus), materialisation.past
        choice = choose(settings.algorithm, materialisation, size, 0 if size else len(plus))
        if choice.again:
            return self._given_up(request, choice.reasons, given_up(choice, past, size, 0.0))
        if choice.counts:
            materialisation.count(choice.algorithm.needs)
        tried = perf_counter()
        try:
            outcome, difference = materialisation.update(
                minus, plus, choice.algorithm, request.progress, choice.allowed, self._accept, self._watch
            )
        except TooCostly:
            why = (
                f"{choice.algorithm.name} was given up, since the change spreads too far; everything was computed anew"
            )
            return self._given_up(request, [why], given_up(choice, past, size, perf_counter() - tried))
        self._E, self._I = as_memory_facts(materialisation.E).computed(), as_memory_facts(materialisation.I)
        self._change, self._difference = None, difference
        added_to, deleted_from = (
            self.count(as_memory_facts(difference.added)),
            self.count(as_memory_facts(difference.deleted)),
        )
        return self, self._report(outcome, planned, request.started, added_to, deleted_from, choice.reasons)

    _watch: Callable[[], None] | None = None
    """Looks at an update while rules are applied; what it raises undoes the update."""

    def _accept(self, I: FactSet, difference: Difference) -> None:
        """Looks at what an update would do; what it raises undoes the update."""

    def _sets(self, request: Request[Batch]) -> tuple[FactSet, FactSet]:
        """The facts to be deleted, as far as there are such facts at all, and those to be added."""
        minus, plus = self._present(request.deleted), self.engine.empty()
        self._found = None
        for predicate, ids in request.added:
            plus |= self.engine.insert(predicate, ids)
        return minus, plus

    def _present(self, deleted: Sequence[Batch]) -> FactSet:
        """Those of the facts to be deleted that there are; they may be asked for twice."""
        if self._found is None or self._found[0] is not deleted:
            found: FactSet = self.engine.empty()
            for predicate, ids in deleted:
                found |= self.engine.present(predicate, ids)
            self._found = deleted, found
        return self._found[1]

    def _given_up(self, request: Request[Batch], why: Sequence[str], past: Past) -> tuple[MemoryState, Report]:
        """Computes everything anew instead of an update, and remembers what that update was like."""
        state, report = self._started_again(request, [*why])
        assert state.materialisation is not None, "it has been materialised"
        state.materialisation.past = past
        return state, report

    def _resumed(self, program: Program, settings: Settings) -> Materialisation:
        """What is to be updated; of a state that was stored it is made before the first update."""
        if self.materialisation is not None:
            return self.materialisation
        try:
            compiled = resumed(
                lambda options, verdicts, trees: self._compiled(program, options, self._kinds, verdicts, trees),
                settings,
                self._kinds,
            )
            compiled.cost, compiled.past = self._cost, self._past
            kept = list(self._kept())
            refuse_undefined((name for name, _ in kept), self._heads(compiled))
            saved.restore(self.engine, compiled, self._I, kept)
        except BaseException:
            self.materialisation = None  # it has no facts yet
            raise
        self._kept = tuple
        return compiled

    def _heads(self, compiled: Materialisation) -> frozenset[str]:
        """The predicates that rules derive."""
        return compiled.heads()

    @property
    def change(self) -> Change:
        """What the last update did."""
        if self._change is None:
            parts = (as_memory_facts(getattr(self._difference, part.name)) for part in fields(Difference))
            self._change = Change(*(self._by_predicate(part) for part in parts))
        return self._change

    def _not_explicit(self, deleted: Sequence[Batch]) -> list[str]:
        """Says how many facts are to be deleted and only follow from others."""
        derived = self._present(deleted)
        derived &= self._I
        derived -= self._E
        if not derived:
            return []
        return [f"{len(derived):,} of the facts to be deleted are not explicit but follow from others, and stay"]

    def _mostly_dead(self) -> bool:
        """Whether most rows belong to facts that are gone."""
        relations = [one for name, one in self.engine.relations().items() if not name.startswith(TREES)]
        rows = sum(table.n for relation in relations for table in relation.tables())
        return rows > _FEW_ROWS and rows > 2 * self._alive()

    def _alive(self) -> int:
        """How many rows belong to facts."""
        return len(self._I)

    def _compacted(self) -> Self:
        """The same in a new engine, without the rows of facts that are gone."""
        kept, names = self.kept(), [name for name in self.engine.relations() if not name.startswith(HIDDEN)]
        explicit, derived = (
            [(name, self.engine.columns(facts, name)) for name in names] for facts in (self._E, self._I - self._E)
        )
        after = self.restored(
            self.engine.dictionary,
            explicit,
            derived,
            self.engine.workers,
            lambda: list(kept.items()),
            self.kept_kinds(),
        )
        after._change, after._kept_change = self.change, self.kept_change()
        after._remember(self)
        return after

    def _remember(self, before: MemoryState) -> None:
        """Takes over what another state knows about the time that things take."""
        known = before.materialisation
        self._cost, self._past = (before._cost, before._past) if known is None else (known.cost, known.past)

    def _modules(self) -> list[Module]:
        return [] if self.materialisation is None else self.materialisation.module_list()

    def kept(self) -> ByPredicate:
        """All that is to be stored besides the facts that a user sees."""
        return dict(self._kept()) if self.materialisation is None else saved.whole(self.engine, self.materialisation)

    def kept_change(self) -> tuple[ByPredicate, ByPredicate] | None:
        """What the last update added to that, and deleted; None if everything is to be stored anew."""
        if self.materialisation is None or self._difference is None:
            return self._kept_change
        return saved.change(self.engine, self.materialisation, self._difference.added, self._difference.deleted)

    def kept_kinds(self) -> frozenset[str]:
        """The kinds of relations (`saved_kinds.kind_of`) that are still right; others in a store are out of date."""
        return self._kinds if self.materialisation is None else self.materialisation.kinds()

    def _compiled(
        self,
        program: Program,
        settings: Settings,
        kinds: frozenset[str],
        verdicts: Verdicts | None = None,
        trees: Chosen | None = None,
    ) -> Materialisation:
        """A materialisation without facts; if modules are to be chosen and nobody has done so, it is done here."""
        rules = self._rules(program, settings)
        graphs = MemoryGraphs(self.engine)
        compiler = MemoryCompiler(self.engine)
        given = graphs if settings.modular and TRACE not in kinds else None
        decomposer = Decomposer(
            settings.hypertree if settings.decomposed and TRACE not in kinds else "off",
            lambda: Statistics(prepared(rules), memory_facts(self.engine)),
            chosen=trees,
        )
        if verdicts is None and settings.modules == "auto":
            verdicts = partial(
                judged,
                facts=len(self._given()),
                continued=partial(self._continued, rules),
                spread=partial(self._spread, rules),
            )
        strata = compile_program(rules, compiler, settings.stratification, given, decomposer, settings.kinds, verdicts)
        if any(stratum.modules for stratum in strata):
            self._compilation += start_graphs()
        forced = settings.modules != "auto"
        modules = make_modules(strata, self.engine, graphs, MemoryMatcher(self.engine), compiler, forced)
        bounds = None
        if settings.checked and modules:
            bounds = Bounds(compile_program(rules, compiler, settings.stratification), self.engine, compiler)
        self.materialisation = Materialisation(strata, self.engine, self._given(), kinds, modules, bounds)
        return self.materialisation

    def _continued(self, rules: Sequence[Rule], module: PlannedModule) -> PathCounts | None:
        """How many facts of a module's relation are continued by others, if it has no facts but explicit ones."""
        if any(meets(rule.head, module.atom) for rule in rules if rule not in module.rules):
            return None
        return PathCounts(*MemoryGraphs(self.engine).continued(module.atom, self._given()))

    def _spread(self, rules: Sequence[Rule], modules: Sequence[PlannedModule]) -> PathCounts | None:
        """How many ways there are to continue a fact of some chains by another one, if no other rules derive any."""
        own_rules = {rule for module in modules for rule in module.rules}
        plans = [module.chains for module in modules if module.chains is not None]
        letters = list(dict.fromkeys(atom for plan in plans for atom in plan.letters))
        backwards = any(letter % 2 for plan in plans for moves in plan.moves for move in moves for letter in move)
        if backwards or any(
            rule not in own_rules and any(meets(rule.head, atom) for atom in letters) for rule in rules
        ):
            return None
        return PathCounts(*MemoryGraphs(self.engine).spread(letters, self._given()))

    def clashes(self) -> list[str]:
        """What equality contradicts, with facts."""
        return clashes(self.engine, self._I)

    def _given(self) -> FactSet:
        """The facts that the rules are applied to."""
        return self._E

    def _rules(self, program: Program, settings: Settings) -> Sequence[Rule]:
        """The rules to be evaluated."""
        if settings.equality != "axioms":
            return program.rules
        self._equated = frozenset(self.engine.relations())
        return axiomatised(program.rules, self._arities())

    def _arities(self) -> dict[str, int]:
        """The predicates that facts have."""
        relations = self.engine.relations().items()
        return {name: relation.arity for name, relation in relations if not name.startswith(HIDDEN)}

    def _started_again(self, request: Request[Batch], reasons: list[str]) -> tuple[MemoryState, Report]:
        """A new state with the explicit facts `(E ∖ deleted) ∪ added`, materialised; ids keep their meaning."""
        kept = self._E - self._present(request.deleted)
        after = self._fresh()
        names = [name for name in self.engine.relations() if not name.startswith(HIDDEN)]
        after.insert((predicate, self.engine.columns(kept, predicate)) for predicate in names)
        after.insert(request.added)
        after._kinds = self.kept_kinds()
        report = after.materialise(request.program, request.settings, request.progress, request.started)
        after._change = self._change_to(after, request)
        gained, lost = after.change.sizes()
        seconds = {**report.seconds, "total": perf_counter() - request.started}
        return after, replace(report, added=gained, deleted=lost, seconds=seconds, reasons=reasons)

    def _fresh(self) -> MemoryState:
        """One without facts, where ids have the same meaning."""
        return MemoryState(MemoryEngine(self.engine.dictionary, self.engine.workers))

    def _change_to(self, after: MemoryState, request: Request[Batch]) -> Change:
        """What another state has, and has not, after an update."""
        added_to, deleted_from = self._between(after)
        plus = after._missing(after._E, (predicate for predicate, _ in request.added), self, self._E)
        minus = self._missing(self._E, (predicate for predicate, _ in request.deleted), after, after._E)
        return Change(
            plus,
            minus,
            added_to,
            deleted_from,
            _either(
                {p: ids[:, ~after.holds(p, ids, "explicit")] for p, ids in added_to.items()},
                {p: ids[:, after.holds(p, ids, "all")] for p, ids in minus.items()},
            ),
            _either(
                {p: ids[:, ~self.holds(p, ids, "explicit")] for p, ids in deleted_from.items()},
                {p: ids[:, self.holds(p, ids, "all")] for p, ids in plus.items()},
            ),
        )

    def _between(self, after: MemoryState) -> tuple[ByPredicate, ByPredicate]:
        """What another state has in `I` that this one has not, and the reverse."""
        return (
            after._missing(after._I, after.engine.relations(), self, self._I),
            self._missing(self._I, self.engine.relations(), after, after._I),
        )

    def _by_predicate(self, facts: MemoryFacts) -> ByPredicate:
        names = {table.predicate for table in facts.tables() if not table.predicate.startswith(HIDDEN)}
        found = {predicate: self.engine.columns(facts, predicate) for predicate in sorted(names)}
        return {predicate: ids for predicate, ids in found.items() if ids.shape[1]}

    def _report(
        self, outcome: Outcome, planned: float, started: float, added: int, deleted: int, reasons: Sequence[str] = ()
    ) -> Report:
        compilation, self._compilation = self._compilation, 0.0
        return Report(
            engine="memory",
            algorithm=outcome.algorithm,
            facts={"explicit": self.count(self._E), "total": self.total()},
            derivations=outcome.derivations,
            seconds={
                "compilation": compilation,
                "planning": planned,
                "reasoning": outcome.seconds,
                "total": perf_counter() - started,
            },
            rounds=outcome.rounds,
            added=added,
            deleted=deleted,
            modules=[
                {
                    "kind": module.kind,
                    "predicates": [relation_name(atom) for atom in module.heads],
                    **module.described(),
                }
                for module in self._modules()
            ],
            left_out=[]
            if self.materialisation is None
            else [one.described() for one in self.materialisation.left_out()],
            strata=outcome.strata,
            state_bytes=0 if self.materialisation is None else self.materialisation.state_bytes(),
            peak_rss_bytes=peak_rss_bytes(),
            warnings=list(outcome.warnings),
            reasons=list(reasons),
        )

    def _missing(
        self, facts: MemoryFacts, predicates: Iterable[str], other: MemoryState, others: MemoryFacts
    ) -> ByPredicate:
        """Facts of some predicates that a set has and a set of another state has not."""
        missing = {}
        for predicate in dict.fromkeys(predicates):
            if not predicate.startswith(HIDDEN):
                interrupts.look()
                ids = self.engine.columns(facts, predicate)
                interrupts.look()
                ids = ids[:, ~other._among(others, predicate, ids)]
                if ids.shape[1]:
                    missing[predicate] = ids
        return missing

    def _among(self, facts: MemoryFacts, predicate: str, ids: Ids) -> NDArray[np.bool_]:
        """Which of some facts of a predicate are in a set."""
        inside = np.zeros(ids.shape[1], np.bool_)
        relation = self.engine.relations().get(predicate)
        if relation is not None and ids.shape[1]:
            for table, tuples, places in relation.split(ids):
                found = table.find(tuples)
                stored = np.flatnonzero(found >= 0)
                inside[places[stored]] = facts.contains(table, found[stored])
        return inside

    def holds(self, predicate: str, ids: Ids, which: Which) -> NDArray[np.bool_]:
        """Which of some facts of a predicate, one per column of the array, are known."""
        return self._among(self._chosen(which), predicate, ids)

    @staticmethod
    def count(facts: MemoryFacts) -> int:
        """How many facts a set has, without those of hidden predicates."""
        return sum(len(facts.rows(table)) for table in facts.tables() if not table.predicate.startswith(HIDDEN))

    def total(self) -> int:
        """How many facts there are."""
        return self.count(self._I)

    # ------------------------------------------------------------------------------------ facts out

    def _chosen(self, which: Which) -> MemoryFacts:
        if which == "all":
            return self._I if self._I else self._E
        if which == "explicit":
            return self._E
        if which == "derived":
            return self._I - self._E
        raise EverlogError(f"which={which!r} is not supported; choose one of: all, explicit, derived")

    def size(self, predicate: str, which: Which) -> int:
        facts = self._chosen(which)
        return sum(len(facts.rows(table)) for table in facts.tables() if table.predicate == predicate)

    def sizes(self, predicate: str) -> dict[str, int]:
        """How many facts of a predicate a store has to say there are."""
        return {"explicit": self.size(predicate, "explicit"), "derived": self.size(predicate, "derived")}

    def ids(self, predicate: str, which: Which, arity: int) -> Ids:
        """The facts of a predicate, one per column of the array."""
        ids = self.engine.columns(self._chosen(which), predicate)
        return np.empty((arity, 0), np.int32) if ids.shape[0] == 0 and arity else ids

    def stored(self, predicate: str, which: Which, arity: int) -> Ids:
        """The facts of a predicate as a store has them."""
        return self.ids(predicate, which, arity)

    def facts(self, predicate: str, which: Which, arity: int) -> pa.Table:
        return self.table(self.ids(predicate, which, arity))

    def table(self, ids: Ids) -> pa.Table:
        """Facts as an Arrow table of values."""
        decode, n = self.engine.dictionary.decode_field, ids.shape[1]
        decoded = [interrupts.aside(n, decode, f"a{number}", column) for number, column in enumerate(ids)]
        if not decoded:
            # A table without columns has as many rows as the fact of a nullary predicate has times: one or none.
            return pa.Table.from_struct_array(pa.array([{}] * ids.shape[1], pa.struct([])))
        return pa.Table.from_arrays([array for _, array in decoded], schema=pa.schema([field for field, _ in decoded]))

    def changes(self, predicate: str, arity: int) -> tuple[pa.Table, pa.Table]:
        """What the last update added to the materialisation, and what it deleted."""
        nothing = np.empty((arity, 0), np.int32)
        added, deleted = (facts.get(predicate, nothing) for facts in (self.change.added, self.change.deleted))
        return self.table(added), self.table(deleted)

    def rows(self, predicate: str, which: Which) -> list[tuple[Value, ...]]:
        return self._values(self.engine.columns(self._chosen(which), predicate))

    def _values(self, ids: Ids) -> list[tuple[Value, ...]]:
        if ids.shape[0] == 0:
            return [()] * ids.shape[1]
        found: list[tuple[Value, ...]] = []
        for lo in range(0, ids.shape[1], _PIECE):
            interrupts.look()
            piece = ids[:, lo : lo + _PIECE]
            found.extend(zip(*(self.engine.dictionary.values(column) for column in piece), strict=True))
        return found

    def answers(self, goal: Sequence[BodyLiteral]) -> list[tuple[Value, ...]]:
        """The answers to a goal: distinct bindings of its variables, sorted by kind and value."""
        answer = Atom(f"{HIDDEN}answer", tuple(answer_variables(goal)))
        with self.engine.scratch(without=HIDDEN) as engine:
            found: FactSet = self._I if self._I else self._E
            for stratum in compile_program([Rule(answer, tuple(goal))], MemoryCompiler(engine)):
                found |= stratum.nonrecursive.apply(found, excluding=found)
            rows = self._values(engine.columns(as_memory_facts(found), answer.predicate))
        return in_order(rows)


def _either(some: ByPredicate, others: ByPredicate) -> ByPredicate:
    """Facts of one or the other; no fact is in both."""
    found = dict(some)
    for predicate, ids in others.items():
        found[predicate] = np.concatenate([found[predicate], ids], axis=1) if predicate in found else ids
    return {predicate: ids for predicate, ids in found.items() if ids.shape[1]}

"""The facts of a knowledge base in the memory engine where equal constants are rewritten to one of them.

Two layers: the r-materialisation `(π, I)` of the rules that equality depends on (`reasoning/rewriting.py`), kept up to date
by B/F≈; and above it an ordinary materialisation, whose explicit facts are that `I`. Seen from outside nothing is
rewritten: facts are expanded by the classes of their constants where they are asked for, and counted without that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from everlog.choice import Choice, choose
from everlog.clashes import clashes
from everlog.datalog.syntax import TRIPLE, Atom, BodyLiteral, Constant, Program, Rule, Variable
from everlog.datalog.values import SAME_AS, Value
from everlog.engine.algebra import FactSet
from everlog.engine.memory.classes import MemoryClasses
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.sets import Facts, own
from everlog.engine.memory.table import Ids
from everlog.goals import answer_order, answer_variables
from everlog.materialisation import Outcome
from everlog.planning.equality import asking, over_representatives, with_keys
from everlog.planning.negation import HIDDEN
from everlog.planning.program import compile_program
from everlog.planning.rules import MemoryCompiler
from everlog.reasoning.change import Allowance, Progress, TooCostly
from everlog.reasoning.deletion import Deletions
from everlog.reasoning.rewriting import RMaterialisation
from everlog.report import Report
from everlog.settings import Settings
from everlog.state import Batch, ByPredicate, Change, MemoryState

if TYPE_CHECKING:
    from everlog.knowledge import Which


class EquatedState(MemoryState):
    """`E` has the names that were given, `I` those of representatives."""

    _equal: RMaterialisation
    _deletions: Deletions
    _total: int | None = None

    @property
    def classes(self) -> MemoryClasses:
        """`π`."""
        classes = self._equal.classes
        assert isinstance(classes, MemoryClasses)
        return classes

    # ------------------------------------------------------------------------------------ reasoning

    def materialise(self, program: Program, settings: Settings, progress: Progress, started: float) -> Report:
        begun, before = perf_counter(), self.engine.derivations
        rules = with_keys(asking(program.rules, self._arities()))
        self._equal = RMaterialisation(rules, MemoryCompiler(self.engine), self.engine, MemoryClasses(self.engine))
        self._deletions = Deletions()
        self._equal.add(self._E, progress)
        instances, seconds = self.engine.derivations - before, perf_counter() - begun
        report = super().materialise(program, settings, progress, started)
        assert self.materialisation is not None
        above = self.materialisation.cost
        assert above is not None
        self.materialisation.cost = Allowance(above.instances + instances, above.seconds + seconds)
        return replace(
            report,
            facts={**report.facts, "representatives": self.count(self._I)},
            derivations={"materialise": report.derivations["materialise"] + instances},
            rounds=report.rounds + self._equal.rounds,
            seconds={**report.seconds, "reasoning": report.seconds["reasoning"] + seconds},
        )

    def _given(self) -> FactSet:
        return self._equal.I

    def _rules(self, program: Program, settings: Settings) -> Sequence[Rule]:
        equal = self._equal
        above = (rule for number, rule in enumerate(equal.rules) if number not in equal.core)
        return [made for rule in above for made in over_representatives(equal.classes.rewritten(rule))]

    def _changed(
        self,
        added: Sequence[Batch],
        deleted: Sequence[Batch],
        program: Program,
        settings: Settings,
        progress: Progress,
        started: float,
    ) -> tuple[MemoryState, Report]:
        unknown = any(predicate not in self.engine.relations() for predicate, _ in added)
        if settings.algorithm == "remat" or unknown:
            return self._started_again(added, deleted, program, settings, progress, started, [])
        assert self.materialisation is not None
        begun = perf_counter()
        minus, plus = self._sets(added, deleted)
        choice = choose(settings.algorithm, self.materialisation)
        after = self._equal.copy()
        phases: dict[str, int] = {}
        try:
            with _guarded(self.engine, choice.allowed):
                if minus:
                    phases = dict(self._deletions.delete(after, self._E, minus, progress))
                inserting = self.engine.derivations
                after.add(plus, progress)
                phases["insertion"] = self.engine.derivations - inserting
            outcome, gone, new = self._followed(after, program, settings, choice, progress)
        except TooCostly:
            why = "B/F≈ was given up, since the change spreads too far; everything was computed anew"
            return self._started_again(added, deleted, program, settings, progress, started, [why])
        before = self.classes
        E: FactSet = self._E
        E -= minus
        E |= plus
        self._E, self._equal, self._I = own(E).computed(), after, own(self.materialisation.I)
        self._change = self._compared(gone, new, minus, plus, before)
        if self._total is not None:
            more, fewer = self._change.sizes()
            self._total += more - fewer
        for phase, number in outcome.derivations.items():
            phases[phase] = phases.get(phase, 0) + number
        outcome = replace(
            outcome, derivations=phases, rounds=outcome.rounds + after.rounds, seconds=perf_counter() - begun
        )
        report = self._report(outcome, 0.0, started, *self.change.sizes(), choice.reasons)
        return self, replace(report, facts={**report.facts, "representatives": self.count(self._I)})

    def _sets(self, added: Sequence[Batch], deleted: Sequence[Batch]) -> tuple[FactSet, FactSet]:
        """`E⁻ ⊆ E` and `E⁺`, disjoint with `E`; a fact that is added is not deleted."""
        minus: FactSet = self.engine.empty()
        plus: FactSet = self.engine.empty()
        for predicate, ids in deleted:
            minus |= self.engine.present(predicate, ids)
        for predicate, ids in added:
            plus |= self.engine.insert(predicate, ids)
        minus &= self._E
        minus -= plus
        plus -= self._E
        return minus, plus

    def _followed(
        self, after: RMaterialisation, program: Program, settings: Settings, choice: Choice, progress: Progress
    ) -> tuple[Outcome, FactSet, FactSet]:
        """What is above follows the r-materialisation; if constants of its rules are others now, it is computed anew."""
        before, above = self._equal, self.materialisation
        assert above is not None
        assert after.touched is not None
        known = list(self._rules(program, settings))
        self._equal = after
        try:
            if known == list(self._rules(program, settings)):
                lost, gained = after.touched, after.touched
                lost &= before.I
                lost -= after.I
                gained &= after.I
                gained -= before.I
                outcome, difference = above.update(lost, gained, choice.algorithm, progress, choice.allowed)
                return outcome, difference.deleted, difference.added
            anew = self._compiled(program, settings, frozenset())
            outcome = anew.materialise(progress)
            return outcome, above.I - anew.I, anew.I - above.I
        except BaseException:
            self.materialisation = above
            raise
        finally:
            self._equal = before

    def _started_again(
        self,
        added: Sequence[Batch],
        deleted: Sequence[Batch],
        program: Program,
        settings: Settings,
        progress: Progress,
        started: float,
        reasons: list[str],
    ) -> tuple[MemoryState, Report]:
        after = EquatedState(MemoryEngine(self.engine.dictionary, self.engine.workers))
        minus, plus = self._sets(added, deleted)
        E = self._E - minus
        after.insert((predicate, self.engine.columns(E, predicate)) for predicate in self.engine.relations())
        after.insert(added)
        report = after.materialise(program, settings, progress, started)
        renaming = self.classes.renaming(after.classes)
        lost = self._lost(self._by_predicate(self._I), self.classes, after, after._I, after.classes, renaming)
        gained = after._lost(after._by_predicate(after._I), after.classes, self, self._I, self.classes, renaming)
        after._change = self._change_of(lost, gained, own(minus), own(plus))
        many, few = after.change.sizes()
        return after, replace(report, added=many, deleted=few, reasons=reasons)

    def _compared(self, gone: FactSet, new: FactSet, minus: FactSet, plus: FactSet, before: MemoryClasses) -> Change:
        """What an update did, in all names; `gone` and `new` are what it did to `I`, `before` is `π` as it was."""
        now, old = self.classes, own((self._I - new) | gone)
        stayed = now.about(before.changed(now), self._I - new)
        renaming = before.renaming(now)
        lost = self._lost(self._by_predicate(own(gone | stayed)), before, self, self._I, now, renaming)
        gained = self._lost(self._by_predicate(own(new | stayed)), now, self, old, before, renaming)
        return self._change_of(lost, gained, own(minus), own(plus))

    def _change_of(self, lost: ByPredicate, gained: ByPredicate, minus: Facts, plus: Facts) -> Change:
        """What an update did; of `c ≈ c` only what is explicit counts."""
        for found, explicit in ((lost, minus), (gained, plus)):
            given = self.engine.columns(explicit, TRIPLE)
            given = given[:, self._is_reflexive(given)]
            if given.shape[1]:
                found[TRIPLE] = np.concatenate([found.get(TRIPLE, given[:, :0]), given], axis=1)
        return Change(self._by_predicate(plus), self._by_predicate(minus), gained, lost)

    def _lost(
        self,
        facts: ByPredicate,
        classes: MemoryClasses,
        other: EquatedState,
        I: Facts,
        now: MemoryClasses,
        renaming: Ids,
    ) -> ByPredicate:
        """In all names, what does not hold in `other`, of facts that are not there or have other names there.

        A class that has lost its representative has another name and the same facts. Of a fact that is there but for that,
        only those names are looked at that have moved to another class.
        """
        lost = {}
        size = len(self.engine.dictionary)
        moved = renaming[classes.representatives()[:size]] != now.representatives()[:size]
        for predicate, ids in facts.items():
            there = other._among(I, predicate, renaming[ids])
            ids = np.concatenate([classes.expanded(ids[:, ~there]), classes.expanded(ids[:, there], moved)], axis=1)
            ids = ids[:, ~other._among(I, predicate, now.representatives()[ids])]
            lost[predicate] = ids[:, ~self._is_reflexive(ids)] if predicate == TRIPLE else ids
        return {predicate: ids for predicate, ids in lost.items() if ids.shape[1]}

    def _is_reflexive(self, triples: Ids) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = (triples[1] == self._same()) & (triples[0] == triples[2])
        return found

    def _not_explicit(self, deleted: Sequence[Batch]) -> list[str]:
        derived = sum(
            int((self.holds(predicate, ids, "all") & ~self.holds(predicate, ids, "explicit")).sum())
            for predicate, ids in deleted
        )
        if not derived:
            return []
        return [f"{derived:,} of the facts to be deleted are not explicit but follow from others, and stay"]

    def _clashes(self) -> list[str]:
        """The same, with the explicit facts that tell merged names apart in the names they were given."""
        return clashes(self.engine, self._I | self._E)

    def _mostly_dead(self) -> bool:
        """Rows of facts that are gone stay until everything is computed anew."""
        return False

    # ------------------------------------------------------------------------------------ facts out

    def total(self) -> int:
        if self._total is None:
            self._total = sum(self.size(predicate, "all") for predicate in self._arities())
        return self._total

    def size(self, predicate: str, which: Which) -> int:
        explicit = super().size(predicate, "explicit")
        if which == "explicit" or not self._is_materialised():
            return 0 if which == "derived" else explicit
        several = self.classes.about(np.array([*self.classes.members], np.int32), self._I)
        ids = self.engine.columns(several, predicate)
        number = super().size(predicate, "all") + int((self.classes.sizes()[ids].prod(axis=0) - 1).sum())
        if predicate == TRIPLE:
            number -= self._reflexive(ids)
        return number - explicit if which == "derived" else number

    def _reflexive(self, ids: Ids) -> int:
        """How many facts `c ≈ c` there are among those that some facts with classes stand for, but for explicit ones."""
        equalities = ids[:, self._is_reflexive(ids)]
        names = self.classes.expanded(equalities[:1])[0]
        verbs = np.full(len(names), self._same(), np.int32)
        return len(names) - int(self._among(self._E, TRIPLE, np.stack([names, verbs, names])).sum())

    def _same(self) -> int:
        return self.engine.dictionary.encode_value(SAME_AS)

    def _is_materialised(self) -> bool:
        return self.materialisation is not None

    def ids(self, predicate: str, which: Which, arity: int) -> Ids:
        if which == "explicit" or not self._is_materialised():
            return super().ids(predicate, which, arity)
        self._chosen(which)  # refuses what is none
        found = self.classes.expanded(self.engine.columns(self._I, predicate))
        if which == "derived":
            found = found[:, ~self._among(self._E, predicate, found)]
        if predicate == TRIPLE and found.shape[1]:
            found = found[:, self._shown(found)]
        return np.empty((arity, 0), np.int32) if found.shape[0] == 0 and arity else found

    def _shown(self, triples: Ids) -> NDArray[np.bool_]:
        """Which of some triples are not `c ≈ c`, or are explicit."""
        reflexive = self._is_reflexive(triples)
        reflexive[reflexive] = ~self._among(self._E, TRIPLE, triples[:, reflexive])
        shown: NDArray[np.bool_] = ~reflexive
        return shown

    def rows(self, predicate: str, which: Which) -> list[tuple[Value, ...]]:
        return self._values(self.ids(predicate, which, 0))

    def holds(self, predicate: str, ids: Ids, which: Which) -> NDArray[np.bool_]:
        explicit = self._among(self._E, predicate, ids)
        if which == "explicit" or not self._is_materialised():
            return explicit
        found = self._among(self._I, predicate, self.classes.representatives()[ids])
        if predicate == TRIPLE and ids.shape[1]:
            found &= self._shown(ids)
        return found & ~explicit if which == "derived" else found

    def answers(self, goal: Sequence[BodyLiteral]) -> list[tuple[Value, ...]]:
        """The answers over representatives, in all names."""
        if not self._is_materialised():
            return super().answers(goal)
        variables = answer_variables(goal)
        answer = Atom(f"{HIDDEN}answer", tuple(variables))
        literals = tuple(self.classes.literal(literal) for literal in goal)
        with self.engine.scratch(without=HIDDEN) as engine:
            found: FactSet = self._I
            for stratum in compile_program([Rule(answer, literals)], MemoryCompiler(engine)):
                found |= stratum.nonrecursive.apply(found, excluding=found)
            ids = self.classes.expanded(engine.columns(own(found), answer.predicate))
        for triples in self._triples(goal, variables):
            ids = ids[:, self._shown(_filled(triples, ids))]
        return sorted(self._values(ids), key=lambda row: tuple(map(answer_order, row)))

    def _triples(self, goal: Sequence[BodyLiteral], variables: Sequence[Variable]) -> Iterator[list[int]]:
        """The triples of a goal that an answer gives: for each term its place among the variables, or `~id`."""
        for atom in goal:
            if isinstance(atom, Atom) and atom.predicate == TRIPLE:
                terms = [term for term in atom.terms if isinstance(term, Constant) or term in variables]
                if len(terms) == 3:
                    yield [self.engine.term(term, {one: at for at, one in enumerate(variables)}) for term in terms]


def _filled(terms: Sequence[int], answers: Ids) -> Ids:
    """A triple with places for variables, for each answer."""
    return np.stack([np.full(answers.shape[1], ~term, np.int32) if term < 0 else answers[term] for term in terms])


@contextmanager
def _guarded(engine: MemoryEngine, allowed: Allowance | None) -> Iterator[None]:
    """Raises `TooCostly` when rule instances and time exceed what is allowed."""
    begun, instances = perf_counter(), engine.derivations

    def check(more: int) -> None:
        assert allowed is not None
        if engine.derivations + more - instances > allowed.instances and perf_counter() - begun > allowed.seconds:
            raise TooCostly

    engine.guard = None if allowed is None else check
    try:
        yield
    finally:
        engine.guard = None

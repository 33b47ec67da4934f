"""The facts of a knowledge base in the memory engine where equal constants are rewritten to one of them.

Two layers: the r-materialisation `(π, I)` of the rules that equality depends on (`rewriting.py`), kept up to date
by B/F≈; and above it an ordinary materialisation, whose explicit facts are that `I`. Seen from outside nothing is
rewritten: facts are expanded by the classes of their constants where they are asked for, and counted without that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from everlog import interrupts
from everlog.datalog.syntax import HIDDEN, TRIPLE, Atom, BodyLiteral, Constant, Program, Rule, Variable
from everlog.datalog.values import DIFFERENT_FROM, SAME_AS, Value
from everlog.engine.algebra import Classes, FactSet
from everlog.engine.contradictions import CONTRADICTORY, Contradiction
from everlog.engine.memory.clashes import clashes
from everlog.engine.memory.classes import MemoryClasses
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids
from everlog.engine.memory.joins.rules import MemoryCompiler
from everlog.knowledge.choice import Choice, choose, given_up
from everlog.knowledge.goals import answer_variables, in_order
from everlog.knowledge.materialisation import Difference, Materialisation, Outcome
from everlog.knowledge.report import Report
from everlog.knowledge.request import Request
from everlog.knowledge.resuming import Unresumable
from everlog.knowledge.saved_kinds import HIDDEN_FACTS, kind_of
from everlog.knowledge.settings import Settings
from everlog.knowledge.state import Batch, ByPredicate, Change, MemoryState
from everlog.planning.compiled_program import compile_program
from everlog.planning.equality_rules import OCCURS, asking, may_tell_apart, over_representatives, with_keys
from everlog.reasoning.change import Allowance, Progress, TooCostly
from everlog.reasoning.deletion import Deletions
from everlog.reasoning.equality.rewriting import RMaterialisation
from everlog.store.all_names import CLASSES

if TYPE_CHECKING:
    from everlog.knowledge.memory_base import Which


class EquatedState(MemoryState):
    """`E` has the names that were given, `I` those of representatives."""

    _equal: RMaterialisation | None = None
    _restored: MemoryClasses | None = None
    """`π` of a state that was stored, until its first update."""
    _before: MemoryClasses | None = None
    """`π` before the last update."""
    _deletions: Deletions
    _total: int | None = None
    is_new = True
    """Whether it was not updated yet since everything was computed, or read."""

    @property
    def classes(self) -> MemoryClasses:
        """`π`."""
        classes = self._restored if self._equal is None else self._equal.classes
        assert isinstance(classes, MemoryClasses)
        return classes

    @classmethod
    def like(cls, before: EquatedState) -> Self:
        """A state with the facts and the engine of another one, as if it had been stored."""
        after, kept = cls(before.engine), list(before.kept().items())
        after._E, after._I, after._restored = before._E, before._I, before.classes
        after._kept, after._kinds = lambda: kept, before.kept_kinds()
        after._remember(before)
        return after

    def represent(self, pairs: Ids) -> None:
        """Completes a state that was materialised earlier with its classes: `pairs` as `MemoryClasses.pairs` gave them."""
        self._restored = MemoryClasses(self.engine)
        self._restored.restore(pairs)
        self._restored.separate(self._E)
        self._I = as_memory_facts(self._I - self._restored.outdated(self._E))

    # ------------------------------------------------------------------------------------ reasoning

    def materialise(self, program: Program, settings: Settings, progress: Progress, started: float) -> Report:
        try:
            return self._merged(program, settings, progress, started)
        except BaseException:
            self._equal, self.materialisation, self._I, self._total = None, None, self.engine.empty(), None
            raise

    def _merged(self, program: Program, settings: Settings, progress: Progress, started: float) -> Report:
        """Computes everything, twice if names were merged that turn out to be different."""
        report = self._materialised(program, settings, progress, started, self._E)
        if self._merged_apart(self._I, self._E, self.classes) and any(
            may_tell_apart(rule.head) for rule in program.rules
        ):
            # It may have been merged before a rule said so: what is different without equality is told apart first.
            apart = self._E | self._apart_by_rules(program, settings, progress, started)
            report = self._materialised(program, settings, progress, started, apart)
        return report

    def _materialised(
        self, program: Program, settings: Settings, progress: Progress, started: float, apart: FactSet
    ) -> Report:
        """Computes everything; names that `apart` tells apart are not merged."""
        begun, before = perf_counter(), self.engine.derivations
        self._equal = self._unmaterialised(program, MemoryClasses(self.engine))
        self._equal.classes.separate(apart)
        self._equal.add(self._E, progress)
        instances, seconds = self.engine.derivations - before, perf_counter() - begun
        self._total = None
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

    def _apart_by_rules(self, program: Program, settings: Settings, progress: Progress, started: float) -> FactSet:
        """What would be different if owl:sameAs were a property like others."""
        plain = MemoryState(MemoryEngine(self.engine.dictionary, self.engine.workers))
        plain.insert((predicate, self.engine.columns(self._E, predicate)) for predicate in self._arities())
        plain.materialise(program, replace(settings, equality="off", algorithm="auto"), progress, started)
        triples = plain.ids(TRIPLE, "all", 3)
        return self.engine.insert(TRIPLE, triples[:, triples[1] == self.engine.constant(DIFFERENT_FROM)])

    def _merged_apart(self, I: FactSet, E: FactSet, classes: Classes) -> bool:
        """Whether somebody is different from itself in `I`, but for what `E` says without any equality."""
        assert isinstance(classes, MemoryClasses)
        if np.equal(*classes.representatives()[classes.apart]).any():
            return True
        derived, given = (
            classes.representatives()[self._unlike_themselves(as_memory_facts(facts))] for facts in (I, E)
        )
        return not {*derived.tolist()} <= {*given.tolist()}

    def _unlike_themselves(self, facts: MemoryFacts) -> Ids:
        left, right = self.engine.ends(DIFFERENT_FROM, facts)
        names: Ids = left[left == right]
        return names

    def _unmaterialised(self, program: Program, classes: MemoryClasses) -> RMaterialisation:
        self._deletions, self._equated = Deletions(), frozenset(self._arities())
        rules = with_keys(asking(program.rules, self._arities()))
        return RMaterialisation(rules, MemoryCompiler(self.engine), self.engine, classes)

    def _given(self) -> FactSet:
        assert self._equal is not None
        return self._equal.I

    def _rules(self, program: Program, settings: Settings) -> Sequence[Rule]:
        assert self._equal is not None
        return [made for rule in self._equal.above() for made in over_representatives(rule)]

    def _heads(self, compiled: Materialisation) -> frozenset[str]:
        core = () if self._equal is None else self._equal.rules
        return compiled.heads() | {rule.head.predicate for rule in core}

    def _resumed(self, program: Program, settings: Settings) -> Materialisation:
        if self._equal is None:
            kept = list(self._kept())
            self._kept = lambda: kept
            I: FactSet = self._I
            for name, ids in kept:
                if kind_of(name) == HIDDEN_FACTS:
                    I |= self.engine.insert(name.partition(":")[2], ids)
            equal = self._unmaterialised(program, self.classes)
            equal.resume(self._E, I)
            self._equal = equal
        return super()._resumed(program, settings)

    def _changed(self, request: Request[Batch]) -> tuple[MemoryState, Report]:
        program, settings, progress = request.program, request.settings, request.progress
        if settings.algorithm == "remat":
            return self._started_again(request, [])
        if self.is_new:
            from everlog.knowledge.distinct import DistinctState

            distinct = DistinctState.of(self, program, settings)
            if distinct is not None:
                return distinct._changed(request)
            self.is_new = False
        if self.classes.refused(self._I) or self._merged_apart(self._I, self._E, self.classes):
            return self._started_again(request, [CONTRADICTORY])
        try:
            above = self._resumed(program, settings)
        except Unresumable as reason:
            return self._started_again(request, [str(reason)])
        assert self._equal is not None
        if self._equal.derives(OCCURS) and any(name not in self._equated for name, _ in request.added):
            return self._started_again(request, ["everything was computed anew, since there is a new predicate"])
        minus, plus = self._sets(request)
        size, past = len(minus), above.past
        choice = choose(settings.algorithm, above, size, 0 if size else len(plus))
        if choice.again:
            return self._given_up(request, choice.reasons, given_up(choice, past, size, 0.0))
        if choice.counts:
            above.count(choice.algorithm.needs)
        tried = perf_counter()
        after, before = self._equal.copy(), self.classes
        try:
            with _guarded(self.engine, choice.allowed):
                phases = self._deletions.update(after, self._E, minus, plus, progress)
            below = perf_counter() - tried
            if after.classes.refused(after.I):
                raise Contradiction
            followed = self._followed(after, minus, plus, request, choice)
        except Contradiction:
            return self._started_again(request, [CONTRADICTORY])
        except TooCostly:
            why = "B/F≈ was given up, since the change spreads too far; everything was computed anew"
            return self._given_up(request, [why], given_up(choice, past, size, perf_counter() - tried))
        # From here on nobody asks for the old sets: they change in place, and would have to be recovered.
        E: FactSet = self._E
        E -= minus
        E |= plus
        self._E, self._equal, self._I = as_memory_facts(E).computed(), after, as_memory_facts(followed.I)
        self._before, self._difference, self._kept_change = before, followed.difference, None
        self._change = followed.change
        if self._total is not None:
            more, fewer = self._change.sizes()
            self._total += more - fewer
        outcome = followed.outcome.above(phases, after.rounds, below)
        report = self._report(outcome, 0.0, request.started, *self.change.sizes(), choice.reasons)
        facts = {**report.facts, "representatives": self.count(self._I)}
        return self, replace(report, facts=facts, warnings=[*report.warnings, *followed.clashes])

    def _sets(self, request: Request[Batch]) -> tuple[FactSet, FactSet]:
        """`E⁻ ⊆ E` and `E⁺`, disjoint with `E`; a fact that is added is not deleted."""
        minus, plus = super()._sets(request)
        minus &= self._E
        minus -= plus
        plus -= self._E
        return minus, plus

    def _followed(
        self, after: RMaterialisation, minus: FactSet, plus: FactSet, request: Request[Batch], choice: Choice
    ) -> _Followed:
        """What is above follows the r-materialisation; if constants of its rules are others now, it is computed anew.

        Nothing of that counts if it merged what is different, or if anything fails before all is known about it.
        """
        before, above, trail = self._equal, self.materialisation, after.trail
        assert above is not None
        assert before is not None
        assert trail is not None
        E, change, clashing = (self._E - minus) | plus, Change(), list[str]()

        def accept(I: FactSet, gone: FactSet, new: FactSet) -> None:
            nonlocal change
            if self._merged_apart(I, E, after.classes):
                raise Contradiction
            clashing.extend(self._clashes(as_memory_facts(I), after.classes))
            change = self._compared(before.classes, after.classes, I, E, gone, new, minus, plus)

        self._equal = after
        try:
            if before.above() == after.above():
                outcome, difference = above.update(
                    trail.left,
                    trail.came,
                    choice.algorithm,
                    request.progress,
                    choice.allowed,
                    lambda I, found: accept(I, found.deleted, found.added),
                )
                return _Followed(above.I, outcome, change, clashing, difference)
            anew = self._compiled(request.program, request.settings, frozenset())
            outcome = anew.materialise(request.progress)
            accept(anew.I, above.I - anew.I, anew.I - above.I)
            interrupts.settle()
            return _Followed(anew.I, outcome, change, clashing)
        except BaseException:
            self.materialisation = above
            raise
        finally:
            self._equal = before

    def _fresh(self) -> EquatedState:
        return EquatedState(MemoryEngine(self.engine.dictionary, self.engine.workers))

    def _change_to(self, after: MemoryState, request: Request[Batch]) -> Change:
        assert isinstance(after, EquatedState)
        if not (self.classes.members or after.classes.members):
            return super()._change_to(after, request)
        minus, plus = self._sets(request)
        renaming = self.classes.renaming(after.classes)
        lost = self._lost(self._by_predicate(self._I), self.classes, after, after._I, after.classes, renaming)
        gained = after._lost(after._by_predicate(after._I), after.classes, self, self._I, self.classes, renaming)
        now, then = as_memory_facts(after._I - after._E), as_memory_facts(self._I - self._E)
        return replace(
            self._change_of(lost, gained, as_memory_facts(minus), as_memory_facts(plus)),
            derived_added=after._missing(now, after.engine.relations(), self, then),
            derived_deleted=self._missing(then, self.engine.relations(), after, now),
        )

    def _compared(
        self,
        before: Classes,
        now: Classes,
        J: FactSet,
        E: FactSet,
        gone: FactSet,
        new: FactSet,
        minus: FactSet,
        plus: FactSet,
    ) -> Change:
        """What an update did, in all names; `gone` and `new` are what it did to `I`, which is `J` now. `E` is new, too."""
        assert isinstance(before, MemoryClasses)
        assert isinstance(now, MemoryClasses)
        I = as_memory_facts((J - new) | gone)
        changed = before.changed(now)
        if len(changed):
            stayed, renaming = now.facts_mentioning(changed, as_memory_facts(J - new)), before.renaming(now)
            went: FactSet = gone
            went |= stayed
            came: FactSet = new
            came |= stayed
            lost = self._lost(
                self._by_predicate(as_memory_facts(went)), before, self, as_memory_facts(J), now, renaming
            )
            gained = self._lost(self._by_predicate(as_memory_facts(came)), now, self, I, before, renaming)
        else:
            lost, gained = (self._named(self._by_predicate(as_memory_facts(facts)), now) for facts in (gone, new))
        stored, derived = I - ((E - plus) | minus), J - E
        touched: FactSet = gone
        for facts in (new, minus, plus):
            touched |= facts
        more: FactSet = touched
        more &= derived
        more -= stored
        less: FactSet = touched
        less &= stored
        less -= derived
        return replace(
            self._change_of(lost, gained, as_memory_facts(minus), as_memory_facts(plus)),
            derived_added=self._by_predicate(as_memory_facts(more)),
            derived_deleted=self._by_predicate(as_memory_facts(less)),
        )

    def _change_of(self, lost: ByPredicate, gained: ByPredicate, minus: MemoryFacts, plus: MemoryFacts) -> Change:
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
        I: MemoryFacts,
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
            lost[predicate] = ids[:, ~other._among(I, predicate, now.representatives()[ids])]
        return self._irreflexive(lost)

    def _named(self, facts: ByPredicate, classes: MemoryClasses) -> ByPredicate:
        """Facts about representatives in all names."""
        return self._irreflexive({predicate: classes.expanded(ids) for predicate, ids in facts.items()})

    def _irreflexive(self, facts: ByPredicate) -> ByPredicate:
        """Some facts without `c ≈ c`."""
        if TRIPLE in facts:
            facts[TRIPLE] = facts[TRIPLE][:, ~self._is_reflexive(facts[TRIPLE])]
        return {predicate: ids for predicate, ids in facts.items() if ids.shape[1]}

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

    def clashes(self) -> list[str]:
        return self._clashes(self._I, self.classes)

    def _clashes(self, I: MemoryFacts, classes: Classes) -> list[str]:
        """What some classes contradict in `I`, with facts that tell names apart in the names they were given."""
        assert isinstance(classes, MemoryClasses)
        refused = {frozenset(ends) for ends in self.engine.columns(classes.refused(I), TRIPLE)[::2].T.tolist()}
        said = zip(classes.representatives()[classes.apart].T.tolist(), classes.apart.T.tolist(), strict=True)
        told = [(frozenset(ends), pair) for ends, pair in said if frozenset(ends) in refused]
        known = {ends: sorted(ends, key=classes.order_of) for ends in refused}
        known |= dict(sorted(told, key=lambda one: [*map(classes.order_of, one[1])], reverse=True))
        pairs = sorted(known.values(), key=lambda pair: [*map(classes.order_of, pair)])
        return clashes(self.engine, I, np.array(pairs, np.int32).reshape(-1, 2).T)

    def _alive(self) -> int:
        """At most; explicit facts may be facts of `I` as well."""
        return len(self._I) + len(self._E)

    def _compacted(self) -> Self:
        after = super()._compacted()
        after.represent(self.classes.pairs())
        return after

    # ------------------------------------------------------------------------------------ what is stored

    def stored(self, predicate: str, which: Which, arity: int) -> Ids:
        """Derived facts are stored in the names of representatives; explicit ones that are not are no facts of `I`."""
        if which == "explicit":
            return super().stored(predicate, which, arity)
        ids = self.engine.columns(self._I - self._E, predicate)
        return ids if ids.shape[0] else np.empty((arity, 0), np.int32)

    def sizes(self, predicate: str) -> dict[str, int]:
        """`representatives` are the facts that `I` has."""
        return {**super().sizes(predicate), "representatives": super().size(predicate, "all")}

    def kept(self) -> ByPredicate:
        return super().kept() if self._equal is None else {**super().kept(), CLASSES: self.classes.pairs()}

    def kept_change(self) -> tuple[ByPredicate, ByPredicate] | None:
        change = super().kept_change()
        if change is None or self._equal is None or self._before is None:
            return change
        now, then = self.classes.pairs(), self._before.pairs()
        added, deleted = change
        return (
            {**added, CLASSES: now[:, self._before.representatives()[now[0]] != now[1]]},
            {**deleted, CLASSES: then[:, self.classes.representatives()[then[0]] != then[1]]},
        )

    def kept_kinds(self) -> frozenset[str]:
        return super().kept_kinds() | {CLASSES}

    # ------------------------------------------------------------------------------------ facts out

    def total(self) -> int:
        if not self.classes.members:
            return self.count(self._I)
        if self._total is None:
            self._total = sum(self.size(predicate, "all") for predicate in self._arities())
        return self._total

    def size(self, predicate: str, which: Which) -> int:
        explicit = super().size(predicate, "explicit")
        if which == "explicit" or not self._is_materialised():
            return 0 if which == "derived" else explicit
        several = self.classes.facts_mentioning(np.array([*self.classes.members], np.int32), self._I)
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
        return self.engine.constant(SAME_AS)

    def _is_materialised(self) -> bool:
        return self._equal is not None or self._restored is not None

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
            ids = self.classes.expanded(engine.columns(as_memory_facts(found), answer.predicate))
        for triples in self._triples(goal, variables):
            ids = ids[:, self._shown(_filled(triples, ids))]
        return in_order(self._values(ids))

    def _triples(self, goal: Sequence[BodyLiteral], variables: Sequence[Variable]) -> Iterator[list[int]]:
        """The triples of a goal that an answer gives: for each term its place among the variables, or `~id`."""
        for atom in goal:
            if isinstance(atom, Atom) and atom.predicate == TRIPLE:
                terms = [term for term in atom.terms if isinstance(term, Constant) or term in variables]
                if len(terms) == 3:
                    yield [self.engine.term(term, {one: at for at, one in enumerate(variables)}) for term in terms]


@dataclass(frozen=True)
class _Followed:
    """`I` with the facts above, what changed in all names, and the difference as sets, unless all above was made anew."""

    I: FactSet
    outcome: Outcome
    change: Change
    clashes: list[str]
    difference: Difference | None = None


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

"""The facts of a knowledge base in the Spark engine where equal constants are rewritten to one of them.

It is to `spark_state.py` what `equated.py` is to the memory engine: the r-materialisation `(π, I)` of the rules that
equality depends on, with an ordinary materialisation above it, and an outside where nothing is rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from everlog import interrupts
from everlog.datalog.constants import constants
from everlog.datalog.syntax import HIDDEN, TRIPLE, Atom, BodyLiteral, Constant, Program, Rule, Variable
from everlog.datalog.values import DIFFERENT_FROM, SAME_AS, Value
from everlog.engine.algebra import FactSet
from everlog.engine.contradictions import CONTRADICTORY, SHOWN, Contradiction, messages
from everlog.engine.spark.classes import SparkClasses
from everlog.engine.spark.facts.fact_schema import RELATION
from everlog.engine.spark.facts.sql_text import DISTINCT
from everlog.engine.spark.joins.rules import SparkCompiler
from everlog.knowledge.choice import Choice, choose
from everlog.knowledge.goals import answer_variables, in_order
from everlog.knowledge.materialisation import Difference, Materialisation, Outcome
from everlog.knowledge.report import Report
from everlog.knowledge.request import Request
from everlog.knowledge.resuming import Unresumable
from everlog.knowledge.saved_kinds import HIDDEN_FACTS, kind_of
from everlog.knowledge.settings import Settings
from everlog.knowledge.spark_changes import Marks
from everlog.knowledge.spark_state import SparkState, without
from everlog.planning.compiled_program import compile_program
from everlog.planning.equality_rules import OCCURS, asking, may_tell_apart, over_representatives, with_keys
from everlog.reasoning.algorithms import needed
from everlog.reasoning.change import Progress
from everlog.reasoning.deletion import Deletions
from everlog.reasoning.equality.rewriting import RMaterialisation
from everlog.spark.metrics import Rounds
from everlog.store.all_names import CLASSES
from everlog.store.term_dictionary import FEW

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from everlog.knowledge.memory_base import Which


@dataclass(frozen=True)
class _Facts:
    """Explicit facts and the r-materialisation with what is above it."""

    E: FactSet
    I: FactSet
    classes: SparkClasses


class SparkEquatedState(SparkState):
    """`E` has the names that were given, `I` those of representatives."""

    _equal: RMaterialisation | None = None
    _restored: SparkClasses | None = None
    """`π` of a state that was stored, until its first update."""
    _deletions: Deletions
    _sizes: dict[str, int] | None = None

    @property
    def classes(self) -> SparkClasses:
        """`π`."""
        classes = self._restored if self._equal is None else self._equal.classes
        assert isinstance(classes, SparkClasses)
        return classes

    def _is_materialised(self) -> bool:
        return self._equal is not None or self._restored is not None

    def _now(self) -> _Facts:
        return _Facts(self._E, self._I, self.classes)

    # ------------------------------------------------------------------------------------ stores

    def restore(
        self,
        explicit: Mapping[str, DataFrame],
        derived: Mapping[str, DataFrame],
        kept: Callable[[], Mapping[str, DataFrame]],
        kinds: frozenset[str],
    ) -> None:
        super().restore(explicit, derived, kept, kinds)
        if CLASSES not in kinds:
            return  # nothing was materialised yet
        pairs = kept().get(CLASSES)
        self._restored = self._alone()
        self._restored.restore({} if pairs is None else {row["a0"]: row["a1"] for row in pairs.collect()})
        self._restored.separate(self._E)
        self._I = without(self._I, self._restored.outdated(self._E))

    def _alone(self) -> SparkClasses:
        return SparkClasses(self.engine, self.terms.values_of)

    def kept_kinds(self) -> frozenset[str]:
        return super().kept_kinds() | {CLASSES}

    def marked(self) -> Marks:
        assert self.materialisation is not None
        return Marks(self.engine, self.materialisation, self.classes.represented)

    def counted(self, stored: Mapping[str, dict[str, int]]) -> dict[str, dict[str, int]]:
        """In all names, and `representatives` as the facts that `I` has."""
        here = self.engine.counts(self._I)
        return {
            name: {
                "explicit": self.size(name, "explicit"),
                "derived": self.size(name, "derived"),
                "representatives": here.get(name, 0),
            }
            for name in stored
        }

    # ------------------------------------------------------------------------------------ reasoning

    def materialise(self, program: Program, settings: Settings, progress: Progress, started: float) -> Report:
        rounds, near = Rounds(progress), self.engine.driver_applications
        try:
            outcome, planned = self._materialised(program, settings, rounds)
            report = self._report(outcome, planned, started, self.count("all"), 0)
        except BaseException:
            self._equal, self.materialisation, self._I = None, None, self.engine.empty()
            self._counts, self._sizes = {}, None
            raise
        return replace(report, spark=self._work(rounds, near))

    def _materialised(self, program: Program, settings: Settings, progress: Progress) -> tuple[Outcome, float]:
        outcome, planned = self._merged(program, settings, progress, self._E)
        if self._merged_apart(self._now()) and any(may_tell_apart(rule.head) for rule in program.rules):
            # It may have been merged before a rule said so: what is different without equality is told apart first.
            self._equal = None
            plain = self._compiled(program, settings, frozenset())
            plain.materialise(progress)
            outcome, planned = self._merged(program, settings, progress, plain.I)
        return outcome, planned

    def _merged(
        self, program: Program, settings: Settings, progress: Progress, apart: FactSet
    ) -> tuple[Outcome, float]:
        """Computes everything; names that `apart` tells apart are not merged."""
        begun, before = perf_counter(), self.engine.derivations
        self._equal = self._unmaterialised(program, self._alone())
        self._equal.classes.separate(apart)
        self._equal.add(self._E, progress)
        instances, seconds = self.engine.derivations - before, perf_counter() - begun
        begun = perf_counter()
        above = self._compiled(program, settings, needed(settings.algorithm))
        planned = perf_counter() - begun
        outcome = above.materialise(progress)
        self._I, self._counts, self._sizes = above.I, {}, None
        return outcome.above({"materialise": instances}, self._equal.rounds, seconds), planned

    def _unmaterialised(self, program: Program, classes: SparkClasses) -> RMaterialisation:
        self._deletions = Deletions()
        rules = with_keys(asking(program.rules, self._arities()))
        found = RMaterialisation(rules, SparkCompiler(self.engine), self.engine, classes)
        self.engine.terms = self.terms.frame
        return found

    def _merged_apart(self, facts: _Facts) -> bool:
        """Whether somebody is different from itself, but for what `E` says without any equality."""
        different, classes = self._id(DIFFERENT_FROM), facts.classes
        known = {classes.representative(left) for left, right in classes.ends(different, facts.E) if left == right}
        return any(left == right and left not in known for left, right in classes.ends(different, facts.I))

    def _given(self) -> FactSet:
        return self._E if self._equal is None else self._equal.I

    def _rules(self, program: Program, settings: Settings) -> Sequence[Rule]:
        if self._equal is None:
            return program.rules
        return [made for rule in self._equal.above() for made in over_representatives(rule)]

    def _heads(self, compiled: Materialisation) -> frozenset[str]:
        core = () if self._equal is None else self._equal.rules
        return compiled.heads() | {rule.head.predicate for rule in core}

    def _resumed(self, program: Program, settings: Settings) -> Materialisation:
        if self._equal is None:
            frames = self._kept()
            hidden = {name.partition(":")[2]: frame for name, frame in frames.items() if kind_of(name) == HIDDEN_FACTS}
            I = self._I
            if hidden:
                I |= self.engine.facts(hidden, apart=I)
            equal = self._unmaterialised(program, self.classes)
            equal.resume(self._E, I)
            self._equal = equal
        return super()._resumed(program, settings)

    def _changed(self, minus: FactSet, plus: FactSet, request: Request[FactSet]) -> Report:
        settings = request.settings
        if settings.algorithm == "remat":
            return self._started_again(minus, plus, request, [])
        if self.classes.refused(self._I) or self._merged_apart(self._now()):
            return self._started_again(minus, plus, request, [CONTRADICTORY])
        try:
            above, equal = self._resumed(request.program, settings), self._equal
        except Unresumable as reason:
            return self._started_again(minus, plus, request, [str(reason)])
        assert equal is not None
        if equal.derives(OCCURS):
            why = "everything was computed anew, since a rule asks for whatever occurs in facts"
            return self._started_again(minus, plus, request, [why])
        begun = perf_counter()
        self.engine.terms = self.terms.frame  # the facts may have brought new terms
        minus, plus = without(minus & self._E, plus), without(plus, self._E)
        choice = choose(settings.algorithm, above)
        after = equal.copy()
        try:
            phases = self._deletions.update(after, self._E, minus, plus, request.progress)
            below = perf_counter() - begun
            if after.classes.refused(after.I):
                raise Contradiction
            outcome = self._followed(after, (self._E - minus) | plus, request, choice)
        except Contradiction:
            return self._started_again(minus, plus, request, [CONTRADICTORY])
        outcome = outcome.above(phases, after.rounds, below)
        added, deleted = self._seen(self._done(True)), self._seen(self._done(False))
        return self._report(outcome, 0.0, request.started, added, deleted, choice.reasons)

    def _followed(self, after: RMaterialisation, E: FactSet, request: Request[FactSet], choice: Choice) -> Outcome:
        """What is above follows the r-materialisation; if constants of its rules are others now, it is computed anew.

        Nothing of that counts if it merged what is different, or if anything fails before all is known about it.
        """
        equal, above, then, trail = self._equal, self.materialisation, self._now(), after.trail
        assert equal is not None
        assert above is not None
        assert trail is not None
        assert isinstance(after.classes, SparkClasses)
        classes, difference = after.classes, None

        def accept(I: FactSet) -> None:
            nonlocal difference
            now = _Facts(E, I, classes)
            if self._merged_apart(now):
                raise Contradiction
            difference = self._compared(then, now)

        self._equal = after
        try:
            if equal.above() == after.above():
                algorithm, progress = choice.algorithm, request.progress
                outcome, _ = above.update(trail.left, trail.came, algorithm, progress, None, lambda I, _: accept(I))
                I = above.I
            else:
                anew = self._compiled(request.program, request.settings, needed(request.settings.algorithm))
                outcome = anew.materialise(request.progress)
                accept(anew.I)
                I = anew.I
        except BaseException:
            self._equal, self.materialisation = equal, above
            raise
        interrupts.settle()
        self._E, self._I, self._counts, self._sizes, self.difference = E, I, {}, None, difference
        return outcome

    def _started_again(self, minus: FactSet, plus: FactSet, request: Request[FactSet], reasons: list[str]) -> Report:
        then, equal, materialisation = self._now(), self._equal, self.materialisation
        after = without(self._E, minus - plus)
        after |= plus
        self._E = after
        try:
            outcome, planned = self._materialised(request.program, request.settings, request.progress)
            difference = self._compared(then, self._now())
        except BaseException:
            self._E, self._I, self._equal, self.materialisation = then.E, then.I, equal, materialisation
            self._counts, self._sizes = {}, None
            raise
        interrupts.settle()
        self.difference = difference
        added, deleted = self._seen(self._done(True)), self._seen(self._done(False))
        return self._report(outcome, planned, request.started, added, deleted, reasons)

    def _compared(self, then: _Facts, now: _Facts) -> Difference:
        """What an update did, in all names; to `I ∖ E` in those of representatives, as a store has it."""
        stayed = now.classes.facts_mentioning(then.classes.changed(now.classes), now.I & then.I)
        gone, new = without(then.I, now.I), without(now.I, then.I)
        plus, minus = without(now.E, then.E), without(then.E, now.E)
        before = self._in_all_names(then.classes, gone | stayed, then.E)
        after = self._in_all_names(now.classes, new | stayed, now.E)
        touched = gone
        for facts in (new, plus, minus):
            touched |= facts
        more, fewer = touched, touched
        more &= now.I - now.E
        fewer &= then.I - then.E
        return Difference(
            plus, minus, without(after, before), without(before, after), without(more, fewer), without(fewer, more)
        )

    def _in_all_names(self, classes: SparkClasses, facts: FactSet, E: FactSet) -> FactSet:
        """What facts about representatives stand for; of `c ≈ c` only what is explicit."""
        table = classes.expanded(facts)
        if table is None:
            return self._reflexive(E)
        shown = f"(SELECT * FROM {table} WHERE {self._is_shown()})"
        found: FactSet = self.engine.computed(DISTINCT, rows=shown)
        found |= self._reflexive(E)
        return found

    def _is_shown(self) -> str:
        """Whether a fact is not `c ≈ c`."""
        triple, _ = self.engine.relations()[TRIPLE]
        return f"NOT ({RELATION} = {triple} AND a1 = {self._id(SAME_AS)} AND a0 = a2)"

    def _reflexive(self, E: FactSet) -> FactSet:
        """The explicit facts `c ≈ c`."""
        ends = self.classes.ends(self._id(SAME_AS), E)
        return self.classes.named(left for left, right in ends if left == right)

    def _id(self, value: Value) -> int:
        return self.engine.ids([Constant(value)])[Constant(value)]

    def _report(
        self, outcome: Outcome, planned: float, started: float, added: int, deleted: int, reasons: Sequence[str] = ()
    ) -> Report:
        report = super()._report(outcome, planned, started, added, deleted, reasons)
        facts = {**report.facts, "representatives": self._seen(self._I)}
        return replace(report, facts=facts, warnings=[*report.warnings, *self.clashes()])

    # ------------------------------------------------------------------------------------ sizes

    def count(self, which: Which) -> int:
        return sum(self.size(predicate, which) for predicate in self._arities())

    def size(self, predicate: str, which: Which) -> int:
        explicit = super().size(predicate, "explicit")
        if which == "explicit" or not self._is_materialised():
            return 0 if which == "derived" else explicit
        if self._sizes is None:
            numbers = self.classes.numbers(self._I)
            names = {number: name for name, (number, _) in self.engine.relations().items()}
            self._sizes = {names[number]: n for number, n in numbers.items()}
            named = [left for left, right in self.classes.ends(self._id(SAME_AS), self._I) if left == right]
            hidden = sum(len(self.classes.members.get(name, (name,))) for name in named)
            self._sizes[TRIPLE] = self._sizes.get(TRIPLE, 0) - hidden + len(self._reflexive(self._E))
        return self._sizes.get(predicate, 0) - (explicit if which == "derived" else 0)

    # ------------------------------------------------------------------------------------ facts out

    def ids(self, predicate: str, which: Which, arity: int) -> DataFrame:
        self._chosen(which)  # refuses what is none
        explicit = super().ids(predicate, "explicit", arity)
        if which == "explicit" or not self._is_materialised() or predicate not in self.engine.relations():
            return explicit if which != "derived" else explicit.limit(0)
        number, _ = self.engine.relations()[predicate]
        table = self.classes.expanded(self._I)
        if table is not None:
            table = f"(SELECT * FROM {table} WHERE {RELATION} = {number} AND {self._is_shown()})"
        found = self.engine.rows(table, predicate, arity)
        names = [f"a{place}" for place in range(arity)]
        if not arity:
            return found if which == "all" else found.limit(0 if explicit.take(1) else 1)
        if which == "derived":
            return found.join(explicit, names, "left_anti").select(*names)
        return found.unionAll(self.frame(self._reflexive(self._E), TRIPLE, 3)) if predicate == TRIPLE else found

    def _are_few(self, which: Which) -> bool:
        return self.count(which) <= FEW

    def answers(self, goal: Sequence[BodyLiteral]) -> list[tuple[Value, ...]]:
        """The answers over representatives, in all names."""
        if not self._is_materialised():
            return super().answers(goal)
        variables = answer_variables(goal)
        answer = Atom(f"{HIDDEN}answer", tuple(variables))
        rule = Rule(answer, tuple(self.classes.literal(literal) for literal in goal))
        with self.engine.scratch(without=HIDDEN) as engine:
            engine.ids(constants([rule]))
            engine.terms = self.terms.frame
            found = self._I
            for stratum in compile_program([rule], SparkCompiler(engine)):
                found |= stratum.nonrecursive.apply(found, excluding=found)
            number = engine.relation(answer.predicate, len(variables))
            table = self.classes.expanded(found)
            if table is not None:
                table = f"(SELECT * FROM {table} WHERE {RELATION} = {number})"
            rows = self._values_in(engine.rows(table, answer.predicate, len(variables)), len(variables))
        explicit = {left for left, _, _ in self._values_in(self.frame(self._reflexive(self._E), TRIPLE, 3), 3)}
        for atom in goal:
            if isinstance(atom, Atom) and atom.predicate == TRIPLE:
                rows = [row for row in rows if self._is_seen(atom, dict(zip(variables, row, strict=True)), explicit)]
        return in_order(rows)

    def _is_seen(self, atom: Atom, answer: Mapping[Variable, Value], explicit: set[Value]) -> bool:
        """Whether a triple of a goal is not `c ≈ c` by an answer, or is explicit."""
        left, verb, right = (
            term.value if isinstance(term, Constant) else answer.get(term, term) for term in atom.terms
        )
        return verb != SAME_AS or left != right or left in explicit

    def clashes(self) -> list[str]:
        if not self._is_materialised():
            return []
        same_as, different = self._id(SAME_AS), self._id(DIFFERENT_FROM)
        apart = {frozenset(map(self.classes.representative, pair)): pair for pair in self.classes.apart}
        equal = [pair for pair in self.classes.ends(same_as, self._I) if pair[0] != pair[1]]
        values = [pair for pair in equal if frozenset(pair) not in apart]
        excluded = [apart[ends] for ends in dict.fromkeys(map(frozenset, equal)) if ends in apart]
        alone = [left for left, right in self.classes.ends(different, self._I) if left == right]
        shown = {one for pairs in (values, excluded) for pair in pairs[:SHOWN] for one in pair}
        known = self.terms.values_of([*shown, *alone[:SHOWN]])
        return messages(values, excluded, alone, known.__getitem__, kept_apart=True)

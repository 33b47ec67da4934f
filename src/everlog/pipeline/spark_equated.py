"""The facts of a knowledge base in the Spark engine where equal constants are rewritten to one of them.

It is to `spark_state.py` what `everlog.equated` is to the memory engine: the r-materialisation `(π, I)` of the rules that
equality depends on, with an ordinary materialisation above it, and an outside where nothing is rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from everlog.choice import choose
from everlog.datalog.constants import constants
from everlog.datalog.printer import print_atom
from everlog.datalog.syntax import TRIPLE, Atom, BodyLiteral, Constant, Program, Rule, Variable
from everlog.datalog.values import DIFFERENT_FROM, SAME_AS, Value
from everlog.engine.algebra import FactSet
from everlog.engine.spark.classes import SparkClasses
from everlog.engine.spark.naming import RELATION
from everlog.engine.spark.queries import DISTINCT
from everlog.goals import answer_order, answer_variables
from everlog.materialisation import Difference, Outcome
from everlog.pipeline.dictionary import FEW
from everlog.pipeline.metrics import Rounds
from everlog.pipeline.spark_state import SparkState, without
from everlog.planning.equality import OCCURS, asking, may_tell_apart, over_representatives, with_keys
from everlog.planning.negation import HIDDEN
from everlog.planning.program import compile_program
from everlog.planning.spark_rules import SparkCompiler
from everlog.reasoning.algorithms import needed
from everlog.reasoning.change import Progress
from everlog.reasoning.deletion import Deletions
from everlog.reasoning.rewriting import RMaterialisation
from everlog.report import Report
from everlog.request import Request
from everlog.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from everlog.knowledge import Which

_CONTRADICTORY = "everything was computed anew, since equalities contradict owl:differentFrom"
_SHOWN = 10
"""Contradictions that are described; of the others only the number is."""


class SparkEquatedState(SparkState):
    """`E` has the names that were given, `I` those of representatives."""

    _equal: RMaterialisation | None = None
    _deletions: Deletions
    _sizes: dict[str, int] | None = None

    @property
    def classes(self) -> SparkClasses:
        """`π`."""
        assert self._equal is not None
        classes = self._equal.classes
        assert isinstance(classes, SparkClasses)
        return classes

    # ------------------------------------------------------------------------------------ reasoning

    def materialise(self, program: Program, settings: Settings, progress: Progress, started: float) -> Report:
        rounds, near = Rounds(progress), self.engine.near_applications
        outcome, planned = self._materialised(program, settings, rounds)
        report = self._report(outcome, planned, started, self.count("all"), 0)
        return replace(report, spark=self._work(rounds, near))

    def _materialised(self, program: Program, settings: Settings, progress: Progress) -> tuple[Outcome, float]:
        outcome, planned = self._merged(program, settings, progress, self._E)
        if self._merged_apart() and any(may_tell_apart(rule.head) for rule in program.rules):
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
        self._deletions = Deletions()
        rules = with_keys(asking(program.rules, self._arities()))
        classes = SparkClasses(self.engine, self.terms.values_of)
        self._equal = RMaterialisation(rules, SparkCompiler(self.engine), self.engine, classes)
        self.engine.terms = self.terms.frame
        classes.separate(apart)
        self._equal.add(self._E, progress)
        instances, seconds = self.engine.derivations - before, perf_counter() - begun
        begun = perf_counter()
        above = self._compiled(program, settings, needed(settings.algorithm))
        planned = perf_counter() - begun
        outcome = above.materialise(progress)
        self._I, self._counts, self._sizes = above.I, {}, None
        return replace(
            outcome,
            derivations={"materialise": outcome.derivations["materialise"] + instances},
            rounds=outcome.rounds + self._equal.rounds,
            seconds=outcome.seconds + seconds,
        ), planned

    def _merged_apart(self) -> bool:
        """Whether somebody is different from itself, but for what `E` says without any equality."""
        different = self._id(DIFFERENT_FROM)
        known = {
            self.classes.representative(left) for left, right in self.classes.ends(different, self._E) if left == right
        }
        return any(left == right and left not in known for left, right in self.classes.ends(different, self._I))

    def _given(self) -> FactSet:
        return self._E if self._equal is None else self._equal.I

    def _rules(self, program: Program, settings: Settings) -> Sequence[Rule]:
        if self._equal is None:
            return program.rules
        return [made for rule in self._equal.above() for made in over_representatives(rule)]

    def _arities(self) -> dict[str, int]:
        relations = self.engine.relations().items()
        return {name: arity for name, (_, arity) in relations if not name.startswith(HIDDEN)}

    def _changed(self, minus: FactSet, plus: FactSet, request: Request[FactSet]) -> Report:
        program, settings, progress = request.program, request.settings, request.progress
        above, equal = self.materialisation, self._equal
        assert above is not None
        assert equal is not None
        if settings.algorithm == "remat":
            return self._started_again(minus, plus, request, [])
        if self.classes.refused(self._I) or self._merged_apart():
            return self._started_again(minus, plus, request, [_CONTRADICTORY])
        if equal.derives(OCCURS):
            why = "everything was computed anew, since a rule asks for whatever occurs in facts"
            return self._started_again(minus, plus, request, [why])
        begun = perf_counter()
        self.engine.terms = self.terms.frame  # the facts may have brought new terms
        minus, plus = without(minus & self._E, plus), without(plus, self._E)
        choice = choose(settings.algorithm, above)
        after, before = equal.copy(), self.classes
        phases = self._deletions.update(after, self._E, minus, plus, progress)
        if after.classes.refused(after.I):
            return self._started_again(minus, plus, request, [_CONTRADICTORY])
        I, then = self._I, self._E
        self._equal = after
        try:
            if equal.above() == after.above():
                assert after.trail is not None
                left, came = after.trail.left, after.trail.came
                outcome, _ = above.update(left, came, choice.algorithm, progress, None)
            else:  # constants of rules are others now
                outcome = self._compiled(program, settings, needed(settings.algorithm)).materialise(progress)
        except BaseException:
            self._equal, self.materialisation = equal, above
            raise
        assert self.materialisation is not None
        self._E, self._I, self._counts, self._sizes = (then - minus) | plus, self.materialisation.I, {}, None
        if self._merged_apart():
            self._E, self._I, self._equal = then, I, equal
            return self._started_again(minus, plus, request, [_CONTRADICTORY])
        self.difference = self._compared(I, then, before)
        for phase, number in outcome.derivations.items():
            phases[phase] = phases.get(phase, 0) + number
        outcome = replace(
            outcome, derivations=phases, rounds=outcome.rounds + after.rounds, seconds=perf_counter() - begun
        )
        added, deleted = self._seen(self.difference.added), self._seen(self.difference.deleted)
        return self._report(outcome, 0.0, request.started, added, deleted, choice.reasons)

    def _started_again(self, minus: FactSet, plus: FactSet, request: Request[FactSet], reasons: list[str]) -> Report:
        E, I, equal, materialisation, before = self._E, self._I, self._equal, self.materialisation, self.classes
        after = without(E, minus - plus)
        after |= plus
        self._E = after
        try:
            outcome, planned = self._materialised(request.program, request.settings, request.progress)
        except BaseException:
            self._E, self._I, self._equal, self.materialisation = E, I, equal, materialisation
            raise
        self.difference = self._compared(I, E, before)
        added, deleted = self._seen(self.difference.added), self._seen(self.difference.deleted)
        return self._report(outcome, planned, request.started, added, deleted, reasons)

    def _compared(self, I: FactSet, E: FactSet, before: SparkClasses) -> Difference:
        """What an update did, in all names, to what `I` and `E` were under other classes."""
        now = self.classes
        stayed = now.about(before.changed(now), self._I & I)
        gone, new = without(I, self._I), without(self._I, I)
        then, there = self._in_all_names(before, gone | stayed, E), self._in_all_names(now, new | stayed, self._E)
        return Difference(
            without(self._E, E),
            without(E, self._E),
            without(there, then),
            without(then, there),
            self.engine.empty(),
            self.engine.empty(),
        )

    def _in_all_names(self, classes: SparkClasses, facts: FactSet, E: FactSet) -> FactSet:
        """What facts about representatives stand for; of `c ≈ c` only what is explicit."""
        table = classes.expanded(facts)
        if table is None:
            return self._reflexive(E)
        shown = f"(SELECT * FROM {table} WHERE {self._is_shown()})"
        found: FactSet = self.engine.stored(DISTINCT, rows=shown)
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
        if which == "explicit" or self._equal is None:
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
        if which == "explicit" or self._equal is None or predicate not in self.engine.relations():
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
        if self._equal is None:
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
        return sorted(rows, key=lambda row: tuple(answer_order(value) for value in row))

    def _is_seen(self, atom: Atom, answer: Mapping[Variable, Value], explicit: set[Value]) -> bool:
        """Whether a triple of a goal is not `c ≈ c` by an answer, or is explicit."""
        left, verb, right = (
            term.value if isinstance(term, Constant) else answer.get(term, term) for term in atom.terms
        )
        return verb != SAME_AS or left != right or left in explicit

    def clashes(self) -> list[str]:
        if self._equal is None:
            return []
        same_as, different = self._id(SAME_AS), self._id(DIFFERENT_FROM)
        apart = {frozenset(map(self.classes.representative, pair)): pair for pair in self.classes.apart}
        pairs = ((frozenset(pair), pair) for pair in self.classes.ends(same_as, self._I) if pair[0] != pair[1])
        equal = [*{ends if ends in apart else pair: pair for ends, pair in pairs}.values()]  # both directions are one
        alone = [left for left, right in self.classes.ends(different, self._I) if left == right]
        shown = equal[:_SHOWN], alone[:_SHOWN]
        values = self.terms.values_of([*{one for pair in (*shown[0], *apart.values()) for one in pair}, *shown[1]])

        def fact(left: int, verb: Value, right: int) -> str:
            return print_atom(Atom(TRIPLE, (Constant(values[left]), Constant(verb), Constant(values[right]))))

        messages = []
        for pair in shown[0]:
            if (given := apart.get(frozenset(pair))) is None:
                why = "merges nothing: only names can be equal, and one of these is a value"
                messages.append(f"{fact(pair[0], SAME_AS, pair[1])} {why}")
            else:
                a, b = given
                messages.append(
                    f"owl:differentFrom and owl:sameAs exclude each other, but {fact(a, DIFFERENT_FROM, b)} and "
                    f"{fact(a, SAME_AS, b)} hold, and stay apart"
                )
        messages += [f"{fact(one, DIFFERENT_FROM, one)} contradicts itself" for one in shown[1]]
        rest = len(equal) + len(alone) - len(messages)
        return [*messages, f"{rest:,} more equalities contradict what is known"] if rest else messages

"""Facts about representatives in all names, for the Spark engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql.functions import col, lit

from everlog.datalog.syntax import TRIPLE, Atom, BodyLiteral, Constant, Variable
from everlog.datalog.values import SAME_AS, Value
from everlog.engine.algebra import Classes, FactSet
from everlog.engine.backend import Backend, Difference, Names, Which, World
from everlog.engine.spark.clashes import described
from everlog.engine.spark.classes import SparkClasses
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.driver_facts import DriverFacts, together
from everlog.engine.spark.facts.fact_schema import RELATION
from everlog.engine.spark.facts.sets import as_spark_facts
from everlog.engine.spark.facts.sql_text import Table, select
from everlog.engine.spark.kept_relations import class_pairs
from everlog.engine.spark.listed_facts import SparkListed

if TYPE_CHECKING:
    from everlog.engine.spark.spark_backend import SparkBackend

SparkWorld: TypeAlias = World[FactSet, SparkListed, FactSet]


class SparkNames(Names[FactSet, SparkListed, FactSet]):
    """Facts are joined with the classes of several constants, which the driver has."""

    classes: SparkClasses

    def __init__(self, backend: SparkBackend, classes: Classes) -> None:
        assert isinstance(classes, SparkClasses)
        self._backend, self._engine, self.classes = backend, backend.engine, classes

    def restore(self, pairs: SparkListed | None) -> None:
        if pairs is not None:
            rows = pairs.frame.collect() if pairs.rows is None else pairs.rows.tolist()
            self.classes.restore({left: right for left, right in rows})

    def pairs(self) -> SparkListed:
        represented = self.classes.represented
        rows = np.array([*represented.items()], np.int64).reshape(-1, 2)
        return SparkListed(lambda: class_pairs(self._backend.spark, represented), rows)

    def literal(self, literal: BodyLiteral) -> BodyLiteral:
        return self.classes.literal(literal)

    def several(self) -> bool:
        return bool(self.classes.members)

    # ------------------------------------------------------------------------------------ facts out

    def sizes(self, E: FactSet, I: FactSet) -> Mapping[str, int]:
        numbers, relations = self.classes.numbers(I), self._engine.relations()
        found = {name: numbers.get(relations[name][0], 0) for name in self._backend.arities()}
        hidden = sum(len(self.classes.members.get(name, (name,))) for name in self.classes.selves(self.classes.same, I))
        return {**found, TRIPLE: found.get(TRIPLE, 0) - hidden + len(self._reflexive(E))}

    def listed(self, E: FactSet, I: FactSet, predicate: str, which: Which, arity: int) -> SparkListed:
        number, _ = self._engine.relations().get(predicate, (fact_schema.PADDING, arity))
        near = self._shown_here(E, I, number, which)
        rows = None if near is None else near.of(number, arity)
        return SparkListed(lambda: self._frame(E, I, predicate, which, arity), rows)

    def _frame(self, E: FactSet, I: FactSet, predicate: str, which: Which, arity: int) -> DataFrame:
        explicit, names = self._backend.listed(E, predicate, arity).frame, fact_schema.arguments(arity)
        found = self._engine.rows(self._shown(I), predicate, arity)
        if not arity:
            return found if which == "all" else found.limit(0 if explicit.take(1) else 1)
        if which == "derived":
            return found.join(explicit, names, "left_anti").select(*names)
        if predicate != TRIPLE:
            return found
        return found.unionAll(self._backend.listed(self._reflexive(E), TRIPLE, 3).frame)

    def _shown_here(self, E: FactSet, I: FactSet, relation: int, which: Which) -> DriverFacts | None:
        """All facts of a relation in `I`, or those that are not in `E`, in all names, if they are on the driver."""
        found, explicit = self.classes.expanded_here(I, relation), as_spark_facts(E).local()
        reflexive = as_spark_facts(self._reflexive(E)).local()
        if found is None or explicit is None or reflexive is None:
            return None
        if relation == self._engine.relation(TRIPLE, 3) and len(found):
            _, left, verb, right = found.rows[:, :4].T
            found = found.chosen((verb != self.classes.same) | (left != right))
        return found - explicit if which == "derived" else together([found, reflexive])

    def answers(
        self,
        scratch: Backend[FactSet, SparkListed, FactSet],
        found: FactSet,
        predicate: str,
        variables: Sequence[Variable],
        goal: Sequence[BodyLiteral],
        E: FactSet,
    ) -> list[tuple[Value, ...]]:
        arity = len(variables)
        rows = scratch.rows(self._answers(found, predicate, arity), arity)
        reflexive = self._backend.listed(self._reflexive(E), TRIPLE, 3)
        explicit = {left for left, _, _ in self._backend.rows(reflexive, 3)}
        for atom in goal:
            if isinstance(atom, Atom) and atom.predicate == TRIPLE:
                rows = [row for row in rows if _is_seen(atom, dict(zip(variables, row, strict=True)), explicit)]
        return rows

    def _answers(self, found: FactSet, predicate: str, arity: int) -> SparkListed:
        """Answers about representatives in all names."""
        number, _ = self._engine.relations().get(predicate, (fact_schema.PADDING, arity))
        table, near = self.classes.expanded(found), self.classes.expanded_here(found, number)
        frame = partial(self._engine.rows, table, predicate, arity)
        return SparkListed(frame, None if near is None else near.of(number, arity))

    def listed_answers(
        self, found: FactSet, predicate: str, variables: Sequence[Variable], goal: Sequence[Atom], E: FactSet
    ) -> SparkListed:
        """The same as facts whose arguments are the variables, where they are."""
        listed = self._engine.rows(self.classes.expanded(found), predicate, len(variables))
        ids = self._engine.ids(term for atom in goal for term in atom.terms if isinstance(term, Constant))
        places = {variable: col(f"a{place}") for place, variable in enumerate(variables)}
        explicit: list[int] | None = None
        for atom in goal:
            if atom.predicate != TRIPLE:
                continue
            left, verb, right = (lit(ids[one]) if isinstance(one, Constant) else places[one] for one in atom.terms)
            if isinstance(atom.terms[1], Constant) and atom.terms[1].value != SAME_AS:
                continue
            if explicit is None:
                explicit = self.classes.selves(self.classes.same, E)
            listed = listed.where((verb != self.classes.same) | (left != right) | left.isin(explicit))
        return SparkListed.of(listed)

    def derived(self, batches: Sequence[FactSet], E: FactSet, I: FactSet) -> int:
        given = self._backend.entered(batches)
        return len((given & I) - E) if given else 0

    def _shown(self, facts: FactSet) -> Table | None:
        """What facts about representatives stand for, without `c ≈ c`."""
        table, triple = self.classes.expanded(facts), self._engine.relation(TRIPLE, 3)
        reflexive = f"{RELATION} = {triple} AND a1 = {self.classes.same} AND a0 = a2"
        return None if table is None else select(["*"], table, [f"NOT ({reflexive})"])

    def _reflexive(self, E: FactSet) -> FactSet:
        """The explicit facts `c ≈ c`."""
        return self.classes.named(self.classes.selves(self.classes.same, E))

    # ------------------------------------------------------------------------------------ contradictions

    def merged_apart(self, E: FactSet, I: FactSet) -> bool:
        different, classes = self.classes.different, self.classes
        known = set(map(classes.representative, classes.selves(different, E)))
        return not known.issuperset(classes.selves(different, I))

    def clashes(self, I: FactSet) -> list[str]:
        apart = {frozenset(map(self.classes.representative, pair)): pair for pair in self.classes.apart}
        equal = self.classes.ends(self.classes.same, I)
        values = [pair for pair in equal if frozenset(pair) not in apart]
        excluded = [apart[ends] for ends in dict.fromkeys(map(frozenset, equal)) if ends in apart]
        alone = self.classes.selves(self.classes.different, I)
        return described(self._backend.terms, values, excluded, alone, kept_apart=True)

    # ------------------------------------------------------------------------------------ what changes

    def changed(
        self, then: SparkWorld, now: SparkWorld, gone: FactSet, new: FactSet, minus: FactSet, plus: FactSet
    ) -> Difference[FactSet]:
        before = then.names
        assert isinstance(before, SparkNames)
        stayed = self.classes.facts_mentioning(before.classes.changed(self.classes), now.I & then.I)
        gone, new = then.I.minus(now.I), now.I.minus(then.I)
        plus, minus = now.E.minus(then.E), then.E.minus(now.E)
        held = before._in_all_names(gone | stayed, then.E)
        holds = self._in_all_names(new | stayed, now.E)
        touched = gone.plus(new).plus(plus).plus(minus)
        more, fewer = touched.common(now.I - now.E), touched.common(then.I - then.E)
        changes = ((holds, held), (held, holds), (more, fewer), (fewer, more))
        return Difference(plus, minus, *(some.minus(others) for some, others in changes))

    def _in_all_names(self, facts: FactSet, E: FactSet) -> FactSet:
        """What facts about representatives stand for; of `c ≈ c` only what is explicit."""
        table = self._shown(facts)
        return self._reflexive(E) if table is None else self._engine.distinct(table).plus(self._reflexive(E))


def represented(names: Names[FactSet, SparkListed, FactSet] | None) -> Mapping[int, int]:
    """Every constant that another one represents, with that one, if constants are rewritten."""
    return names.classes.represented if isinstance(names, SparkNames) else {}


def _is_seen(atom: Atom, answer: Mapping[Variable, Value], explicit: set[Value]) -> bool:
    """Whether a triple of a goal is not `c ≈ c` by an answer, or is explicit."""
    left, verb, right = (term.value if isinstance(term, Constant) else answer.get(term, term) for term in atom.terms)
    return verb != SAME_AS or left != right or left in explicit

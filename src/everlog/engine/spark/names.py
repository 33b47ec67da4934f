"""Facts about representatives in all names, for the Spark engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame

from everlog.datalog.syntax import TRIPLE, Atom, BodyLiteral, Constant, Variable
from everlog.datalog.values import DIFFERENT_FROM, SAME_AS, Value
from everlog.engine.algebra import Classes, FactSet
from everlog.engine.backend import Backend, Difference, Names, Which
from everlog.engine.contradictions import SHOWN, messages
from everlog.engine.spark.classes import SparkClasses
from everlog.engine.spark.facts.fact_schema import RELATION
from everlog.engine.spark.spark_backend import SparkBackend, SparkWorld, without
from everlog.spark.handover import to_spark


class SparkNames(Names[FactSet, "DataFrame", FactSet]):
    """Facts are joined with the classes of several constants, which the driver has."""

    classes: SparkClasses

    def __init__(self, backend: SparkBackend, classes: Classes) -> None:
        assert isinstance(classes, SparkClasses)
        self._backend, self._engine, self.classes = backend, backend.engine, classes

    def restore(self, pairs: DataFrame | None) -> None:
        self.classes.restore({} if pairs is None else {row["a0"]: row["a1"] for row in pairs.collect()})

    def pairs(self) -> DataFrame:
        known = self.classes.represented
        columns = {"a0": pa.array(known.keys(), pa.int64()), "a1": pa.array(known.values(), pa.int64())}
        return to_spark(self._backend.spark, pa.table(columns))

    def literal(self, literal: BodyLiteral) -> BodyLiteral:
        return self.classes.literal(literal)

    def several(self) -> bool:
        return bool(self.classes.members)

    def _id(self, value: Value) -> int:
        return self._engine.ids([Constant(value)])[Constant(value)]

    # ------------------------------------------------------------------------------------ facts out

    def sizes(self, E: FactSet, I: FactSet) -> Mapping[str, int]:
        numbers, relations = self.classes.numbers(I), self._engine.relations()
        found = {name: numbers.get(relations[name][0], 0) for name in self._backend.arities()}
        named = [left for left, right in self.classes.ends(self._id(SAME_AS), I) if left == right]
        hidden = sum(len(self.classes.members.get(name, (name,))) for name in named)
        return {**found, TRIPLE: found.get(TRIPLE, 0) - hidden + len(self._reflexive(E))}

    def listed(self, E: FactSet, I: FactSet, predicate: str, which: Which, arity: int) -> DataFrame:
        explicit = self._backend.listed(E, predicate, arity)
        if predicate not in self._engine.relations():
            return explicit
        number, _ = self._engine.relations()[predicate]
        table = self.classes.expanded(I)
        if table is not None:
            table = f"(SELECT * FROM {table} WHERE {RELATION} = {number} AND {self._is_shown()})"
        found = self._engine.rows(table, predicate, arity)
        names = [f"a{place}" for place in range(arity)]
        if not arity:
            return found if which == "all" else found.limit(0 if explicit.take(1) else 1)
        if which == "derived":
            return found.join(explicit, names, "left_anti").select(*names)
        if predicate != TRIPLE:
            return found
        return found.unionAll(self._backend.listed(self._reflexive(E), TRIPLE, 3))

    def answers(
        self,
        scratch: Backend[FactSet, DataFrame, FactSet],
        found: FactSet,
        predicate: str,
        variables: Sequence[Variable],
        goal: Sequence[BodyLiteral],
        E: FactSet,
    ) -> list[tuple[Value, ...]]:
        arity = len(variables)
        number = self._engine.relation(predicate, arity)
        table = self.classes.expanded(found)
        if table is not None:
            table = f"(SELECT * FROM {table} WHERE {RELATION} = {number})"
        rows = scratch.rows(self._engine.rows(table, predicate, arity), arity)
        reflexive = self._backend.listed(self._reflexive(E), TRIPLE, 3)
        explicit = {left for left, _, _ in self._backend.rows(reflexive, 3)}
        for atom in goal:
            if isinstance(atom, Atom) and atom.predicate == TRIPLE:
                rows = [row for row in rows if _is_seen(atom, dict(zip(variables, row, strict=True)), explicit)]
        return rows

    def derived(self, batches: Sequence[FactSet], E: FactSet, I: FactSet) -> int:
        given = self._backend.entered(batches)
        return len((given & I) - E) if given else 0

    def _is_shown(self) -> str:
        """Whether a fact is not `c ≈ c`."""
        triple, _ = self._engine.relations()[TRIPLE]
        return f"NOT ({RELATION} = {triple} AND a1 = {self._id(SAME_AS)} AND a0 = a2)"

    def _reflexive(self, E: FactSet) -> FactSet:
        """The explicit facts `c ≈ c`."""
        ends = self.classes.ends(self._id(SAME_AS), E)
        return self.classes.named(left for left, right in ends if left == right)

    # ------------------------------------------------------------------------------------ contradictions

    def merged_apart(self, E: FactSet, I: FactSet) -> bool:
        different, classes = self._id(DIFFERENT_FROM), self.classes
        known = {classes.representative(left) for left, right in classes.ends(different, E) if left == right}
        return any(left == right and left not in known for left, right in classes.ends(different, I))

    def clashes(self, I: FactSet) -> list[str]:
        same_as, different = self._id(SAME_AS), self._id(DIFFERENT_FROM)
        apart = {frozenset(map(self.classes.representative, pair)): pair for pair in self.classes.apart}
        equal = [pair for pair in self.classes.ends(same_as, I) if pair[0] != pair[1]]
        values = [pair for pair in equal if frozenset(pair) not in apart]
        excluded = [apart[ends] for ends in dict.fromkeys(map(frozenset, equal)) if ends in apart]
        alone = [left for left, right in self.classes.ends(different, I) if left == right]
        shown = {one for pairs in (values, excluded) for pair in pairs[:SHOWN] for one in pair}
        known = self._backend.terms.values_of([*shown, *alone[:SHOWN]])
        return messages(values, excluded, alone, known.__getitem__, kept_apart=True)

    # ------------------------------------------------------------------------------------ what changes

    def changed(
        self, then: SparkWorld, now: SparkWorld, gone: FactSet, new: FactSet, minus: FactSet, plus: FactSet
    ) -> Difference[FactSet]:
        before = then.names
        assert isinstance(before, SparkNames)
        stayed = self.classes.facts_mentioning(before.classes.changed(self.classes), now.I & then.I)
        gone, new = without(then.I, now.I), without(now.I, then.I)
        plus, minus = without(now.E, then.E), without(then.E, now.E)
        held = before._in_all_names(gone | stayed, then.E)
        holds = self._in_all_names(new | stayed, now.E)
        touched = gone
        for facts in (new, plus, minus):
            touched |= facts
        more, fewer = touched, touched
        more &= now.I - now.E
        fewer &= then.I - then.E
        return Difference(
            plus, minus, without(holds, held), without(held, holds), without(more, fewer), without(fewer, more)
        )

    def _in_all_names(self, facts: FactSet, E: FactSet) -> FactSet:
        """What facts about representatives stand for; of `c ≈ c` only what is explicit."""
        table = self.classes.expanded(facts)
        if table is None:
            return self._reflexive(E)
        found: FactSet = self._engine.distinct(f"(SELECT * FROM {table} WHERE {self._is_shown()})")
        found |= self._reflexive(E)
        return found


def _is_seen(atom: Atom, answer: Mapping[Variable, Value], explicit: set[Value]) -> bool:
    """Whether a triple of a goal is not `c ≈ c` by an answer, or is explicit."""
    left, verb, right = (term.value if isinstance(term, Constant) else answer.get(term, term) for term in atom.terms)
    return verb != SAME_AS or left != right or left in explicit

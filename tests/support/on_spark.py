"""What a knowledge base has, on Spark and in memory, in a form that can be compared; few jobs however many predicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from random import Random
from typing import Any

from everlog import KnowledgeBase
from everlog.datalog.syntax import HIDDEN, Program
from everlog.datalog.values import Value
from everlog.engine.algebra import FactSet
from everlog.engine.spark.facts.sets import as_spark_facts
from everlog.planning.compiled_program import Stratification
from everlog.reasoning.algorithms import TRACE
from oracles import naive
from oracles.exchange import facts_of, rows_of
from oracles.naive import Fact, Facts, fact
from support.joint import joint_case, renamed_atom
from support.sequences import Sequence, Update, made

Counts = dict[tuple[str, Fact, tuple[int, ...]], int]
"""By kind, fact, and place in the trace."""


Terms = dict[int, Value]
"""Values by their ids."""


def jobs_started(spark: Any) -> int:
    """How many jobs a session has had."""
    number: int = spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs()
    return number


def terms(kb: KnowledgeBase) -> Terms:
    """All values; they are on the driver, since tests have few."""
    backend: Any = kb.reasoner.backend
    found: Terms = backend.terms.values_of(range(backend.terms.size))
    return found


def all_facts(kb: KnowledgeBase, values: Terms | None = None) -> Facts:
    """All facts of a knowledge base; one job if they are not on the driver."""
    if kb.reasoner.backend.name == "memory":
        return facts_of(kb)
    return decoded(kb, kb.reasoner.I, values)


def decoded(kb: KnowledgeBase, facts: FactSet, values: Terms | None = None) -> Facts:
    """A set of facts of a knowledge base on Spark; one job if they are not on the driver."""
    values, names = values or terms(kb), _names(kb)
    found = [_fact(row, names, values) for row in _tuples(kb, facts)]
    assert len(set(found)) == len(found), "a fact occurs twice"
    return frozenset(one for one in found if not one[0].startswith(HIDDEN))


def kept_counts(kb: KnowledgeBase, values: Terms | None = None) -> Counts:
    """All counts that are kept for updates."""
    state: Any = kb.reasoner
    found = Counts()
    assert state.materialisation is not None
    if state.backend.name == "memory":
        for name, columns in state.kept().items():
            kind, _, predicate = name.partition(":")
            further = {"hidden": 0, "trace": 3}.get(kind, 1)
            for column in columns.T.tolist():
                ids, (*place, count) = (column, [1]) if not further else (column[:-further], column[-further:])
                one = fact(predicate, *map(state.engine.dictionary.value, ids))
                found[kind, one, tuple(place)] = count
        return found
    values, names = values or terms(kb), _names(kb)
    if any(name.startswith(HIDDEN) for name, _ in names.values()):
        for row in _tuples(kb, state.materialisation.I):
            one = _fact(row, names, values)
            if one[0].startswith(HIDDEN):
                found["hidden", one, ()] = 1
    for kind, at, annotation in state.materialisation.kept.placed():
        frame = state.engine.values(annotation)
        for row in [] if frame is None else frame.collect():
            found[kind, _fact(tuple(row), names, values), at] = row["n"]
    return found


class Expected:
    """What is so after each update of a sequence: facts by the naive evaluator, counts by starting again in memory."""

    def __init__(self, sequence: Sequence) -> None:
        self.sequence = sequence
        self._explicit = sequence.explicit()
        self._facts: dict[int, Facts] = {}
        self._counts: dict[tuple[int, str, str], Counts] = {}

    def facts(self, number: int) -> Facts:
        if number not in self._facts:
            self._facts[number] = naive.materialise(self.sequence.case.program.rules, self._explicit[number])
        return self._facts[number]

    def counts(self, number: int, stratification: Stratification, kinds: frozenset[str]) -> Counts:
        """The counts of some kinds."""
        algorithm = "counting" if TRACE in kinds else "dredc"
        key = number, stratification, algorithm
        if key not in self._counts:
            again = KnowledgeBase(
                Program(self.sequence.case.program.rules),
                engine="memory",
                algorithm=algorithm,
                stratification=stratification,
                modules="off",
            )
            rows = _grouped(self._explicit[number])
            again.add({name: [tuple(map(naive.value_of, keys)) for _, keys in group] for name, group in rows})
            again.materialise()
            self._counts[key] = kept_counts(again)
        return {one: count for one, count in self._counts[key].items() if one[0] in kinds}


def check_state(kb: KnowledgeBase, expected: Expected, number: int) -> None:
    """After so many updates, facts and counts are what they should be."""
    values = terms(kb)
    found, facts = all_facts(kb, values), expected.facts(number)
    assert found == facts, f"{_few(found - facts)} too many and {_few(facts - found)} missing after {number}"
    assert kb.reasoner.materialisation is not None
    kinds = kb.reasoner.materialisation.kept.names() | {"hidden"}
    assert kept_counts(kb, values) == expected.counts(number, kb.settings.stratification, kinds), (
        f"counts after {number}"
    )


def _grouped(facts: Facts) -> Iterator[tuple[str, Iterator[Fact]]]:
    return groupby(sorted(facts, key=repr), key=lambda one: one[0])


def _few(facts: Facts) -> str:
    return ", ".join(sorted(map(repr, facts))[:5]) or "nothing"


def follow(expected: Expected, spark: object, algorithms: Iterable[str], algorithm: str, mode: str) -> None:
    """A knowledge base on Spark follows updates, each by an algorithm of its own, with what another one has kept."""
    sequence = expected.sequence
    options = {"algorithm": algorithm, "stratification": mode, "modules": "off"}
    kb = KnowledgeBase(sequence.case.program, engine="spark", spark=spark, **options)  # type: ignore[arg-type]
    kb.add(rows_of(sequence.case.facts))
    kb.materialise()
    check_state(kb, expected, 0)
    for number, (update, name) in enumerate(zip(sequence.updates, algorithms, strict=False), start=1):
        report = kb.update(add=rows_of(update.add), delete=rows_of(update.delete), algorithm=name)
        assert report.algorithm == name or name == "auto"
        check_state(kb, expected, number)


def _names(kb: KnowledgeBase) -> dict[int, tuple[str, int]]:
    return {number: (predicate, arity) for predicate, (number, arity) in kb.reasoner.engine.relations().items()}


def _tuples(kb: KnowledgeBase, facts: FactSet) -> list[tuple[int, ...]]:
    """Facts on Spark as numbers: the relation, and the arguments."""
    engine: Any = kb.reasoner.engine
    near = as_spark_facts(facts).local()
    return list(map(tuple, engine.together(facts).collect())) if near is None else near.tuples()


def _fact(row: tuple[int, ...], names: dict[int, tuple[str, int]], values: Terms) -> Fact:
    number, *arguments = row
    predicate, arity = names[number]
    return fact(predicate, *(values[one] for one in arguments[:arity]))


def joint_sequence(seed: int, size: int, updates: int, rules: int = 5) -> Sequence:
    """Several programs with their updates, as one; predicates are renamed apart."""
    random = Random(seed)
    found = [made(random, rules, updates) for _ in range(size)]
    together = []
    for place in range(updates):
        parts = [(one.updates[place], number) for number, one in enumerate(found)]
        together.append(
            Update(
                tuple(renamed_atom(atom, number) for update, number in parts for atom in update.add),
                tuple(renamed_atom(atom, number) for update, number in parts for atom in update.delete),
            )
        )
    return Sequence(joint_case(one.case for one in found), tuple(together))

"""Maintenance by every algorithm on the Spark engine, where what is small is on the driver: hundreds of updates, no job.

Programs that compare values by their order are left to `test_spark_knowledge.py`: Spark has the values.
"""

from __future__ import annotations

from functools import partial
from itertools import cycle
from random import Random
from typing import TYPE_CHECKING

import pytest

from everlog.datalog.constants import constants
from everlog.datalog.syntax import HIDDEN, Comparison, Negation, Rule
from everlog.engine.algebra import FactSet
from everlog.engine.spark.facts.driver_facts import together
from everlog.engine.spark.facts.sets import as_spark_facts
from everlog.engine.spark.joins.rules import SparkRules
from everlog.knowledge.materialisation import Materialisation
from everlog.planning.compiled_program import compile_program
from everlog.reasoning.algorithms import algorithm, needed
from oracles import naive
from oracles.naive import Fact
from support.batches import joined
from support.maintenance import ALGORITHMS, MODES
from support.on_spark import Counts, Expected
from support.sequences import made
from support.spark_sets import Facts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEQUENCES = 12


def is_ordered(rule: Rule) -> bool:
    parts = [one for literal in rule.body if isinstance(literal, Negation) for one in literal.tests]
    parts += [literal for literal in rule.body if isinstance(literal, Comparison)]
    return any(one.operator not in ("=", "!=") for one in parts)


@pytest.fixture(scope="module")
def expected() -> Expected:
    """Many sequences of at least five updates, as one."""
    random, parts = Random(4), []
    while len(parts) < SEQUENCES:
        one = made(random, rules=6, updates=5)
        if not any(map(is_ordered, one.case.program.rules)):
            parts.append(one)
    return Expected(joined(parts))


class Followed:
    """A materialisation on the Spark engine, and what it has."""

    def __init__(self, facts: Facts, expected: Expected, name: str, mode: str) -> None:
        self.facts, self.engine = facts, facts.engine
        rules = expected.sequence.case.program.rules
        self.engine.ids(constants(rules))
        strata = compile_program(rules, partial(SparkRules, self.engine), mode)  # type: ignore[arg-type]
        E = facts.stored(expected.sequence.explicit()[0])
        self.materialisation = Materialisation(strata, self.engine, E, needed(name), {})
        self.materialisation.materialise(lambda *_: None)

    def visible(self) -> set[Fact]:
        return {one for one in self._facts(self.materialisation.I) if not one[0].startswith(HIDDEN)}

    def counts(self) -> Counts:
        found = Counts()
        for kind, place, annotation in self.materialisation.kept.placed():
            values = annotation.values()
            numbers, over = self.engine.driver.rows(values.runs), values.overlay()
            assert numbers is not None, "few facts"
            if over is not None:
                numbers = together([over, numbers - over])
            pairs = zip(numbers.tuples(), numbers.numbers.tolist(), strict=True)
            found.update({(kind, self._fact(one), place): n for one, n in pairs if n})
        return found

    def _facts(self, facts: FactSet) -> list[Fact]:
        found = as_spark_facts(facts).computed().local()
        assert found is not None, "few facts"
        return [self._fact(one) for one in found.tuples()]

    def _fact(self, one: tuple[int, ...]) -> Fact:
        names = {number: (name, arity) for name, (number, arity) in self.engine.relations().items()}
        name, arity = names[one[0]]
        return naive.fact(name, *(self.facts.ids.values[id] for id in one[1 : arity + 1]))


@pytest.mark.parametrize(("name", "mode"), [*zip(ALGORITHMS, cycle(MODES), strict=False), ("counting", "single")])
def test_random_updates(spark: SparkSession, expected: Expected, name: str, mode: str) -> None:
    facts = Facts(spark, range(5))
    followed = Followed(facts, expected, name, mode)
    updates = expected.sequence.updates
    assert len(updates) >= 5
    for number in range(len(updates) + 1):
        if number:
            minus, plus = (facts.stored(one) for one in (updates[number - 1].minus, updates[number - 1].plus))
            followed.materialisation.update(minus, plus, algorithm(name), lambda *_: None, None)
        assert followed.visible() == expected.facts(number), f"after {number}"
        kinds = followed.materialisation.kept.names()
        assert kinds >= needed(name)
        assert followed.counts() == expected.counts(number, mode, kinds), f"counts after {number}"
    assert facts.engine.driver_applications > 0 and not facts.engine._kept, "no job had to be done"

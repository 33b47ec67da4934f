"""`match`: labelled conjunctive queries outside of rules, for the Spark engine.

A query is part of the plan of whatever asks for a projection of it; where the driver has all facts, it is answered there.
"""

from __future__ import annotations

from collections.abc import Sequence

from everlog.datalog.syntax import Atom, Comparison, Constant
from everlog.engine.algebra import Bindings, FactSet, Labelled, Matcher
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.asked_runs import TooMany
from everlog.engine.spark.facts.sets import ComputedFacts, SparkFacts, as_spark_facts
from everlog.engine.spark.joins.conjunction import Conjunction, Literal
from everlog.engine.spark.joins.driver_rules import DriverConjunction, DriverDelivery
from everlog.engine.spark.joins.instances import Delivery
from everlog.engine.spark.joins.join_order import in_order
from everlog.engine.spark.joins.patterns import Compared, Parameters, Pattern
from everlog.engine.spark.joins.rule_shapes import Shaping


class SparkMatcher(Matcher):
    """Makes queries for one engine."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine

    def match(self, literals: Sequence[Labelled], comparisons: Sequence[Comparison] = ()) -> SparkBindings:
        terms = [term for literal in literals for term in literal.atom.terms]
        terms += [term for comparison in comparisons for term in (comparison.left, comparison.right)]
        self._engine.ids(term for term in terms if isinstance(term, Constant))  # all at once: each look-up is a job
        shaping = Shaping(self._engine)
        matched = [Literal(shaping.pattern(one.atom), as_spark_facts(one.view), one.negative) for one in literals]
        tests = [Compared(one.operator, shaping.term(one.left), shaping.term(one.right)) for one in comparisons]
        parameters = Parameters([tuple(shaping.parameters)])

        def at_most(pattern: Pattern, facts: SparkFacts) -> int:
            return facts.at_most(parameters.wanted(pattern))

        positive = in_order(None, [one for one in matched if not one.negative], at_most)
        negative = [one for one in matched if one.negative]
        driver, found = self._engine.driver, list[DriverConjunction]()

        def evaluate() -> None:
            on_driver = DriverDelivery(self._engine).conjunction(parameters, shaping.variables.values())
            on_driver.evaluate(positive, negative, tests)
            found.append(on_driver)

        # Few facts that the first literal has are enough: the driver asks Spark for what they meet.
        if driver.has(one.view for one in matched) or (positive and driver.local_if_few(positive[0].view) is not None):
            try:
                driver.questions.inquire([evaluate])
                return SparkBindings(self._engine, shaping, found[0])
            except TooMany:
                pass
        conjunction = Conjunction(self._engine, parameters, shaping.variables.values())
        conjunction.evaluate(positive, negative, tests)
        return SparkBindings(self._engine, shaping, conjunction)


class SparkBindings(Bindings):
    """The matches of a query, each once."""

    def __init__(self, engine: SparkEngine, shaping: Shaping, found: Conjunction | DriverConjunction) -> None:
        self._engine, self._shaping, self._found = engine, shaping, found

    def facts(self, atom: Atom, excluding: FactSet | None = None) -> ComputedFacts:
        pattern, row = self._shaping.projected(atom)
        parameters, known = Parameters([row]), None if excluding is None else as_spark_facts(excluding)
        if isinstance(self._found, DriverConjunction):
            on_driver = DriverDelivery(self._engine, known)
            on_driver.take(self._found.with_parameters(parameters), [pattern])
            return on_driver.facts(counting=False)
        delivery = Delivery(self._engine, known)
        delivery.take(self._found.with_parameters(parameters), [pattern])
        return delivery.facts(counting=False)

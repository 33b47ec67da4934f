"""Rules compiled for the Spark engine, and `apply`: all instances of many rules, each considered once, in one job.

`inst_r[I⁺, I⁻ : P, N]` is evaluated as *Revisited* §9.2 says, shape by shape: once for each body literal of the shape that
`P` (or, for a negative literal, `N`) can match, with the literals before it kept out of `P` and `N`. All of it is one plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from everlog.datalog.syntax import Rule
from everlog.engine.algebra import FactSet, Region, Rules, Some
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.annotations import SparkCounted
from everlog.engine.spark.facts.sets import ComputedFacts, SparkFacts, as_spark_facts, computed
from everlog.engine.spark.joins.conjunction import Literal
from everlog.engine.spark.joins.driver_rules import DriverDelivery, TooMany
from everlog.engine.spark.joins.instances import Delivery
from everlog.engine.spark.joins.join_order import in_order
from everlog.engine.spark.joins.patterns import Parameters, Pattern, Shape
from everlog.engine.spark.joins.rule_shapes import shapes_of

_Some = tuple[SparkFacts, SparkFacts]


class SparkRules(Rules):
    """Some rules of a program, by their shapes."""

    def __init__(self, engine: SparkEngine, rules: Sequence[Rule]) -> None:
        self._engine = engine
        self._rules = rules
        self.shapes = shapes_of(engine, rules)

    @property
    def rules(self) -> Sequence[Rule]:
        return self._rules

    def apply(
        self,
        positive: FactSet,
        negative: FactSet | None = None,
        *,
        some: Sequence[Some] = (),
        excluding: FactSet | None = None,
    ) -> ComputedFacts:
        delivery = self._instances(positive, negative, some)
        return delivery.facts(None if excluding is None else as_spark_facts(excluding))

    def apply_counted(
        self,
        positive: FactSet,
        negative: FactSet | None = None,
        *,
        some: Sequence[Some] = (),
    ) -> SparkCounted:
        return self._instances(positive, negative, some).multiset()

    def provable(self, heads: FactSet, positive: FactSet, negative: FactSet | None = None) -> ComputedFacts:
        # Of the instances of a head one is considered: the join may meet more of them, but stops at none.
        found = self._instances(positive, negative, (), computed(heads)).facts(counting=False)
        self._engine.derivations += len(found)
        return found

    def premises(self, heads: FactSet, positive: FactSet, negative: FactSet, region: Region) -> ComputedFacts:
        asked, true, false = computed(heads), as_spark_facts(positive), as_spark_facts(negative)

        def fill(delivery: Any) -> None:
            for shape, parameters in self.shapes:
                needed = {term for pattern in shape.positive for term in (pattern.relation, *pattern.terms)}
                call = _Call(delivery.conjunction, shape, parameters, true, false, asked, needed)
                delivery.take(call.evaluated(None, None), shape.positive)

        return self._delivered(fill, [asked, true, false]).facts_within(self._engine.region_filter(region))

    def _instances(
        self,
        positive: FactSet,
        negative: FactSet | None,
        conditions: Sequence[Some],
        asked: ComputedFacts | None = None,
    ) -> Delivery | DriverDelivery:
        true, false = as_spark_facts(positive), as_spark_facts(positive if negative is None else negative)
        some = sorted(
            ((as_spark_facts(P), as_spark_facts(N)) for P, N in conditions),
            key=lambda one: one[0].at_most() + one[1].at_most(),
        )
        if some:
            some[0] = (some[0][0].computed(), some[0][1].computed())

        def fill(delivery: Any) -> None:
            for shape, parameters in self.shapes:
                needed = {shape.head.relation, *shape.head.terms}
                if len(some) > 1:
                    literals = (*shape.positive, *shape.negative)
                    needed.update(term for one in literals for term in (one.relation, *one.terms))
                call = _Call(delivery.conjunction, shape, parameters, true, false, asked, needed)
                for place in call.places(some[0]) if some else [None]:
                    found = call.evaluated(some[0] if some else None, place)
                    for P, N in some[1:]:
                        found.any_of(
                            [*(Literal(one, P) for one in shape.positive), *(Literal(one, N) for one in shape.negative)]
                        )
                    delivery.take(found, [shape.head])

        sets = [true, false, *(facts for one in some for facts in one)]
        return self._delivered(fill, sets if asked is None else [*sets, asked])

    def _delivered(self, fill: Callable[[Any], None], sets: Sequence[SparkFacts]) -> Delivery | DriverDelivery:
        """A delivery, filled: on the driver if all that the rules can meet is there."""
        if self._engine.driver.has(sets):
            on_driver = DriverDelivery(self._engine)
            try:
                fill(on_driver)
                return on_driver
            except TooMany:
                pass
        on_spark = Delivery(self._engine)
        fill(on_spark)
        return on_spark


class _Call:
    """The evaluation of one shape: its literals with their views."""

    def __init__(
        self,
        conjunction: Callable[[Parameters, set[int]], Any],
        shape: Shape,
        parameters: Parameters,
        positive: SparkFacts,
        negative: SparkFacts,
        asked: SparkFacts | None,
        needed: set[int],
    ) -> None:
        self._conjunction = conjunction
        self._shape = shape
        self._parameters = parameters
        self._positive = positive
        self._negative = negative
        self._asked = asked
        self._needed = needed

    def places(self, some: _Some) -> Iterator[int]:
        """The literals, positive ones first, that a fact of `some` can match."""
        patterns = [*self._shape.positive, *self._shape.negative]
        for place, pattern in enumerate(patterns):
            if self._at_most(pattern, some[0] if place < len(self._shape.positive) else some[1]):
                yield place

    def evaluated(self, some: _Some | None, place: int | None) -> Any:
        """The instances, with the literal at `place` matched in `some`; (156) and (157) of *Revisited*."""
        shape, size = self._shape, len(self._shape.positive)
        views = [self._positive] * size
        avoided = [self._negative] * len(shape.negative)
        driver: Literal | None = None
        if some is not None and place is not None:
            for before in range(min(place, size)):
                views[before] = as_spark_facts(self._positive - some[0])
            for before in range(size, place):
                avoided[before - size] = as_spark_facts(self._negative | some[1])
            driver = (
                Literal(shape.positive[place], some[0])
                if place < size
                else Literal(shape.negative[place - size], some[1])
            )
        positive = [
            Literal(pattern, view)
            for number, (pattern, view) in enumerate(zip(shape.positive, views, strict=True))
            if number != place
        ]
        # A fact of `N` is outside of the negative set, so that the literal it drives is true already.
        negative = [
            Literal(pattern, view, negative=True)
            for number, (pattern, view) in enumerate(zip(shape.negative, avoided, strict=True))
            if number + size != place
        ]
        if self._asked is not None:
            driver = Literal(shape.head, self._asked)
        conjunction = self._conjunction(self._parameters, self._needed)
        conjunction.evaluate(in_order(driver, positive, self._at_most), negative, shape.comparisons)
        return conjunction

    def _at_most(self, pattern: Pattern, facts: SparkFacts) -> int:
        return facts.at_most(self._parameters.wanted(pattern))

"""Rules compiled for the Spark engine, and `apply`: all instances of many rules, each considered once, in one job.

`inst_r[I⁺, I⁻ : P, N]` is evaluated as *Revisited* §9.2 says, shape by shape: once for each body literal of the shape that
`P` (or, for a negative literal, `N`) can match, with the literals before it kept out of `P` and `N`. All of it is one plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from everlog.datalog.syntax import Rule
from everlog.engine.algebra import FactSet, Region, Rules, Some
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.annotations import SparkCounted
from everlog.engine.spark.facts.asked_runs import TooMany
from everlog.engine.spark.facts.sets import ComputedFacts, SparkFacts, as_spark_facts, computed
from everlog.engine.spark.joins.conjunction import Literal
from everlog.engine.spark.joins.driver_rules import DriverDelivery
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
        known = None if excluding is None else as_spark_facts(excluding)
        return self._instances(positive, negative, some, excluding=known).facts()

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

        def work(delivery: Any) -> Iterator[Callable[[], None]]:
            for shape, parameters in self.shapes:
                needed = {term for pattern in shape.positive for term in (pattern.relation, *pattern.terms)}
                call = _Call(delivery, shape, parameters, true, false, asked, needed, None)
                yield partial(call.deliver, shape.positive)

        return self._delivered(work, asked, [true, false]).facts_within(self._engine.region_filter(region))

    def _instances(
        self,
        positive: FactSet,
        negative: FactSet | None,
        conditions: Sequence[Some],
        asked: ComputedFacts | None = None,
        excluding: SparkFacts | None = None,
    ) -> Delivery | DriverDelivery:
        true, false = as_spark_facts(positive), as_spark_facts(positive if negative is None else negative)
        some = sorted(
            ((as_spark_facts(P), as_spark_facts(N)) for P, N in conditions),
            key=lambda one: one[0].at_most() + one[1].at_most(),
        )
        kept_out: _Some | None = None
        if some:
            some[0] = (some[0][0].computed(), some[0][1].computed())
            kept_out = as_spark_facts(true - some[0][0]), as_spark_facts(false | some[0][1])

        def work(delivery: Any) -> Iterator[Callable[[], None]]:
            for shape, parameters in self.shapes:
                needed = {shape.head.relation, *shape.head.terms}
                if len(some) > 1:
                    literals = (*shape.positive, *shape.negative)
                    needed.update(term for one in literals for term in (one.relation, *one.terms))
                call = _Call(delivery, shape, parameters, true, false, asked, needed, kept_out, some)
                for place in call.places(some[0]) if some else [None]:
                    yield partial(call.deliver, [shape.head], place)

        sets = [true, false, *(facts for one in some[1:] for facts in one)]
        driving = asked if asked is not None else some[0][0] | some[0][1] if some else None
        return self._delivered(work, driving, sets, excluding, proving=asked is not None)

    def _delivered(
        self,
        work: Callable[[Any], Iterator[Callable[[], None]]],
        driving: SparkFacts | None,
        others: Sequence[SparkFacts],
        excluding: SparkFacts | None = None,
        proving: bool = False,
    ) -> Delivery | DriverDelivery:
        """A delivery, after the work for it: on the driver if all that the rules can meet is there.

        Few facts that drive the joins are enough: the driver asks Spark for what they meet.
        """
        driver = self._engine.driver
        few = driving is not None and driver.local_if_few(driving) is not None
        if few or driver.has(others if driving is None else [driving, *others]):
            on_driver = DriverDelivery(self._engine, excluding, proving)
            try:
                driver.questions.inquire(work(on_driver))
                return on_driver
            except TooMany:
                pass
        on_spark = Delivery(self._engine, excluding)
        for task in work(on_spark):
            task()
        return on_spark


@dataclass(frozen=True)
class _Call:
    """The evaluation of one shape: its literals with their views."""

    delivery: Any
    shape: Shape
    parameters: Parameters
    positive: SparkFacts
    negative: SparkFacts
    asked: SparkFacts | None
    needed: set[int]
    kept_out: _Some | None
    """The views of literals before the one that is matched in `some`, with that kept out of them; one for all shapes."""
    some: Sequence[_Some] = ()

    def deliver(self, patterns: Sequence[Pattern], place: int | None = None) -> None:
        """Finds the instances and hands them over, with the patterns of which facts are wanted."""
        found = self.evaluated(self.some[0] if self.some else None, place)
        for P, N in self.some[1:]:
            positive = (Literal(one, P) for one in self.shape.positive)
            found.any_of([*positive, *(Literal(one, N) for one in self.shape.negative)])
        self.delivery.take(found, patterns)

    def places(self, some: _Some) -> Iterator[int]:
        """The literals, positive ones first, that a fact of `some` can match."""
        for place, pattern in enumerate((*self.shape.positive, *self.shape.negative)):
            if self._at_most(pattern, some[0] if place < len(self.shape.positive) else some[1]):
                yield place

    def evaluated(self, some: _Some | None, place: int | None) -> Any:
        """The instances, with the literal at `place` matched in `some`; (156) and (157) of *Revisited*."""
        shape = self.shape
        driver: Literal | None = None
        literals = [Literal(pattern, self.positive) for pattern in shape.positive]
        literals += [Literal(pattern, self.negative, negative=True) for pattern in shape.negative]
        if some is not None and place is not None:
            # A fact of `N` is outside of the negative set, so that the literal it drives is true already.
            driver = Literal(literals[place].pattern, some[1] if literals[place].negative else some[0])
            assert self.kept_out is not None
            before = [replace(one, view=self.kept_out[one.negative]) for one in literals[:place]]
            literals = [*before, *literals[place + 1 :]]
        positive = [one for one in literals if not one.negative]
        negative = [one for one in literals if one.negative]
        if self.asked is not None:
            driver = Literal(shape.head, self.asked)
        conjunction = self.delivery.conjunction(self.parameters, self.needed)
        giving = [one.giving for one in shape.computations]
        ordered = in_order(driver, positive, self._at_most, giving)
        conjunction.evaluate(ordered, negative, [*shape.comparisons, *shape.computations])
        return conjunction

    def _at_most(self, pattern: Pattern, facts: SparkFacts) -> int:
        return facts.at_most(self.parameters.wanted(pattern))

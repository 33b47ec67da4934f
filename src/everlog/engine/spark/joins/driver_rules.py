"""Rules applied on the driver, where all that they can meet is there already: a job takes longer than all they do.

The same conjunctions as in `conjunction.py`, with a hash table for each literal, and the same deliveries as in
`instances.py`. The driver gives up (`TooMany`) where few facts lead to very many bindings; Spark then starts again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pyoxigraph import BlankNode, NamedNode

from everlog.datalog.comparing import holds
from everlog.datalog.syntax import Constant, Operator, Variable
from everlog.datalog.values import Value
from everlog.engine.spark import tuning
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.annotations import SparkCounted, positive
from everlog.engine.spark.facts.region_filters import RegionFilter
from everlog.engine.spark.facts.runs import Fact, Local
from everlog.engine.spark.facts.sets import ComputedFacts, SparkFacts
from everlog.engine.spark.joins.conjunction import Literal
from everlog.engine.spark.joins.patterns import Compared, Computed, Parameters, Pattern, Term
from everlog.expressions.columns import column_of
from everlog.expressions.evaluation import evaluate
from everlog.expressions.evaluation import holds as holds_in

Binding = dict[Term, int]
Index = dict[Fact, list[Fact]]


class TooMany(Exception):
    """More bindings than the driver should hold."""


class DriverConjunction:
    """Bindings of variables and parameters, matched literal by literal."""

    def __init__(self, parameters: Parameters, tables: DriverTables) -> None:
        self.bindings: list[Binding] = [{~place: id for place, id in enumerate(row)} for row in parameters.rows]
        self._bound: set[Term] = {~place for place in range(len(parameters.values))}
        self._tables = tables

    def evaluate(
        self, positive: Sequence[Literal], negative: Sequence[Literal], tests: Sequence[Compared | Computed]
    ) -> None:
        waiting = self._compute([test for test in tests if isinstance(test, Computed)])
        for literal in positive:
            self.bindings = list(self._extended(literal))
            waiting = self._compute(waiting)
        for test in tests:
            if isinstance(test, Compared):
                self.bindings = list(self._compared(test))
        for literal in negative:
            facts = self._tables.local(literal.view)
            self.bindings = [one for one in self.bindings if fact_of(literal.pattern, one) not in facts]

    def _compute(self, waiting: Sequence[Computed]) -> list[Computed]:
        """Makes those computations whose inputs are bound; gives the others."""
        for test in waiting:
            needs, gives = test.giving
            if needs <= self._bound:
                self.bindings = list(self._computed(test))
                self._bound |= gives
                return self._compute([one for one in waiting if one is not test])
        return list(waiting)

    def _computed(self, test: Computed) -> Iterator[Binding]:
        """The bindings that have a result, and the right one if it is known; or that pass a filter."""
        values = self._tables.values({one[term] for one in self.bindings for term in test.inputs})
        columns = {Variable(str(term)): column_of([values[one[term]] for one in self.bindings]) for term in test.inputs}
        found = evaluate(test.expression, columns, len(self.bindings))
        if test.result is None:
            yield from (one for one, kept in zip(self.bindings, holds_in(found), strict=True) if kept)
            return
        results = [None if value is None else Constant(value) for value in found.values()]
        ids = self._tables.ids(dict.fromkeys(one for one in results if one is not None))
        for one, result in zip(self.bindings, results, strict=True):
            if result is not None and one.get(test.result, ids[result]) == ids[result]:
                yield {**one, test.result: ids[result]}

    def _compared(self, test: Compared) -> Iterator[Binding]:
        """The bindings for which a comparison holds."""
        if test.operator in ("=", "!=", "is not"):
            least = {} if test.operator == "is not" else self._tables.twins()
            if least is not None:
                same = test.operator == "="
                pairs = ((one, one[test.left], one[test.right]) for one in self.bindings)
                return (one for one, a, b in pairs if (least.get(a, a) == least.get(b, b)) == same)
        values = self._tables.values({one[term] for one in self.bindings for term in (test.left, test.right)})
        return (one for one in self.bindings if _holds(test.operator, values[one[test.left]], values[one[test.right]]))

    def any_of(self, literals: Sequence[Literal]) -> None:
        """Keeps the bindings that have an instance of one of some patterns in its view."""
        views = [(literal.pattern, self._tables.local(literal.view)) for literal in literals]
        self.bindings = [
            one for one in self.bindings if any(fact_of(pattern, one) in facts for pattern, facts in views)
        ]

    def _extended(self, literal: Literal) -> Iterator[Binding]:
        terms = (literal.pattern.relation, *literal.pattern.terms)
        places = tuple(place for place, term in enumerate(terms) if term in self._bound)
        free = [(place, term) for place, term in enumerate(terms) if term not in self._bound]
        self._bound.update(terms)
        index, found = self._tables.index(literal.view, places), 0
        for one in self.bindings:
            for fact in index.get(tuple(one[terms[place]] for place in places), ()):
                more = one.copy()
                if all(more.setdefault(term, fact[place]) == fact[place] for place, term in free):
                    found += 1
                    if found > tuning.BROADCAST_JOIN_FACTS:
                        raise TooMany
                    yield more


def _holds(operator: Operator, left: Value, right: Value) -> bool:
    if operator == "~":
        return all(isinstance(one, str | NamedNode | BlankNode) for one in (left, right))
    return holds(operator, left, right)


def fact_of(pattern: Pattern, binding: Binding) -> Fact:
    """The fact that a binding makes of a pattern."""
    return (binding[pattern.relation], *(binding[term] for term in pattern.terms))


class DriverTables:
    """Sets of facts on the driver, and hash tables of them by some of their places; those of one application of rules."""

    def __init__(
        self,
        values: Callable[[Iterable[int]], Mapping[int, Value]],
        ids: Callable[[Iterable[Constant]], Mapping[Constant, int]],
        twins: Callable[[], Mapping[int, int] | None],
    ) -> None:
        self.values = values
        """Tells the values of some constants."""
        self.ids = ids
        """Tells the ids of some constants, and gives them some."""
        self.twins = twins
        """Tells for which constants there are others of equal value, and the least of these; None if they are many."""
        self._local: dict[SparkFacts, Local] = {}
        self._indexes: dict[tuple[SparkFacts, tuple[int, ...]], Index] = {}

    def local(self, facts: SparkFacts) -> Local:
        if facts not in self._local:
            found = facts.local()
            assert found is not None, "few facts, all on the driver"
            self._local[facts] = found
        return self._local[facts]

    def index(self, facts: SparkFacts, places: tuple[int, ...]) -> Index:
        """Facts by what they have at some places; those with fewer places are left out."""
        key = facts, places
        if key not in self._indexes:
            found = self._indexes[key] = {}
            last = max(places, default=0)
            for fact in self.local(facts):
                if len(fact) > last:
                    found.setdefault(tuple(fact[place] for place in places), []).append(fact)
        return self._indexes[key]


class DriverDelivery:
    """Instances of rules, shape by shape, on the driver."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine
        self._tables = DriverTables(engine.driver.values, engine.ids, lambda: engine.twins().local)
        self._found: list[tuple[Sequence[Binding], Sequence[Pattern]]] = []

    def conjunction(self, parameters: Parameters, needed: Iterable[Term]) -> DriverConjunction:
        return DriverConjunction(parameters, self._tables)

    def take(self, instances: DriverConjunction, patterns: Sequence[Pattern]) -> None:
        self._found.append((instances.bindings, patterns))

    def facts(self, excluding: SparkFacts | None = None, counting: bool = True) -> ComputedFacts:
        self._count(counting)
        found = frozenset(self._facts())
        if excluding is None:
            return self._engine.local(found)
        return self._engine.local(found - excluding.among(found), excluding.covered())

    def multiset(self) -> SparkCounted:
        self._count(True)
        return positive(self._engine, Counter(self._facts()))

    def facts_within(self, place: RegionFilter) -> ComputedFacts:
        self._count(True)
        return self._engine.local(place.among(frozenset(self._facts())))

    def _facts(self) -> Iterator[Fact]:
        return (fact_of(pattern, one) for found, patterns in self._found for one in found for pattern in patterns)

    def _count(self, counting: bool) -> None:
        self._engine.driver_applications += bool(self._found)
        self._engine.derivations += sum(len(found) for found, _ in self._found) if counting else 0

"""What rule instances are evaluated for: their heads as a set or a multiset, or the facts of their bodies.

The instances of all shapes are delivered together, by one job, which counts them on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.annotations import SparkCounted
from everlog.engine.spark.facts.fact_schema import COUNT, RELATION
from everlog.engine.spark.facts.region_filters import RegionFilter
from everlog.engine.spark.facts.runs import classes_of
from everlog.engine.spark.facts.sets import EVERYTHING, ComputedFacts, SparkFacts, Wanted
from everlog.engine.spark.facts.sql_text import Keys, Table, fact_columns, own_keys, padded, select, union
from everlog.engine.spark.joins.conjunction import Conjunction
from everlog.engine.spark.joins.patterns import Parameters, Pattern, Term

_FACTS: Final = "facts"


class Delivery:
    """Instances of rules, shape by shape, perhaps without facts of a set."""

    def __init__(self, engine: SparkEngine, excluding: SparkFacts | None = None) -> None:
        self._engine, self._excluding = engine, excluding
        self._found: list[tuple[Conjunction, Table, Sequence[Pattern]]] = []

    def conjunction(self, parameters: Parameters, needed: Iterable[Term]) -> Conjunction:
        """A conjunction whose bindings can be taken."""
        return Conjunction(self._engine, parameters, needed)

    def take(self, instances: Conjunction, patterns: Sequence[Pattern]) -> None:
        """Takes the instances of a shape, and the atoms that are wanted of them."""
        if instances.table is not None:
            self._found.append((instances, instances.table, patterns))

    def facts(self, counting: bool = True) -> ComputedFacts:
        """The facts, each once, without those that are left out; instances count as derivations unless told otherwise."""
        rows = self._rows()
        if rows is None:
            return self._engine.empty()
        return self._engine.distinct(rows, self._excluding, self._wanted(), counting, self._are_few())

    def multiset(self) -> SparkCounted:
        """The facts, each as often as there are instances for it."""
        rows = self._rows()
        if rows is None:
            return SparkCounted(self._engine, ())
        names = ", ".join(fact_schema.columns(self._engine.width))
        table = f"(SELECT {names}, count(*) AS {COUNT} FROM {{rows}} GROUP BY {names})"
        return SparkCounted(self._engine, [self._engine.run(table, rows=rows, counting=True, few=self._are_few())])

    def facts_within(self, place: RegionFilter) -> ComputedFacts:
        """The facts of all patterns of each instance that are in a region, each once."""
        width = self._engine.width
        parts = []
        for instances, table, patterns in self._found:
            keys = [instances.keys(pattern) for pattern in patterns]
            # An instance without such facts counts as well, so it has an array: a part of one with a fact of nothing.
            facts = f"array({', '.join(_structure(one, width) for one in keys or [[0]])})"
            parts.append(select([f"slice({facts}, 1, {len(keys)}) AS {_FACTS}"], f"{table} l"))
        if not parts:
            return self._engine.empty()
        facts = place.inside(select([f"inline({_FACTS})"], "{rows}"), own_keys(width), EVERYTHING, None)
        found = select(["DISTINCT *"], facts)
        return self._engine.computed(found, rows=union(parts, self._engine.tasks), counting=True, few=self._are_few())

    def _rows(self) -> Table | None:
        """A row for each instance, with its one fact."""
        width = self._engine.width
        parts = [
            select(fact_columns(instances.keys(pattern), width), f"{table} l")
            for instances, table, (pattern,) in self._found
        ]
        return union(parts, self._engine.tasks) if parts else None

    def _are_few(self) -> bool:
        """Whether the facts that the joins start from are few: then what they lead to is expected to be, too."""
        starts = [instances.started_from for instances, _, _ in self._found]
        return None not in starts and self._engine.driver.fetches(sum(started_from or 0 for started_from in starts))

    def _wanted(self) -> Wanted:
        found = [instances.relations(pattern) for instances, _, patterns in self._found for pattern in patterns]
        return {RELATION: classes_of(frozenset[int]().union(*found))}


def _structure(keys: Keys, width: int) -> str:
    """A fact as a struct."""
    pairs = zip(fact_schema.columns(width), padded(keys, width), strict=True)
    fields = [f"'{name}', {expression}" for name, expression in pairs]
    return f"named_struct({', '.join(fields)})"

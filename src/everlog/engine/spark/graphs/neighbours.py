"""Neighbours in an order, on Spark: the order is cut into ranges, each sorted by itself.

Neighbours across a cut are found from the least value of each range.
"""

from __future__ import annotations

from everlog.datalog.syntax import Atom, Variable
from everlog.engine.algebra import FactSet, Neighbours
from everlog.engine.recent_results import Recent
from everlog.engine.spark import tuning
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.sets import ComputedFacts, SparkFacts, computed
from everlog.engine.spark.facts.sql_text import Table, broadcast, select
from everlog.engine.spark.graphs.atom_columns import AtomColumns


class SparkNeighbours(Neighbours):
    """Values of a unary atom in their order, those of each kind (`datalog/comparing.py`) by themselves.

    Or the values of a binary atom in the order of their keys; `key` is the variable where these stand.
    """

    def __init__(self, engine: SparkEngine, atom: Atom, item: Atom, key: Variable | None = None) -> None:
        self._engine = engine
        place = 0 if key is None else list(item.variables()).index(key)
        self._key, self._value = "xy"[place], "x" if key is None else "xy"[1 - place]
        self._ends, self._items = AtomColumns(engine, atom), AtomColumns(engine, item)
        self._recent = Recent[ComputedFacts]()

    def facts(self, P: FactSet, excluding: FactSet) -> ComputedFacts:
        found = self._pairs(P)
        found -= excluding
        return found

    def outside(self, P: FactSet, facts: FactSet) -> ComputedFacts:
        asked = computed(facts)
        asked -= self._pairs(P)
        return asked

    def _pairs(self, P: FactSet) -> ComputedFacts:
        """The facts of all neighbours."""
        return self._recent.of(lambda: self._found(computed(P)), P)

    def _found(self, P: SparkFacts) -> ComputedFacts:
        items = self._items.table(P)
        if items is None:
            return self._engine.empty()
        ranked = self._engine.run(self._in_ranges(items, P.at_most()))
        view = ranked.view()
        keys = f"(SELECT DISTINCT k, part FROM {view})"
        least = f"(SELECT part, min(k) AS k FROM {keys} GROUP BY part)"
        after = select(["part", "lead(k) OVER (ORDER BY part) AS k"], least)
        following = select(["k", "part", "lead(k) OVER (PARTITION BY part ORDER BY k) AS next"], keys)
        joined = f"{following} l LEFT JOIN {after} s ON l.part = s.part"
        steps = select(["l.k", "coalesce(l.next, s.k) AS next"], joined, hint="BROADCAST(s)")
        tables = f"{view} f JOIN {steps} n ON f.k = n.k JOIN {view} t ON t.k = n.next"
        return self._engine.distinct(self._ends.rows("f.id", "t.id", tables, ["n.k.kind = n.next.kind"]))

    def _in_ranges(self, items: Table, at_most: int) -> Table:
        """Items as `id`, with the key `k` that they are ordered by, and the `part` of the order that they are in."""
        keyed = select(
            [f"l.{self._value} AS id", "v.k"],
            f"{self._engine.comparables()} v JOIN {items} l ON v.id = l.{self._key}",
            hint=broadcast("l", at_most),
        )
        if at_most <= tuning.BROADCAST_JOIN_FACTS:
            return select(["*", "0 AS part"], keyed)
        cut = f"REPARTITION_BY_RANGE({self._engine.partitions}, k)"
        return select(["*", "spark_partition_id() AS part"], select(["*"], keyed, hint=cut))

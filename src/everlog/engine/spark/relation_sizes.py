"""How many facts relations have and how many values their arguments: what estimates are made of, in one job."""

from __future__ import annotations

from dataclasses import dataclass

from everlog.datalog.syntax import TRIPLE
from everlog.engine.algebra import FactSet
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.fact_schema import PADDING, RELATION
from everlog.engine.spark.facts.sets import computed


@dataclass(frozen=True)
class Measured:
    """The facts of one relation; triples are measured by property."""

    relation: int
    property: int | None
    rows: int
    values: tuple[int, ...]
    """About how many values each argument has."""


def measured(engine: SparkEngine, facts: FactSet) -> list[Measured]:
    """The sizes of all relations that a set of facts has facts of."""
    table = computed(facts).table()
    if table is None:
        return []
    triples, arity = engine.relations().get(TRIPLE, (PADDING, 0))
    by = f"if({RELATION} = {triples}L, a1, {PADDING}L)" if arity == 3 else f"{PADDING}L"
    counted = ", ".join(f"approx_count_distinct({name})" for name in fact_schema.arguments(engine.width))
    columns = ", ".join([RELATION, f"{by} AS property", "count(*)", *([counted] if counted else [])])
    found = engine.spark.sql(f"SELECT {columns} FROM {table} GROUP BY {RELATION}, {by}").collect()
    return [
        Measured(relation, None if of == PADDING else of, rows, tuple(max(1, number) for number in values))
        for relation, of, rows, *values in found
    ]

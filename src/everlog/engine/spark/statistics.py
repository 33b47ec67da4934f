"""What the Spark engine knows of the facts of an atom, for the estimates of `size_estimates.py`.

One job measures how many facts relations have, triples by property, and about how many values each argument has.
"""

from __future__ import annotations

from everlog.datalog.syntax import TRIPLE, Atom, Constant, Variable
from everlog.engine.algebra import FactSet
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.fact_schema import PADDING, RELATION
from everlog.engine.spark.facts.sets import computed
from everlog.planning.decomposition.cardinality import Estimate
from everlog.planning.decomposition.size_estimates import Explicit

_PROPERTY = 1


def spark_facts(engine: SparkEngine, facts: FactSet) -> Explicit:
    """Estimates for atoms by what one job measures of all facts."""
    known = _measured(engine, facts)

    def estimate(atom: Atom) -> Estimate:
        constants = {place: term for place, term in enumerate(atom.terms) if isinstance(term, Constant)}
        ids = engine.ids(constants.values())
        asked = engine.relation(atom.predicate, len(atom.terms))
        size = 0.0
        total = dict.fromkeys(atom.variables(), 0.0)
        for relation, property, rows, values in known:
            fixed = dict(constants)
            wanted = fixed.pop(_PROPERTY, None) if property != PADDING else None
            if relation != asked or (wanted is not None and ids[wanted] != property):
                continue
            here = float(rows)
            for place in fixed:
                here /= values[place]
            first: dict[Variable, int] = {}
            for place, term in enumerate(atom.terms):
                if isinstance(term, Variable) and first.setdefault(term, place) != place:
                    here /= values[place]
            for variable, place in first.items():
                total[variable] += min(float(values[place]), here)
            size += here
        return Estimate(size, {variable: max(1.0, number) for variable, number in total.items()})

    return estimate


def _measured(engine: SparkEngine, facts: FactSet) -> list[tuple[int, int, int, list[int]]]:
    """The relations of some facts: number, property (padding if these are no triples), facts, and values of arguments."""
    table = computed(facts).table()
    if table is None:
        return []
    triples, arity = engine.relations().get(TRIPLE, (PADDING, 0))
    by = f"if({RELATION} = {triples}L, a1, {PADDING}L)" if arity == 3 else f"{PADDING}L"
    counted = [f"approx_count_distinct({name})" for name in fact_schema.arguments(engine.width)]
    columns = ", ".join([RELATION, f"{by} AS property", "count(*)", *counted])
    found = engine.spark.sql(f"SELECT {columns} FROM {table} GROUP BY {RELATION}, {by}").collect()
    return [(relation, of, rows, [max(1, number) for number in values]) for relation, of, rows, *values in found]

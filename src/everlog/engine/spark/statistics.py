"""What the Spark engine knows of the facts of an atom, for the estimates of `size_estimates.py`."""

from __future__ import annotations

from everlog.datalog.syntax import Atom, Constant, Variable
from everlog.engine.algebra import FactSet
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.relation_sizes import measured
from everlog.planning.decomposition.cardinality import Estimate
from everlog.planning.decomposition.size_estimates import Explicit

_PROPERTY = 1


def spark_facts(engine: SparkEngine, facts: FactSet) -> Explicit:
    """Estimates for atoms by what one job measures of all facts."""
    known = measured(engine, facts)

    def estimate(atom: Atom) -> Estimate:
        constants = {place: term for place, term in enumerate(atom.terms) if isinstance(term, Constant)}
        ids = engine.ids(constants.values())
        relation = engine.relation(atom.predicate, len(atom.terms))
        size = 0.0
        total = dict.fromkeys(atom.variables(), 0.0)
        for one in known:
            fixed = dict(constants)
            wanted = fixed.pop(_PROPERTY, None) if one.property is not None else None
            if one.relation != relation or (wanted is not None and ids[wanted] != one.property):
                continue
            here = float(one.rows)
            for place in fixed:
                here /= one.values[place]
            first: dict[Variable, int] = {}
            for place, term in enumerate(atom.terms):
                if isinstance(term, Variable) and first.setdefault(term, place) != place:
                    here /= one.values[place]
            for variable, place in first.items():
                total[variable] += min(float(one.values[place]), here)
            size += here
        return Estimate(size, {variable: max(1.0, number) for variable, number in total.items()})

    return estimate

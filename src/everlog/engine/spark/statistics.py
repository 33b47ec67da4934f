"""What the Spark engine knows of facts: of an atom's, for the estimates of `size_estimates.py`; and where literals are.

One job measures how many facts relations have, triples by property, and about how many values each argument has; another
one, where literals are. For facts, and terms, that the driver has there is none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import pyarrow.compute as pc

from everlog.datalog.syntax import TRIPLE, Atom, Constant, Variable
from everlog.engine.algebra import FactSet
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.driver_facts import DriverFacts
from everlog.engine.spark.facts.fact_schema import PADDING, RELATION
from everlog.engine.spark.facts.row_indexes import Rows
from everlog.engine.spark.facts.sets import as_spark_facts, computed
from everlog.planning.decomposition.cardinality import Estimate
from everlog.planning.decomposition.size_estimates import Explicit
from everlog.planning.literal_places import Place

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


def _measured_here(rows: Rows, triples: int) -> Iterator[tuple[int, int, int, list[int]]]:
    """The same of facts on the driver, exactly."""
    by = np.where(rows[:, 0] == triples, rows[:, min(_PROPERTY + 1, rows.shape[1] - 1)], PADDING)
    order = np.lexsort((by, rows[:, 0]))
    keys = np.stack([rows[order, 0], by[order]])
    starts = np.flatnonzero((np.diff(keys, prepend=PADDING - 1) != 0).any(axis=0))
    for places in np.split(order, starts[1:]) if len(order) else []:
        first = places[0]
        values = [max(1, len(np.unique(column))) for column in rows[places, 1:].T]
        yield int(rows[first, 0]), int(by[first]), len(places), values


def _measured(engine: SparkEngine, facts: FactSet) -> list[tuple[int, int, int, list[int]]]:
    """The relations of some facts: number, property (padding if these are no triples), facts, and values of arguments."""
    triples, arity = engine.relations().get(TRIPLE, (PADDING, 0))
    local = as_spark_facts(facts).local()
    if local is not None:
        return list(_measured_here(local.padded(engine.width), triples if arity == 3 else PADDING))
    table = computed(facts).table()
    if table is None:
        return []
    by = f"if({RELATION} = {triples}L, a1, {PADDING}L)" if arity == 3 else f"{PADDING}L"
    counted = [f"approx_count_distinct({name})" for name in fact_schema.arguments(engine.width)]
    columns = ", ".join([RELATION, f"{by} AS property", "count(*)", *counted])
    found = engine.spark.sql(f"SELECT {columns} FROM {table} GROUP BY {RELATION}, {by}").collect()
    return [(relation, of, rows, [max(1, number) for number in values]) for relation, of, rows, *values in found]


# ------------------------------------------------------------------------------------------------ literals

_Key = tuple[int, int, int]
"""The number of a relation, the id of a property (padding if these are no triples), and an argument."""


def literal_columns(engine: SparkEngine, facts: FactSet, places: Collection[Place]) -> frozenset[Place]:
    """Those of some places at which a fact has a literal."""
    known = engine.relations()
    asked = [place for place in places if place[0] in known]
    ids = engine.ids(property for _, property, _ in asked if property is not None)
    keys = {(known[name][0], PADDING if verb is None else ids[verb], at): (name, verb, at) for name, verb, at in asked}
    if not keys:
        return frozenset()
    local = as_spark_facts(facts).local()
    found = _literals_there(engine, facts, keys) if local is None else _literals_here(engine, local, keys)
    return frozenset(keys[key] for key in found)


def _literals_here(engine: SparkEngine, facts: DriverFacts, keys: Collection[_Key]) -> Iterator[_Key]:
    rows = facts.padded(engine.width)
    columns: dict[_Key, np.ndarray] = {}
    for relation, verb, at in keys:
        mine = rows[:, 0] == relation
        if verb != PADDING:
            mine &= rows[:, _PROPERTY + 1] == verb
        columns[relation, verb, at] = np.unique(rows[mine, at + 1])
    every = np.unique(np.concatenate(list(columns.values())))
    if not len(every):
        return
    terms = engine.texts_of(every)
    literal = terms.filter(pc.starts_with(terms.column("term"), '"')).column("id").to_numpy()
    yield from (key for key, ids in columns.items() if np.isin(ids, literal).any())


def _literals_there(engine: SparkEngine, facts: FactSet, keys: Collection[_Key]) -> list[_Key]:
    table = computed(facts).table()
    if table is None:
        return []
    parts = []
    for at in sorted({at for _, _, at in keys}):
        verbs = {(relation, verb) for relation, verb, place in keys if place == at}
        plain = [f"{RELATION} = {relation}L" for relation, verb in verbs if verb == PADDING]
        triples = {relation for relation, verb in verbs if verb != PADDING}
        named = ", ".join(f"{verb}L" for _, verb in sorted(verbs) if verb != PADDING)
        having = [*plain, *(f"({RELATION} = {relation}L AND a1 IN ({named}))" for relation in triples)]
        verb = f"if({RELATION} IN ({', '.join(map(str, triples))}), a1, {PADDING}L)" if triples else f"{PADDING}L"
        parts.append(
            f"SELECT {RELATION}, {verb} AS v, {at} AS at, a{at} AS id FROM {table} WHERE {' OR '.join(having)}"
        )
    columns = f"({' UNION ALL '.join(parts)}) f JOIN {engine.texts()} t ON f.id = t.id"
    query = f"""SELECT DISTINCT {RELATION}, v, at FROM {columns} WHERE startswith(t.term, '"')"""
    return [(relation, verb, at) for relation, verb, at in engine.spark.sql(query).collect()]

"""What the memory engine knows of facts: of an atom's, for the estimates of `size_estimates.py`; and where literals are."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

import numpy as np

from everlog.datalog.syntax import TRIPLE, Atom
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import MemoryFacts
from everlog.engine.memory.facts.table import Table, pieces
from everlog.engine.memory.term_kinds import BLANK, IRI
from everlog.planning.decomposition.cardinality import Estimate
from everlog.planning.decomposition.size_estimates import Explicit
from everlog.planning.literal_places import Place


def memory_facts(engine: MemoryEngine) -> Explicit:
    """Estimates for atoms by samples of the tables that they match."""
    values = cache(_values)

    def estimate(atom: Atom) -> Estimate:
        numbers = {variable: number for number, variable in enumerate(dict.fromkeys(atom.variables()))}
        literal = engine.literal(atom, numbers)
        size = 0.0
        total = dict.fromkeys(numbers, 0.0)
        for table in literal.tables():
            terms = [literal.terms[position] for position in table.positions]
            fixed = [column for column, term in enumerate(terms) if term < 0]
            here = table.n / values(table, table.n, *fixed)
            for variable, number in numbers.items():
                columns = [column for column, term in enumerate(terms) if term == number]
                for column in columns[1:]:
                    here /= values(table, table.n, column)
                total[variable] += min(values(table, table.n, columns[0]), here) if columns else 1.0
            size += here
        return Estimate(size, {variable: max(1.0, number) for variable, number in total.items()})

    return estimate


def literal_columns(engine: MemoryEngine, facts: MemoryFacts, places: Collection[Place]) -> frozenset[Place]:
    """Those of some places at which a fact has a literal. A column is looked at until there is one."""
    wanted: dict[tuple[str, int | None], list[Place]] = {}
    for place in places:
        predicate, property, _ = place
        verb = None if property is None else engine.constant(property.value)
        wanted.setdefault((predicate, verb), []).append(place)
    found = set()
    for table in facts.tables():
        verb = dict(table.fixed).get(1) if table.predicate == TRIPLE else None
        for place in wanted.get((table.predicate, verb), ()):
            if place not in found and place[2] in table.positions and _has_literal(engine, facts, table, place[2]):
                found.add(place)
    return frozenset(found)


def _has_literal(engine: MemoryEngine, facts: MemoryFacts, table: Table, argument: int) -> bool:
    rows, column = facts.rows(table), table.cols[table.positions.index(argument)]
    given = None if rows.is_span else rows.array()
    lo, hi = (rows.lo, rows.hi) if given is None else (0, len(given))
    for start, stop in pieces(lo, hi, tuning.ENTERED_FACTS):
        kinds = engine.dictionary.kinds(column[start:stop] if given is None else column[given[start:stop]])
        if ((kinds != IRI) & (kinds != BLANK)).any():
            return True
    return False


def _values(table: Table, n: int, *columns: int) -> float:
    """How many values some columns of `n` rows would have if all were as frequent as those of a row are on average.

    Two rows of a sample have the same values with a probability that tells; where some values are in many rows, as in most
    data, there are more of them, and a join has as many matches as if there were fewer.
    """
    if not columns or not n:
        return 1.0
    rows = np.arange(n)
    if n > tuning.FREQUENCY_SAMPLE_ROWS:
        rows = np.unique(np.random.default_rng(0).integers(n, size=tuning.FREQUENCY_SAMPLE_ROWS))
    sample = [table.cols[column][rows] for column in columns]
    found = (
        np.unique(sample[0], return_counts=True) if len(sample) == 1 else np.unique(sample, axis=1, return_counts=True)
    )
    counts = found[1].astype(np.float64)
    alike = float((counts * (counts - 1)).sum()) / max(1.0, len(rows) * (len(rows) - 1.0))
    return min(float(n), 1.0 / alike) if alike else float(n)

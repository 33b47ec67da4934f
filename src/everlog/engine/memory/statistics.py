"""What the memory engine knows of the facts of an atom, for the estimates of `size_estimates.py`."""

from __future__ import annotations

from functools import cache

import numpy as np

from everlog.datalog.syntax import Atom
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.table import Table
from everlog.planning.decomposition.cardinality import Estimate
from everlog.planning.decomposition.size_estimates import Explicit


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

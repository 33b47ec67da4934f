"""How many facts an atom will have: those that are there, and an estimate of those that rules will derive.

The estimate follows the rules backwards from the atom, once through each; a predicate that depends on itself counts with
what it gets otherwise. It is made before anything is derived, so it is rough, and good enough to tell a join of a million
bindings from one of a billion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np

from everlog.datalog.substitution import Pattern, pattern
from everlog.datalog.syntax import Atom, Constant, Rule, Variable
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.table import Table
from everlog.planning.cardinality import Cardinalities, Estimate, projected

_SAMPLE: Final = 4_096

_Key: TypeAlias = tuple[str, tuple[Constant | None, ...]]

Explicit: TypeAlias = Callable[[Atom], Estimate]
"""What is known of the facts of an atom that are there."""


class Statistics:
    """Estimates for the atoms of a program."""

    def __init__(self, rules: Sequence[Rule], explicit: Explicit) -> None:
        self._explicit = explicit
        self._rules: dict[_Key, list[Rule]] = {}
        for rule in rules:
            self._rules.setdefault(_key(rule.head), []).append(rule)
        self._known: dict[Pattern, tuple[float, tuple[float, ...]]] = {}
        self._open: set[_Key] = set()

    def body(self, atoms: Sequence[Atom]) -> Cardinalities:
        """Estimates for the joins of some atoms."""
        return Cardinalities([self.of(atom) for atom in atoms])

    def of(self, atom: Atom) -> Estimate:
        variables = list(dict.fromkeys(atom.variables()))
        key = pattern(atom)
        found = self._known.get(key)
        if found is None:
            size, values = self._estimated(atom, variables)
            found = size, tuple(values[variable] for variable in variables)
            if not self._open:  # inside of a recursion an estimate lacks something
                self._known[key] = found
        return Estimate(found[0], dict(zip(variables, found[1], strict=True)))

    def _estimated(self, atom: Atom, variables: Sequence[Variable]) -> tuple[float, dict[Variable, float]]:
        there = self._explicit(atom)
        size, values = there.size, {variable: there.values.get(variable, 1.0) for variable in variables}
        key = _key(atom)
        if key in self._open:
            return size, values
        self._open.add(key)
        for rule in self._rules.get(key, ()):
            body = self.body(rule.positive).joined(range(len(rule.positive)))
            more = projected(body, frozenset(rule.head.variables()))
            size += more
            for variable, term in zip(atom.terms, rule.head.terms, strict=True):
                if isinstance(variable, Variable):
                    each = body.values.get(term, 1.0) if isinstance(term, Variable) else 1.0
                    values[variable] = max(values[variable], min(each, max(more, 1.0)))
        self._open.discard(key)
        return size, values


def _key(atom: Atom) -> _Key:
    """The relation of an atom: its predicate with the constants."""
    return atom.predicate, tuple(term if isinstance(term, Constant) else None for term in atom.terms)


def memory_facts(engine: MemoryEngine) -> Explicit:
    """What the memory engine knows of facts."""
    known: dict[tuple[Table, tuple[int, ...], int], float] = {}

    def values(table: Table, *columns: int) -> float:
        key = table, columns, table.n
        if key not in known:
            known[key] = _values(table, columns)
        return known[key]

    def estimate(atom: Atom) -> Estimate:
        numbers: dict[Variable, int] = {}
        for variable in atom.variables():
            numbers.setdefault(variable, len(numbers))
        literal = engine.literal(atom, numbers)
        size = 0.0
        total = dict.fromkeys(numbers, 0.0)
        for table in literal.tables():
            terms = [literal.terms[position] for position in table.positions]
            fixed = [column for column, term in enumerate(terms) if term < 0]
            here = table.n / values(table, *fixed)
            for variable, number in numbers.items():
                columns = [column for column, term in enumerate(terms) if term == number]
                for column in columns[1:]:
                    here /= values(table, column)
                total[variable] += min(values(table, columns[0]), here) if columns else 1.0
            size += here
        return Estimate(size, {variable: max(1.0, number) for variable, number in total.items()})

    return estimate


def _values(table: Table, columns: Sequence[int]) -> float:
    """How many values some columns would have if all were as frequent as those of a row are on average.

    Two rows of a sample have the same values with a probability that tells; where some values are in many rows, as in most
    data, there are more of them, and a join has as many matches as if there were fewer.
    """
    if not columns or not table.n:
        return 1.0
    rows = np.arange(table.n)
    if table.n > _SAMPLE:
        rows = np.unique(np.random.default_rng(0).integers(table.n, size=_SAMPLE))
    sample = [table.cols[column][rows] for column in columns]
    found = (
        np.unique(sample[0], return_counts=True) if len(sample) == 1 else np.unique(sample, axis=1, return_counts=True)
    )
    counts = found[1].astype(np.float64)
    alike = float((counts * (counts - 1)).sum()) / max(1.0, len(rows) * (len(rows) - 1.0))
    return min(float(table.n), 1.0 / alike) if alike else float(table.n)

"""How many facts an atom will have: those that are there, and an estimate of those that rules will derive.

The estimate follows the rules backwards from the atom, once through each; a predicate that depends on itself counts with
what it gets otherwise. What was found on the way is not looked for again on the same walk, however many rules ask for it:
where many predicates depend on each other, there are far more ways to come to one than rules. It is made before anything is
derived, so it is rough, and good enough to tell a join of a million bindings from one of a billion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from everlog.datalog.substitution import Pattern, pattern
from everlog.datalog.syntax import Atom, Constant, Rule, Variable
from everlog.planning.decomposition.cardinality import Cardinalities, Estimate, projected

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
        self._on_this_walk: dict[Pattern, tuple[float, tuple[float, ...]]] = {}
        self._there: dict[Pattern, tuple[float, tuple[float, ...]]] = {}
        self._open: set[_Key] = set()

    def body(self, atoms: Sequence[Atom]) -> Cardinalities:
        """Estimates for the joins of some atoms."""
        return Cardinalities([self.of(atom) for atom in atoms])

    def of(self, atom: Atom) -> Estimate:
        variables = list(dict.fromkeys(atom.variables()))
        key = pattern(atom)
        found = self._known.get(key) or self._on_this_walk.get(key)
        if found is None:
            size, values = self._estimated(atom, variables)
            found = size, tuple(values[variable] for variable in variables)
            if self._open:  # inside of a recursion an estimate lacks something
                self._on_this_walk[key] = found
            else:
                self._known[key] = found
                self._on_this_walk.clear()
        return Estimate(found[0], dict(zip(variables, found[1], strict=True)))

    def _estimated(self, atom: Atom, variables: Sequence[Variable]) -> tuple[float, dict[Variable, float]]:
        key = pattern(atom)
        if key not in self._there:  # the rules are followed from many atoms, and come to the same ones again and again
            there = self._explicit(atom)
            self._there[key] = there.size, tuple(there.values.get(variable, 1.0) for variable in variables)
        size, numbers = self._there[key]
        return self._with_derived(atom, size, dict(zip(variables, numbers, strict=True)))

    def _with_derived(
        self, atom: Atom, size: float, values: dict[Variable, float]
    ) -> tuple[float, dict[Variable, float]]:
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

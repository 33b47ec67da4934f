"""Atoms about closed relations, in bodies that are about to be matched: as many of their facts as the bodies can need.

What an end of such an atom can be, its constants tell, and the atoms beside it that are about facts which are listed: these
are matched first. The pairs with such ends become a hidden relation, which the atom is about from then on; it is meant for
a scratch of the engine. An atom that nothing tells anything about, or too much, has all facts of its relation entered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from everlog.datalog.syntax import HIDDEN, Aggregate, Atom, BodyLiteral, Constant, Negation, Term, Variable
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.closed_facts import ClosedFacts, Closure, codes, joined
from everlog.engine.memory.facts.sets import ComputedFacts
from everlog.engine.memory.facts.table import Ids, Table
from everlog.engine.memory.joins.match_columns import match_columns
from everlog.planning.modules.module_rules import meets

_NEAR: Final = f"{HIDDEN}near"
_NO_SEEDS: Mapping[Variable, Ids] = {}


class Narrowing:
    """Bodies about facts of which some relations are closed, and the facts that they are about in the end."""

    def __init__(
        self,
        engine: MemoryEngine,
        facts: ClosedFacts,
        check: Callable[[int], None] = lambda number: None,
        unknown: Collection[str] = (),
    ) -> None:
        """`check` is told of matches; the facts of some predicates are `unknown`, since bodies are to derive them."""
        self._engine, self._facts, self._check, self._unknown = engine, facts, check, unknown
        self._whole: set[Table] = set()
        self._found = facts.base
        self._number = 0

    @property
    def facts(self) -> ComputedFacts:
        """What is listed, what atoms are about that were narrowed, and all facts of relations that others are about."""
        found = self._found
        for table in self._whole:
            found = found.united(ComputedFacts(self._engine.within, {table: self._facts.rows(table)}))
        return found

    def body(self, literals: Sequence[BodyLiteral], seeds: Mapping[Variable, Ids] = _NO_SEEDS) -> list[BodyLiteral]:
        """Literals about these facts; variables that have seeds have no other values."""
        found: list[BodyLiteral] = self._narrowed(literals, (), seeds)
        known = [literal for literal in found if isinstance(literal, Atom) and self._is_known(literal)]
        return [self._inside(literal, known, seeds) for literal in found]

    def _inside(self, literal: BodyLiteral, known: Sequence[Atom], seeds: Mapping[Variable, Ids]) -> BodyLiteral:
        """A literal whose own atoms are narrowed; the rule binds its other variables by atoms that are known."""
        if isinstance(literal, Negation):
            return replace(literal, atoms=tuple(self._narrowed(literal.atoms, known, seeds)))
        if isinstance(literal, Aggregate):
            return replace(literal, body=tuple(self.body(literal.body)))
        return literal

    def _narrowed(self, literals: Sequence[Any], beside: Sequence[Atom], seeds: Mapping[Variable, Ids]) -> list[Any]:
        """Literals whose positive atoms are narrowed, those first whose ends are known best."""
        found = list(literals)
        atoms = {place: literal for place, literal in enumerate(literals) if isinstance(literal, Atom)}
        left = {place: atom for place, atom in atoms.items() if self._relations(atom)}
        known = [*beside, *filter(self._is_known, atoms.values())]
        while left:
            bound = {*seeds, *(variable for atom in known for variable in atom.variables())}
            place = max(left, key=lambda one: sum(_certainty(term, bound) for term in left[one].terms))
            made = self._one(left.pop(place), known, seeds)
            if made is not None:
                found[place] = made
                known.append(made)
        return found

    def _relations(self, atom: Atom) -> list[Atom]:
        """The closed relations that an atom can have facts of."""
        alike = (one for one in self._facts.closures if len(one.terms) == len(atom.terms))
        return [relation for relation in alike if meets(atom, relation)]

    def _is_known(self, atom: Atom) -> bool:
        """Whether all facts of an atom are listed."""
        return atom.predicate not in self._unknown and not self._relations(atom)

    def _one(self, atom: Atom, known: Sequence[Atom], seeds: Mapping[Variable, Ids]) -> Atom | None:
        """An atom about a hidden relation instead of one about a closed one; None if all facts of that are needed."""
        relations = self._relations(atom)
        ends = [term for term, place in zip(atom.terms, relations[0].terms, strict=True) if isinstance(place, Variable)]
        tables = list(map(self._engine.static, relations))
        pairs = None
        if _is_about(atom, relations[0]):
            pairs = self._pairs(self._facts.closures[relations[0]], ends, known, seeds)
        if pairs is None:
            self._whole.update(tables)
            return None
        self._number += 1
        name = f"{_NEAR}{self._number}"
        self._engine.relation(name, 2)
        self._found = self._found.united(self._engine.append(name, pairs))
        return Atom(name, tuple(ends))

    def _pairs(
        self, closure: Closure, ends: Sequence[Term], known: Sequence[Atom], seeds: Mapping[Variable, Ids]
    ) -> Ids | None:
        """The pairs of a closure that an atom with some ends can need; None if that may be most of them."""
        both = self._values(ends, known, seeds)
        if both is not None:
            return both[:, closure.holds(both)]
        options = [
            (found.shape[1] / max(1, closure.spread(place)), place, found[0])
            for place, end in enumerate(ends)
            if (found := self._values([end], known, seeds)) is not None
        ]
        if not options or (best := min(options, key=lambda one: one[:2]))[0] > 0.5:
            return None
        pairs = joined(closure.ending(*best[1:]), 2)
        for _, place, ids in options:
            if place != best[1]:
                pairs = pairs[:, np.isin(pairs[place], ids)]
        return pairs

    def _values(self, ends: Sequence[Term], known: Sequence[Atom], seeds: Mapping[Variable, Ids]) -> Ids | None:
        """The distinct values that terms can have together; None if nothing tells them."""
        variables = list(dict.fromkeys(term for term in ends if isinstance(term, Variable)))
        columns: dict[Term, Ids] = {}
        if variables:
            atoms = _connected(known, variables)
            bound = {variable for atom in atoms for variable in atom.variables()}
            mine = {variable: ids for variable, ids in seeds.items() if variable in bound or variable in variables}
            if not bound.union(mine).issuperset(variables):
                return None
            if not atoms:
                found = np.stack([mine[variable] for variable in variables])
            elif bound.issuperset(variables):
                inner = {variable: ids for variable, ids in mine.items() if variable in bound}
                _, found = match_columns(self._engine, self._found, atoms, variables, inner, self._check)
            else:
                return None
            columns = dict(zip(variables, _distinct(found), strict=True))
        size = len(next(iter(columns.values()))) if columns else 1
        for term in ends:
            if isinstance(term, Constant):
                id = self._engine.dictionary.find_value(term.value)
                if id < 0:
                    return np.empty((len(ends), 0), np.int32)
                columns[term] = np.full(size, id, np.int32)
        return np.stack([columns[term] for term in ends])


def _is_about(atom: Atom, relation: Atom) -> bool:
    """Whether an atom is about one closed relation alone."""
    pairs = zip(atom.terms, relation.terms, strict=True)
    return all(isinstance(fixed, Variable) or term == fixed for term, fixed in pairs)


def _distinct(rows: Ids) -> Ids:
    """The distinct columns of an array with one row or two."""
    if len(rows) == 1:
        return np.unique(rows[0])[np.newaxis]
    return rows[:, np.unique(codes(rows), return_index=True)[1]]


def _certainty(term: Term, bound: set[Variable]) -> int:
    """How much is known of a term of an atom."""
    return 3 if isinstance(term, Constant) else 2 if term in bound else 0


def _connected(atoms: Sequence[Atom], variables: Sequence[Variable]) -> list[Atom]:
    """Those atoms that share variables with some others, or with atoms that do."""
    reached, found, grows = set(variables), list[Atom](), True
    while grows:
        more = [atom for atom in atoms if atom not in found and not reached.isdisjoint(atom.variables())]
        grows = bool(more)
        found += more
        reached.update(variable for atom in more for variable in atom.variables())
    return found

"""Chains of equalities that lead from one name to another, each given or derived by a rule from given facts alone.

In a small class all such equalities are looked up at once, since a proof asks for many of them; in a large one, which may
have as many as there are pairs of names, each chain is searched like a path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from everlog import interrupts
from everlog.datalog.syntax import Atom, Constant, Rule, Term, Variable
from everlog.explaining.held_facts import HeldFacts
from everlog.explaining.path_rules import PathRules, sources_of
from everlog.planning.equality_rules import same

_FEW: Final = 60
"""So many names have all their equalities looked up at once."""

_Links: TypeAlias = dict[Term, dict[Term, Atom]]
"""The names that a name is linked to, and by which equality."""


def equality_links(rules: Sequence[Rule]) -> PathRules:
    """Equalities as the steps of paths: those that are given, and those that rules derive from given facts alone."""
    step = same(Variable("x"), Variable("y"))
    sources = [
        replace(one, given=True)
        for one in sources_of(0, step, True, rules)
        if all(isinstance(literal, Atom) for literal in one.body)
    ]
    moves = {0: 1, 1: 1}
    return PathRules(frozenset(), ((step, (moves, moves), frozenset({1})),), (step,), tuple(sources))


class EqualityChains:
    """The chains between names of the same things."""

    def __init__(self, held: HeldFacts, rules: PathRules) -> None:
        self._held, self._rules = held, rules
        self._known: dict[Term, _Links] = {}

    def chain(self, fact: Atom, names: Sequence[Constant]) -> tuple[Atom, ...] | None:
        """A shortest chain that makes an equality, whose class has some names; None if there is none."""
        if len(names) > _FEW:
            from everlog.explaining.shortest_path import PathSearch  # importing everlog stays quick

            return PathSearch(self._held, [self._rules], interrupts.look).path(self._rules, fact)
        if names[0] not in self._known:
            self._known[names[0]] = self._links(names)
        start, _, end = fact.terms
        return _shortest(self._known[names[0]], start, end)

    def _links(self, names: Sequence[Constant]) -> _Links:
        sources = [(one.ends, 0, one.body, one.given) for one in self._rules.sources]
        found: _Links = {}
        for _, first, second in self._held.ends(sources, self._held.ids(names)):
            for one, other in zip(self._held.named(first), self._held.named(second), strict=True):
                step = same(one, other)
                found.setdefault(one, {}).setdefault(other, step)
                found.setdefault(other, {}).setdefault(one, step)
        return found


def _shortest(links: _Links, start: Term, end: Term) -> tuple[Atom, ...] | None:
    before: dict[Term, tuple[Term, Atom] | None] = {start: None}
    level = [start]
    while level and end not in before:
        after = []
        for here in level:
            for there, step in sorted(links.get(here, {}).items(), key=repr):
                if there not in before:
                    before[there] = here, step
                    after.append(there)
        level = after
    chain: list[Atom] = []
    at = end
    while (last := before.get(at)) is not None:
        at, step = last
        chain.append(step)
    return tuple(reversed(chain)) or None

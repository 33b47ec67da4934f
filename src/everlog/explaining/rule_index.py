"""The rules of a program: which of them may derive a fact, and how their instances are found.

It depends on nothing but the rules, so that it is made once for a program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from everlog.datalog.syntax import TRIPLE, Atom, Constant, Rule, Term, Variable
from everlog.datalog.values import RDF_TYPE
from everlog.explaining.path_rules import PathRules, path_rules
from everlog.explaining.rule_matching import Matching, matching

_TYPE: Final = Constant(RDF_TYPE)
_Key: TypeAlias = tuple[str, Term | None, Term | None]


class RuleIndex:
    """The rules of a program, by their numbers; `free` are they without conditions that always hold."""

    def __init__(self, rules: Sequence[Rule], free: Sequence[Rule] | None = None) -> None:
        self.rules = rules
        self.free = rules if free is None else free
        self._matchings: dict[int, Matching | None] = {}
        self._paths: list[PathRules] | None = None
        self._numbers: dict[_Key, list[int]] = {}
        for number, rule in enumerate(rules):
            self._numbers.setdefault(_key(rule.head), []).append(number)

    def deriving(self, facts: Iterable[Atom]) -> set[int]:
        """The rules whose heads may be one of some facts, or match one of some patterns."""
        found: set[int] = set()
        for fact in facts:
            if fact.predicate == TRIPLE and any(isinstance(term, Variable) for term in fact.terms[1:]):
                keys = [key for key in self._numbers if key[0] == TRIPLE]
            else:
                keys = list(_keys(fact))
            found.update(number for key in keys for number in self._numbers.get(key, ()))
        return found

    def paths(self) -> list[PathRules]:
        """The rules that connect things by paths."""
        if self._paths is None:
            self._paths = path_rules(self.free)
        return self._paths

    def matching(self, number: int) -> Matching | None:
        """What finds the instances of a rule; None if it has none, whatever the facts are."""
        if number not in self._matchings:
            self._matchings[number] = matching(self.rules[number], number)
        return self._matchings[number]


def _key(head: Atom) -> _Key:
    if head.predicate != TRIPLE or len(head.terms) != 3:
        return head.predicate, None, None
    _, verb, whom = head.terms
    fixed = verb if isinstance(verb, Constant) else None
    return head.predicate, fixed, whom if fixed == _TYPE and isinstance(whom, Constant) else None


def _keys(fact: Atom) -> Iterator[_Key]:
    """The keys of heads that a fact may have."""
    yield fact.predicate, None, None
    if fact.predicate == TRIPLE and len(fact.terms) == 3:
        _, verb, whom = fact.terms
        yield fact.predicate, verb, None
        if verb == _TYPE:
            yield fact.predicate, verb, whom

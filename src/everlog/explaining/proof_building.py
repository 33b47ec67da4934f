"""Nodes of a proof, made of the instances that were chosen for its facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from everlog.datalog.substitution import substitute_atom, substitute_literal
from everlog.datalog.syntax import (
    Aggregate,
    Atom,
    BodyLiteral,
    Comparison,
    Computation,
    Constant,
    Negation,
    Rule,
    Term,
    Variable,
)
from everlog.explaining.held_facts import CHAINED, FOLDED, RENAMED, HeldFacts, Instance
from everlog.explaining.proof import (
    Absent,
    Chained,
    Condition,
    Derived,
    Given,
    Group,
    Node,
    Path,
    Renamed,
    Tested,
    Unexplored,
)
from everlog.explaining.proof_search import ProofSearch
from everlog.planning.equality_rules import is_equality
from everlog.planning.modules.module_rules import meets
from everlog.sources.given_files import named_files

_SHOWN_MEMBERS: Final = 3
"""So many members of a group are shown."""


class ProofBuilder:
    """Makes nodes; what is known of a group is looked up once."""

    def __init__(self, held: HeldFacts, origins: Mapping[Rule, str], files: Mapping[str, Sequence[str]]) -> None:
        self._held, self._origins, self._files = held, origins, files
        self._groups: dict[tuple[Instance, int], Group] = {}

    def least(self, search: ProofSearch, goal: Atom) -> Node:
        """The proof of least height that a search has found; without one, what derives the goal at all."""
        if goal not in search.heights:
            return self._unfinished(search, goal)
        made: dict[Atom, Node] = {}
        waiting = [goal]
        while waiting:
            fact = waiting[-1]
            instance = search.best(fact)
            if instance is None:
                made[fact] = self.given(fact)
            else:
                missing = [premise for premise in instance.premises if premise not in made]
                if missing:
                    waiting += missing
                    continue
                made[fact] = self.derived(fact, instance, made)
            waiting.pop()
        return made[goal]

    def _unfinished(self, search: ProofSearch, goal: Atom) -> Node:
        found = search.instances.get(goal, ())
        if not found:
            return Unexplored(goal)
        known = {premise: Unexplored(premise) for premise in found[0].premises}
        return self.derived(goal, found[0], known)

    def given(self, fact: Atom) -> Node:
        """The node of a fact that needs nothing else; a name is equal to itself."""
        if is_equality(fact) and fact.terms[0] == fact.terms[2]:
            return Chained(fact, ())
        return Given(fact, named_files(self._files.get(fact.predicate, ())))

    def derived(self, fact: Atom, instance: Instance, proofs: Mapping[Atom, Node]) -> Node:
        """The node of an instance, given those of its premises."""
        if instance.rule in (RENAMED, CHAINED):
            kind = Renamed if instance.rule == RENAMED else Chained
            return kind(fact, tuple(proofs[premise] for premise in instance.premises))
        if instance.rule == FOLDED:
            return self._path(fact, tuple(proofs[premise] for premise in instance.premises))
        rule, variables = self._held.rules[instance.rule], self._held.variables(instance.rule)
        values = dict(zip(variables, instance.values, strict=True))
        conditions = tuple(
            proofs[substitute_atom(literal, values)]
            if isinstance(literal, Atom)
            else self._condition(literal, instance, place, values)
            for place, literal in enumerate(rule.body)
        )
        named = {variable.name: one.value for variable, one in values.items()}
        return Derived(fact, rule, named, conditions, self._origins.get(rule))

    def _path(self, fact: Atom, steps: tuple[Node, ...]) -> Path:
        rules = next(one for one in self._held.index.paths() if any(meets(fact, head) for head, _, _ in one.heads))
        return Path(fact, steps, tuple(self._held.rules[number] for number in sorted(rules.rules)))

    def _condition(
        self, literal: BodyLiteral, instance: Instance, place: int, values: Mapping[Variable, Constant]
    ) -> Condition:
        if isinstance(literal, Negation):
            return Absent(substitute_literal(literal, values))
        if isinstance(literal, Comparison | Computation):
            return Tested(substitute_literal(literal, values))
        assert isinstance(literal, Aggregate), "atoms have proofs"
        key = instance, place
        if key not in self._groups:
            self._groups[key] = self._group(literal, values)
        return self._groups[key]

    def _group(self, aggregate: Aggregate, values: Mapping[Variable, Constant]) -> Group:
        mine: dict[Variable, Term] = {variable: values[variable] for variable in aggregate.groups}
        body: Sequence[BodyLiteral] = [_within(literal, mine) for literal in aggregate.body]
        rows, size = self._held.answers(body, aggregate.local, _SHOWN_MEMBERS)
        atoms = [literal for literal in body if isinstance(literal, Atom)]
        members = (dict(zip(aggregate.local, map(Constant, row), strict=True)) for row in rows)
        return Group(
            aggregate,
            {variable.name: values[variable].value for variable in aggregate.variables()},
            size,
            tuple(tuple(substitute_atom(atom, member) for atom in atoms) for member in members),
        )


def _within(literal: BodyLiteral, values: Mapping[Variable, Term]) -> BodyLiteral:
    """A literal of an aggregate's body, for one group."""
    if isinstance(literal, Aggregate):
        raise AssertionError("aggregates are not nested")
    if isinstance(literal, Atom | Negation | Comparison | Computation):
        return substitute_literal(literal, values)
    assert_never(literal)

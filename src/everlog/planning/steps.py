"""Recursions through a minimum whose rules are steps from one group to another: edges of a graph, perhaps with weights.

In `dist(?y, MIN(?d + ?w)) :- dist(?x, ?d), edge(?x, ?y, ?w)` the facts of `edge` lead from `?x` to `?y` and add `?w`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from everlog.datalog.syntax import Atom, Call, Extreme, Rule, Term, Variable
from everlog.planning.monotonicity import relation_of


@dataclass(frozen=True)
class Step:
    """Where some atoms lead from and to, and what they add to a value, if anything."""

    atoms: tuple[Atom, ...]
    start: Variable
    end: Variable
    added: Variable | None

    @property
    def is_joined(self) -> bool:
        """Whether steps are found by a join, or are some of the facts of an atom."""
        variables = [term for atom in self.atoms for term in atom.terms if isinstance(term, Variable)]
        return len(self.atoms) > 1 or len(set(variables)) < len(variables)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (self.start, self.end) if self.added is None else (self.start, self.end, self.added)


def steps_of(choice: Rule, rules: Sequence[Rule]) -> list[Step] | None:
    """The steps that some recursive rules are, for a rule that chooses; None if one is something else."""
    assert choice.extreme is not None, "a rule that chooses"
    groups = [
        place
        for place, term in enumerate(choice.head.terms)
        if isinstance(term, Variable) and place != choice.extreme.place
    ]
    if len(groups) != 1:
        return None
    found = [_step(choice.head, choice.extreme, groups[0], rule) for rule in rules]
    steps = [one for one in found if one is not None]
    return steps if steps and len(steps) == len(found) else None


def _step(head: Atom, extreme: Extreme, group: int, rule: Rule) -> Step | None:
    mine = [atom for atom in rule.positive if relation_of(atom) == relation_of(head)]
    others = tuple(atom for atom in rule.positive if atom not in mine)
    if len(mine) != 1 or len(rule.positive) + len(rule.computations) != len(rule.body):
        return None
    start, value = mine[0].terms[group], mine[0].terms[extreme.place]
    added = _added(rule, value, rule.head.terms[extreme.place])
    if added is False:
        return None
    wanted = [start, rule.head.terms[group], *([] if added is None else [added])]
    variables = [one for one in wanted if isinstance(one, Variable)]
    bound = {variable for atom in others for variable in atom.variables()}
    if len(set(variables)) != len(wanted) or not bound.issuperset(variables):
        return None
    return Step(others, variables[0], variables[1], None if added is None else variables[2])


def _added(rule: Rule, value: Term, kept: Term) -> Term | bool | None:
    """What is added to a value to get the one that is kept; None if nothing is, and false if it is no such sum."""
    if not rule.computations:
        return None if kept == value else False
    (computed, *others) = rule.computations
    if others or computed.result != kept or not isinstance(computed.expression, Call):
        return False
    sides = computed.expression.arguments
    if computed.expression.function != "+" or len(sides) != 2 or value not in sides:
        return False
    other = sides[1] if sides[0] == value else sides[0]
    return other if isinstance(other, Variable) and other != value else False

"""Proofs by definition, on the instances that the naive evaluators find: what is one, how low it can be, and how many.

Nothing here knows how proofs are found. `Ground` has all instances of a program's rules in its materialisation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

from everlog.datalog.syntax import Aggregate, Atom, Comparison, Computation, Negation, Rule, Variable
from everlog.explaining.proof import Absent, Derived, Failed, Given, Group, Node, Path, Tested
from oracles import computing, naive
from oracles.naive import Fact, Facts, Substitution

Tree: TypeAlias = tuple[Fact, int, tuple["Tree", ...]]
"""A fact, the number of the instance that derives it, -1 if it is given, -2 by a path, and proofs of its premises."""


class Ground(NamedTuple):
    """An instance: the number of its rule, its values, what it derives, and from what."""

    rule: int
    values: frozenset[tuple[str, naive.Key]]
    head: Fact
    premises: tuple[Fact, ...]


class World:
    """A program's rules, the explicit facts, and all that follows from them."""

    def __init__(self, rules: Sequence[Rule], explicit: Facts) -> None:
        self.rules, self.explicit = rules, explicit
        computes = any(isinstance(one, Computation | Aggregate) for rule in rules for one in _inside(rule))
        self.facts = (computing if computes else naive).materialise(rules, explicit)
        self.ground: list[Ground] = []
        for number, rule in enumerate(rules):
            found = computing.instances(rule.body, self.facts) if computes else naive.instances(rule, *[self.facts] * 2)
            for one in found:
                premises = dict.fromkeys(naive.instance_of(atom, one) for atom in rule.positive)
                head = naive.instance_of(rule.head, one)
                self.ground.append(Ground(number, frozenset(one.items()), head, tuple(premises)))

    def heights(self) -> dict[Fact, int]:
        """The least heights of proofs, by trying all instances until nothing gets lower."""
        heights = dict.fromkeys(self.explicit, 0)
        while True:
            lower = {
                one.head: height
                for one in self.ground
                if all(premise in heights for premise in one.premises)
                and (height := 1 + max((heights[premise] for premise in one.premises), default=0))
                < heights.get(one.head, height + 1)
            }
            if not lower:
                return heights
            heights.update(lower)

    def trees(self, fact: Fact, path: frozenset[Fact] = frozenset()) -> Iterator[Tree]:
        """All proofs in which no fact is needed for itself."""
        if fact in self.explicit:
            yield fact, -1, ()
        below = path | {fact}
        for number, one in enumerate(self.ground):
            if one.head == fact and below.isdisjoint(one.premises):
                for premises in product(*(list(self.trees(premise, below)) for premise in one.premises)):
                    yield fact, number, premises

    def check(self, node: Node, above: frozenset[Fact] = frozenset()) -> Tree:
        """The tree of a proof, which is refused if anything about it is not so."""
        fact = naive.instance_of(node.fact, {})
        assert fact not in above, f"{fact} is needed for itself"
        if isinstance(node, Given):
            assert fact in self.explicit, f"{fact} is not given"
            return fact, -1, ()
        if isinstance(node, Path):
            steps = [self.check(one, above | {fact}) for one in node.conditions]
            assert all(rule in self.rules for rule in node.rules)
            assert fact in naive.materialise(node.rules, frozenset(step[0] for step in steps))
            return fact, -2, tuple(steps)
        assert isinstance(node, Derived), f"{fact} has no proof"
        values = {name: naive.key(value) for name, value in node.substitution.items()}
        rule = node.rule
        assert naive.instance_of(rule.head, values) == fact
        assert len(node.conditions) == len(rule.body)
        proofs: dict[Fact, Tree] = {}
        for literal, why in zip(rule.body, node.conditions, strict=True):
            if isinstance(literal, Atom):
                assert isinstance(why, Given | Derived | Path)
                tree = self.check(why, above | {fact})
                assert tree[0] == naive.instance_of(literal, values)
                assert proofs.setdefault(tree[0], tree) == tree
            elif isinstance(literal, Negation):
                assert isinstance(why, Absent)
                assert not self.fulfilled(why.negation)
            elif isinstance(literal, Aggregate):
                assert isinstance(why, Group)
                self._check_group(literal, why, values)
            else:
                assert isinstance(why, Tested)
        found = [one for one in enumerate(self.ground) if one[1].rule == self.rules.index(rule)]
        (number,) = (number for number, one in found if one.values == frozenset(values.items()))
        return fact, number, tuple(proofs[premise] for premise in self.ground[number].premises)

    def _check_group(self, aggregate: Aggregate, group: Group, values: Substitution) -> None:
        mine = {variable.name: values[variable.name] for variable in aggregate.groups}
        members = computing.instances(aggregate.body, self.facts, mine)
        assert group.size == len(members)
        assert {name: naive.key(one) for name, one in group.values.items()}.items() <= values.items()
        atoms = [literal for literal in aggregate.body if isinstance(literal, Atom)]
        known = {tuple(naive.instance_of(atom, one) for atom in atoms) for one in members}
        shown = {tuple(naive.instance_of(atom, {}) for atom in member) for member in group.members}
        assert shown <= known
        assert shown or not known

    def fulfilled(self, negation: Negation) -> bool:
        """Whether something matches what is negated."""
        return bool(computing.instances((*negation.atoms, *negation.tests), self.facts, {}))

    def check_failed(self, one: Failed, fact: Fact) -> None:
        """What holds must hold together, and with what fails it must not, for the values that are shown."""
        head = zip(one.rule.head.terms, fact[1], strict=True)
        values = {term.name: value for term, value in head if isinstance(term, Variable)}
        assert computing.instances(one.held, self.facts, values), "they do not hold"
        if not (isinstance(one.failing, Comparison) and list(one.failing.variables())):
            assert not computing.instances((*one.held, one.failing), self.facts, values), "it does not fail"


def _inside(rule: Rule) -> Iterator[object]:
    for literal in rule.body:
        yield literal
        if isinstance(literal, Negation):
            yield from literal.tests


def height(tree: Tree) -> int:
    return 0 if tree[1] == -1 else 1 + max(map(height, tree[2]), default=0)

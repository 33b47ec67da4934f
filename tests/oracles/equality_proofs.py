"""Proofs where names can be equal, checked by definition: on all that follows with a congruence (`equality.py`)."""

from __future__ import annotations

from everlog.datalog.syntax import TRIPLE, Atom, Comparison, Negation, Program
from everlog.datalog.values import SAME_AS
from everlog.explaining.proof import Absent, Chained, Derived, Given, Node, Path, Renamed, Tested
from everlog.planning.equality_rules import with_same_as
from oracles import computing, equality, naive
from oracles.naive import Fact, Facts, Key

_SAME = naive.key(SAME_AS)


class EqualWorld:
    """A program, the explicit facts, and all that follows from them in all names."""

    def __init__(self, program: Program, explicit: Facts) -> None:
        self.rules, self.explicit = with_same_as(program).rules, explicit
        self.facts = equality.materialise(program, explicit)

    def check(self, node: Node, above: frozenset[Fact] = frozenset()) -> Fact:
        """The fact of a proof, which is refused if anything about it is not so."""
        fact = naive.instance_of(node.fact, {})
        assert fact not in above, f"{fact} is needed for itself"
        assert fact in self.facts or self._equal(fact)
        if isinstance(node, Given):
            assert fact in self.explicit
            return fact
        assert isinstance(node, Derived | Renamed | Chained | Path), f"{fact} has no proof"
        known = {
            id(one): self.check(one, above | {fact})
            for one in node.conditions
            if isinstance(one, Given | Derived | Renamed | Chained | Path)
        }
        facts = [known.get(id(one)) for one in node.conditions]
        if isinstance(node, Derived):
            self._check_rule(node, fact, facts)
        elif isinstance(node, Path):
            assert all(rule in self.rules for rule in node.rules)
            assert fact in naive.materialise(node.rules, frozenset(one for one in facts if one is not None))
        elif isinstance(node, Renamed):
            original, *equalities = facts
            assert original is not None
            assert original[0] == fact[0]
            pairs = {frozenset(one[1][::2]) for one in equalities if one is not None and one[1][1] == _SAME}
            different = {frozenset(pair) for pair in zip(fact[1], original[1], strict=True) if pair[0] != pair[1]}
            assert different == pairs
        else:
            at, _, end = fact[1]
            for step in facts:
                assert step is not None
                first, verb, second = step[1]
                assert verb == _SAME
                assert at in (first, second)
                at = second if at == first else first
            assert at == end
        return fact

    def _check_rule(self, node: Derived, fact: Fact, facts: list[Fact | None]) -> None:
        values = {name: naive.key(value) for name, value in node.substitution.items()}
        assert node.rule in self.rules
        assert naive.instance_of(node.rule.head, values) == fact
        for literal, why, known in zip(node.rule.body, node.conditions, facts, strict=True):
            if isinstance(literal, Atom):
                assert known == naive.instance_of(literal, values)
            elif isinstance(literal, Negation):
                assert isinstance(why, Absent)
                assert not computing.instances(why.negation.atoms, self.facts, {})
            else:
                assert isinstance(why, Tested)
                assert isinstance(literal, Comparison)
                if literal.operator != "!=":
                    assert naive.holds(literal, values)
                else:
                    left, right = (
                        values.get(getattr(one, "name", "")) or naive.key(one.value) for one in literal.terms
                    )
                    assert left != right
                    assert fact[1][1:2] == (_SAME,) or not self._equal((TRIPLE, (left, _SAME, right)))

    def _equal(self, fact: Fact) -> bool:
        arguments: tuple[Key, ...] = fact[1]
        return fact[0] == TRIPLE and arguments[1] == _SAME and (fact in self.facts or arguments[0] == arguments[2])

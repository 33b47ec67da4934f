"""Groups of facts, kept up to date at the boundary of the stratum that their members are below.

An update costs what the change costs: what a group had before and the members that came and went tell what it has now
(`continued`); where they do not, as for a minimum that is gone, the group is looked at again. For those above, a group
whose value has changed is one fact deleted and one added. What a group has is a fact like others, and all that is kept.
"""

from __future__ import annotations

from typing import Final

from everlog.datalog.syntax import HIDDEN, Atom, Rule
from everlog.engine.algebra import Engine, FactSet, Groups, Labelled, Matcher, Region
from everlog.planning.compiled_program import Compiler
from everlog.planning.hidden_predicates import named_after

_TOUCHED: Final = f"{HIDDEN}touched"


class Grouping:
    """The groups of one rule."""

    def __init__(self, rule: Rule, groups: Groups, matcher: Matcher, compiled: Compiler, engine: Engine) -> None:
        (aggregate,) = rule.aggregates
        (member,) = aggregate.body
        assert isinstance(member, Atom), "a grouping rule has members"
        self.rule, self._member, self._head = rule, member, rule.head
        self._groups, self._matcher, self._engine = groups, matcher, engine
        self._members = Region((member,))
        self._touched = Atom(named_after(_TOUCHED, rule), aggregate.groups)
        self._one_member = compiled([Rule(self._touched, (member,))])
        self._has_empty = not aggregate.groups
        """Whether there is a group without members."""

    def begin(self, I: FactSet, members: dict[Atom, FactSet] | None = None) -> FactSet:
        """What all groups have; members that other groups have, too, are found once."""
        known = {} if members is None else members
        if self._member not in known:
            known[self._member] = I.within(self._members)
        return self._groups.facts(known[self._member])

    def update(self, I: FactSet, D: FactSet, A: FactSet) -> tuple[FactSet, FactSet]:
        """What groups had and have no longer, and what they have instead."""
        gone, come = D.within(self._members), A.within(self._members)
        if not gone and not come:
            return gone, come
        now = (I - D) | A
        touched = self._matched(self._touched, (self._member, gone.plus(come)))
        alive = touched if self._has_empty else self._one_member.provable(touched, now)
        old = self._matched(self._head, (self._touched, touched), (self._head, I))
        new = self._groups.continued(self._matched(self._head, (self._touched, alive), (self._head, old)), come, gone)
        if again := alive.minus(self._matched(self._touched, (self._head, new))):
            new |= self._groups.facts(self._matched(self._member, (self._touched, again), (self._member, now)))
        self._engine.forget(self._touched.predicate)
        return old.minus(new), new.minus(old)

    def begun(self, I: FactSet, D: FactSet, A: FactSet) -> tuple[FactSet, FactSet]:
        """What is gone, which is nothing, and what all groups have, where the rule is new."""
        new = self.begin((I - D) | A)
        return new.minus(new), new

    def ended(self, I: FactSet) -> tuple[FactSet, FactSet]:
        """What is gone, which is all that groups had, and what is new, where the rule is no more."""
        old = I.within(Region((self._head,)))
        return old, old.minus(old)

    def _matched(self, wanted: Atom, *literals: tuple[Atom, FactSet]) -> FactSet:
        return self._matcher.match([Labelled(atom, facts) for atom, facts in literals]).facts(wanted)

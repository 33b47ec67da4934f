"""A proof of least height, found backwards from a fact and settled forwards.

Facts are expanded level by level, a level at a time: those that could be premises of what is wanted, of these, and so on.
After `k` levels every proof of height `k` or less is among what was found, so that the first height that the wanted fact
gets, and that is not larger, is the least. What is given has height 0; a fact that needs nothing else has 1. Several facts
may be wanted at once: their levels are looked at together.

A fact may have many thousands of instances, and one of them may do: where there are many, those whose premises are all
given are looked for first, and a fact that has one is not looked at again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from everlog import clock, interrupts
from everlog.datalog.syntax import Atom, Constant
from everlog.explaining.held_facts import FOLDED, HeldFacts, Instance
from everlog.explaining.shortest_path import PathSearch

_MANY: Final = 200
"""From so many instances of a rule on, those with given premises are looked for first."""


class Ended(Exception):
    """A limit was reached."""


@dataclass(frozen=True)
class Limits:
    """How long a search may take, and how many facts it may look at."""

    seconds: float
    facts: int


class ProofSearch:
    """What is known of the proofs of some facts: their instances, as far as they were looked for, and heights."""

    def __init__(self, held: HeldFacts, limits: Limits, folding: bool = False) -> None:
        self.held, self._index, self._limits = held, held.index, limits
        self._begun = clock.now()
        self.heights: dict[Atom, int] = {}
        """The least heights among what was found; none of facts without a proof yet."""
        self.instances: dict[Atom, list[Instance]] = {}
        """Of facts that were expanded."""
        self.partial: set[Atom] = set()
        """Expanded facts that have more instances than these."""
        self._paths = PathSearch(held, held.index.paths(), self._look) if folding and held.folds() else None
        self._seen: set[Atom] = set()
        self._users: dict[Atom, list[Instance]] = {}

    def least(self, *goals: Atom) -> bool:
        """Finds the least heights of proofs of some facts, all on one way back; tells whether each has a proof."""
        level, done = self.discover(goals), 0
        while level and any(self.heights.get(goal, done + 1) > done for goal in goals):
            level, done = self.expand(level), done + 1
        return all(goal in self.heights for goal in goals)

    def discover(self, facts: Iterable[Atom]) -> list[Atom]:
        """Those of some facts that are new; it is found out which of them are given."""
        new = [fact for fact in dict.fromkeys(facts) if fact not in self._seen]
        if new:
            self._look()
            self._seen.update(new)
            for fact in self.held.explicit(new):
                self._settle(fact, 0)
        return new

    def expand(self, level: Sequence[Atom], whole: bool = False) -> list[Atom]:
        """Finds the instances that derive some facts, and gives their premises that are new.

        Of facts that are given, or have a proof of height 1, some may be left out, unless told to find the `whole`.
        """
        waiting = [fact for fact in level if fact not in self.instances and (whole or self.heights.get(fact, 2) > 1)]
        if whole:
            waiting += [fact for fact in level if fact in self.partial]
            self.partial.difference_update(level)
        self._look()
        folded, waiting = self._folded(waiting)
        return [*folded, *self._unfolded(waiting, whole)]

    def _folded(self, facts: Sequence[Atom]) -> tuple[list[Atom], list[Atom]]:
        """Finds paths that make facts, or other rules that derive them; gives new premises, and the other facts."""
        rest, new = list[Atom](), list[Atom]()
        for fact in facts:
            rules = None if self._paths is None else self._paths.rules_of(fact)
            path = None if rules is None or self._paths is None else self._paths.path(rules, fact)
            if rules is None or path is None:
                rest.append(fact)
            elif path == (fact,):
                found, _ = self.held.instances([fact], self._index.deriving([fact]) - rules.rules)
                new += self._note([fact], found)
            else:
                new += self._note([fact], [Instance(fact, FOLDED, (), tuple(dict.fromkeys(path)))])
        return new, rest

    def _unfolded(self, waiting: list[Atom], whole: bool) -> list[Atom]:
        """Finds instances of rules, and gives their premises that are new."""
        rules = self._index.deriving(waiting)
        found, more = self.held.instances(waiting, rules, most=None if whole else _MANY)
        if not more:
            return self._note(waiting, found)
        new = list[Atom]()
        while more:
            given, more = self.held.instances(waiting, rules, explicit=True, most=_MANY)
            before = waiting
            new += self._note(waiting, given)
            self.partial.update(waiting)
            waiting = [fact for fact in waiting if self.heights.get(fact, 2) > 1]
            rules = self._index.deriving(waiting)
            if len(waiting) == len(before):
                break
        found, _ = self.held.instances(waiting, rules)
        self.partial.difference_update(waiting)
        return [*new, *self._note(waiting, found)]

    def from_given(self, fact: Atom, most: int) -> tuple[list[Instance], bool]:
        """Instances that derive a fact from given ones, so many of each rule, and whether there are more."""
        self._look()
        return self.held.instances([fact], self._index.deriving([fact]), explicit=True, most=most)

    def may_be_derived(self, fact: Atom) -> bool:
        """Whether there may be an instance that derives a fact."""
        return bool(self.instances[fact]) if fact in self.instances else self.held.may_be_derived(fact)

    def _note(self, facts: Sequence[Atom], found: Sequence[Instance]) -> list[Atom]:
        """Takes over instances that derive some facts, and gives their premises that are new."""
        known = {fact: set(self.instances.get(fact, ())) for fact in facts}
        for fact in facts:
            self.instances.setdefault(fact, [])
        for number, instance in enumerate(found):
            if number % 1_000 == 0:
                self._look()
            if instance in known[instance.head]:
                continue
            self.instances[instance.head].append(instance)
            for premise in instance.premises:
                self._users.setdefault(premise, []).append(instance)
        new = self.discover(premise for one in found for premise in one.premises)
        for fact in facts:
            self._reconsider(fact)
        return new

    def _reconsider(self, fact: Atom) -> None:
        heights = [height for one in self.instances[fact] if (height := self.height(one)) is not None]
        if heights and min(heights) < self.heights.get(fact, min(heights) + 1):
            self._settle(fact, min(heights))

    def _settle(self, fact: Atom, height: int) -> None:
        """A fact has a proof of some height, and so have, perhaps, those that need it."""
        self.heights[fact] = height
        waiting = [fact]
        while waiting:
            for instance in self._users.get(waiting.pop(), ()):
                found = self.height(instance)
                if found is not None and found < self.heights.get(instance.head, found + 1):
                    self.heights[instance.head] = found
                    waiting.append(instance.head)

    def height(self, instance: Instance) -> int | None:
        """The least height of a proof that ends with an instance, if there is one yet."""
        heights = [self.heights.get(premise) for premise in instance.premises]
        if any(height is None for height in heights):
            return None
        return 1 + max((height for height in heights if height is not None), default=0)

    def best(self, fact: Atom) -> Instance | None:
        """The last instance of a proof of least height; none of what is given. Of several, the first in order."""
        height = self.heights[fact]
        if height == 0:
            return None
        return min((one for one in self.instances[fact] if self.height(one) == height), key=order)

    def _look(self) -> None:
        interrupts.look()
        if clock.now() - self._begun > self._limits.seconds or len(self._seen) > self._limits.facts:
            raise Ended


def order(instance: Instance) -> tuple[int, str]:
    """Instances by rules, and then by values."""
    return instance.rule, repr([repr(one.value) for one in instance.values if isinstance(one, Constant)])

"""All proofs of a fact, those of least height first, each once, when somebody asks for it.

A proof is a tree: a fact has a proof by an instance of a rule whose premises have proofs, and no fact is needed for itself.
The same fact may have one proof here and another one there. Proofs of height `h` are made of proofs of less, at least one
of which has height `h - 1`; no list of them is kept, so that a fact may have more than anybody can count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from everlog.datalog.syntax import Atom
from everlog.explaining.held_facts import Instance
from everlog.explaining.proof import Node
from everlog.explaining.proof_building import ProofBuilder
from everlog.explaining.proof_search import ProofSearch, order

_FIRST: Final = 100
"""So many proofs from given facts are looked for at first, and four times as many whenever these were not enough."""

_Path = frozenset[Atom]


class AllProofs:
    """The proofs of one fact; facts are expanded as far as the height needs that is looked at."""

    def __init__(self, search: ProofSearch, builder: ProofBuilder, goal: Atom) -> None:
        self._search, self._builder, self._goal = search, builder, goal
        self._height = 0
        self._deeper = False
        """Whether a fact of the largest depth might have been derived."""
        self._sorted: dict[Atom, list[Instance]] = {}

    def __iter__(self) -> Iterator[Node]:
        level = self._search.discover([self._goal])
        yield from self._exactly(self._goal, 0, frozenset())
        said = set[Instance]()
        for instance in self._from_given():
            said.add(instance)
            yield self._of_given(instance)
        self._deeper = True
        while self._deeper:
            level = self._search.expand(level, whole=True)
            self._sorted.clear()
            self._height, self._deeper = self._height + 1, False
            proofs = self._exactly(self._goal, self._height, frozenset())
            if self._height > 1:
                yield from proofs
                continue
            for _ in proofs:  # most of these were derived from given facts above
                pass
            for instance in self._instances(self._goal):
                new = instance not in said and self._goal not in instance.premises
                if new and self._search.height(instance) == 1:
                    yield self._of_given(instance)

    def _of_given(self, instance: Instance) -> Node:
        """The proof by an instance whose premises are given."""
        return self._builder.derived(self._goal, instance, {one: self._builder.given(one) for one in instance.premises})

    def _from_given(self) -> Iterator[Instance]:
        """The instances of the goal whose premises are all given, some at a time."""
        said, most, more = set[Instance](), _FIRST, True
        while more:
            found, more = self._search.from_given(self._goal, most)
            new = [one for one in found if one not in said and self._goal not in one.premises]
            yield from sorted(new, key=order)
            said.update(found)
            most *= 4

    def _exactly(self, fact: Atom, height: int, path: _Path) -> Iterator[Node]:
        """The proofs of a fact that have some height, and need none of the facts on the path to it."""
        if height == 0:
            if len(path) == self._height and self._search.may_be_derived(fact):
                self._deeper = True
            if self._search.heights.get(fact) == 0:
                yield self._builder.given(fact)
            return
        below = path | {fact}
        for instance in self._instances(fact):
            if below.isdisjoint(instance.premises):
                if not instance.premises:
                    if height == 1:
                        yield self._builder.derived(fact, instance, {})
                    continue
                for proofs in self._together(instance.premises, height - 1, below, False):
                    yield self._builder.derived(fact, instance, proofs)

    def _together(
        self, facts: Sequence[Atom], height: int, path: _Path, reached: bool
    ) -> Iterator[Mapping[Atom, Node]]:
        """Proofs of some facts up to some height, which one of them has, unless it was `reached` already."""
        if not facts:
            if reached:
                yield {}
            return
        first, *others = facts
        least = 0 if others or reached else height
        for mine in range(least, height + 1):
            for proof in self._exactly(first, mine, path):
                for more in self._together(others, height, path, reached or mine == height):
                    yield {first: proof, **more}

    def _instances(self, fact: Atom) -> list[Instance]:
        if fact not in self._sorted:
            self._sorted[fact] = sorted(self._search.instances.get(fact, ()), key=order)
        return self._sorted[fact]

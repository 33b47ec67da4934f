"""Cross-node evaluation of a decomposed rule (*Hypertree*, Algorithm 4), over sets of facts that are *active* in its nodes.

The full reducer takes out of the nodes whatever joins with nothing: semijoins away from a small node, then from the leaves
to the root, then back. What is left is joined from the leaves to the root. Two things are done less often than in the
paper. Below a node, a subtree without a variable that the head asks for is not joined: that its parent's facts join with it
is known after the second pass. And the third pass goes only to nodes that are joined; where none is but the root, the root
is tested for its children while it is projected to heads.

Where nothing can be enumerated in vain, nothing is reduced: two nodes are joined as they are, and so is a node that has the
variables of all others, since these only test what it has.

A semijoin asks for the values of the shared variables alone, so that it costs what both sides have, however many facts
share a value. They are facts of hidden predicates; so is what a subtree is joined to, where that drops a variable. All of
them are forgotten when the heads are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from everlog.datalog.syntax import Atom, Variable
from everlog.engine.algebra import Engine, FactSet, Labelled, Matcher
from everlog.planning.decomposition.join_tree import JoinTree

_SMALLER = 3
"""How many times smaller than the largest node the small one is if a pass away from it is worth it (§5)."""


class Active:
    """The facts that are active in each node, with at most how many there are; `small` is where the first pass starts.

    That is the smallest node, unless it is told otherwise.
    """

    def __init__(self, nodes: Sequence[tuple[FactSet, int]], small: int | None = None) -> None:
        self.facts, self.sizes = [facts for facts, _ in nodes], [size for _, size in nodes]
        self.small = self.sizes.index(min(self.sizes)) if small is None else small

    def __bool__(self) -> bool:
        return all(self.sizes)

    def set(self, node: int, facts: FactSet) -> None:
        self.facts[node], self.sizes[node] = facts, len(facts)


class CrossNode:
    """The join of the nodes of one tree."""

    def __init__(self, tree: JoinTree, engine: Engine, matcher: Matcher) -> None:
        self._tree, self._prefix, self._engine, self._matcher = tree, tree.prefix, engine, matcher
        self._nothing = engine.empty()
        self._passing: set[str] = set()
        """The hidden predicates that have facts for the time being."""
        self._atoms = [node.atom for node in tree.nodes]
        self._variables = [node.variables for node in tree.nodes]
        self._children: list[list[int]] = [[] for _ in tree.nodes]
        for node, parent in enumerate(tree.parents):
            if parent is not None:
                self._children[parent].append(node)
        self._joined = [parent is None or self._asked(node, parent) for node, parent in enumerate(tree.parents)]
        """The nodes whose variables the head needs; a node below one that is not is not either."""
        self.direct = self._is_direct()
        """Whether the nodes can be joined without being reduced."""

    def _is_direct(self) -> bool:
        for node, variables in enumerate(self._variables):
            others = [other for place, other in enumerate(self._variables) if place != node]
            if not variables <= self._tree.needed.union(*others):
                return False  # values that nobody asks for would be enumerated
        return len(self._atoms) <= 2 or frozenset().union(*self._variables) in self._variables

    def _asked(self, node: int, parent: int) -> bool:
        return bool((self._below(node) & self._tree.needed) - self._variables[parent])

    def _below(self, node: int) -> frozenset[Variable]:
        return self._variables[node].union(*map(self._below, self._children[node]))

    def heads(self, active: Active, tests: Sequence[Labelled], excluding: FactSet | None = None) -> FactSet:
        """The heads of the matches of all nodes and tests, but for those in a set.

        Tests have no variables but those that the root needs. A positive one reduces a node before anything else.
        """
        if not active:
            return self._nothing
        if self.direct:
            return self._joined_to_heads(map(Labelled, self._atoms, active.facts), tests, excluding)
        found = self._reduced_to_heads(active, tests, excluding)
        for predicate in self._passing:
            self._engine.forget(predicate)
        self._passing.clear()
        return found

    def _reduced_to_heads(self, active: Active, tests: Sequence[Labelled], excluding: FactSet | None) -> FactSet:
        if not all(test.negative or self._tested(active, test) for test in tests):
            return self._nothing
        filters = self._reduced(active)
        if filters is None:
            return self._nothing
        return self._joined_to_heads([*self._literals(0, active), *filters], tests, excluding)

    def _joined_to_heads(
        self, literals: Iterable[Labelled], tests: Sequence[Labelled], excluding: FactSet | None
    ) -> FactSet:
        found = self._matcher.match([*literals, *tests], self._tree.comparisons)
        return found.facts(self._tree.rule.head, excluding)

    def _tested(self, active: Active, test: Labelled) -> bool:
        """Reduces the node that shares most variables with a small test; whether both have facts.

        Other nodes are reduced by that one: if they share fewer variables with the test, it would leave too much in them.
        """
        size, shared = len(test.view), set(test.atom.variables())
        node = max(range(len(self._atoms)), key=lambda one: len(shared & self._variables[one]))
        if _SMALLER * size < active.sizes[node] and not shared.isdisjoint(self._variables[node]):
            name = f"{self._prefix}t{node}.{test.atom.predicate}"
            active.set(node, self._semijoin(node, active, self._shared(name, node, test)))
            active.small = node
        return bool(size and active)

    # ------------------------------------------------------------------------------------ the full reducer

    def _reduced(self, active: Active) -> list[Labelled] | None:
        """Lines 6 and 7: None if a node has no facts left, else what the root has yet to be tested for."""
        if _SMALLER * active.sizes[active.small] < max(active.sizes) and not self._away(active):
            return None
        for node in reversed(range(len(self._atoms))):
            children = self._children[node]
            filters = [self._by(node, child, active) for child in children]
            if node == 0 and not any(self._joined[child] for child in children):
                return filters
            if filters:
                active.set(node, self._semijoin(node, active, *filters))
                if not active.sizes[node]:
                    return None
        for node, parent in enumerate(self._tree.parents):
            if parent is not None and self._joined[node]:
                active.set(node, self._semijoin(node, active, self._by(node, parent, active)))
        return []

    def _away(self, active: Active) -> bool:
        """The first pass: from the small node to all others."""
        waiting: list[tuple[int, int | None]] = [(active.small, None)]
        for node, before in waiting:
            parent = self._tree.parents[node]
            for other in (*self._children[node], *(() if parent is None else (parent,))):
                if other != before:
                    active.set(other, self._semijoin(other, active, self._by(other, node, active)))
                    if not active.sizes[other]:
                        return False
                    waiting.append((other, node))
        return True

    def _by(self, node: int, other: int, active: Active) -> Labelled:
        """What a semijoin of a node with another one asks for."""
        return self._shared(f"{self._prefix}s{node}.{other}", node, Labelled(self._atoms[other], active.facts[other]))

    def _shared(self, name: str, node: int, literal: Labelled) -> Labelled:
        """What a literal has of the variables of a node: itself if that is all of them, else its values of them."""
        variables = dict.fromkeys(literal.atom.variables())
        shared = tuple(one for one in variables if one in self._variables[node])
        return literal if len(shared) == len(variables) else self._passed(Atom(name, shared), [literal])

    def _passed(self, atom: Atom, literals: Sequence[Labelled]) -> Labelled:
        """Some matches as facts of a hidden atom, until the heads are known."""
        self._passing.add(atom.predicate)
        return Labelled(atom, self._matcher.match(literals).facts(atom))

    def _semijoin(self, node: int, active: Active, *literals: Labelled) -> FactSet:
        """The facts of a node for which some literals hold, which have no variables but the node's."""
        atom = self._atoms[node]
        return self._matcher.match([Labelled(atom, active.facts[node]), *literals]).facts(atom)

    # ------------------------------------------------------------------------------------ the join

    def _literals(self, node: int, active: Active) -> list[Labelled]:
        """What has to be joined for the subtree of a node: its literals or, where that drops a variable, their join."""
        found = [Labelled(self._atoms[node], active.facts[node])]
        for child in self._children[node]:
            if self._joined[child]:
                found += self._literals(child, active)
        parent = self._tree.parents[node]
        if parent is None:
            return found
        variables = tuple(dict.fromkeys(one for literal in found for one in literal.atom.variables()))
        kept = tuple(one for one in variables if one in self._variables[parent] or one in self._tree.needed)
        if kept == variables:
            return found
        return [self._passed(Atom(f"{self._prefix}j{node}", kept), found)]

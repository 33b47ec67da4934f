"""Hypertree decompositions of a rule body: of minimal width, and among those of minimal estimated cost.

A body is a hypergraph: variables are its vertices and atoms its edges. A decomposition (*Hypertree* §2) is a rooted tree
whose nodes `p` have variables `χ(p)` and atoms `λ(p)`, such that

1. the variables of every atom are in some `χ(p)`, and that atom in `λ(p)` (the decomposition is *complete*);
2. the nodes of a variable are connected;
3. `χ(p) ⊆ var(λ(p))`;
4. a variable of `λ(p)` that occurs in `χ` at or below `p` is in `χ(p)`.

Its width is the size of the largest `λ(p)`; acyclic bodies have width 1, and their decompositions are join trees.

The search is that of det-k-decomp with costs (Scarcello et al.: Weighted hypertree decompositions and optimal query
plans). A component of atoms hangs below a node by the variables that it shares with it, its *connector*. For every set of
at most `k` atoms that covers the connector, `χ` is what they have in common with the component, what is left falls apart
into smaller components, and the cheapest choice is remembered for component and connector. Costs are local: a node has
the cost of its join, for which it takes all atoms that its variables cover, and for each neighbour that of semijoins in
both directions, which grows with the columns from the third on. So a long cycle is cut into paths, though `λ` has but the
first and the last step of each.

Sets of variables and of atoms are bits of integers here. The search takes exponential time in the worst case, so it is
given up after a number of steps; then the body stays whole, one node with all its atoms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import chain, combinations
from math import inf
from operator import or_

from everlog.datalog.syntax import Atom, Variable
from everlog.planning.decomposition.cardinality import Cardinalities, Estimate

_STEPS = 40_000
"""So many choices of atoms are looked at for a body; one of ten atoms takes a fraction of them."""


@dataclass(frozen=True)
class Node:
    """`χ(p)`, `λ(p)` as places of atoms in the body, and the node above (None for the root)."""

    variables: frozenset[Variable]
    atoms: tuple[int, ...]
    parent: int | None


@dataclass(frozen=True)
class Decomposition:
    """A complete decomposition; every node comes after its parent."""

    nodes: tuple[Node, ...]
    cost: float

    @property
    def width(self) -> int:
        return max(len(node.atoms) for node in self.nodes)


def decompose(
    atoms: Sequence[Atom],
    needed: frozenset[Variable] = frozenset(),
    costs: Cardinalities | None = None,
    steps: int = _STEPS,
) -> Decomposition:
    """The cheapest complete decomposition of minimal width; `needed` are variables to be kept, such as the head's.

    Where nothing is known of costs, every relation has a thousand facts, with a hundred values in a column.
    """
    if costs is None:
        costs = Cardinalities([Estimate(1000.0, dict.fromkeys(atom.variables(), 100.0)) for atom in atoms])
    search = _Search(atoms, needed, costs, steps)
    for width in range(1, len(atoms)):
        found = search.best(width)
        if found is not None:
            return found
    return search.whole()


def is_acyclic(atoms: Sequence[Atom]) -> bool:
    """Whether the width is 1: ears, whose other variables nobody has, can be cut off until nothing is left (Graham)."""
    edges = [frozenset(atom.variables()) for atom in atoms]
    while len(edges) > 1:
        for place, edge in enumerate(edges):
            others = edges[:place] + edges[place + 1 :]
            shared = edge.intersection(frozenset().union(*others))
            if any(shared <= other for other in others):
                edges = others
                break
        else:
            return False
    return True


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


class _TooMany(Exception):
    """The search takes too many steps."""


@dataclass(frozen=True)
class _Choice:
    """`λ` and `χ` of a node, the components below it with their connectors, and the cost of everything."""

    atoms: tuple[int, ...]
    variables: int
    below: tuple[tuple[int, int], ...]
    cost: float


class _Search:
    def __init__(self, atoms: Sequence[Atom], needed: frozenset[Variable], costs: Cardinalities, steps: int) -> None:
        self._variables = list(dict.fromkeys(variable for atom in atoms for variable in atom.variables()))
        numbers = {variable: 1 << number for number, variable in enumerate(self._variables)}
        self._edges = [sum(numbers[variable] for variable in set(atom.variables())) for atom in atoms]
        self._needed = sum(numbers[variable] for variable in needed if variable in numbers)
        self._costs, self._steps = costs, steps
        self._join = cache(lambda atoms: costs.join(tuple(bits(atoms))))
        self._size = cache(lambda atoms, kept: costs.projection(tuple(bits(atoms)), self._named(kept)).size)

    def whole(self) -> Decomposition:
        """One node with all atoms."""
        every = tuple(range(len(self._edges)))
        return Decomposition((Node(frozenset(self._variables), every, None),), self._costs.join(every))

    def best(self, width: int) -> Decomposition | None:
        """The cheapest decomposition of at most a width; None if there is none, or it takes too long to know."""
        self._width = width
        self._known: dict[tuple[int, int], _Choice | None] = {}
        every = (1 << len(self._edges)) - 1
        try:
            if self._choice(every, 0, root=True) is None:
                return None
        except _TooMany:
            return None
        return self._collected(every)

    def _choice(self, component: int, connector: int, root: bool = False) -> _Choice | None:
        """The best node for a component of atoms below a node that shares some variables with it."""
        key = component, connector
        if key in self._known:
            return self._known[key]
        scope = connector | self._covered(bits(component))
        # An atom that has no variable of the component is of no use, unless it is all that there is.
        near = [place for place, edge in enumerate(self._edges) if edge & scope or component >> place & 1]
        best: _Choice | None = None
        for chosen in chain.from_iterable(combinations(near, count) for count in range(1, self._width + 1)):
            limit = inf if best is None else best.cost
            best = self._tried(chosen, component, connector, scope, root, limit) or best
        self._known[key] = best
        return best

    def _tried(
        self, chosen: tuple[int, ...], component: int, connector: int, scope: int, root: bool, limit: float
    ) -> _Choice | None:
        """A node with some atoms, if it covers the connector, makes the component smaller and costs less than a limit."""
        cover = self._covered(chosen)
        if connector & ~cover:
            return None
        self._steps -= 1
        if self._steps < 0:
            raise _TooMany
        inside = cover & scope
        below = self._components(component, inside)
        if component in below:
            return None
        parts = [(part, self._covered(bits(part)) & inside) for part in below]
        atoms = self._evaluated(chosen, inside)
        kept = inside & reduce(or_, (shared for _, shared in parts), connector | self._needed)
        neighbours = len(parts) + (not root)
        cost = self._join(atoms) + max(2, kept.bit_count()) * neighbours * self._size(atoms, kept)
        if cost >= limit:
            return None
        for component_below, connector_below in sorted(parts):
            choice = self._choice(component_below, connector_below)
            if choice is None:
                return None
            cost += choice.cost
            if cost >= limit:
                return None
        return _Choice(chosen, inside, tuple(parts), cost)

    def _components(self, component: int, inside: int) -> list[int]:
        """The atoms of a component that are not inside, in groups that hang together by variables outside."""
        groups: list[tuple[int, int]] = []
        for place in bits(component):
            outside = self._edges[place] & ~inside
            if not outside:
                continue
            group = 1 << place
            others = []
            for mask, variables in groups:
                if variables & outside:
                    group |= mask
                    outside |= variables
                else:
                    others.append((mask, variables))
            groups = [*others, (group, outside)]
        return [mask for mask, _ in groups]

    def _evaluated(self, chosen: tuple[int, ...], inside: int) -> int:
        """What a node joins: its atoms and, where it has several, whatever else its variables cover."""
        atoms = sum(1 << place for place in chosen)
        if len(chosen) > 1:
            for place, edge in enumerate(self._edges):
                if not edge & ~inside:
                    atoms |= 1 << place
        return atoms

    def _covered(self, atoms: Iterable[int]) -> int:
        """The variables of some atoms."""
        return reduce(or_, (self._edges[place] for place in atoms), 0)

    def _named(self, variables: int) -> frozenset[Variable]:
        return frozenset(self._variables[number] for number in bits(variables))

    def _collected(self, every: int) -> Decomposition:
        """The tree of the choices made, with a leaf for every atom that is covered and in no `λ`."""
        nodes: list[Node] = []
        waiting: list[tuple[int, int, int | None]] = [(every, 0, None)]
        while waiting:
            component, connector, parent = waiting.pop()
            choice = self._known[component, connector]
            assert choice is not None, "only a choice that was found leads here"
            waiting += [(*part, len(nodes)) for part in choice.below]
            nodes.append(Node(self._named(choice.variables), choice.atoms, parent))
        inner = list(enumerate(nodes))
        for place, edge in enumerate(self._edges):
            names = self._named(edge)
            above = [number for number, node in inner if names <= node.variables]
            if not any(place in nodes[number].atoms for number in above):
                nodes.append(Node(names, (place,), above[0]))
        root = self._known[every, 0]
        assert root is not None, "there is a decomposition"
        return Decomposition(tuple(nodes), root.cost)

"""A decomposed rule as it is evaluated: a tree whose nodes are atoms, those of the body or hidden ones that join several.

A node of one atom is that atom, and its facts are not copied. A node of several is a hidden atom, defined by a rule that
joins them with everything else that its variables cover, and has only the variables that somebody asks for outside of it.
A node whose atoms a neighbour joins anyway is left out. Negations and comparisons go into a hidden node that has their
variables; what fits nowhere is tested at the root.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from everlog.datalog.substitution import substitute_atom
from everlog.datalog.syntax import Atom, BodyLiteral, Comparison, Negation, Rule, Variable
from everlog.planning.decomposition.cardinality import Cardinalities
from everlog.planning.decomposition.hypertree_search import Decomposition


@dataclass(frozen=True)
class TreeNode:
    """What a node is matched as, and the rule that defines it where that is a hidden atom."""

    atom: Atom
    rule: Rule | None
    atoms: tuple[Atom, ...]
    """The atoms of the body that it joins."""
    recursive: bool
    """Whether one of them is in the stratum of the head."""
    search: float
    """What it is expected to cost to look for a derivation of one instantiation."""

    @property
    def variables(self) -> frozenset[Variable]:
        return frozenset(self.atom.variables())

    @property
    def unique(self) -> bool:
        """Whether an instantiation has but one derivation, since no variable is dropped."""
        return self.variables.issuperset(variable for atom in self.atoms for variable in atom.variables())


@dataclass(frozen=True)
class JoinTree:
    """The nodes, parents before children, and what is tested at the root, which is the first."""

    rule: Rule
    prefix: str
    """How its hidden predicates start."""
    width: int
    nodes: tuple[TreeNode, ...]
    parents: tuple[int | None, ...]
    negative: tuple[Atom, ...]
    comparisons: tuple[Comparison, ...]
    kept: bool = True
    """Whether instantiations are kept, and changed by updates; else an update follows the rule as it is written."""

    @property
    def recursive(self) -> bool:
        return any(node.recursive for node in self.nodes)

    @property
    def needed(self) -> frozenset[Variable]:
        """The variables that the root must know: of the head, and of what is tested there."""
        parts: tuple[Atom | Comparison, ...] = (self.rule.head, *self.negative, *self.comparisons)
        return frozenset(variable for part in parts for variable in part.variables())


@dataclass
class _Part:
    """A node in the making."""

    variables: frozenset[Variable]
    atoms: list[int]
    neighbours: set[int]


def join_tree(
    rule: Rule, found: Decomposition, prefix: str, inside: Callable[[Atom], bool], costs: Cardinalities
) -> JoinTree:
    """The tree of a rule; hidden predicates start with a prefix, and `inside` tells the atoms of the head's stratum."""
    body = rule.positive
    parts = _contracted(_parts(body, found))
    nodes: dict[int, list[BodyLiteral]] = {
        number: [body[place] for place in part.atoms] for number, part in parts.items() if len(part.atoms) > 1
    }
    tested: list[Negation | Comparison] = []
    literals: tuple[Negation | Comparison, ...] = (*rule.negative, *rule.comparisons)
    for literal in literals:
        home = next((number for number in nodes if parts[number].variables.issuperset(literal.variables())), None)
        if home is None:
            tested.append(literal)
        else:
            nodes[home].append(literal)
    negative = tuple(literal.atoms[0] for literal in tested if isinstance(literal, Negation))
    comparisons = tuple(literal for literal in tested if isinstance(literal, Comparison))
    asked: tuple[Atom | Comparison, ...] = (rule.head, *negative, *comparisons)
    wanted = {variable for part in asked for variable in part.variables()}
    root = max(parts, key=lambda number: (len(wanted & parts[number].variables), -number))
    order, above = _rooted(parts, root)
    made = []
    for place, number in enumerate(order):
        part = parts[number]
        atoms = tuple(body[at] for at in part.atoms)
        elsewhere = wanted.union(*(parts[other].variables for other in order if other != number))
        rest = nodes.get(number)
        if rest is None:
            atom, defined = _own(atoms[0], part.variables, f"{place}"), None
        else:
            kept = sorted(part.variables & elsewhere, key=lambda variable: variable.name)
            atom = Atom(f"{prefix}{place}", tuple(kept))
            defined = Rule(atom, tuple(rest))
        search, _ = costs.followed(part.atoms, frozenset(atom.variables()))
        made.append(TreeNode(atom, defined, atoms, any(map(inside, atoms)), search))
    return JoinTree(rule, prefix, found.width, tuple(made), tuple(above), negative, comparisons)


def _parts(body: Sequence[Atom], found: Decomposition) -> dict[int, _Part]:
    parts: dict[int, _Part] = {}
    for number, node in enumerate(found.nodes):
        atoms = set(node.atoms)
        if len(atoms) > 1:
            atoms |= {place for place, atom in enumerate(body) if node.variables.issuperset(atom.variables())}
        parts[number] = _Part(node.variables, sorted(atoms), set())
        if node.parent is not None:
            parts[number].neighbours.add(node.parent)
            parts[node.parent].neighbours.add(number)
    return parts


def _contracted(parts: dict[int, _Part]) -> dict[int, _Part]:
    """Leaves out nodes whose variables and atoms a neighbour has, too; that one takes over their other neighbours."""
    for number in sorted(parts, reverse=True):
        part = parts[number]
        for other in sorted(part.neighbours):
            heir = parts[other]
            if part.variables <= heir.variables and set(part.atoms) <= set(heir.atoms):
                for neighbour in part.neighbours - {other}:
                    parts[neighbour].neighbours.add(other)
                    heir.neighbours.add(neighbour)
                for neighbour in part.neighbours:
                    parts[neighbour].neighbours.discard(number)
                del parts[number]
                break
    return parts


def _rooted(parts: dict[int, _Part], root: int) -> tuple[list[int], list[int | None]]:
    """The nodes in an order where parents come first, and the places of their parents in it."""
    order, seen = [root], {root}
    above: list[int | None] = [None]
    for number in order:
        for neighbour in sorted(parts[number].neighbours):
            if neighbour not in seen:
                seen.add(neighbour)
                above.append(order.index(number))
                order.append(neighbour)
    return order, above


def _own(atom: Atom, variables: frozenset[Variable], mark: str) -> Atom:
    """An atom that is a node by itself; a variable that is not the node's gets a name of its own."""
    others = {
        variable: Variable(f"{variable.name}?{mark}") for variable in atom.variables() if variable not in variables
    }
    return substitute_atom(atom, others)

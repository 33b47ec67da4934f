"""What a proof is made of, as plain values.

A node is shared where several others need the same fact: a proof is a tree whose equal branches are one object. A fact is
an atom without variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from everlog.datalog.syntax import Aggregate, Atom, Comparison, Computation, Negation, Rule
from everlog.datalog.values import Value


@dataclass(frozen=True, eq=False)
class Given:
    """An explicit fact."""

    fact: Atom
    source: str | None = None
    """The file that it comes from, or the few of which it is one, where that is known."""


@dataclass(frozen=True, eq=False)
class Unexplored:
    """A fact that holds, and whose proof is not shown: it lies deeper than was asked for, or the search was ended."""

    fact: Atom


@dataclass(frozen=True, eq=False)
class Absent:
    """A negation that holds: nothing matches it."""

    negation: Negation


@dataclass(frozen=True, eq=False)
class Tested:
    """A comparison, or a computed value, with values in the place of its variables."""

    test: Comparison | Computation


@dataclass(frozen=True, eq=False)
class Group:
    """What an aggregate says of a group: its values, how many members it has, and the first of them."""

    aggregate: Aggregate
    values: Mapping[str, Value]
    """Of the variables of the group, and of what was computed for it."""
    size: int
    members: tuple[tuple[Atom, ...], ...]
    """The facts that make a member, for the first few."""


@dataclass(frozen=True, eq=False)
class Derived:
    """An instance of a rule: what it derives, and why each of its conditions holds, in the order of writing."""

    fact: Atom
    rule: Rule
    substitution: Mapping[str, Value]
    conditions: tuple[Node | Absent | Tested | Group, ...]
    origin: str | None = None
    """What the rule comes from, where that is known: the file and the line, or an axiom of an ontology."""


@dataclass(frozen=True, eq=False)
class Renamed:
    """A fact that holds in other names of the same things, and the equalities of these names."""

    fact: Atom
    conditions: tuple[Node, ...]
    """The fact in the other names, and then the equalities."""


@dataclass(frozen=True, eq=False)
class Chained:
    """Two names that are equal: a chain of equalities, each read forwards or backwards; none if the names are one."""

    fact: Atom
    conditions: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Path:
    """A fact of a transitive relation, or of another one that rules follow step by step, with the steps of a path."""

    fact: Atom
    conditions: tuple[Node, ...]
    rules: tuple[Rule, ...]
    """The rules that were applied along the path."""


Node: TypeAlias = Given | Derived | Renamed | Chained | Path | Unexplored
"""Why a fact holds."""

Reasoned: TypeAlias = Derived | Renamed | Chained | Path
"""Why a fact holds that needs others."""

REASONED: Final = (Derived, Renamed, Chained, Path)

Condition: TypeAlias = Node | Absent | Tested | Group


def premises(node: Condition) -> tuple[Node, ...]:
    """The nodes of the facts that a node needs."""
    if not isinstance(node, REASONED):
        return ()
    return tuple(one for one in node.conditions if not isinstance(one, Absent | Tested | Group))


def nodes(root: Node) -> Iterator[Node]:
    """All nodes of a proof that have facts, each once, those that are needed before those that need them."""
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack += [(one, False) for one in reversed(premises(node))]


def height(root: Node) -> int:
    """How many rules follow each other at the most; 0 for what is given."""
    heights: dict[int, int] = {}
    for node in nodes(root):
        above = 1 if isinstance(node, Derived) or premises(node) else 0
        heights[id(node)] = above + max((heights[id(one)] for one in premises(node)), default=0)
    return heights[id(root)]


def cut(root: Node, depth: int) -> Node:
    """A proof without what lies deeper than so many rules."""
    made: dict[tuple[int, int], Node] = {}
    stack = [(root, depth)]
    while stack:
        node, left = stack[-1]
        if not isinstance(node, REASONED):
            made[id(node), left] = node
        elif left == 0:
            made[id(node), left] = Unexplored(node.fact)
        else:
            missing = [(one, left - 1) for one in premises(node) if (id(one), left - 1) not in made]
            if missing:
                stack += missing
                continue
            conditions: tuple[Any, ...] = tuple(made.get((id(one), left - 1), one) for one in node.conditions)
            made[id(node), left] = replace(node, conditions=conditions)
        stack.pop()
    return made[id(root), depth]


@dataclass(frozen=True, eq=False)
class Failed:
    """A rule that could derive a fact, and does not: its first conditions hold together, and the next one does not."""

    rule: Rule
    held: tuple[Atom | Negation | Comparison | Computation | Aggregate, ...]
    """Conditions that hold, with values, for one of the ways in which they do."""
    failing: Atom | Negation | Comparison | Computation | Aggregate
    """The condition that holds for none of them."""
    matches: int = field(default=1)
    """In how many ways the first conditions hold."""

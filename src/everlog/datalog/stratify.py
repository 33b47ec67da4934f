"""Stratification of atoms (Revisited, section 3), as granular as its section 10.1 or as coarse as negation allows.

Atoms that share a ground instance share a stratum; so do atoms that depend on each other. Facts that match no atom of a
higher stratum belong to stratum 1, which therefore always exists and may have no rules. All atoms inside a negation are
negative dependencies, and rules are taken as they are: an equality in a body does not narrow its atoms.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Final, Literal, NamedTuple, TypeAlias
from weakref import WeakValueDictionary

from everlog.datalog.extremes import is_choice
from everlog.datalog.printer import print_atom, print_rule
from everlog.datalog.strongly_connected import components
from everlog.datalog.substitution import REMEMBERED, Pattern, pattern
from everlog.datalog.syntax import Aggregate, Atom, Negation, Rule, parts
from everlog.datalog.unification import unifiable_classes
from everlog.errors import NotStratifiable
from everlog.interrupts import lasting

Mode: TypeAlias = Literal["levels", "single"]


@dataclass(frozen=True, slots=True)
class Stratum:
    """The rules whose heads are in the stratum `index`, and the distinct atoms (up to renaming) that λ maps to it.

    `recursive` are the rules with a positive body atom in the same stratum. All rules are in the order of the program.
    """

    index: int
    rules: tuple[Rule, ...]
    recursive: tuple[Rule, ...]
    nonrecursive: tuple[Rule, ...]
    patterns: tuple[Atom, ...]
    choosing: tuple[Rule, ...] = ()
    """The rules that choose the best of candidates, and all that depend on these and that these depend on."""
    chosen: tuple[Atom, ...] = ()
    """The patterns of what those rules derive."""


class _Edge(NamedTuple):
    """A rule's dependency of its head on one body atom; `source` and `target` are classes of unifiable atoms."""

    source: int
    target: int
    negative: bool
    atom: Atom
    rule: int  # its position in the sequence


def stratify(
    rules: Sequence[Rule], *, mode: Mode = "levels", apart: Callable[[Rule], bool] = lambda rule: False
) -> tuple[Stratum, ...]:
    """The strata of a program in order of their index, or `NotStratifiable` with a cycle through negation.

    `levels` puts a strongly connected component one above the highest component that its rules mention; `single` puts
    it as low as negation allows, so that a positive program is one stratum. What depends on a rule that is to be `apart` is
    in a higher stratum in any case, and what that depends on in a lower one; rules that choose the best of candidates are
    always apart from others.
    """
    return stratified(rules, mode, apart).strata


class Stratified(NamedTuple):
    """Strata, and how they were found: the class of each pattern, and the component and the stratum of each class."""

    strata: tuple[Stratum, ...]
    class_of: Mapping[Node, int]
    component_of: Sequence[int]
    level_of: Sequence[int]


def stratified(
    rules: Sequence[Rule], mode: Mode = "levels", apart: Callable[[Rule], bool] = lambda rule: False
) -> Stratified:
    """As `stratify`, which says what is what."""
    graph = _Graph(rules)
    component_of = components(len(graph.members), graph.successors)
    for edge in graph.edges:
        if edge.negative and component_of[edge.source] == component_of[edge.target]:
            raise NotStratifiable(_cycle_message(graph, component_of, edge))
    named = list(zip(graph.heads, rules, strict=True))
    choosing = {component_of[head] for head, rule in named if is_choice(rule)}
    alone = choosing | {component_of[head] for head, rule in named if apart(rule)}
    level_of = _strata(graph, component_of, mode, alone)
    return Stratified(_collect(graph, component_of, level_of, choosing), graph.class_of, component_of, level_of)


def recursive_atoms(rules: Sequence[Rule]) -> list[tuple[int, list[Atom]]]:
    """For each rule the number of its recursion, and the positive atoms of its body that depend on its head."""
    graph = _Graph(rules)
    component_of = components(len(graph.members), graph.successors)
    found: list[list[Atom]] = [[] for _ in rules]
    for edge in graph.edges:
        if not edge.negative and component_of[edge.source] == component_of[edge.target]:
            found[edge.rule].append(edge.atom)
    return [(component_of[head], atoms) for head, atoms in zip(graph.heads, found, strict=True)]


class _Graph:
    """The dependencies between classes of unifiable atoms."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        atoms_of = list(map(patterns_of, rules))
        atoms: dict[Node, Atom] = {}
        for some in atoms_of:
            for node, atom, _ in some:
                if node not in atoms:
                    atoms[node] = atom
        classes, numbers = _classes(frozenset(atoms)), dict[int, int]()
        self.class_of = class_of = {node: numbers.setdefault(classes[node], len(numbers)) for node in atoms}
        self.rules = rules
        self.members: list[list[Atom]] = [[] for _ in numbers]
        for node, atom in atoms.items():
            self.members[class_of[node]].append(atom)
        self.heads: list[int] = []
        self.edges: list[_Edge] = []
        self.successors: list[list[int]] = [[] for _ in self.members]
        for number, (rule, ((head, _, _), *body)) in enumerate(zip(rules, atoms_of, strict=True)):
            target = class_of[head]
            self.heads.append(target)
            chooses = is_choice(rule)
            for node, atom, negative in body:
                source = class_of[node]
                self.edges.append(_Edge(source, target, negative, atom, number))
                self.successors[source].append(target)
                if chooses:  # candidates and what is chosen of them belong together
                    self.successors[target].append(source)


class Node:
    """A pattern that is compared by what it is, not by its terms: there is one of it while somebody has it."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern


_NODES: Final[WeakValueDictionary[Pattern, Node]] = WeakValueDictionary()
_LOCK: Final = lasting(Lock())


@lru_cache(4)
def _classes(nodes: frozenset[Node]) -> Mapping[Node, int]:
    """The classes of unifiable atoms, in no particular order; rules that come or go often have the atoms of others."""
    listed = list(nodes)
    return dict(zip(listed, unifiable_classes([node.pattern for node in listed]), strict=True))


def _node(atom: Atom) -> Node:
    key = pattern(atom)
    with _LOCK:
        return _NODES.setdefault(key, Node(key))


@lru_cache(REMEMBERED)
def patterns_of(rule: Rule) -> tuple[tuple[Node, Atom, bool], ...]:
    """The atoms of a rule, with their patterns, the head first, and whether they are negated."""
    found = [(rule.head, False)]
    for literal in rule.body:
        whole = isinstance(literal, Negation | Aggregate)
        found += ((part, whole) for part in parts(literal) if isinstance(part, Atom))
    return tuple((_node(atom), atom, negative) for atom, negative in found)


def _strata(graph: _Graph, component_of: list[int], mode: Mode, alone: set[int]) -> list[int]:
    """λ for each class of atoms; some components share no stratum with what they depend on, or depends on them."""
    stratum: dict[int, int] = dict.fromkeys(component_of, 1)
    # Components come numbered against the edges' direction, so every source is final before its targets ask for it.
    for edge in sorted(graph.edges, key=lambda edge: -component_of[edge.target]):
        source, target = component_of[edge.source], component_of[edge.target]
        if source != target:
            step = 1 if mode == "levels" or edge.negative or not alone.isdisjoint((source, target)) else 0
            stratum[target] = max(stratum[target], stratum[source] + step)
    return [stratum[component] for component in component_of]


def _collect(graph: _Graph, component_of: list[int], stratum_of: list[int], choosing: set[int]) -> tuple[Stratum, ...]:
    recursive = {
        edge.rule for edge in graph.edges if not edge.negative and stratum_of[edge.source] == stratum_of[edge.target]
    }
    rules: list[list[int]] = [[] for _ in range(max(stratum_of, default=1))]
    patterns: list[list[Atom]] = [[] for _ in rules]
    for number, head in enumerate(graph.heads):
        rules[stratum_of[head] - 1].append(number)
    chosen: list[list[Atom]] = [[] for _ in rules]
    for members, index, component in zip(graph.members, stratum_of, component_of, strict=True):
        patterns[index - 1] += members
        chosen[index - 1] += members if component in choosing else ()
    chooses = {number for number, head in enumerate(graph.heads) if component_of[head] in choosing}
    return tuple(
        Stratum(
            index,
            tuple(graph.rules[number] for number in numbers),
            tuple(graph.rules[number] for number in numbers if number in recursive),
            tuple(graph.rules[number] for number in numbers if number not in recursive),
            tuple(atoms),
            tuple(graph.rules[number] for number in numbers if number in chooses),
            tuple(best),
        )
        for index, (numbers, atoms, best) in enumerate(zip(rules, patterns, chosen, strict=True), start=1)
    )


def _cycle_message(graph: _Graph, component_of: list[int], negative: _Edge) -> str:
    through = "an aggregate" if graph.rules[negative.rule].aggregates else "negation"
    lines = [f"the program is not stratified, since these atoms depend on each other through {through}:"]
    for edge in [negative, *_way_back(graph, component_of, negative)]:
        rule = graph.rules[edge.rule]
        grouped = any(edge.atom in parts(literal) for literal in rule.aggregates)
        sign = "all of " if grouped else "not " if edge.negative else ""
        lines.append(f"  {print_atom(rule.head)} needs {sign}{print_atom(edge.atom)}, by the rule `{print_rule(rule)}`")
    rule = graph.rules[negative.rule]
    if rule.aggregates:
        if graph.heads[negative.rule] == negative.source:
            head, member = print_atom(rule.head), print_atom(negative.atom)
            lines.append(f"  A fact that is derived, {head}, may be one of those that are aggregated, {member}.")
        lines.append(
            "  Give what is computed a predicate or property of its own, which nothing that is aggregated needs."
        )
    return "\n".join(lines)


def _way_back(graph: _Graph, component_of: list[int], negative: _Edge) -> list[_Edge]:
    """A shortest way along the edges from the target of one to its source, backwards; both are of one component."""
    leaving: dict[int, list[_Edge]] = {}
    for edge in graph.edges:
        if component_of[edge.source] == component_of[edge.target] == component_of[negative.target]:
            leaving.setdefault(edge.source, []).append(edge)
    ways: dict[int, list[_Edge]] = {negative.target: []}
    waiting = deque(ways)
    while waiting and negative.source not in ways:
        for edge in leaving.get(waiting.popleft(), ()):
            if edge.target not in ways:
                ways[edge.target] = [edge, *ways[edge.source]]
                waiting.append(edge.target)
    return ways[negative.source]

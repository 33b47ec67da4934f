"""Checks decompositions against their definition (*Hypertree* §2), and makes bodies of all kinds.

The checker knows sets and trees and nothing of how decompositions are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

from everlog.datalog.syntax import Atom, Variable
from everlog.planning.decomposition.hypertree_search import Decomposition


def check_decomposition(atoms: Sequence[Atom], found: Decomposition) -> None:
    """Conditions 1–4, completeness, and that it is a tree."""
    nodes = found.nodes
    variables = {variable for atom in atoms for variable in atom.variables()}
    assert [node.parent for node in nodes[:1]] == [None]
    for number, node in enumerate(nodes[1:], start=1):
        assert node.parent is not None
        assert node.parent < number
    for place, atom in enumerate(atoms):
        mine = set(atom.variables())
        assert any(mine <= node.variables for node in nodes), f"1: {atom}"
        assert any(mine <= node.variables and place in node.atoms for node in nodes), f"complete: {atom}"
    for variable in variables:
        having = [number for number, node in enumerate(nodes) if variable in node.variables]
        tops = [number for number in having if nodes[number].parent not in having]
        assert len(tops) == 1, f"2: {variable}"
    for number, node in enumerate(nodes):
        joined = {variable for place in node.atoms for variable in atoms[place].variables()}
        assert node.variables <= joined, f"3: {node}"
        below = [other for other in range(len(nodes)) if number in _upwards(found, other)]
        underneath = set().union(*(nodes[other].variables for other in below))
        assert joined & underneath <= node.variables, f"4: {node}"


def _upwards(found: Decomposition, number: int | None) -> list[int]:
    path = []
    while number is not None:
        path.append(number)
        number = found.nodes[number].parent
    return path


def edge(*names: object) -> Atom:
    return Atom("e", tuple(Variable(str(name)) for name in names))


def cycle(n: int) -> list[Atom]:
    return [edge(number, (number + 1) % n) for number in range(n)]


def clique(n: int) -> list[Atom]:
    return [edge(*pair) for pair in combinations(range(n), 2)]


def path(n: int) -> list[Atom]:
    return [edge(number, number + 1) for number in range(n)]


def grid(rows: int, columns: int) -> list[Atom]:
    across = [edge((row, column), (row, column + 1)) for row in range(rows) for column in range(columns - 1)]
    down = [edge((row, column), (row + 1, column)) for row in range(rows - 1) for column in range(columns)]
    return across + down


def petal(n: int) -> list[Atom]:
    """Several ways of two steps between the same two ends."""
    return [atom for number in range(n) for atom in (edge("s", number), edge(number, "t"))]


def flower(n: int) -> list[Atom]:
    """Triangles that share one vertex."""
    return [
        atom
        for number in range(n)
        for atom in (edge("c", (number, 0)), edge((number, 0), (number, 1)), edge((number, 1), "c"))
    ]


def random_body(random: Random, most: int = 10) -> list[Atom]:
    """Atoms with up to four variables, some of them twice, some with none."""
    variables = [Variable(name) for name in "abcdefghij"[: random.randint(2, 10)]]
    count = random.randint(1, most)
    return [
        Atom("r", tuple(random.choices(variables, k=random.choice([0, 1, 2, 2, 2, 2, 3, 4])))) for _ in range(count)
    ]

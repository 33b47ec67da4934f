"""Which atoms share a ground instance, for all atoms of a program at once.

Comparing atoms in pairs would be quadratic, and programs have tens of thousands. Atoms of one predicate are grouped by
their *shape*: which positions hold constants and which hold the same variable. For two shapes the positions that any
unifier makes equal are known without looking at an atom; two atoms then unify exactly when the constants within each
such block agree, which a hash join finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TypeAlias

from everlog.datalog.substitution import Pattern
from everlog.datalog.syntax import Constant

# The number of the variable at each position, or None for a constant.
_Shape: TypeAlias = tuple[int | None, ...]
_Block: TypeAlias = tuple[int, ...]


def unifiable_classes(patterns: Sequence[Pattern]) -> list[int]:
    """The least equivalence that relates patterns with a common instance, as the class of each pattern, from 0 on.

    The patterns are distinct.
    """
    parent = list(range(len(patterns)))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = number = parent[parent[number]]
        return number

    groups: dict[tuple[str, int], dict[_Shape, list[int]]] = {}
    for number, (predicate, terms) in enumerate(patterns):
        shape = tuple(None if isinstance(term, Constant) else term for term in terms)
        groups.setdefault((predicate, len(terms)), {}).setdefault(shape, []).append(number)
    for shapes in groups.values():
        # Distinct patterns of one shape differ in a constant, and do not unify.
        for one, other in combinations(shapes, 2):
            for bucket in _join(patterns, (one, shapes[one]), (other, shapes[other])):
                for number in bucket:
                    parent[root(number)] = root(bucket[0])
    classes: dict[int, int] = {}
    return [classes.setdefault(root(number), len(classes)) for number in range(len(patterns))]


def _join(
    patterns: Sequence[Pattern], one: tuple[_Shape, list[int]], other: tuple[_Shape, list[int]]
) -> list[list[int]]:
    """Sets of patterns in which each of the first shape unifies with each of the second."""
    blocks = _blocks(one[0], other[0])
    held = [[tuple(place for place in block if shape[place] is None) for block in blocks] for shape, _ in (one, other)]
    common = [index for index in range(len(blocks)) if held[0][index] and held[1][index]]
    left = _by_constants(patterns, one[1], held[0], common)
    right = _by_constants(patterns, other[1], held[1], common)
    return [left[values] + right[values] for values in left.keys() & right.keys()]


def _by_constants(
    patterns: Sequence[Pattern], numbers: list[int], held: list[_Block], common: list[int]
) -> dict[tuple[Constant | int, ...], list[int]]:
    """The patterns whose constants agree within each block, by their constants in the common blocks."""
    repeated = [block for block in held if len(block) > 1]
    table: dict[tuple[Constant | int, ...], list[int]] = {}
    for number in numbers:
        terms = patterns[number][1]
        if all(terms[block[0]] == terms[place] for block in repeated for place in block[1:]):
            table.setdefault(tuple(terms[held[index][0]] for index in common), []).append(number)
    return table


def _blocks(one: _Shape, other: _Shape) -> list[_Block]:
    """The positions that a unifier of two atoms of these shapes makes equal."""
    block_of = list(range(len(one)))
    for shape in (one, other):
        first: dict[int, int] = {}
        for place, variable in enumerate(shape):
            if variable is not None:
                old, new = block_of[place], block_of[first.setdefault(variable, place)]
                block_of = [new if block == old else block for block in block_of]
    return [tuple(place for place in range(len(one)) if block_of[place] == block) for block in sorted(set(block_of))]

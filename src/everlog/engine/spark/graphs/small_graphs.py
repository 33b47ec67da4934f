"""Graphs with few edges, on the driver: a job takes longer than all they need."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

Pair: TypeAlias = tuple[int, int]


def closure(first: Collection[Pair], steps: Iterable[Pair], most: int) -> set[Pair] | None:
    """The pairs that steps lead on to from some pairs, these included; None if there are more than so many."""
    following: dict[int, list[int]] = {}
    for x, y in steps:
        following.setdefault(x, []).append(y)
    found, last = set(first), list(first)
    while last:
        x, y = last.pop()
        for z in following.get(y, ()):
            if (x, z) not in found:
                found.add((x, z))
                last.append((x, z))
        if len(found) > most:
            return None
    return found


def components(edges: Iterable[Pair]) -> Mapping[int, int]:
    """For each node the least one that it is connected with."""
    above: dict[int, int] = {}

    def least(node: int) -> int:
        above.setdefault(node, node)
        while above[node] != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    for x, y in edges:
        one, other = least(x), least(y)
        above[max(one, other)] = min(one, other)
    return {node: least(node) for node in above}

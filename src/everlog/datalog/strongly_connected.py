"""Strongly connected components by Tarjan's algorithm, without recursion: a program may be a chain of many rules."""

from __future__ import annotations

from collections.abc import Sequence


def components(size: int, successors: Sequence[Sequence[int]]) -> list[int]:
    """The component of each vertex `0 … size-1`, numbered so that an edge never leads to a higher number."""
    component = [-1] * size
    order = [-1] * size
    low = [0] * size
    trail: list[int] = []
    visited = found = 0
    for root in range(size):
        if order[root] >= 0:
            continue
        calls = [(root, 0)]
        while calls:
            vertex, done = calls.pop()
            if order[vertex] < 0:
                order[vertex] = low[vertex] = visited
                visited += 1
                trail.append(vertex)
            for position in range(done, len(successors[vertex])):
                successor = successors[vertex][position]
                if order[successor] < 0:
                    # Come back to the same successor, to take over what it reached.
                    calls += [(vertex, position), (successor, 0)]
                    break
                if component[successor] < 0:
                    low[vertex] = min(low[vertex], low[successor])
            else:
                if low[vertex] == order[vertex]:
                    while component[vertex] < 0:
                        component[trail.pop()] = found
                    found += 1
    return component

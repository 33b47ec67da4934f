"""Programs that have modules, at the sizes of the benchmark `modules`: components, an order, chains of rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from everlog.bench.workload import Instance
from everlog.bench.workloads.graphs import LINEAR
from everlog.bench.workloads.pairs import Column, binary

COMPONENTS: Final = (500, 500, 400, 200, 150, 100, 50, *[10] * 10)
"""2,000 constants, which make 736,000 facts."""

CLIQUES: Final = (500, 700, 1000, 2000)

SYMMETRIC_TRANSITIVE: Final = """
same(?y, ?x) :- same(?x, ?y) .
same(?x, ?z) :- same(?x, ?y), same(?y, ?z) .
"""

SEQUENCE: Final = """
next(?x, ?y) :- item(?x), item(?y), ?x < ?y, NOT EXISTS ?z IN (item(?z), ?x < ?z, ?z < ?y) .
"""

RELATED: Final = """
met(?x, ?y) :- visits(?x, ?place), visits(?y, ?place), ?x != ?y .
alike(?x, ?y) :- met(?x, ?y), style(?x, ?s), style(?y, ?s) .
related(?x, ?y) :- alike(?x, ?y) .
related(?y, ?x) :- related(?x, ?y) .
related(?x, ?z) :- related(?x, ?y), related(?y, ?z) .
admired(?x) :- related(?x, ?y), famous(?y) .
"""


def components(sizes: Sequence[int] = COMPONENTS, seed: int = 1) -> Instance:
    """A symmetric and transitive relation, given by twice as many edges as there are constants."""
    return Instance(SYMMETRIC_TRANSITIVE, {"same": binary(*_connected(sizes, seed))})


def components_linear(sizes: Sequence[int] = COMPONENTS, seed: int = 1) -> Instance:
    """The same facts by a linear rule over edges in both directions, which is what a peer can do best."""
    first, second = _connected(sizes, seed)
    both = np.unique(np.array([np.concatenate([first, second]), np.concatenate([second, first])]), axis=1)
    return Instance(LINEAR, {"edge": binary(*both)})


def sequence(size: int, seed: int = 1) -> Instance:
    """Numbers in no order."""
    numbers = np.random.default_rng(seed).permutation(size).astype(np.int64) * 3
    return Instance(SEQUENCE, {"item": pa.table({"a0": pa.array(numbers)})})


def cliques(sizes: Sequence[int] = CLIQUES, seed: int = 1) -> Instance:
    """Components whose edges are derived by rules: people of one style who met where they went."""
    first, second = _connected(sizes, seed)
    places = np.arange(len(first), dtype=np.int64) + int(max(first.max(), second.max())) + 1
    people = np.arange(sum(sizes), dtype=np.int64)
    return Instance(
        RELATED,
        {
            "visits": binary(np.concatenate([first, second]), np.concatenate([places, places])),
            "style": binary(people, np.zeros(len(people), np.int64)),
            "famous": pa.table({"a0": pa.array(people[:: max(1, len(people) // 7)])}),
        },
    )


def _connected(sizes: Sequence[int], seed: int) -> tuple[Column, Column]:
    """Random edges that connect components of some sizes: a tree for each, and as many edges again."""
    random = np.random.default_rng(seed)
    first: list[int] = []
    second: list[int] = []
    start = 0
    for size in sizes:
        pairs = {(int(random.integers(at)), at) for at in range(1, size)}
        wanted = min(2 * size, size * (size - 1) // 2)
        while len(pairs) < wanted:
            a, b = sorted(int(random.integers(size)) for _ in range(2))
            if a != b:
                pairs.add((a, b))
        for a, b in sorted(pairs):
            first.append(start + a)
            second.append(start + b)
        start += size
    return np.array(first, np.int64), np.array(second, np.int64)

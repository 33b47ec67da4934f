"""Programs that have modules, at the sizes of the benchmark `modules`: components, an order, chains of rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from benchmarks.workload import Instance
from benchmarks.workloads.graphs import LINEAR
from benchmarks.workloads.pairs import Column, binary

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

STORED_SEQUENCE: Final = """
next(?x, ?y) :- item(?x), item(?y), before(?x, ?y), NOT EXISTS ?z IN (item(?z), before(?x, ?z), before(?z, ?y)) .
"""

RELATED: Final = """
met(?x, ?y) :- visits(?x, ?place), visits(?y, ?place), ?x != ?y .
alike(?x, ?y) :- met(?x, ?y), style(?x, ?s), style(?y, ?s) .
related(?x, ?y) :- alike(?x, ?y) .
related(?y, ?x) :- related(?x, ?y) .
related(?x, ?z) :- related(?x, ?y), related(?y, ?z) .
admired(?x) :- related(?x, ?y), famous(?y) .
"""


EXAMPLE_29: Final = """
r(?x, ?z) :- r(?x, ?y), r(?y, ?z) .
s(?x, ?z) :- s(?x, ?y), r(?y, ?z) .
"""


def example_29(n: int = 300, m: int = 3000) -> Instance:
    """*Modular*, Example 29: a line of `n` constants, and `m` that lead to its first."""
    line, ends = np.arange(n, dtype=np.int64), n + np.arange(m, dtype=np.int64)
    return Instance(EXAMPLE_29, {"r": binary(line[:-1], line[1:]), "s": binary(ends, np.zeros(m, np.int64))})


def short_chains(relations: int = 12, steps: int = 100_000, facts: int = 2_000, seed: int = 1) -> Instance:
    """Relations that go on along two others, which lead nowhere much: of little use to an automaton."""
    random = np.random.default_rng(seed)
    nodes = 8 * steps
    names = [f"r{number}" for number in range(relations)]
    rules = [f"{name}(?x, ?z) :- {name}(?x, ?y), {step}(?y, ?z) ." for name in names for step in ("s", "u")]
    sizes = {"s": steps, "u": steps, **dict.fromkeys(names, facts)}
    return Instance(
        "\n".join(rules),
        {
            name: binary(*np.unique(random.integers(nodes, size=(2, size)), axis=1)[:, : size - size // 100])
            for name, size in sizes.items()
        },
    )


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


def stored_sequence(size: int, seed: int = 1) -> Instance:
    """The same numbers, their order given as facts: all pairs of a smaller and a larger one."""
    items = sequence(size, seed).facts["item"]
    ordered = np.sort(items["a0"].to_numpy())
    first, second = np.triu_indices(size, 1)
    return Instance(STORED_SEQUENCE, {"item": items, "before": binary(ordered[first], ordered[second])})


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
